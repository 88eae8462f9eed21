//! May this pod run here now, or once others left? On which shared GPUs?

use crate::{
    base::{
        ids::{DeviceId, NodeId, PodId},
        resources::{GPU_MILLI, Lane},
    },
    decided::{plan::Misfit, when::When},
    state::{
        State,
        device::{self, Device},
        fragments,
        shape::ShapeRow,
    },
    told::{
        placement::Placement,
        pod::{GpuRequest, Place},
    },
};

/// Shared GPUs for a pod.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(crate) struct Devices {
    pub(crate) ids: Box<[DeviceId]>,
    /// Number of them that nobody shared before.
    pub(crate) opened: u32,
    /// True if one of them is still in use by pods that leave.
    pub(crate) later: bool,
}

/// Choice among the shared GPUs of a node.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Choice {
    By(Placement),
    /// The so manieth of all ways to choose that differ in what is free then, those that share the fullest first.
    Nth(usize),
}

/// Tells whether a node has room for a pod of a shape, its GPUs taken together.
///
/// # Source
/// docs/behaviour.md 2.8. What a pod does not ask for is not looked at.
pub(crate) fn room(state: &State, shape: &ShapeRow, node: NodeId) -> Result<When, Misfit> {
    let mut room = When::Now;
    let (idle, releasing) = (state.nodes().idle.row(node), state.nodes().releasing.row(node));
    for &(lane, amount) in &shape.take {
        let of = |row: &[i64]| row.get(lane.row()).copied().unwrap_or(0);
        let idle = of(idle);
        if idle + of(releasing) < amount {
            if is_backed(state, lane, node) {
                continue;
            }
            return Err(Misfit::Short(lane));
        }
        if idle < amount {
            room = When::Later;
        }
    }
    let parts = parts_room(state, shape, node)?;
    Ok(if parts == When::Later { parts } else { room })
}

/// Tells whether a node lacks an amount, also once everything left that is about to.
pub(crate) fn lacks(state: &State, node: NodeId, lane: Lane, amount: i64) -> bool {
    let free = state.nodes().idle.get(node, lane) + state.nodes().releasing.get(node, lane);
    free < amount && !is_backed(state, lane, node)
}

/// Tells whether a node has room for the parts of GPUs that a shape asks for.
pub(crate) fn parts_room(state: &State, shape: &ShapeRow, node: NodeId) -> Result<When, Misfit> {
    if shape.shared == 0 {
        return Ok(When::Now);
    }
    let sharing = sharing(state, shape, node);
    let needed = usize::from(shape.shared);
    let (idle, free) = state.nodes().plugin_gpus(node);
    let aside = state.nodes().set_aside(node);
    if unshared(idle, free, aside) + sharing < needed {
        if state.nodes().is_for_claims(node) {
            return Err(Misfit::OnlyClaims);
        }
        if unshared(idle, free, 0) + sharing >= needed {
            return Err(Misfit::SetAside);
        }
        let partly = state.nodes().devices.get(node).is_some_and(|devices| !devices.is_empty());
        return Err(if partly { Misfit::Device } else { Misfit::Short(Lane::GPU) });
    }
    Ok(if unshared(idle, idle, aside) + sharing < needed { When::Later } else { When::Now })
}

/// Tells whether devices stand in for a resource on a node, so that its amounts say nothing.
pub(crate) fn is_backed(state: &State, lane: Lane, node: NodeId) -> bool {
    lane != Lane::GPU && state.claims().backs.contains_key(&lane) && {
        let facts = state.nodes().facts[node].as_ref();
        facts.is_some_and(|facts| facts.allocatable.amount(lane) == 0)
    }
}

/// Tells whether a shape asks for a resource that devices stand in for where no device plugin offers it.
pub(crate) fn asks_for_backed(state: &State, shape: &ShapeRow) -> bool {
    let backs = &state.claims().backs;
    !backs.is_empty() && shape.asked().any(|(lane, _)| backs.contains_key(&lane))
}

