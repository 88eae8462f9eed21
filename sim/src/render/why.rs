//! Reasons why a group waits, in words.

use kai_engine::{
    Bound, Charge, ClaimProblem, DomainProblem, EvictionKind, GPU_MILLI, Misfit, Missing, NoDomain,
    NoRoom, Progress, QueueLane, Unready, Unselected, Unsupported, Why,
};

use crate::{amount::decimal, names::Names};

/// Says why a group waits; none when it does not, or when a line of the plan says so already.
pub fn why(verdict: &Why, names: &Names) -> Option<String> {
    Some(match verdict {
        Why::Satisfied | Why::Nominated => return None,
        Why::QueueMissing => "its queue or one above does not exist".to_owned(),
        Why::QueueNotLeaf => "its queue has queues below it".to_owned(),
        Why::Malformed => "its subgroups make no tree".to_owned(),
        Why::Held => "it is held back".to_owned(),
        Why::NotReady(unready) => {
            let parts: Vec<String> =
                unready.iter().map(|unready| not_ready(unready, names)).collect();
            format!("not ready: {}", parts.join(", "))
        }
        Why::OverLimit(bound) => format!("over limit: {}", over(bound, false, names)),
        Why::OverQuota(bound) => format!("over quota: {}", over(bound, true, names)),
        Why::Gated => "what waits of it has scheduling gates".to_owned(),
        Why::Delayed { why: behind, .. } => match why(behind, names) {
            Some(behind) => format!("may not evict yet; {behind}"),
            None => "may not evict yet".to_owned(),
        },
        Why::NoRoom(no_room) => short_of_room(no_room, names),
        Why::NoDomain(no_domain) => domain(no_domain, names),
        Why::Behind { depth } => format!("behind the first {depth} of its queue"),
        Why::Undecided { progress, before } => {
            let before = before.as_deref().and_then(|before| why(before, names));
            let parts = before.into_iter().chain([search(progress)]);
            parts.collect::<Vec<String>>().join("; ")
        }
    })
}

/// Says how far a search for pods to evict is: `search not finished, goes on: reclaim, 3 of 16 groups looked at, ...`.
pub fn search(progress: &Progress) -> String {
    let (kind, groups, candidates, pods, pods_all, sets) = match progress {
        Progress::Packing { tries, tries_max } => {
            return format!(
                "search not finished, goes on: other ways to place it together, {tries} of at most \
                 {tries_max} tried"
            );
        }
        Progress::Eviction { kind, groups, candidates, pods, pods_all, sets } => {
            (kind, groups, candidates, pods, pods_all, sets)
        }
    };
    let kind = eviction_kind(*kind);
    let found = if *pods > 0 {
        format!(", victims found for {pods} of {pods_all} pods")
    } else {
        String::new()
    };
    let sets = if *sets == 1 { "1 set".to_owned() } else { format!("{sets} sets") };
    format!(
        "search not finished, goes on: {kind}, {groups} of {candidates} groups looked at, {sets} tried{found}"
    )
}

/// Names a kind of eviction.
pub(super) fn eviction_kind(kind: EvictionKind) -> &'static str {
    match kind {
        EvictionKind::Consolidate => "consolidation",
        EvictionKind::Reclaim => "reclaim",
        EvictionKind::Preempt => "preempt",
    }
}

fn not_ready(unready: &Unready, names: &Names) -> String {
    let sub_group = names.of_symbol(unready.sub_group);
    let whose = if sub_group.is_empty() { String::new() } else { format!(" of {sub_group}") };
    let gated =
        if unready.gated > 0 { format!(", {} gated", unready.gated) } else { String::new() };
    format!("{} of {} pods{whose}{gated}", unready.alive, unready.min)
}

fn over(bound: &Bound, protected: bool, names: &Names) -> String {
    let queue = &bound.queue;
    let (most, held) = if protected {
        (queue.quota[bound.lane], queue.allocated_non_preemptible[bound.lane])
    } else {
        (queue.limit[bound.lane], queue.allocated[bound.lane])
    };
    let most = most.amount().map_or("unlimited".to_owned(), |most| counted(bound.lane, most));
    format!(
        "{} may hold {most}, holds {}, asked {}",
        names.of_queue(queue.queue),
        amount(bound.lane, held),
        amount(bound.lane, asked(&bound.requested, bound.lane)),
    )
}

