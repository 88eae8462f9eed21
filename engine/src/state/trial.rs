//! Try changes; keep them or take them back.
//!
//! A trial that is dropped is undone, bit for bit. What is kept becomes the plan.

use std::ops::Deref;

use crate::{
    base::ids::{NodeId, PodId},
    state::{
        State,
        rows::{Phase, PodStatus},
    },
    told::pod::Place,
};

/// The undo record of one change of one pod.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Op {
    pub(crate) pod: PodId,
    /// Status of the pod before.
    pub(crate) was: PodStatus,
    /// Number of devices that plans had opened before.
    opened: u32,
}

/// A cluster being tried on.
#[derive(Debug)]
pub(crate) struct Trial<'c> {
    state: &'c mut State,
    mark: usize,
}

impl<'c> Trial<'c> {
    /// Starts a trial on `cluster`.
    pub(crate) fn new(state: &'c mut State) -> Self {
        let mark = state.log.len();
        Self { state, mark }
    }

    /// Starts a trial inside this one.
    pub(crate) fn nested(&mut self) -> Trial<'_> {
        Trial::new(self.state)
    }

    /// The cluster itself, for questions that fill caches.
    pub(crate) fn state(&mut self) -> &mut State {
        self.state
    }

    /// Places a waiting pod in idle room.
    pub(crate) fn place(&mut self, pod: PodId, place: Place, opened: u32) {
        assert!(self.state.pods.status[pod].is_waiting(), "only a waiting pod is placed");
        self.change(
            pod,
            PodStatus { phase: Phase::Binding, place: Some(place), nominee: None },
            opened,
        );
    }

    /// Nominates a pod for room that is coming free; a pod that was evicted keeps its old place until then.
    pub(crate) fn nominate(&mut self, pod: PodId, place: Place, opened: u32) {
        let was = &self.state.pods.status[pod];
        assert!(was.nominee.is_none(), "a pod is nominated for one place");
        assert!(
            was.phase == Phase::Pending || was.phase.leaves(),
            "only a pod without a place is nominated for one"
        );
        let state = PodStatus { nominee: Some(place), ..was.clone() };
        self.change(pod, state, opened);
    }

    /// Evicts an active pod.
    pub(crate) fn evict(&mut self, pod: PodId) {
        let was = &self.state.pods.status[pod];
        assert!(was.phase.is_active(), "only an active pod is evicted");
        let state = PodStatus { phase: Phase::Evicting, ..was.clone() };
        self.change(pod, state, 0);
    }

    /// Takes an eviction of this trial, or of one around it, back: the pod stays as it was.
    pub(crate) fn spare(&mut self, pod: PodId) {
        let mut ops = self.state.log.iter().rev();
        let evicted = ops.find(|op| op.pod == pod && op.was.phase.is_active());
        let was = evicted.expect("a pod that is spared was evicted in a trial").was.clone();
        self.change(pod, was, 0);
    }

    /// Turns a placement of this trial into a nomination for the same place.
    pub(crate) fn postpone(&mut self, pod: PodId) {
        let PodStatus { phase, place, .. } = self.state.pods.status[pod].clone();
        assert_eq!(phase, Phase::Binding, "only a placed pod is postponed");
        self.change(pod, PodStatus { phase: Phase::Pending, place: None, nominee: place }, 0);
    }

    /// Takes a nomination back.
    pub(crate) fn retract(&mut self, pod: PodId) {
        let state = PodStatus { nominee: None, ..self.state.pods.status[pod].clone() };
        self.change(pod, state, 0);
    }

    fn change(&mut self, pod: PodId, state: PodStatus, opened: u32) {
        let before = self.state.opened;
        self.state.opened += opened;
        let was = self.state.set_status(pod, state);
        self.state.log.push(Op { pod, was, opened: before });
    }

    /// The node on which a pod holds a place.
    pub(crate) fn node(&self, pod: PodId) -> Option<NodeId> {
        self.state.node_of(pod)
    }

    /// Marks where this trial stands, to come back to.
    pub(crate) fn mark(&self) -> usize {
        self.state.log.len()
    }

    /// Takes back what was tried since a mark of this trial.
    pub(crate) fn rewind(&mut self, mark: usize) {
        assert!(mark >= self.mark, "a trial takes back what is its own");
        while self.state.log.len() > mark {
            let Some(Op { pod, was, opened }) = self.state.log.pop() else {
                unreachable!("the log is longer than the mark")
            };
            self.state.set_status(pod, was);
            self.state.opened = opened;
        }
    }

    /// Keeps what was tried; it is part of the trial around, or waits in the log to become part of the plan.
    pub(crate) fn keep(mut self) {
        self.mark = self.state.log.len();
    }
}

impl Deref for Trial<'_> {
    type Target = State;

    fn deref(&self) -> &State {
        self.state
    }
}

impl Drop for Trial<'_> {
    fn drop(&mut self) {
        self.rewind(self.mark);
    }
}
