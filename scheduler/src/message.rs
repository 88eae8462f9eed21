//! Verdicts and evictions in the contract's words.
//!
//! Source: docs/behaviour.md 4.8, 12.3 and docs/contract.md 8.4, 8.5. A sentence that ends in a full stop and is put
//! into another is followed by a second one, as KAI prints it.

use std::collections::BTreeMap;

use kai_api::{
    names::{reason, value},
    pod_group::{CONSTRAINED_SUB_GROUPS_MAX, SUB_GROUP_DEPTH_MAX, SUB_GROUPS_MAX},
};
use kai_engine::{
    Bound, Group, Limit, Min, Misfit, NoRoom, QueueLane, Structure, Symbol, Timestamp, Unready, Why,
};
use serde_json::{Value, json};

use crate::{
    names::{Names, Number},
    short::{DETAILED_BYTES_MAX, MESSAGE_BYTES_MAX, short},
};

mod detail;
mod domain;
mod eviction;
mod explanation;
mod help;
mod misfit;
mod sentence;
mod task;

pub use eviction::eviction;
pub use explanation::explanation;
pub use sentence::{Asked, Need, Reason, larger_than_all_nodes, larger_than_nodes, reason, split};

/// Says why a group waits, as conditions and events say it.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub struct Told {
    /// Holds what keeps it waiting, in the order in which it was found; empty where only gates do.
    pub errors: Vec<Error>,
    /// The pod that found no room, by number, and what is said of it alone.
    pub pod: Option<(u32, String)>,
    /// Tells whether the same is said of the other pods that wait: each was turned away from nodes of the pods before it.
    pub is_of_each: bool,
    /// Holds what every message begins with: the node pool, where the group goes on to another.
    pub prefix: String,
    /// Tells whether the text has the detailed form: a line for each error, with the sub-group or the domain before it.
    pub is_detailed: bool,
}

/// One thing that keeps a group waiting.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Error {
    /// The code of the contract.
    pub code: &'static str,
    /// The sentence.
    pub message: String,
    /// Holds what goes before it in the detailed form: the sub-group, the domain.
    pub label: String,
    /// The numbers of the queue.
    pub queue: Option<Value>,
}

impl Error {
    fn new(code: &'static str, message: String) -> Self {
        Self { code, message, label: String::new(), queue: None }
    }

    /// The same, said of a sub-group; one without a name is the group itself.
    fn of(mut self, sub_group: &str) -> Self {
        if !sub_group.is_empty() {
            self.label = format!("subgroup {sub_group}: {}", self.label);
        }
        self
    }

    fn scheduling(message: String) -> Self {
        Self::new(reason::POD_SCHEDULING_ERRORS, message)
    }
}

impl Told {
    /// The code of the only error, else a text that says no more than that there are several, or none.
    pub fn code(&self) -> &'static str {
        match self.errors.as_slice() {
            [only] => only.code,
            _ => reason::UNABLE_TO_SCHEDULE,
        }
    }

    /// The message of the group's condition and event: equal sentences are counted, and sorted. In the detailed form
    /// each stands for itself.
    ///
    /// # Source
    /// docs/behaviour.md 12.3, job message.
    pub fn text(&self) -> String {
        self.cut(&self.whole_text())
    }

    /// Leaves of a text as much as is said.
    fn cut(&self, text: &str) -> String {
        let most = if self.is_detailed { DETAILED_BYTES_MAX } else { MESSAGE_BYTES_MAX };
        short(text, most).into_owned()
    }

    /// The message of one pod: its own reason where the verdict speaks of it, else the group's.
    pub fn text_of(&self, pod: u32, of_group: &str) -> String {
        self.own_text(pod).unwrap_or_else(|| String::from(of_group))
    }

    /// The message of one pod where it is another than the group's.
    pub fn own_text(&self, pod: u32) -> Option<String> {
        let (number, own) = self.pod.as_ref()?;
        let is_told = *number == pod || self.is_of_each;
        is_told.then(|| self.cut(&format!("{}{own}", self.prefix)))
    }

    fn whole_text(&self) -> String {
        if self.is_detailed {
            let line = |error: &Error| format!("\n{}{}.", error.label, error.message);
            let mut lines: Vec<String> = self.errors.iter().map(line).collect();
            lines.sort_unstable();
            return format!("{}\n{}.{}", self.prefix, self.code(), lines.concat());
        }
        let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
        for error in &self.errors {
            *counts.entry(&error.message).or_default() += 1;
        }
        let mut lines: Vec<String> = counts
            .into_iter()
            .map(|(message, count)| match count {
                1 => String::from(message),
                _ => format!("{count} {message}"),
            })
            .collect();
        lines.sort_unstable();
        let head = format!("{}{}", self.prefix, self.code());
        if lines.is_empty() { head } else { format!("{head}: {}.", lines.join(". \n")) }
    }
}

