//! Verdicts and evictions in the contract's words.
//!
//! Source: spec/scheduling.md 4.8, 12.3 and spec/contract.md 8.4, 8.5. Where the peer prints two
//! full stops in a row we print one.

use kai_api::names::reason;
use kai_engine::{Bound, DomainProblem, Limit, NoDomain, NoRoom, QueueLane, Symbol, Unready, Why};
use serde_json::{Value, json};

use crate::names::{Names, Number};

mod eviction;
mod misfit;

pub use eviction::eviction;

/// Why a group waits, as conditions and events say it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Reason {
    /// The code of the contract.
    pub code: &'static str,
    /// The sentence.
    pub message: String,
    /// The pod of which the sentence speaks, by number, and what is said of it alone.
    pub pod: Option<(u32, String)>,
    /// The numbers of the queue.
    pub queue: Option<Value>,
    /// What the message of the group begins with: the node pool, where the group goes on to another.
    pub prefix: String,
}

impl Reason {
    fn new(code: &'static str, message: String) -> Self {
        Self { code, message, pod: None, queue: None, prefix: String::new() }
    }

    /// The message of the group's condition and event.
    pub fn text(&self) -> String {
        format!("{}{}: {}.", self.prefix, self.code, self.message.trim_end_matches('.'))
    }
}

/// Why a group waits; none where there is nothing to say on its condition.
pub fn reason(why: &Why, group: u32, names: &Names) -> Option<Reason> {
    let errors = |message| Some(Reason::new(reason::POD_SCHEDULING_ERRORS, message));
    let queue = &names.groups[group].queue_name;
    match why {
        Why::Satisfied | Why::Nominated | Why::Held | Why::NotReady(_) | Why::Undecided => None,
        Why::QueueMissing => Some(Reason::new(
            reason::QUEUE_DOES_NOT_EXIST,
            format!("Queue '{queue}' does not exist"),
        )),
        Why::QueueNotLeaf => {
            errors(format!("Queue '{queue}' has queues below it; only a queue without runs work"))
        }
        Why::Malformed => errors(String::from(
            "The subgroups of the workload make no tree: a name repeats, a parent does not exist, \
             parents form a ring or more subgroups are needed than there are",
        )),
        Why::OverLimit(bound) => Some(over_limit(bound, names)),
        Why::OverQuota(bound) => Some(over_quota(bound, names)),
        Why::Delayed { until, no_room } => {
            let delay = names.groups[group].facts.preemption_delay;
            let at = jiff::Timestamp::from_millisecond(until.0).unwrap_or_default();
            let mut told = Reason::new(
                reason::PREEMPTION_DELAY,
                format!(
                    "Workload is within its preemption delay window ({}) and may not trigger \
                     evictions before {at:.0}",
                    kai_api::duration::GoDuration::from_nanos(delay.saturating_mul(1_000_000))
                ),
            );
            told.pod = Some((no_room.pod.number(), misfit::task(no_room, names)));
            Some(told)
        }
        Why::Behind { depth } => errors(format!(
            "Workload waits for its turn: {depth} of queue '{queue}' are looked at in a cycle \
             (queueDepthPerAction), and others come first"
        )),
        Why::NoRoom(no_room) => Some(short_of_room(no_room, names)),
        Why::NoDomain(no_domain) => errors(domain(no_domain, group, names)),
    }
}

/// What the event `NotReady` says.
pub fn not_ready(unready: &[Unready], names: &Names) -> String {
    let parts: String = unready.iter().map(|one| waiting_for(one, names)).collect();
    format!("Job is not ready for scheduling.{parts}")
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

fn short_of_room(no_room: &NoRoom, names: &Names) -> Reason {
    let task = misfit::task(no_room, names);
    let NoRoom { placed, min, .. } = no_room;
    let message = if !no_room.gang || *min <= 1 {
        let pod = &names.pods.row(no_room.pod.number());
        let (namespace, name) = pod.map_or(("", ""), |pod| (&pod.namespace, &pod.name));
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
    let mut told = Reason::new(reason::POD_SCHEDULING_ERRORS, message);
    told.pod = Some((no_room.pod.number(), task));
    told
}

fn over_limit(bound: &Bound, names: &Names) -> Reason {
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
    let mut told = Reason::new(reason::OVER_LIMIT, message);
    told.queue = Some(queue_details(bound, &queue));
    told
}

fn over_quota(bound: &Bound, names: &Names) -> Reason {
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
    let mut told = Reason::new(reason::NON_PREEMPTIBLE_OVER_QUOTA, message);
    told.queue = Some(queue_details(bound, &queue));
    told
}

/// `details.queueDetails`: quantities by resource, in plain units.
fn queue_details(bound: &Bound, name: &str) -> Value {
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
    })
}

fn queue_name(bound: &Bound, names: &Names) -> String {
    names.queue_name(bound.queue.queue.number()).to_owned()
}

/// Why no domain of a topology takes a group.
///
/// # Source
/// spec/scheduling.md 11.3, steps 1, 8 and 10; the domains are counted where the peer lists each.
fn domain(no_domain: &NoDomain, group: u32, names: &Names) -> String {
    let topology = names.topologies.key(no_domain.topology.number());
    let sub_group = names.text(no_domain.sub_group);
    let whose = match sub_group {
        "" => String::from("workload"),
        sub_group => format!("sub-group {sub_group}"),
    };
    match &no_domain.problem {
        DomainProblem::NoTopology => format!("Requested topology {topology} does not exist"),
        DomainProblem::NoLevel { level, required } => {
            let kind = if *required { "required" } else { "preferred" };
            let level = names.text(*level);
            format!(
                "topology constraint error: {whose} specified '{level}' as the {kind} topology \
                 constraint level, but the topology tree '{topology}' does not contain a level with \
                 this name"
            )
        }
        DomainProblem::NeitherLevel => format!(
            "topology constraint error: {whose} specified topology '{topology}' and neither a \
             required nor a preferred level of it"
        ),
        DomainProblem::LevelsReversed => format!(
            "topology constraint error: {whose} specified a preferred level of topology \
             '{topology}' that is wider than the required one"
        ),
        DomainProblem::NoFit { level, domains, pods_max, pods } => {
            let level = level.map_or("any", |level| names.text(level));
            let (namespace, name) = names.group_name(group);
            let sub_group = if sub_group.is_empty() {
                String::new()
            } else {
                format!(", subgroup {sub_group}")
            };
            format!(
                "topology {topology}, requirement {level} couldn't be satisfied for job \
                 {namespace}/{name}{sub_group}: the best of {domains} node-groups can allocate only \
                 {pods_max} of {pods} required pods"
            )
        }
    }
}

/// What the event `StaleJob` says of sub-groups: name, minimum, pods that run.
///
/// # Source
/// spec/scheduling.md 12.4.
pub fn stale(standing: &[(Symbol, u32, u32)], names: &Names) -> String {
    let sum = |part: fn(&(Symbol, u32, u32)) -> u32| standing.iter().map(part).sum::<u32>();
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

/// What is said of a pod whose sub-group does not exist.
///
/// # Source
/// spec/scheduling.md 12.3.
pub fn stray(sub_group: Symbol, group: u32, names: &Names) -> String {
    let (namespace, name) = names.group_name(group);
    format!(
        "Pod references subgroup \"{}\", which does not exist in PodGroup {namespace}/{name}",
        names.text(sub_group)
    )
}

/// What a resource is called, and its unit.
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