/// More than a thousand GPUs are as far from any as a million, and are multiplied with the number of GPUs.
const PART_MICRO_MAX: i64 = 1_000_000_000;

/// The part of a GPU that a shape shares, in millionths, at least: of the largest GPUs there are.
pub(crate) fn part_micro(state: &State, shape: &ShapeRow) -> i64 {
    match &shape.facts.gpu {
        GpuRequest::Fraction { micro, .. } => i64::from(*micro),
        GpuRequest::Memory { mib, .. } => {
            let largest = i64::from(state.nodes().memory_max().unwrap_or(u32::MAX)).max(1);
            (i64::from(*mib) * 1_000_000 / largest).min(PART_MICRO_MAX)
        }
        GpuRequest::None | GpuRequest::Whole(_) | GpuRequest::Mig(_) | GpuRequest::LegacyMig(_) => {
            0
        }
    }
}

/// Counts the shared GPUs of a node that have room for one part more of this shape.
pub(crate) fn sharing(state: &State, shape: &ShapeRow, node: NodeId) -> usize {
    let gpus = state.nodes().gpus(node);
    let Some(part) = device::part(&shape.facts.gpu, gpus) else { return 0 };
    let capacity = device::capacity(gpus);
    state
        .nodes()
        .devices
        .get(node)
        .map_or(0, |devices| devices.iter().filter(|device| device.room(capacity) >= part).count())
}

/// Chooses shared GPUs on a node that has [`room`]; none where the parts or the pod slots for
/// reservation pods don't come together.
///
/// # Source
/// docs/behaviour.md 2.7 and 9.4; a GPU that nobody shares yet needs a slot for its reservation pod (10.2).
pub(crate) fn devices(
    state: &State,
    shape: &ShapeRow,
    node: NodeId,
    choice: Choice,
) -> Option<Devices> {
    if shape.shared == 0 {
        return Some(Devices::default());
    }
    let gpus = state.nodes().gpus(node);
    let part = device::part(&shape.facts.gpu, gpus)?;
    let capacity = device::capacity(gpus);
    let devices = state.nodes().devices.get(node).map_or(&[][..], Vec::as_slice);
    let roomy = |device: &&Device| device.room(capacity) >= part;
    let mut sharing: Vec<&Device> = devices.iter().filter(roomy).collect();
    let (idle, free) = state.nodes().plugin_gpus(node);
    let aside = state.nodes().set_aside(node);
    let slots = usize::try_from(state.nodes().free(node, Lane::PODS)).unwrap_or(0);
    // A pod and the reservation pods of what it opens have a slot each.
    let new_max = unshared(idle, free, aside).min(slots.saturating_sub(1));
    let count = usize::from(shape.shared);
    let opened = match choice {
        Choice::By(placement) => {
            let new_first = order_devices(state, shape, node, placement, &mut sharing);
            let missing = count.saturating_sub(sharing.len());
            match placement {
                Placement::Spread => new_max.min(count),
                Placement::Pack | Placement::Any | Placement::Fragmentation => {
                    missing.max(usize::from(new_first && new_max > 0))
                }
            }
        }
        Choice::Nth(n) => {
            order_devices(state, shape, node, Placement::Pack, &mut sharing);
            let fill = |device: &Device| Fill::of(device, part, capacity);
            let ways = Ways { count, new_max };
            sharing = ways.nth(n, &sharing, |a, b| fill(a) == fill(b))?;
            count - sharing.len()
        }
    };
    if opened > new_max || count - opened > sharing.len() {
        return None;
    }
    let shared = &sharing[..count - opened];
    let idle_slots = usize::try_from(state.nodes().idle.get(node, Lane::PODS)).unwrap_or(0);
    let later = opened > unshared(idle, idle, aside)
        || shared.iter().any(|device| device.idle(capacity) < part)
        || (opened > 0 && idle_slots <= opened);
    let opened = u32::try_from(opened).expect("a node has fewer than 2^32 GPUs");
    let new = (0..opened).map(|n| DeviceId::opened(state.opened() + n));
    let ids = shared.iter().map(|device| device.id).chain(new).collect();
    Some(Devices { ids, opened, later })
}

