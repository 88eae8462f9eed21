//! Says why no node takes a pod of a group, in one clause.

use kai_engine::{Alike, EmptyShape, GPU_MILLI, Lane, Misfit, NoRoom, TooLarge, Why};

use super::{
    Asked, Reason, gpus, in_words, kept, nodes, over_limit, over_quota, pods, share_of, whose,
};
use crate::message::misfit;
use crate::message::thousandths;

/// The reason of a group that found no room.
#[expect(clippy::wildcard_enum_match_arm, reason = "all others are reasons of nodes")]
pub(super) fn reason(no_room: &NoRoom, asked: Asked<'_>) -> Reason {
    // What was found in other domains before is of the same pods, and the last is what they came to.
    if let Some(large) = &no_room.too_large {
        return too_large(no_room, large, asked);
    }
    match no_room.dominant {
        Misfit::Short(Lane::GPU) | Misfit::Device | Misfit::PodSlots if no_room.gpu_milli > 0 => {
            gpus_short(no_room, asked)
        }
        Misfit::Queue => match no_room.too_dear.as_deref() {
            Some(Why::OverLimit(bound)) => over_limit(bound, asked.names),
            Some(Why::OverQuota(bound)) => over_quota(bound, asked.names),
            Some(_) | None => Reason::new(1202, "OverLimit", "its queue may hold no more"),
        },
        Misfit::Short(lane) | Misfit::Overhead(lane) => short_of(lane, no_room, asked),
        _ => nodes::reason(no_room, asked),
    }
}

/// Too few GPUs are free, or not where its pods could use them.
fn gpus_short(no_room: &NoRoom, asked: Asked<'_>) -> Reason {
    if no_room.is_beyond_capacity() {
        let what = larger_than_all_nodes("it", need(no_room), no_room.capacity);
        return Reason::new(1220, "TooLarge", what).never();
    }
    let what = shortage(no_room) + &nodes::besides(no_room, asked.names);
    if let Some(kept) = kept(asked) {
        return Reason { sentence: format!("{what}; {}", kept.sentence), ..kept };
    }
    if no_room.is_fragmented() {
        return Reason::new(1205, "Fragmented", what);
    }
    match at_share(no_room, asked) {
        Some(share) => Reason::new(1221, "OverShare", format!("{what}; {share}")),
        None => Reason::new(1203, "NoCapacity", what),
    }
}

/// Pods that have to start together, one where it is none, and the GPUs of each.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Need {
    /// Their number.
    pub pods: u32,
    /// GPUs of each, in milli-devices.
    pub each_milli: i64,
}

fn need(no_room: &NoRoom) -> Need {
    let pods = if no_room.gang { no_room.alike.needed.max(1) } else { 1 };
    Need { pods, each_milli: no_room.gpu_milli }
}

impl Need {
    /// Tells whether each takes all GPUs of a node.
    fn is_whole(self, nodes: EmptyShape) -> bool {
        self.each_milli > GPU_MILLI && self.each_milli == nodes.node_max_milli
    }

    /// The part of a clause that says what is needed: `needs 3 whole nodes at once`.
    fn clause(self, nodes: EmptyShape) -> String {
        let each = gpus(self.each_milli);
        match (self.pods, self.is_whole(nodes)) {
            (..=1, true) => String::from("needs a whole node"),
            (..=1, false) if self.each_milli < GPU_MILLI => format!("needs {each}"),
            (..=1, false) => format!("needs {each} on one node"),
            (pods, true) => format!("needs {pods} whole nodes at once"),
            (count, false) => format!("needs {} with {each} each at once", pods(count)),
        }
    }
}

/// That a gang is larger than all nodes together, as the scheduler says it and the command line before it submits.
pub fn larger_than_all_nodes(whose: &str, need: Need, nodes: EmptyShape) -> String {
    let there = match (need.is_whole(nodes), nodes.pods) {
        (true, 1) => String::from("there is 1"),
        (true, all) => format!("there are {all}"),
        (false, all) => format!("all nodes together would hold {all}"),
    };
    format!("{whose} {}, {there}", need.clause(nodes))
}

/// Says what is needed, and what there is.
fn shortage(no_room: &NoRoom) -> String {
    let Alike { needed, placed } = no_room.alike;
    let is_gang = no_room.gang && needed > 1;
    let there = match (is_gang, need(no_room).is_whole(no_room.capacity)) {
        (true, true) => match placed {
            0 => String::from("none is free"),
            1 => String::from("1 is free"),
            placed => format!("{placed} are free"),
        },
        (true, false) if placed == 0 => String::from("there is room for none"),
        (true, false) => format!("there is room for {placed}"),
        (false, _) if no_room.is_fragmented() => scattered(no_room, ""),
        (false, true) => String::from("none is free"),
        (false, false) => free_on_one(no_room),
    };
    let more = if is_gang && no_room.is_fragmented() {
        format!(": {}", scattered(no_room, if placed > 0 { " more" } else { "" }))
    } else {
        String::new()
    };
    let clause = need(no_room).clause(no_room.capacity);
    format!("it {clause}, {there}{more}")
}