impl From<Error> for Told {
    fn from(error: Error) -> Self {
        Self { errors: vec![error], ..Self::default() }
    }
}

/// A group that waits.
#[derive(Clone, Copy, Debug)]
pub struct Waiting<'w> {
    /// By number.
    pub group: u32,
    /// As the engine has them; none, and it is one of pods alone without a delay.
    pub facts: Option<&'w Group>,
    /// Holds what all is called.
    pub names: &'w Names,
}

/// Says why a group waits; none where there is nothing to say on its condition.
pub fn told(why: &Why, waiting: Waiting<'_>) -> Option<Told> {
    let told = found(why, waiting)?;
    Some(Told { is_detailed: waiting.names.is_detailed, ..told })
}

fn found(why: &Why, waiting: Waiting<'_>) -> Option<Told> {
    let Waiting { group, names, .. } = waiting;
    let errors = |message| Some(Told::from(Error::scheduling(message)));
    let queue = names.queue_of_group(group);
    match why {
        Why::Satisfied | Why::Nominated | Why::Held | Why::NotReady(_) => None,
        Why::Undecided { before, .. } => before.as_deref().and_then(|why| told(why, waiting)),
        Why::Gated => Some(Told::default()),
        Why::QueueMissing => {
            let message = format!("Queue '{queue}' does not exist");
            Some(Error::new(reason::QUEUE_DOES_NOT_EXIST, message).into())
        }
        Why::QueueNotLeaf => {
            errors(format!("Queue '{queue}' has queues below it; only a queue without runs work"))
        }
        Why::Malformed => errors(format!(
            "The subgroups of the workload make no tree: a name repeats, a parent does not exist, \
             parents form a ring, more subgroups are needed than there are, there are more than \
             {SUB_GROUPS_MAX}, or {CONSTRAINED_SUB_GROUPS_MAX} with a topology constraint, more than \
             {SUB_GROUP_DEPTH_MAX} are above each other, or a name is longer than one may be"
        )),
        Why::OverLimit(bound) => {
            let is_protected = waiting.facts.is_some_and(|facts| !facts.preemptible);
            Some(over_limit(bound, is_protected, names).into())
        }
        Why::OverQuota(bound) => Some(over_quota(bound, names).into()),
        Why::Delayed { until, why } => {
            let mut told = told(why, waiting).unwrap_or_default();
            told.errors.push(delayed(*until, waiting.facts));
            Some(told)
        }
        Why::Behind { depth } => errors(format!(
            "Workload waits for its turn: {depth} of queue '{queue}' are looked at in a cycle \
             (queueDepthPerAction), and others come first"
        )),
        Why::NoRoom(no_room) => {
            let mut told = short_of_room(no_room, waiting);
            told.errors.splice(0..0, earlier(&no_room.before, waiting));
            Some(told)
        }
        Why::NoDomain(no_domain) => {
            let mut errors = earlier(&no_domain.before, waiting);
            errors.extend(domain::errors(no_domain, group, names));
            Some(Told { errors, ..Told::default() })
        }
    }
}

/// Says what was found in other domains before.
fn earlier(before: &[Why], waiting: Waiting<'_>) -> Vec<Error> {
    before.iter().filter_map(|why| told(why, waiting)).flat_map(|told| told.errors).collect()
}

fn delayed(until: Timestamp, facts: Option<&Group>) -> Error {
    let delay = facts.map_or(0, |facts| facts.preemption_delay);
    let delay = kai_api::duration::GoDuration::from_nanos(delay.saturating_mul(1_000_000));
    let at = jiff::Timestamp::from_millisecond(until.0).unwrap_or_default();
    let message = format!(
        "Workload is within its preemption delay window ({delay}) and may not trigger evictions \
         before {at:.0}"
    );
    Error::new(reason::PREEMPTION_DELAY, message)
}

/// Sub-groups that the event `NotReady` names: an event has room for 1024 bytes.
const UNREADY_MAX: usize = 5;

