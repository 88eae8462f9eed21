//! The best node for a pod.
//!
//! # Source
//! docs/behaviour.md 9. KAI adds scores of such different size that their order is lexicographic; here the
//! order is the order of looking: the nominated node, shared GPUs before untouched ones for parts of a GPU where nodes
//! are not spread, room now before room later, fewer NUMA zones before more, nodes without GPUs for work without, then
//! the placement key, then the name.

mod tiers;

use crate::{
    base::{
        id_set::IdSet,
        ids::{GroupId, NodeId, PodId, Rank, ShapeId},
        resources::{GPU_MILLI, Lane},
    },
    decided::{plan::Misfit, when::When},
    fit::{
        devices::{
            admit,
            standing::{self, PodClaims},
        },
        filter::{self, Choice},
        pod_affinity::{self, PodAffinity, pod_affinity},
        preferences, spread, zones,
    },
    queues::limits,
    state::{State, fragments, looks::Looks, shape::ShapeRow},
    told::{
        placement::Placement,
        pod::{GpuRequest, Place},
    },
};

pub(crate) use tiers::best_node_of_tiers;

/// A node for a pod.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Found {
    pub(crate) place: Place,
    /// Number of shared GPUs that it opens.
    pub(crate) opened: u32,
    pub(crate) room: When,
}

/// Below this many candidate nodes they are sorted rather than looked up in the order of all nodes.
const FEW: usize = 64;

/// A search for one pod.
#[derive(Clone, Copy)]
struct NodeSearch<'c> {
    state: &'c State,
    pod: PodId,
    shape: &'c ShapeRow,
    /// Nodes that it may go to at all.
    nodes: &'c IdSet<Rank>,
    within: &'c IdSet<Rank>,
    /// The nodes that are compared; none for all there are.
    domain: Option<&'c IdSet<Rank>>,
    devices: Choice,
    pod_affinity: Option<&'c PodAffinity>,
    /// States of its claims; none where neither it nor the cluster has to do with claims or zones.
    pod_claims: Option<&'c PodClaims>,
    /// Over how many NUMA zones it may spread; none where that does not matter.
    span_max: Option<usize>,
    /// True if room may come to nodes where nothing leaves, or what leaves is promised: devices that several nodes reach, and
    /// claims of pods that were promised their places.
    reaches: bool,
    /// Number of nodes that were looked at.
    looked: u64,
    looks: Looks,
}

/// Everything that bounds the searches for a pod and was found out before them.
struct Bounds<'w> {
    pod: PodId,
    /// The nodes that are compared; none for all there are.
    domain: Option<&'w IdSet<Rank>>,
    /// Those of them that claims, topology spread and anti-affinity leave; none where these leave all.
    left: Option<&'w IdSet<Rank>>,
    devices: Choice,
    pod_affinity: Option<&'w PodAffinity>,
    pod_claims: Option<&'w PodClaims>,
}

/// The best node for a waiting pod among `within`, or among all.
///
/// # Cost
/// A few set operations and the nodes that are looked at in vain; these are counted in `steps.nodes`, and the
/// looks at devices for claims in `steps.looks`. What it wishes for is not asked before there is a node at all.
pub(crate) fn best_node(
    state: &mut State,
    pod: PodId,
    within: Option<&IdSet<Rank>>,
    devices: Choice,
) -> Option<Found> {
    find(state, pod, within, None, devices)
}

