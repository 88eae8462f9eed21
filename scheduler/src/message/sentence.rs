//! Says why a group waits, in one clause: the same words wherever it is said.
//!
//! KAI's words are in the modules beside this one. These stand on the group as an annotation, and the command line and the
//! demo print what they find there.

use std::collections::BTreeSet;

use kai_engine::{
    Bound, Cluster, EvictionKind, GPU_MILLI, GroupId, Limit, QueueLane, Shortage, Symbol, Unready,
    Why,
};
use kai_sim::render;

use super::{amount_text, thousandths};
use crate::names::{Names, Number};

mod domain;
pub(super) mod nodes;
mod room;

pub use room::{Need, larger_than_all_nodes, larger_than_nodes, split};

/// Says why a group waits.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Reason {
    /// The stable number, as in `KAI1203`.
    pub code: u16,
    /// The word for it in tables.
    pub word: &'static str,
    /// Nothing that ends or is evicted lets the group in.
    pub never: bool,
    /// The clause, without a full stop.
    pub sentence: String,
}

impl Reason {
    fn new(code: u16, word: &'static str, sentence: impl Into<String>) -> Self {
        Self { code, word, never: false, sentence: sentence.into() }
    }

    /// The same, for what never comes about by itself.
    fn never(self) -> Self {
        Self { never: true, ..self }
    }
}

/// All that a reason follows from.
#[derive(Clone, Copy, Debug)]
pub struct Asked<'a> {
    /// The group, by number.
    pub group: u32,
    /// Its verdict.
    pub why: &'a Why,
    /// The kinds of eviction that do not help it, as counting showed.
    pub proofs: &'a [(EvictionKind, Shortage)],
    /// Holds what was decided.
    pub cluster: &'a Cluster,
    /// Holds what all is called.
    pub names: &'a Names,
}

impl<'a> Asked<'a> {
    /// The same, of another verdict.
    fn about(self, why: &'a Why) -> Self {
        Self { why, ..self }
    }

    fn queue(&self) -> &'a str {
        self.names.queue_of_group(self.group)
    }

    /// Finds the queue that is not there: its own, or the first above it. None where all are there and form a ring.
    pub(super) fn missing_queue(&self) -> Option<&'a str> {
        let names = self.names;
        let mut seen = BTreeSet::new();
        let mut at = names.groups[self.group].queue;
        while let Some(queue) = at.filter(|queue| seen.insert(*queue)) {
            let Some(row) = names.queues.row(queue) else { return Some(self.queue()) };
            if !row.presence.is_there {
                return Some(names.queues.key(queue));
            }
            at = row.parent;
        }
        at.is_none().then(|| self.queue())
    }
}

/// Says why a group waits; none where it waits for nothing.
pub fn reason(asked: Asked<'_>) -> Option<Reason> {
    let queue = asked.queue();
    Some(match asked.why {
        Why::Satisfied => return None,
        Why::Nominated => Reason::new(
            1213,
            "Leaving",
            "it has its place, and waits until pods that were told to stop are gone",
        ),
        Why::Held => held(asked),
        Why::Gated => Reason::new(
            1208,
            "Gated",
            "its pods that wait have scheduling gates that nobody lifted",
        ),
        Why::QueueMissing => queue_missing(asked),
        Why::QueueNotLeaf => {
            let what =
                format!("queue {queue} has queues below it, and only a queue without runs work");
            Reason::new(1201, "NoLeafQueue", what).never()
        }
        Why::Malformed => {
            Reason::new(1207, "Malformed", "its sub-groups make no tree that can be filled").never()
        }
        Why::NotReady(unready) => not_ready(unready, asked.names),
        Why::OverLimit(bound) => over_limit(bound, asked.names),
        Why::OverQuota(bound) => over_quota(bound, asked.names),
        Why::Delayed { until, why } => {
            let why = reason(asked.about(why));
            let why = why.map_or_else(String::new, |why| format!(", and {}", why.sentence));
            let at = time(until.0);
            let what = format!("it may evict nobody before {at} (preemption delay){why}");
            Reason::new(1212, "PreemptionDelay", what)
        }
        Why::Behind { depth } => {
            let what = format!(
                "the first {depth} of queue {queue} have their turn before it (queueDepthPerAction)"
            );
            Reason::new(1218, "Turn", what)
        }
        Why::Undecided { progress, before } => {
            let before = before.as_deref().and_then(|before| reason(asked.about(before)));
            return before
                .or_else(|| Some(Reason::new(1219, "Searching", render::search(progress))));
        }
        Why::NoRoom(no_room) => room::reason(no_room, asked),
        Why::NoDomain(no_domain) => domain::reason(no_domain, asked),
    })
}

/// Says why it is left out though it could be tried.
fn held(asked: Asked<'_>) -> Reason {
    let pool = &asked.names.pool;
    let what = format!(
        "it is left out of node pool {pool} for now: a bind of it failed, or it tries another node pool"
    );
    Reason::new(1208, "Held", what)
}

fn queue_missing(asked: Asked<'_>) -> Reason {
    let own = asked.queue();
    let what = match asked.missing_queue() {
        Some(missing) if missing == own => format!("its queue {missing} does not exist"),
        Some(missing) => format!("queue {missing}, above its own, does not exist"),
        None => format!("the queues above its queue {own} form a ring"),
    };
    Reason::new(1201, "NoQueue", what).never()
}