/// Says what the event `NotReady` says.
pub fn not_ready(unready: &[Unready], names: &Names) -> String {
    let named = unready.iter().take(UNREADY_MAX);
    let parts: String = named.map(|one| waiting_for(one, names)).collect();
    let more = match unready.len().saturating_sub(UNREADY_MAX) {
        0 => String::new(),
        more => format!(" So do {more} more SubGroups."),
    };
    format!("Job is not ready for scheduling.{parts}{more}")
}

fn waiting_for(unready: &Unready, names: &Names) -> String {
    let Unready { sub_group, min, alive, gated } = *unready;
    let (of, end) = if sub_group == Symbol::EMPTY {
        (String::new(), "")
    } else {
        (format!(" for SubGroup {}", names.text(sub_group)), ".")
    };
    format!(" Waiting for {min} pods{of}, currently {alive} exist, {gated} are gated{end}")
}

fn short_of_room(no_room: &NoRoom, waiting: Waiting<'_>) -> Told {
    let names = waiting.names;
    let is_gang = waiting.facts.is_some_and(|facts| has_gang(&facts.structure));
    let task = task::task(no_room, names);
    let NoRoom { placed, min, .. } = no_room;
    let message = if !no_room.gang || !is_gang {
        let pod = &names.pods.row(no_room.pod.number());
        let (namespace, name) = pod.map_or(("", ""), |pod| (&*pod.namespace, &*pod.name));
        format!("Resources were not found for pod {namespace}/{name} due to: {task}")
    } else if no_room.sub_group == Symbol::EMPTY {
        format!(
            "Resources were found for {placed} pods while {min} are required for gang scheduling. \
             Additional pods cannot be scheduled due to: {task}"
        )
    } else {
        let sub_group = names.text(no_room.sub_group);
        format!(
            "Resources were found for {placed} pods from all sub-groups while sub-group {sub_group} \
             requires {min} pods for gang scheduling. Additional pods cannot be scheduled in this \
             sub-group due to: {task}"
        )
    };
    let keeps_apart = |(misfit, _): &(Misfit, u32)| *misfit == Misfit::AntiAffinity;
    let is_of_each = no_room.gang && no_room.misfits.iter().any(keeps_apart);
    let pod = Some((no_room.pod.number(), task));
    let error = Error::scheduling(message).of(names.text(no_room.sub_group));
    Told { pod, is_of_each, ..Told::from(error) }
}

/// Tells whether some pods of a group have to run together.
fn has_gang(structure: &Structure) -> bool {
    match structure {
        Structure::Flat { min, .. } => *min > 1,
        Structure::Tree { sub_groups, .. } => sub_groups.iter().any(|one| match one.min {
            Min::Pods(min) => min > 1,
            Min::Members(_) => false,
        }),
        Structure::Malformed => false,
    }
}

fn over_limit(bound: &Bound, is_protected: bool, names: &Names) -> Error {
    let (resource, unit) = units(bound.lane);
    let queue = queue_name(bound, names);
    let amount = |amount| amount_text(bound.lane, amount);
    let message = format!(
        "{queue} quota has reached the allowable limit of {resource}. Limit is {} {unit}, currently \
         {} {unit} allocated and workload requested {} {unit}",
        limit_text(bound.lane, bound.queue.limit[bound.lane]),
        amount(bound.queue.allocated[bound.lane]),
        amount(bound.requested[bound.lane]),
    );
    let queue = Some(queue_details(bound, is_protected, &queue));
    Error { queue, ..Error::new(reason::OVER_LIMIT, message) }
}

fn over_quota(bound: &Bound, names: &Names) -> Error {
    let (resource, unit) = units(bound.lane);
    let queue = queue_name(bound, names);
    // The contract names the resource once where it is not in the unit already.
    let requested = match bound.lane {
        QueueLane::Gpu => String::from("GPUs"),
        QueueLane::Cpu => String::from(resource),
        QueueLane::Memory => format!("{unit} {resource}"),
    };
    let amount = |amount| amount_text(bound.lane, amount);
    let message = format!(
        "Non-preemptible workload is over quota. Workload requested {} {requested}, but {queue} \
         quota is {} {unit}, while {} {unit} are already allocated for non-preemptible pods. Use a \
         preemptible workload to go over quota.",
        amount(bound.requested[bound.lane]),
        limit_text(bound.lane, bound.queue.quota[bound.lane]),
        amount(bound.queue.allocated_non_preemptible[bound.lane]),
    );
    let queue = Some(queue_details(bound, true, &queue));
    Error { queue, ..Error::new(reason::NON_PREEMPTIBLE_OVER_QUOTA, message) }
}