/// The best node for a waiting pod among `domain`, or among all; where these fall into tiers, in the first that has one.
/// All that bounds it but the tier is found out once.
fn find(
    state: &mut State,
    pod: PodId,
    domain: Option<&IdSet<Rank>>,
    tiers: Option<&[IdSet<Rank>]>,
    devices: Choice,
) -> Option<Found> {
    let shape: ShapeId = state.pods()[pod].shape;
    state.ensure_feasible(shape);
    state.steps.looks += state.pods()[pod].claims.len() as u64 / 4;
    let pod_claims = claims_or_zones(state, pod).ok()?;
    let nodes = state.nodes().index.feasible(shape);
    let only = pod_claims.as_ref().and_then(|one| one.only(state, domain.unwrap_or(nodes)));
    let within = only.as_ref().or(domain);
    let row = &state.shapes()[shape];
    let policy = state.nodes().index.policy;
    let placement = if row.cpu_only { policy.cpu } else { policy.gpu };
    if placement == Placement::Fragmentation {
        let has_room =
            |state: &State, shape: &ShapeRow, node| filter::room(state, shape, node).is_ok();
        fragments::rank_by_fragments(state, shape, has_room);
    }
    let pod_affinity = pod_affinity(state, pod);
    let spreads = pod_affinity.as_ref().map_or(&[][..], |one| &one.spread);
    let open = spread::open(state, pod, spreads, within);
    let within = open.as_ref().or(within);
    let apart = pod_affinity.as_ref().and_then(|one| pod_affinity::open(state, pod, one, within));
    let left = apart.as_ref().or(open.as_ref()).or(only.as_ref());
    let (pod_affinity, pod_claims) = (pod_affinity.as_ref(), pod_claims.as_ref());
    let bounds = Bounds { pod, domain, left, devices, pod_affinity, pod_claims };
    let mut search = bounds.search(state);
    let prefers = preferences::are_asked(state, search.shape);
    let nominated = search.nominated();
    let is_nominated = nominated.is_some();
    let found = nominated.or_else(|| match tiers.filter(|_| !prefers) {
        Some(tiers) => tiers.iter().find_map(|tier| bounds.best_of_tier(&mut search, tier)),
        None => search.best(),
    });
    let (looked, looks) = (search.looked, search.looks);
    bounds.count(state, looked, looks);
    if is_nominated || found.is_none() || !prefers {
        found
    } else {
        tiers::preferred(state, &bounds, tiers, found)
    }
}

/// The nodes that a pod is nominated to, in the order in which they are tried.
fn nominees(state: &State, pod: PodId) -> Vec<NodeId> {
    let facts = &state.pods()[pod];
    let kept = state.nominations.nodes.get(&pod).copied();
    let expected = facts.group().map(|group| expected(state, group)).unwrap_or_default();
    facts.nominated().into_iter().chain(kept).chain(expected).collect()
}

impl Bounds<'_> {
    fn search<'c>(&'c self, state: &'c State) -> NodeSearch<'c> {
        let shape = state.pods()[self.pod].shape;
        let nodes = state.nodes().index.feasible(shape);
        let are_promised = self.pod_claims.is_some_and(PodClaims::are_promised);
        let asks = !state.shapes()[shape].asks.is_empty();
        NodeSearch {
            state,
            pod: self.pod,
            shape: &state.shapes()[shape],
            nodes,
            within: self.left.or(self.domain).unwrap_or(nodes),
            domain: self.domain,
            devices: self.devices,
            pod_affinity: self.pod_affinity,
            pod_claims: self.pod_claims,
            span_max: spans(state, shape).then_some(usize::MAX),
            reaches: are_promised || (asks && !state.claims().reaches.is_empty()),
            looked: 0,
            looks: state.looks,
        }
    }

    /// Counts what a search looked at.
    fn count(&self, state: &mut State, looked: u64, looks: Looks) {
        state.steps.nodes += looked;
        if self.pod_claims.is_some() {
            state.count_looks(looks);
        }
    }
}

/// Finds out where the claims of a pod stand; none where neither it nor the cluster has to do with claims or zones.
pub(crate) fn claims_or_zones(state: &State, pod: PodId) -> Result<Option<PodClaims>, Misfit> {
    let facts = &state.pods()[pod];
    let is_apart = state.nodes().claims_or_zones == 0 && !facts.has_claims;
    // What devices stand in for is nowhere while no node has any.
    if is_apart && !filter::asks_for_backed(state, &state.shapes()[facts.shape]) {
        return Ok(None);
    }
    standing::pod_claims(state, pod).map(Some)
}

