//! The row of a pod: how far it is, and what was told of it.

use std::sync::Arc;

use crate::{
    base::{
        ids::{ClaimId, GroupId, NodeId, ShapeId, Symbol},
        time::Timestamp,
    },
    state::shape::holds,
    told::{
        pod::{Owner, Place, PodPriority, PodRank, PodState},
        requirement::Requirement,
    },
};

/// Phase of a pod's life, as far as the engine knows.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(crate) enum Phase {
    #[default]
    Absent,
    Gated,
    Pending,
    /// Placed by a plan; nobody confirmed it yet.
    Binding,
    Bound,
    Running,
    /// Evicted by a plan; nobody confirmed it yet.
    Evicting,
    /// Leaves.
    Releasing,
    /// Leaves, and only long after.
    Lingering,
    Stuck,
    Succeeded,
    Failed,
}

impl Phase {
    /// Holds a place and is not leaving.
    pub(crate) fn is_active(self) -> bool {
        matches!(self, Self::Binding | Self::Bound | Self::Running)
    }

    /// Leaves, confirmed or not, and makes room by that soon.
    pub(crate) fn leaves(self) -> bool {
        matches!(self, Self::Evicting | Self::Releasing)
    }
}

/// The part of a pod that changes while it lives.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
#[repr(C)]
pub(crate) struct PodStatus {
    pub(crate) phase: Phase,
    /// The place that it holds.
    pub(crate) place: Option<Place>,
    /// The place that it will hold once others left; it may still hold its old one.
    pub(crate) nominee: Option<Place>,
}

impl PodStatus {
    /// Holds a place, or was nominated for one, and is not leaving for good.
    pub(crate) fn is_active(&self) -> bool {
        self.nominee.is_some() || self.phase.is_active()
    }

    /// Tells whether devices or zones are held, or kept for the pod.
    pub(crate) fn reserves(&self) -> bool {
        [&self.place, &self.nominee].into_iter().flatten().any(|place| place.reserved.is_some())
    }

    /// Holds a place, or was nominated for one.
    pub(crate) fn is_somewhere(&self) -> bool {
        self.place.is_some() || self.nominee.is_some()
    }

    /// Is about to leave its node and was not nominated again.
    pub(crate) fn leaves_for_good(&self) -> bool {
        self.phase.leaves() && self.nominee.is_none()
    }

    /// Waits for a place and is nominated for none.
    pub(crate) fn is_waiting(&self) -> bool {
        self.phase == Phase::Pending && self.nominee.is_none()
    }
}

/// The part of a pod that the adapter told.
///
/// What each try to place it asks for lies in the table itself, half a line of the cache; the rest lies elsewhere.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct PodFacts {
    pub(crate) owner: Owner,
    pub(crate) shape: ShapeId,
    /// Its leaf in the tree of its group. Derived from the group's facts.
    pub(crate) leaf: Option<u16>,
    pub(crate) has_claims: bool,
    /// True if no plan gave it its node.
    pub(crate) is_unplanned: bool,
    is_nominated: bool,
    /// Copies of a cluster share it.
    rest: Arc<PodRest>,
}

/// Facts of a pod that are seldom asked for. There are as many as pods, so that what few have lies elsewhere.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct PodRest {
    pub(crate) sub_group: Symbol,
    pub(crate) namespace: Symbol,
    pub(crate) uid: u128,
    pub(crate) created: Timestamp,
    /// Its state as told last.
    pub(crate) told: Told,
    pub(crate) extras: Option<Box<PodExtras>>,
}

/// Facts that few pods have.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct PodExtras {
    pub(crate) nominated: Option<NodeId>,
    pub(crate) claims: Vec<ClaimId>,
    /// Sorted, so that one is found by a search: selectors may ask about each of a hundred.
    pub(crate) labels: Vec<(Symbol, Symbol)>,
    pub(crate) rank: PodRank,
}

/// Those of a pod that has none.
static NO_EXTRAS: PodExtras = PodExtras {
    nominated: None,
    claims: Vec::new(),
    labels: Vec::new(),
    rank: PodRank { launcher: false, head: false, priority: PodPriority::None },
};

impl PodExtras {
    /// These facts as a pod keeps them.
    pub(crate) fn kept(mut self) -> Option<Box<Self>> {
        self.labels.sort_unstable();
        (self != NO_EXTRAS).then(|| Box::new(self))
    }
}

