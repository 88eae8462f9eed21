//! Says why nodes refuse a pod for what they are, and what a pod refers to and is not there, in one clause.

use kai_engine::{
    Alike, Blocked, ClaimProblem, Effect, Lane, Misfit, Missing, NoRoom, Taint, Unselected,
};

use super::{Asked, Reason, nodes_of, whose};
use crate::message::misfit::{TURN, claim_problem, resource};
use crate::names::Names;

/// The reason of a group of which nodes refuse a pod.
#[expect(clippy::wildcard_enum_match_arm, reason = "all others are counted by the node")]
pub(super) fn reason(no_room: &NoRoom, asked: Asked<'_>) -> Reason {
    let names = asked.names;
    match no_room.dominant {
        Misfit::Missing(missing) => return absent(missing, names),
        Misfit::Claim(claim, problem) => return of_claim(problem, names.of_claim(claim)),
        Misfit::SetAside => {
            let what =
                "it shares a GPU, and on the nodes with room a reservation failed a moment ago";
            return Reason::new(1211, "NoReservation", what);
        }
        _ => {}
    }
    let all: u32 = no_room.misfits.iter().map(|(_, count)| *count).sum();
    let own = no_room.misfits.iter().find(|(misfit, _)| *misfit == no_room.dominant);
    let count = own.map_or(0, |(_, count)| *count);
    let some = if count == all && all > 1 {
        format!("all {all} nodes")
    } else if count == all {
        String::from("the only node")
    } else {
        format!("{count} of {}", nodes_of(all))
    };
    let (code, word) = word(no_room.dominant);
    let gang = if no_room.gang && no_room.alike.needed > 1 {
        let whose = whose(no_room.sub_group, names);
        let Alike { needed, placed } = no_room.alike;
        format!("; {whose} needs {needed} pods at once, there is room for {placed}")
    } else {
        String::new()
    };
    let what = format!("{some} {}{gang}", verb(no_room.dominant, count, names));
    let reason = Reason::new(code, word, what);
    if no_room.misfits.iter().all(|(misfit, _)| stays(*misfit)) { reason.never() } else { reason }
}

/// Adds to a clause about GPUs that some nodes refuse for another reason, the most frequent one: `; 1 node is cordoned`.
pub(super) fn besides(no_room: &NoRoom, names: &Names) -> String {
    let is_other = |misfit: Misfit| {
        let is_tied = matches!(
            misfit,
            Misfit::Blocked(_) | Misfit::Volume | Misfit::VolumeUnbound | Misfit::Affinity
        );
        is_tied || stays(misfit)
    };
    let other = no_room.misfits.iter().find(|(misfit, _)| is_other(*misfit));
    other.map_or_else(String::new, |(misfit, count)| {
        format!("; {} {}", nodes_of(*count), verb(*misfit, *count, names))
    })
}

/// Tells whether a node that refuses for this goes on to, whatever ends or is evicted.
fn stays(misfit: Misfit) -> bool {
    matches!(
        misfit,
        Misfit::Taint(_)
            | Misfit::Selector
            | Misfit::Worker
            | Misfit::LegacyMig
            | Misfit::NotMig
            | Misfit::MigSingle
            | Misfit::MigMixed
            | Misfit::GpuTooSmall
            | Misfit::OnlyClaims
            | Misfit::StorageAbsent(_)
    )
}