fn free_on_one(no_room: &NoRoom) -> String {
    let free = no_room.free;
    if no_room.gpu_milli < GPU_MILLI {
        return match free.part_max_milli {
            0 => String::from("no GPU has so much free"),
            part => format!("at most {} is free", gpus(i64::from(part))),
        };
    }
    match free.whole_max {
        0 => String::from("none is free"),
        1 => String::from("at most 1 is free on one"),
        whole => format!("at most {whole} are free on one"),
    }
}

/// That enough is free, and where.
fn scattered(no_room: &NoRoom, more: &str) -> String {
    let free = no_room.free;
    let all = thousandths(free.gpu_milli);
    if no_room.gpu_milli < GPU_MILLI || free.whole_max == 0 {
        let part = thousandths(i64::from(free.part_max_milli));
        return format!("{all}{more} GPUs are free, in parts of {part} at most");
    }
    format!("{all}{more} GPUs are free, at most {} of them on one node", free.whole_max)
}

/// That other queues hold enough, and its own may take none of it: it would have more than its fair share.
fn at_share(no_room: &NoRoom, asked: Asked<'_>) -> Option<String> {
    let (held, share) = share_of(&asked)?;
    let asks = asked.cluster.ask(kai_engine::GroupId::new(asked.group))[kai_engine::QueueLane::Gpu];
    let lacking = no_room.gpu_milli * i64::from(no_room.missing());
    let missing = lacking - no_room.free.gpu_milli;
    // What its own pods took in the same attempt is neither free nor held by others.
    let own = (asks - lacking).max(0);
    let of_others = no_room.capacity.gpu_milli - no_room.free.gpu_milli - held - own;
    if held + asks <= share || of_others < missing.max(1) {
        return None;
    }
    let queue = asked.queue();
    Some(format!(
        "with it queue {queue} would hold {}, more than its fair share of {}, so it may take none from others",
        gpus(held + asks),
        thousandths(share)
    ))
}

/// A pod is larger than every node.
fn too_large(no_room: &NoRoom, large: &TooLarge, asked: Asked<'_>) -> Reason {
    let amount = large.request.amount(large.lane);
    let is_gang = no_room.gang && no_room.min > 1;
    let whose = match (is_gang, whose(no_room.sub_group, asked.names)) {
        (true, whose) if whose == "it" => String::from("each of its pods"),
        (true, whose) => format!("each pod of {whose}"),
        (false, whose) => whose,
    };
    let [asks, most] = [amount, large.most].map(|amount| measure(large.lane, amount, asked));
    let what = if large.most == 0 {
        format!("{whose} asks for {asks}, and no node has any")
    } else {
        let split = (large.lane == Lane::GPU && !is_gang).then(|| split(amount, large.most));
        larger_than_nodes(&whose, [&asks, &most], split)
    };
    Reason::new(1220, "TooLarge", what).never()
}

/// In how many pods a request for so many GPUs would fit.
pub fn split(asked_milli: i64, most_milli: i64) -> i64 {
    let most_milli = most_milli.max(1);
    (asked_milli + most_milli - 1) / most_milli
}

/// That a pod is larger than every node, as the scheduler says it and the command line before it submits: what it asks for
/// and what the largest node has, and in how many pods it would fit.
pub fn larger_than_nodes(whose: &str, [asks, most]: [&str; 2], split: Option<i64>) -> String {
    // GPUs are named once.
    let most = most.strip_suffix(" GPUs").or(most.strip_suffix(" GPU")).unwrap_or(most);
    let others =
        split.map_or_else(String::new, |pods| format!(": {} pods would do", in_words(pods)));
    format!("{whose} asks for {asks} on one node, the largest has {most}{others}")
}

/// Too little of something else than GPUs is free.
fn short_of(lane: Lane, no_room: &NoRoom, asked: Asked<'_>) -> Reason {
    let resource = misfit::resource(lane, asked.names);
    let whose = whose(no_room.sub_group, asked.names);
    let overhead = if matches!(no_room.dominant, Misfit::Overhead(_)) {
        " with the overhead of its runtime class"
    } else {
        ""
    };
    let gang = if no_room.gang && no_room.alike.needed > 1 {
        format!(
            " of {} at once, there is room for {}",
            pods(no_room.alike.needed),
            no_room.alike.placed
        )
    } else {
        String::new()
    };
    let what = match lane {
        Lane::PODS => format!("{whose} finds no node with a pod slot free{gang}"),
        lane if lane == Lane::CPU || lane == Lane::MEMORY => {
            format!("{whose} finds no node with enough {resource} free{overhead}{gang}")
        }
        _ => format!("{whose} finds no node with enough {resource} free{gang}"),
    };
    let word = match lane {
        Lane::CPU => "NoCpu",
        Lane::MEMORY => "NoMemory",
        Lane::PODS => "NoPodSlot",
        _ => "NoCapacity",
    };
    match kept(asked) {
        Some(kept) => Reason { sentence: format!("{what}; {}", kept.sentence), ..kept },
        None => Reason::new(1203, word, what),
    }
}

/// An amount with its unit.
fn measure(lane: Lane, amount: i64, asked: Asked<'_>) -> String {
    let number = misfit::amount(lane, amount);
    match lane {
        Lane::GPU => gpus(amount),
        Lane::CPU => format!("{number} CPU cores"),
        Lane::MEMORY => format!("{number} GB of memory"),
        lane => format!("{number} {}", asked.names.lane_name(lane)),
    }
}