/// `details.queueDetails`: quantities by resource, in plain units; `is_protected` where the workload cannot be evicted.
fn queue_details(bound: &Bound, is_protected: bool, name: &str) -> Value {
    let amounts = |of: &dyn Fn(QueueLane) -> Option<i64>| {
        let mut map = serde_json::Map::new();
        for (lane, key) in [
            (QueueLane::Cpu, "cpu"),
            (QueueLane::Gpu, "nvidia.com/gpu"),
            (QueueLane::Memory, "memory"),
        ] {
            let text = match (of(lane), lane) {
                (None, _) => String::from("-1"),
                (Some(amount), QueueLane::Cpu | QueueLane::Gpu) => {
                    kai_api::quantity::Quantity::from_milli(amount).to_string()
                }
                (Some(amount), QueueLane::Memory) => amount.to_string(),
            };
            map.insert(String::from(key), Value::String(text));
        }
        Value::Object(map)
    };
    let state = &bound.queue;
    json!({
        "name": name,
        "queueRequestedResources": amounts(&|lane| Some(state.requested[lane])),
        "queueDeservedResources": amounts(&|lane| state.quota[lane].amount()),
        "queueAllocatedResources": amounts(&|lane| Some(state.allocated[lane])),
        "queueAllocatedNonPreemptibleResources":
            amounts(&|lane| Some(state.allocated_non_preemptible[lane])),
        "queueResourceLimits": amounts(&|lane| state.limit[lane].amount()),
        "podGroupRequestedResources": amounts(&|lane| Some(bound.requested[lane])),
        "podGroupRequestedNonPreemptibleResources":
            amounts(&|lane| Some(if is_protected { bound.requested[lane] } else { 0 })),
    })
}

fn queue_name(bound: &Bound, names: &Names) -> String {
    names.queue_name(bound.queue.queue.number()).to_owned()
}

/// Says what the event `StaleJob` says of sub-groups: name, minimum, pods that run.
///
/// # Source
/// docs/behaviour.md 12.4.
pub fn stale(standing: &[(Symbol, u32, u32)], names: &Names) -> String {
    // A few minimums are more than their own type holds.
    let sum = |part: fn(&(Symbol, u32, u32)) -> u32| -> u64 {
        standing.iter().map(|one| u64::from(part(one))).sum()
    };
    let (active, min) = (sum(|one| one.2), sum(|one| one.1));
    let parts = standing.iter().filter(|(name, ..)| *name != Symbol::EMPTY);
    let parts: Vec<String> = parts
        .map(|(name, min, active)| {
            let name = names.text(*name);
            format!(", subGroup {name} minMember is {min} and {active} pods are active")
        })
        .collect();
    format!("Job is stale. {active} pods are active, minMember is {min}{}", parts.concat())
}

/// Says what is said of a pod whose sub-group does not exist.
///
/// # Source
/// docs/behaviour.md 12.3.
pub fn stray(sub_group: Symbol, group: u32, names: &Names) -> String {
    let (namespace, name) = names.group_name(group);
    let sub_group =
        if sub_group == Symbol::EMPTY { value::DEFAULT_SUBGROUP } else { names.text(sub_group) };
    format!(
        "Pod references subgroup \"{sub_group}\", which does not exist in PodGroup {namespace}/{name}"
    )
}

/// Says what a resource is called, and its unit.
fn units(lane: QueueLane) -> (&'static str, &'static str) {
    match lane {
        QueueLane::Gpu => ("GPUs", "GPUs"),
        QueueLane::Cpu => ("CPU cores", "cores"),
        QueueLane::Memory => ("memory", "GB"),
    }
}

fn limit_text(lane: QueueLane, limit: Limit) -> String {
    limit.amount().map_or_else(|| String::from("Unlimited"), |amount| amount_text(lane, amount))
}

/// An amount in cores, GB or devices, with at most three decimals.
fn amount_text(lane: QueueLane, amount: i64) -> String {
    match lane {
        QueueLane::Cpu | QueueLane::Gpu => thousandths(amount),
        QueueLane::Memory => thousandths(amount / 1_000_000),
    }
}

/// A number of thousandths as a decimal without idle zeros.
fn thousandths(milli: i64) -> String {
    let sign = if milli < 0 { "-" } else { "" };
    let (whole, part) = (milli.unsigned_abs() / 1000, milli.unsigned_abs() % 1000);
    let text = format!("{sign}{whole}.{part:03}");
    String::from(text.trim_end_matches('0').trim_end_matches('.'))
}

#[cfg(test)]
mod tests;