fn not_ready(unready: &[Unready], names: &Names) -> Reason {
    let gated = unready.iter().all(|one| one.gated > 0 && one.alive >= one.min);
    let each = |one: &Unready| {
        let whose = whose(one.sub_group, names);
        let there = match one.alive {
            0 => String::from("none is there"),
            1 => String::from("1 is there"),
            alive => format!("{alive} are there"),
        };
        let gated = match one.gated {
            0 => String::new(),
            1 => String::from(", 1 of them behind a scheduling gate"),
            gated => format!(", {gated} of them behind scheduling gates"),
        };
        format!("{whose} needs {} at once, {there}{gated}", pods(one.min))
    };
    let shown: Vec<String> = unready.iter().take(2).map(each).collect();
    let what = shown.join("; ");
    if gated { Reason::new(1208, "Gated", what) } else { Reason::new(1207, "GangIncomplete", what) }
}

fn over_limit(bound: &Bound, names: &Names) -> Reason {
    let limit = bound.queue.limit[bound.lane];
    let (held, asked) = (bound.queue.allocated[bound.lane], bound.requested[bound.lane]);
    let most = measured(bound.lane, limit);
    let queue = names.queue_name(bound.queue.queue.number());
    let asks = count(bound.lane, asked);
    let never = Limit::of(asked) > limit;
    let what = if limit == Limit::of(0) {
        format!("the limit of queue {queue} is 0 or not set, which counts as 0: it asks for {asks}")
    } else if never {
        format!("it asks for {asks}, and queue {queue} may never hold more than {most}")
    } else {
        let held = amount_text(bound.lane, held);
        format!("it asks for {asks}, and queue {queue} holds {held} of the {most} of its limit")
    };
    let reason = Reason::new(1202, "OverLimit", what);
    if never { reason.never() } else { reason }
}

fn over_quota(bound: &Bound, names: &Names) -> Reason {
    let quota = bound.queue.quota[bound.lane];
    let asked = bound.requested[bound.lane];
    let held = amount_text(bound.lane, bound.queue.allocated_non_preemptible[bound.lane]);
    let queue = names.queue_name(bound.queue.queue.number());
    let (asks, most) = (count(bound.lane, asked), measured(bound.lane, quota));
    let what = format!(
        "it may not be evicted, so it has to stay within the quota of queue {queue}: it asks for \
         {asks}, and {held} of {most} are held by such work"
    );
    let reason = Reason::new(1204, "OverQuota", what);
    if Limit::of(asked) > quota { reason.never() } else { reason }
}

/// Workloads that could make room, and may not lose anything yet.
fn kept(asked: Asked<'_>) -> Option<Reason> {
    asked.proofs.iter().find_map(|(_, shortage)| match shortage {
        Shortage::Runtime { protected, until } => {
            let until = time(until.0);
            let what = match protected {
                1 => format!(
                    "the workload that it could evict is within its minimum run time until {until}"
                ),
                many => format!(
                    "{many} workloads that it could evict are within their minimum run time, the first until {until}"
                ),
            };
            Some(Reason::new(1222, "MinRuntime", what))
        }
        Shortage::Disruptions { guarded } => {
            let what = match guarded {
                1 => String::from("a PodDisruptionBudget keeps the workload that it could evict"),
                many => format!("PodDisruptionBudgets keep the {many} workloads that it could evict"),
            };
            Some(Reason::new(1223, "DisruptionBudget", what))
        }
        Shortage::Gpus { .. }
        | Shortage::Pods { .. }
        | Shortage::Apart { .. }
        | Shortage::Together { .. }
        | Shortage::Domains { .. }
        | Shortage::Company
        | Shortage::Others { .. } => None,
    })
}

/// Names the group, or one of its sub-groups.
fn whose(sub_group: Symbol, names: &Names) -> String {
    match names.text(sub_group) {
        "" => String::from("it"),
        name => format!("its sub-group {name}"),
    }
}

pub(super) fn pods(count: u32) -> String {
    if count == 1 { String::from("1 pod") } else { format!("{count} pods") }
}

fn nodes_of(count: u32) -> String {
    if count == 1 { String::from("1 node") } else { format!("{count} nodes") }
}

/// A number as a word, as a clause has it; larger ones in digits.
fn in_words(count: i64) -> String {
    const WORDS: [&str; 10] =
        ["no", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine"];
    let word = usize::try_from(count).ok().and_then(|count| WORDS.get(count));
    word.map_or_else(|| count.to_string(), |word| String::from(*word))
}

/// An amount of GPUs: `1 GPU`, `0.5 of a GPU`, `1.5 GPUs`.
pub(super) fn gpus(milli: i64) -> String {
    match milli {
        GPU_MILLI => String::from("1 GPU"),
        1..GPU_MILLI => format!("{} of a GPU", thousandths(milli)),
        _ => format!("{} GPUs", thousandths(milli)),
    }
}

/// An amount of what queues are charged for, with its unit.
fn count(lane: QueueLane, amount: i64) -> String {
    match lane {
        QueueLane::Gpu => gpus(amount),
        QueueLane::Cpu if amount == 1000 => String::from("1 CPU core"),
        QueueLane::Cpu => format!("{} CPU cores", amount_text(lane, amount)),
        QueueLane::Memory => format!("{} GB of memory", amount_text(lane, amount)),
    }
}

fn measured(lane: QueueLane, limit: Limit) -> String {
    limit.amount().map_or_else(|| String::from("unlimited"), |amount| count(lane, amount))
}

/// A time as the API writes it.
pub(super) fn time(at_ms: i64) -> String {
    let at = jiff::Timestamp::from_millisecond(at_ms).unwrap_or_default();
    format!("{at:.0}")
}

/// The GPUs of a queue: what it holds, and what it is entitled to.
pub(super) fn share_of(asked: &Asked<'_>) -> Option<(i64, i64)> {
    let queue = asked.cluster.group(GroupId::new(asked.group))?.queue?;
    let state = asked.cluster.queue_state(queue);
    Some((state.allocated[QueueLane::Gpu], state.fair_share[QueueLane::Gpu]))
}