/// Tells whether it matters over how many NUMA zones pods of a shape spread.
fn spans(state: &State, shape: ShapeId) -> bool {
    state.nodes().zones_max > 0 && state.shapes()[shape].facts.alignment.is_some()
}

impl NodeSearch<'_> {
    /// The best node of some that are equal but for their NUMA zones: fewer go before more, so where these matter nodes
    /// are gone through again with one more.
    fn narrowest(&mut self, find: impl Fn(&mut Self) -> Option<Found>) -> Option<Found> {
        let Some(any) = self.span_max else { return find(self) };
        let found = (1..=self.state.nodes().zones_max.max(1)).find_map(|span| {
            self.span_max = Some(span);
            find(self)
        });
        self.span_max = Some(any);
        found
    }

    /// The best of the nodes, the nominated ones aside.
    fn best(&mut self) -> Option<Found> {
        if self.nodes.is_empty() {
            return None;
        }
        let index = &self.state.nodes().index;
        let placement = if self.shape.cpu_only { index.policy.cpu } else { index.policy.gpu };
        match &self.shape.facts.gpu {
            _ if placement == Placement::Fragmentation => self.fewest_fragments(),
            _ if self.shape.cpu_only => self.cpu(),
            _ if self.shape.shared > 0 => self.part(),
            GpuRequest::Mig(_) => self.instances(),
            GpuRequest::None | GpuRequest::Whole(_) => self.whole(),
            GpuRequest::Fraction { .. } | GpuRequest::Memory { .. } | GpuRequest::LegacyMig(_) => {
                None
            }
        }
    }

    /// The node that `status.nominatedNodeName` names goes before every other, then those that a plan nominated it for.
    fn nominated(&mut self) -> Option<Found> {
        let state = self.state;
        nominees(state, self.pod).into_iter().find_map(|node| {
            let rank = state.nodes().index.rank(node)?;
            let allowed = self.nodes.contains(rank) && self.within.contains(rank);
            if allowed { self.look(rank, When::Later) } else { None }
        })
    }

    /// The node where the pod makes the fewest fragments, of those with room now, then of the others.
    fn fewest_fragments(&mut self) -> Option<Found> {
        let index = &self.state.nodes().index;
        let shape = self.state.pods()[self.pod].shape;
        self.first(&index.fragments.order(shape), When::Now).or_else(|| {
            if self.is_settled() {
                None
            } else {
                self.first(&index.fragments.order(shape), When::Later)
            }
        })
    }

    /// Tells whether no node has room later that has none now.
    fn is_settled(&self) -> bool {
        !self.reaches && self.state.nodes().index.releasing_or_nominated.is_empty()
    }

    fn whole(&mut self) -> Option<Found> {
        let index = &self.state.nodes().index;
        let from = match index.policy.gpu {
            Placement::Pack | Placement::Fragmentation => {
                let more = self.pod_claims.as_ref().map_or(0, |pod_claims| pod_claims.more_milli);
                let more = if self.state.shapes().has_backed_resources { 0 } else { more };
                (self.shape.amount(Lane::GPU) + more) / GPU_MILLI
            }
            Placement::Spread | Placement::Any => i64::MIN,
        };
        let later = if self.reaches { self.within } else { &index.releasing_or_nominated };
        self.buckets(from, self.within, When::Now)
            .or_else(|| self.buckets(from, later, When::Later))
    }

    /// MIG instances: where nodes are packed, those that offer whole GPUs as well go first, but for those of which most
    /// is free: these are score no more than a node that offers none, so their names decide.
    ///
    /// # Source
    /// docs/behaviour.md 9.3.
    fn instances(&mut self) -> Option<Found> {
        let index = &self.state.nodes().index;
        if index.offering.is_empty() || !index.policy.gpu.packs() {
            return self.whole();
        }
        let (nodes, within) = (self.nodes, self.within);
        let later = if self.reaches { within } else { &index.releasing_or_nominated };
        let best_packed = index.best_packed(self.domain);
        let mut fuller_later = best_packed.clone();
        fuller_later.intersect(later);
        self.buckets(i64::MIN, &best_packed, When::Now)
            .or_else(|| self.first(&nodes.common(within), When::Now))
            .or_else(|| self.buckets(i64::MIN, &fuller_later, When::Later))
            .or_else(|| self.first(&nodes.common(within), When::Later))
    }

    fn part(&mut self) -> Option<Found> {
        let index = &self.state.nodes().index;
        let untouched = match index.policy.gpu {
            Placement::Pack | Placement::Fragmentation => 1,
            Placement::Spread | Placement::Any => i64::MIN,
        };
        let (all, within) = (i64::MAX, self.within);
        let later = if self.reaches { within } else { &index.releasing_or_nominated };
        if index.policy.sharing_first {
            self.shared(all, When::Now)
                .or_else(|| self.shared(all, When::Later))
                .or_else(|| self.buckets(untouched, within, When::Now))
                .or_else(|| self.buckets(untouched, later, When::Later))
        } else {
            self.shared(untouched, When::Now)
                .or_else(|| self.buckets(untouched, within, When::Now))
                .or_else(|| self.shared(untouched, When::Later))
                .or_else(|| self.buckets(untouched, later, When::Later))
        }
    }

    /// The best node with a shared GPU that has room for a part more, by GPU placement keys below `end`.
    fn shared(&mut self, end: i64, room: When) -> Option<Found> {
        self.narrowest(|search| search.first_shared(end, room))
    }

    fn first_shared(&mut self, end: i64, room: When) -> Option<Found> {
        let state = self.state;
        let index = &state.nodes().index;
        if room == When::Later && self.is_settled() {
            return None;
        }
        let sharing = index.sharing(filter::part_micro(state, self.shape))?;
        for bucket in index.by_gpu_below(end).iter().filter(|ranks| !ranks.is_empty()) {
            for rank in IdSet::all_of([sharing, bucket, self.nodes]) {
                let score = room == When::Now
                    || self.reaches
                    || index.releasing_or_nominated.contains(rank);
                if !score || !self.within.contains(rank) {
                    continue;
                }
                self.looked += 1;
                if filter::sharing(state, self.shape, index.node(rank)) == 0 {
                    continue;
                }
                if let Some(found) = self.look(rank, room) {
                    return Some(found);
                }
            }
        }
        None
    }

    /// The best node by GPU placement key, from a key on, among `also`.
    fn buckets(&mut self, from: i64, also: &IdSet<Rank>, room: When) -> Option<Found> {
        self.narrowest(|search| search.first_of_buckets(from, also, room))
    }

    fn first_of_buckets(&mut self, from: i64, also: &IdSet<Rank>, room: When) -> Option<Found> {
        if also.is_empty() {
            return None;
        }
        for bucket in self.state.nodes().index.by_gpu(from) {
            for rank in IdSet::all_of([bucket, self.nodes, also]) {
                if !self.within.contains(rank) {
                    continue;
                }
                if let Some(found) = self.look(rank, room) {
                    return Some(found);
                }
            }
        }
        None
    }

    fn cpu(&mut self) -> Option<Found> {
        let state = self.state;
        let index = &state.nodes().index;
        if self.nodes.len().min(self.within.len()) <= FEW {
            let mut ranks: Vec<Rank> = self.nodes.common(self.within).collect();
            ranks.sort_unstable_by_key(|rank| (index.cpu_key(*rank), *rank));
            return self
                .first(&ranks.iter().copied(), When::Now)
                .or_else(|| self.first(&ranks.iter().copied(), When::Later));
        }
        let least = match index.policy.cpu {
            Placement::Pack | Placement::Fragmentation => self.shape.amount(Lane::CPU),
            Placement::Spread | Placement::Any => i64::MIN,
        };
        self.first(&index.by_cpu(least), When::Now).or_else(|| {
            if self.is_settled() { None } else { self.first(&index.by_cpu(least), When::Later) }
        })
    }

    /// The first of some nodes that takes the pod.
    fn first<I>(&mut self, ranks: &I, room: When) -> Option<Found>
    where
        I: Iterator<Item = Rank> + Clone,
    {
        self.narrowest(|search| {
            let releasing_or_nominated = &search.state.nodes().index.releasing_or_nominated;
            for rank in ranks.clone() {
                let score =
                    room == When::Now || search.reaches || releasing_or_nominated.contains(rank);
                if score
                    && search.nodes.contains(rank)
                    && search.within.contains(rank)
                    && let Some(found) = search.look(rank, room)
                {
                    return Some(found);
                }
            }
            None
        })
    }

    /// Tells whether a node takes the pod, at the latest at `room`.
    fn look(&mut self, rank: Rank, room: When) -> Option<Found> {
        self.looked += 1;
        let state = self.state;
        let node: NodeId = state.nodes().index.node(rank);
        let mut has = filter::room(state, self.shape, node).ok()?;
        if let Some(pod_affinity) = self.pod_affinity
            && pod_affinity::joins(state, pod_affinity, node).ok()? == When::Later
        {
            has = When::Later;
        }
        if room == When::Now && has == When::Later {
            return None;
        }
        if matches!(self.shape.facts.gpu, GpuRequest::Mig(_)) && has_legacy_mig(state, node) {
            return None;
        }
        if self.shape.gpu_mib > 0 && !limits::affords_here(state, self.pod, node) {
            return None;
        }
        let devices = filter::devices(state, self.shape, node, self.devices)?;
        let mut reserved = None;
        if let Some(pod_claims) = self.pod_claims {
            let looks = &mut self.looks;
            let held = admit::reservation(state, self.shape, node, pod_claims, looks);
            let (held, at) = held.ok()?;
            if at == When::Later {
                has = When::Later;
            }
            if room == When::Now && has == When::Later {
                return None;
            }
            let zones = held.as_deref().map_or(&[][..], |held| &held.zones);
            if self.span_max.is_some_and(|most| zones::span(state, self.shape, node, zones) > most)
            {
                return None;
            }
            reserved = held;
        }
        let room = if devices.later { When::Later } else { has };
        let place = Place { node, devices: devices.ids, reserved };
        Some(Found { place, opened: devices.opened, room })
    }
}