fn asked(charge: &Charge, lane: QueueLane) -> i64 {
    charge[lane]
}

/// An amount with the name of what it counts.
pub(super) fn counted(lane: QueueLane, units: i64) -> String {
    let (one, many) = match lane {
        QueueLane::Cpu => ("core", "cores"),
        QueueLane::Memory => ("byte", "bytes"),
        QueueLane::Gpu => ("GPU", "GPUs"),
    };
    let amount = amount(lane, units);
    let name = if amount == "1" { one } else { many };
    format!("{amount} {name}")
}

pub(super) fn amount(lane: QueueLane, units: i64) -> String {
    match lane {
        QueueLane::Cpu | QueueLane::Gpu => decimal(units, GPU_MILLI),
        QueueLane::Memory => units.to_string(),
    }
}

fn short_of_room(no_room: &NoRoom, names: &Names) -> String {
    let sub_group = names.of_symbol(no_room.sub_group);
    let whose = if sub_group.is_empty() { String::new() } else { format!(" of {sub_group}") };
    let gang = if no_room.gang && no_room.min > 1 {
        format!("placed {} of {} pods{whose}, ", no_room.placed, no_room.min)
    } else {
        String::new()
    };
    let nodes: Vec<String> = no_room
        .misfits
        .iter()
        .map(|(why, count)| format!("{count} {}", misfit(*why, *count, names)))
        .collect();
    let nodes = if nodes.is_empty() { "there is no node".to_owned() } else { nodes.join(", ") };
    let nodes = match &no_room.too_large {
        Some(large) => {
            let lane = names.of_lane(large.lane);
            let milli = matches!(large.lane, kai_engine::Lane::GPU | kai_engine::Lane::CPU);
            let unit = if milli { GPU_MILLI } else { 1 };
            let [asked, most] =
                [large.request.amount(large.lane), large.most].map(|amount| decimal(amount, unit));
            format!("asks for {asked} {lane}, no node has more than {most}")
        }
        None => nodes,
    };
    let first = no_room.misfits.first().map(|(misfit, _)| *misfit);
    let about_gpus = matches!(first, Some(Misfit::Short(kai_engine::Lane::GPU) | Misfit::Device));
    let free = if about_gpus { format!("; {}", free(no_room)) } else { String::new() };
    format!("no room: {gang}{nodes}{free}")
}

fn free(no_room: &NoRoom) -> String {
    let shape = no_room.free;
    let part = if shape.part_max_milli > 0 {
        format!(", largest part {}", decimal(i64::from(shape.part_max_milli), GPU_MILLI))
    } else {
        String::new()
    };
    let free = counted(QueueLane::Gpu, shape.gpu_milli);
    format!("free {free}, at most {} on a node{part}", shape.whole_max)
}

/// Says what is wrong with a claim.
fn claim_problem(problem: ClaimProblem, claim: &str) -> String {
    let what = match problem {
        ClaimProblem::NotServed => "is named where no claims are served",
        ClaimProblem::NotFound => "does not exist",
        ClaimProblem::OtherQueue => "is shared and not labelled with the queue",
        ClaimProblem::Full => "has the most consumers, 256",
        ClaimProblem::NoClass => "names a device class that does not exist",
        ClaimProblem::Unselected(Unselected::Undecided) => "has selectors that are not decided yet",
        ClaimProblem::Unselected(Unselected::Broken) => "has a selector that cannot be used",
        ClaimProblem::Unselected(Unselected::Costly) => "has a selector that costs too much",
        ClaimProblem::Unsupported(Unsupported::Mode) => "has an unknown allocation mode",
        ClaimProblem::Unsupported(Unsupported::Constraint) => "has an unknown constraint",
        ClaimProblem::Unsupported(Unsupported::TooMany) => {
            "brings its namespace beyond what it may ask for"
        }
        ClaimProblem::Unsupported(Unsupported::TooManyVolumes) => {
            "brings its namespace beyond the volumes that it may ask for"
        }
        ClaimProblem::GivenUp => "can be met in more ways than are tried",
        ClaimProblem::TooManyDevices => "asks for more devices than a claim may be given",
        ClaimProblem::TooManyRequests => "has more requests than those of one pod may have",
        ClaimProblem::Apart => "is bound to another node than another claim",
    };
    format!("claim {claim} {what}")
}