/// The number of a reason of nodes, and its word.
fn word(misfit: Misfit) -> (u16, &'static str) {
    match misfit {
        Misfit::Taint(_) => (1209, "Taint"),
        Misfit::Blocked(_) => (1209, "NodesClosed"),
        Misfit::Selector => (1209, "NodeSelector"),
        Misfit::Worker => (1209, "WorkerLabel"),
        Misfit::LegacyMig
        | Misfit::BesideLegacyMig
        | Misfit::NotMig
        | Misfit::MigSingle
        | Misfit::MigMixed => (1209, "Mig"),
        Misfit::Port => (1209, "HostPort"),
        Misfit::Affinity | Misfit::AntiAffinity | Misfit::Barred => (1209, "PodAffinity"),
        Misfit::Spread => (1209, "TopologySpread"),
        Misfit::GpuMemoryUnknown | Misfit::GpuTooSmall => (1211, "GpuMemory"),
        Misfit::SetAside => (1211, "NoReservation"),
        Misfit::OnlyClaims => (1211, "OnlyClaims"),
        Misfit::Volume
        | Misfit::VolumeUnbound
        | Misfit::StorageAbsent(_)
        | Misfit::StorageShort(_) => (1210, "NoVolume"),
        Misfit::Missing(_) => (1210, "Missing"),
        Misfit::Claim(..) => (1210, "ResourceClaim"),
        Misfit::Devices | Misfit::Elsewhere => (1203, "NoDevices"),
        Misfit::Zones => (1203, "NumaZones"),
        Misfit::Queue => (1202, "OverLimit"),
        Misfit::Short(Lane::PODS) | Misfit::PodSlots => (1203, "NoPodSlot"),
        Misfit::Short(_) | Misfit::Overhead(_) | Misfit::Device => (1203, "NoCapacity"),
    }
}

/// Says what so many nodes are or have that keeps the pod out: `have the taint gpu=true:NoSchedule, which it does not tolerate`.
pub(in crate::message) fn verb(misfit: Misfit, count: u32, names: &Names) -> String {
    let (have, are, do_not) =
        if count == 1 { ("has", "is", "does not") } else { ("have", "are", "do not") };
    match misfit {
        Misfit::Taint(of) => {
            format!("{have} the taint {}, which it does not tolerate", taint(of, names))
        }
        Misfit::Blocked(blocked) => match blocked {
            Blocked::Unschedulable => format!("{are} cordoned"),
            Blocked::NotReady => format!("{are} not ready"),
            Blocked::MemoryPressure => format!("{are} short of memory"),
            Blocked::DiskPressure => format!("{are} short of disk space"),
            Blocked::PidPressure => format!("{are} short of process ids"),
            Blocked::NetworkUnavailable => format!("{have} no network"),
        },
        Misfit::Selector => format!("{do_not} match its node selector or node affinity"),
        Misfit::Worker => format!("{do_not} have the worker label for this kind of work"),
        Misfit::LegacyMig => {
            format!("{do_not} take MIG instances that are asked for by annotation")
        }
        Misfit::BesideLegacyMig => {
            format!("{have} a pod with MIG instances by annotation, and take no other MIG pod")
        }
        Misfit::NotMig => format!("{have} no MIG instances"),
        Misfit::MigSingle => format!("{have} MIG strategy single, and give whole GPUs only"),
        Misfit::MigMixed => format!("{have} MIG strategy mixed, and give MIG instances only"),
        Misfit::GpuMemoryUnknown => format!("{do_not} tell how much memory their GPUs have"),
        Misfit::GpuTooSmall => format!("{have} GPUs with less memory than it asks for"),
        Misfit::Short(lane) | Misfit::Overhead(lane) => {
            format!("{have} too few free {}", resource(lane, names))
                .replace("few free memory", "little free memory")
        }
        Misfit::Device => format!("{have} GPUs free in parts that are too small"),
        Misfit::SetAside => format!("{are} set aside, since a reservation of a GPU failed there"),
        Misfit::PodSlots => format!("{have} no pod slot free for the reservation of a GPU"),
        Misfit::Port => format!("{have} its host port taken"),
        Misfit::Affinity => {
            format!("{are} not near the pods that it has to be near (pod affinity)")
        }
        Misfit::AntiAffinity => {
            format!("{are} near pods that it must not be near (pod anti-affinity)")
        }
        Misfit::Barred => format!("{have} pods that must not have it near (their anti-affinity)"),
        Misfit::Spread => format!("{are} in domains that have enough such pods (topology spread)"),
        Misfit::Volume => format!("{do_not} reach its volume"),
        Misfit::VolumeUnbound => format!("{do_not} offer a volume for its claim"),
        Misfit::StorageAbsent(class) => {
            format!("{have} no storage of class {}", names.text(class))
        }
        Misfit::StorageShort(class) => {
            format!("{have} too little free storage of class {}", names.text(class))
        }
        Misfit::Missing(_) => String::from("lack what the pod refers to"),
        Misfit::Devices => format!("{do_not} have the devices free that its claims ask for"),
        Misfit::Elsewhere => format!("{do_not} reach the devices of its claim"),
        Misfit::OnlyClaims => format!("{have} GPUs for resource claims only"),
        Misfit::Claim(..) => String::from("are out, for a resource claim of the pod"),
        Misfit::Zones => format!("{have} no NUMA zones that hold it as their policy wants"),
        Misfit::Queue => format!("{have} GPUs that cost its queue more than it may have"),
    }
}