/// Tells how full the GPUs are that a pod would share in a place, in order.
pub(crate) fn shared_fills(state: &State, pod: PodId, place: &Place) -> Vec<Fill> {
    let gpus = state.nodes().gpus(place.node);
    let shape = &state.shapes()[state.pods()[pod].shape];
    let part = device::part(&shape.facts.gpu, gpus).unwrap_or_default();
    let devices = state.nodes().devices.get(place.node).map_or(&[][..], Vec::as_slice);
    let shared = devices.iter().filter(|device| place.devices.contains(&device.id));
    let fill = |device| Fill::of(device, part, device::capacity(gpus));
    let mut fills: Vec<Fill> = shared.map(fill).collect();
    fills.sort_unstable();
    fills
}

/// Orders shared GPUs that have room, the best first; says whether one that nobody shares yet is better still.
fn order_devices(
    state: &State,
    shape: &ShapeRow,
    node: NodeId,
    placement: Placement,
    sharing: &mut [&Device],
) -> bool {
    let taken = |device: &Device| device.held + device.nominated;
    match placement {
        Placement::Pack => sharing.sort_by_key(|device| (-taken(device), device.uids)),
        Placement::Spread => sharing.sort_by_key(|device| (taken(device), device.uids)),
        Placement::Any => sharing.sort_by_key(|device| device.uids),
        Placement::Fragmentation => {
            return fragments::order_by_fragments(state, shape, node, sharing);
        }
    }
    false
}

/// Counts the GPUs that may be opened for sharing, of so many milli-devices that are idle, and that are idle or coming
/// free.
///
/// Where some are set aside only idle ones may be: what a victim gives up may be that which it takes again, and nobody is
/// worth evicting for a GPU that may be the one that does not report.
fn unshared(idle: i64, free: i64, aside: usize) -> usize {
    let milli = if aside > 0 { idle.min(free) } else { free };
    usize::try_from(milli / GPU_MILLI).unwrap_or(0).saturating_sub(aside)
}

/// Everything that decides whether two shared GPUs are alike for a part of one.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(crate) struct Fill {
    /// KiB free now or to come.
    room: i64,
    /// True if the part fits only then.
    later: bool,
}

impl Fill {
    fn of(device: &Device, part: i64, capacity: i64) -> Self {
        Self { room: device.room(capacity), later: device.idle(capacity) < part }
    }
}

/// The ways to choose so many GPUs: some that are shared, and some that nobody shares yet.
struct Ways {
    count: usize,
    /// Of those that nobody shares yet there are at most so many.
    new_max: usize,
}

impl Ways {
    /// Picks the GPUs that are shared in the n-th way; none past the last one.
    ///
    /// # Cost
    /// In the ways before it.
    fn nth<'d>(
        &self,
        n: usize,
        sharing: &[&'d Device],
        alike: impl Fn(&Device, &Device) -> bool,
    ) -> Option<Vec<&'d Device>> {
        let kinds: Vec<&[&Device]> = sharing.chunk_by(|a, b| alike(a, b)).collect();
        let (mut left, mut taken) = (n, Vec::new());
        self.find(&mut left, &kinds, &mut taken).then_some(taken)
    }

    fn find<'d>(
        &self,
        left: &mut usize,
        kinds: &[&[&'d Device]],
        taken: &mut Vec<&'d Device>,
    ) -> bool {
        let missing = self.count - taken.len();
        let rest: usize = kinds.iter().map(|kind| kind.len()).sum();
        if rest + self.new_max < missing {
            return false;
        }
        let Some((kind, others)) = kinds.split_first() else {
            *left = left.wrapping_sub(1);
            return *left == usize::MAX;
        };
        let before = taken.len();
        (0..=missing.min(kind.len())).rev().any(|some| {
            taken.truncate(before);
            taken.extend(&kind[..some]);
            self.find(left, others, taken)
        })
    }
}