/// Gives the words that follow a count of nodes.
fn misfit(why: Misfit, count: u32, names: &Names) -> String {
    let nodes = if count == 1 { "node" } else { "nodes" };
    let what = match why {
        Misfit::Blocked(blocked) => return format!("{nodes} closed ({blocked:?})"),
        Misfit::Taint(taint) => {
            let value = names.of_symbol(taint.value);
            let value = if value.is_empty() { String::new() } else { format!("={value}") };
            return format!("{nodes} tainted {}{value}", names.of_symbol(taint.key));
        }
        Misfit::Short(kai_engine::Lane::PODS) => "full of pods",
        Misfit::Short(lane) => return format!("{nodes} short of {}", names.of_lane(lane)),
        Misfit::Overhead(lane) => {
            return format!("{nodes} short of {} for the overhead", names.of_lane(lane));
        }
        Misfit::Selector => "without the labels it selects",
        Misfit::Worker => "for other work",
        Misfit::LegacyMig => "refuse MIG by annotation",
        Misfit::BesideLegacyMig => "with MIG by annotation on it",
        Misfit::NotMig => "without MIG",
        Misfit::MigSingle => "with MIG only whole",
        Misfit::MigMixed => "with MIG only in instances",
        Misfit::GpuMemoryUnknown => "with unknown GPU memory",
        Misfit::GpuTooSmall => "with GPUs too small",
        Misfit::Device => "with too small parts of GPUs",
        Misfit::SetAside => "with GPUs set aside from sharing",
        Misfit::PodSlots => "without a pod slot for a reservation",
        Misfit::Port => "with the port taken",
        Misfit::Affinity => "away from the pods it must be near",
        Misfit::AntiAffinity => "near pods it must avoid",
        Misfit::Barred => "near pods that must avoid it",
        Misfit::Spread => "in domains with too many pods of its kind",
        Misfit::Volume => "without access to a volume of it",
        Misfit::VolumeUnbound => "without a volume for a claim of it",
        Misfit::StorageAbsent(class) => {
            return format!("{nodes} without storage of class {}", names.of_symbol(class));
        }
        Misfit::StorageShort(class) => {
            return format!("{nodes} short of storage of class {}", names.of_symbol(class));
        }
        Misfit::Missing(Missing::Request(_)) => "cannot give what makes no sense",
        Misfit::Missing(Missing::Turn) => "take it once it has its turn",
        Misfit::Missing(_) => "cannot give what does not exist",
        Misfit::Elsewhere => "away from the devices that a claim of it has",
        Misfit::Devices => "without the devices that its claims ask for",
        Misfit::OnlyClaims => "with GPUs for resource claims only",
        Misfit::Claim(claim, problem) => {
            return format!("{nodes} refused: {}", claim_problem(problem, names.of_claim(claim)));
        }
        Misfit::Zones => "with NUMA zones that do not fit it",
        Misfit::Queue => "cost its queue too much",
    };
    format!("{nodes} {what}")
}

fn domain(no_domain: &NoDomain, names: &Names) -> String {
    let sub_group = names.of_symbol(no_domain.sub_group);
    let whose = if sub_group.is_empty() { String::new() } else { format!(" for {sub_group}") };
    let topology = names.of_topology(no_domain.topology);
    match &no_domain.problem {
        DomainProblem::NoTopology => {
            format!("no domain{whose}: topology {topology} does not exist")
        }
        DomainProblem::NoLevel { level, required } => {
            let kind = if *required { "required" } else { "preferred" };
            format!(
                "no domain{whose}: {topology} has no level {}, which is {kind}",
                names.of_symbol(*level)
            )
        }
        DomainProblem::NeitherLevel => {
            format!("no domain{whose}: no level of {topology} is required or preferred")
        }
        DomainProblem::LevelsReversed => {
            format!(
                "no domain{whose}: the preferred level of {topology} is wider than the required one"
            )
        }
        DomainProblem::Outside { level } => {
            format!(
                "no domain{whose}: its pods that run are in none at {}",
                names.of_symbol(*level)
            )
        }
        DomainProblem::NoFit { level, domains, pods_max, pods, .. } => {
            let level = level.map_or("", |level| names.of_symbol(level));
            format!(
                "no domain{whose}: of {domains} at {level}, one takes at most {pods_max} of {pods} pods"
            )
        }
    }
}