/// A taint as kubectl writes it.
fn taint(taint: Taint, names: &Names) -> String {
    let effect = match taint.effect {
        Effect::NoSchedule => "NoSchedule",
        Effect::PreferNoSchedule => "PreferNoSchedule",
        Effect::NoExecute => "NoExecute",
    };
    let (key, value) = (names.text(taint.key), names.text(taint.value));
    if value.is_empty() { format!("{key}:{effect}") } else { format!("{key}={value}:{effect}") }
}

/// Something that a pod refers to is not there.
fn absent(missing: Missing, names: &Names) -> Reason {
    let text = |symbol| names.text(symbol);
    let volume = |what: String| Reason::new(1210, "NoVolume", what);
    match missing {
        Missing::Claim(claim) => volume(format!("volume claim {} does not exist", text(claim))),
        Missing::Ephemeral(claim) => {
            volume(format!("volume claim {} has not been made yet", text(claim)))
        }
        Missing::NotOwned(claim) => {
            volume(format!("volume claim {} belongs to another pod", text(claim)))
        }
        Missing::Deleted(claim) => volume(format!("volume claim {} is being deleted", text(claim))),
        Missing::Lost(claim, lost) => volume(format!(
            "volume claim {} lost its volume {}, which does not exist any more",
            text(claim),
            text(lost)
        )),
        Missing::Unbound => volume(String::from("a volume claim of it has no volume yet")),
        Missing::ConfigMap(name) => {
            Reason::new(1210, "NoConfigMap", format!("config map {} does not exist", text(name)))
        }
        Missing::Request(what) => {
            Reason::new(1211, "InvalidGpu", text(what).trim_end_matches('.')).never()
        }
        Missing::Turn => Reason::new(1209, "TopologySpread", TURN),
    }
}

/// A resource claim keeps it out.
#[expect(
    clippy::wildcard_enum_match_arm,
    reason = "all others are said in the words of conditions"
)]
fn of_claim(problem: ClaimProblem, claim: &str) -> Reason {
    let what = match problem {
        ClaimProblem::NotFound => format!("resource claim {claim} does not exist"),
        _ => claim_problem(problem, claim),
    };
    let reason = Reason::new(1210, "ResourceClaim", what);
    match problem {
        ClaimProblem::Unsupported(_)
        | ClaimProblem::Unselected(Unselected::Broken | Unselected::Costly)
        | ClaimProblem::TooManyDevices
        | ClaimProblem::TooManyRequests
        | ClaimProblem::OtherQueue => reason.never(),
        ClaimProblem::NotServed
        | ClaimProblem::NotFound
        | ClaimProblem::Full
        | ClaimProblem::NoClass
        | ClaimProblem::Unselected(Unselected::Undecided)
        | ClaimProblem::Apart
        | ClaimProblem::GivenUp => reason,
    }
}