impl std::ops::Deref for PodRest {
    type Target = PodExtras;

    fn deref(&self) -> &PodExtras {
        self.extras.as_deref().unwrap_or(&NO_EXTRAS)
    }
}

/// The state of a pod as it was told: as a [`PodStatus`], in a third of the room.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Told {
    pub(crate) phase: Phase,
    node: Option<NodeId>,
    /// Its place, where that is more than a node.
    place: Option<Box<Place>>,
}

impl Told {
    /// The state that was told.
    pub(crate) fn of(state: PodState) -> Self {
        let (phase, place) = match state {
            PodState::Gated => (Phase::Gated, None),
            PodState::Pending => (Phase::Pending, None),
            PodState::Bound(place) => (Phase::Bound, Some(place)),
            PodState::Running(place) => (Phase::Running, Some(place)),
            PodState::Releasing(place) => (Phase::Releasing, Some(place)),
            PodState::Lingering(place) => (Phase::Lingering, Some(place)),
            PodState::Stuck(place) => (Phase::Stuck, Some(place)),
            PodState::Succeeded => (Phase::Succeeded, None),
            PodState::Failed => (Phase::Failed, None),
        };
        let node = place.as_ref().map(|place| place.node);
        let has_more = |place: &Place| !place.devices.is_empty() || place.reserved.is_some();
        Self { phase, node, place: place.filter(has_more).map(Box::new) }
    }

    /// Tells whether it is on a node.
    pub(crate) fn is_placed(&self) -> bool {
        self.node.is_some()
    }

    fn whole_place(&self) -> Option<Place> {
        self.place.as_deref().cloned().or_else(|| self.node.map(Place::on))
    }

    /// The state in full.
    pub(crate) fn status(&self) -> PodStatus {
        PodStatus { phase: self.phase, place: self.whole_place(), nominee: None }
    }

    /// The state in the words in which it was told.
    pub(crate) fn state(&self) -> PodState {
        let place = || self.whole_place().expect("who holds a place was told which");
        match self.phase {
            Phase::Gated => PodState::Gated,
            Phase::Absent | Phase::Pending => PodState::Pending,
            Phase::Bound | Phase::Binding => PodState::Bound(place()),
            Phase::Running => PodState::Running(place()),
            Phase::Releasing | Phase::Evicting => PodState::Releasing(place()),
            Phase::Lingering => PodState::Lingering(place()),
            Phase::Stuck => PodState::Stuck(place()),
            Phase::Succeeded => PodState::Succeeded,
            Phase::Failed => PodState::Failed,
        }
    }
}

impl std::ops::Deref for PodFacts {
    type Target = PodRest;

    fn deref(&self) -> &PodRest {
        &self.rest
    }
}

impl PodFacts {
    /// The facts of a pod that is in no leaf yet.
    pub(crate) fn new(owner: Owner, shape: ShapeId, rest: PodRest) -> Self {
        Self {
            owner,
            shape,
            leaf: None,
            has_claims: !rest.claims.is_empty(),
            is_unplanned: false,
            is_nominated: rest.nominated.is_some(),
            rest: Arc::new(rest),
        }
    }

    /// The node of `status.nominatedNodeName`.
    pub(crate) fn nominated(&self) -> Option<NodeId> {
        if self.is_nominated { self.rest.nominated } else { None }
    }

    /// The group it belongs to.
    pub(crate) fn group(&self) -> Option<GroupId> {
        match self.owner {
            Owner::Group(group) => Some(group),
            Owner::Foreign | Owner::Reservation => None,
        }
    }

    /// Tells whether all requirements hold for its labels.
    pub(crate) fn is_selected(&self, selector: &[Requirement]) -> bool {
        selector.iter().all(|requirement| {
            let at = self.labels.binary_search_by_key(&requirement.key, |(key, _)| *key);
            holds(&requirement.holds, at.ok().map(|at| self.labels[at].1), None)
        })
    }

    /// Tells whether a selector for pods of a namespace means it.
    pub(crate) fn is_meant(&self, selector: &[Requirement], namespace: Symbol) -> bool {
        self.namespace == namespace && self.is_selected(selector)
    }

    /// Orders the pods of a group: smaller goes first.
    pub(crate) fn turn(&self) -> (std::cmp::Reverse<PodRank>, Timestamp, u128) {
        (std::cmp::Reverse(self.rank), self.created, self.uid)
    }
}