/// The nodes on which pods of a moved group are still expected, each as often as one is: where the trial placed or
/// nominated one already, that one is there.
pub(crate) fn expected(state: &State, group: GroupId) -> Vec<NodeId> {
    let Some(moved) = state.nominations.moves.get(&group) else { return Vec::new() };
    let mut nodes = moved.nodes.clone();
    let came = state.log().iter().filter(|op| op.was.is_waiting());
    for op in came.filter(|op| state.pods()[op.pod].group() == Some(group)) {
        let status = &state.pods().status[op.pod];
        let Some(place) = status.nominee.as_ref().or(status.place.as_ref()) else { continue };
        if state.nominations.nodes.get(&op.pod) == Some(&place.node) {
            // It has what it was nominated for itself.
            continue;
        }
        if let Some(at) = nodes.iter().position(|node| *node == place.node) {
            nodes.remove(at);
        }
    }
    nodes
}

/// Tells whether a pod with MIG by the old annotation is on a node.
///
/// # Source
/// docs/behaviour.md 2.9.
pub(crate) fn has_legacy_mig(state: &State, node: NodeId) -> bool {
    legacy_mig(state, node).next().is_some()
}

/// The pods with MIG by the old annotation on a node.
pub(crate) fn legacy_mig(state: &State, node: NodeId) -> impl Iterator<Item = PodId> {
    let legacy = move |pod: &PodId| {
        matches!(state.shapes()[state.pods()[*pod].shape].facts.gpu, GpuRequest::LegacyMig(_))
    };
    let pods = state.nodes().pods.get(node);
    pods.into_iter().flat_map(|pods| pods.iter().copied()).filter(legacy)
}
