//! Stability of evictions: they have to bring about what lasts.
//!
//! Priorities decide within a queue, shares between queues, and shares come first. A preemptor that is larger than its
//! victims takes free room besides, which may lift its queue above its share: a group of another queue is then entitled
//! to take the room, the first victim is entitled to it again, and so on for ever. And a queue that is above its share
//! in one resource may lose others: once it is below in all, its victims are entitled to what was taken from them.
//!
//! # Source
//! docs/behaviour.md 4.4 and 5, K7. KAI looks at the queues before the evictions only, and at no shares where it
//! preempts, so that it goes round.

use crate::{
    base::{
        few::Few,
        ids::{GroupId, PodId, QueueId},
        resources::Charge,
    },
    decided::proof::EvictionKind,
    evict::{VictimSearch, VictimSet, other_pending, queue_snapshot},
    pending::Pending,
    place::{Attempt, Mode},
    queues::entitlement::{Holding, Reclaimer, entitled, may_take},
    state::{State, rows::PodStatus, trial::Trial},
};

/// A group that is entitled to what evictions bring about, with what it would place.
type Claimer = (GroupId, Few<PodId>);

impl VictimSearch<'_> {
    /// Tells whether nobody is entitled to what the group gets here and would fit in its stead: of those who wait in
    /// other queues when it preempts, of its victims, which were not before, when it reclaims.
    ///
    /// # Cost
    /// Where a queue rises above its quota or share by it: for a preemptor, in the number of classes that wait; for a
    /// reclaimer, in its victims. One attempt for each group that is entitled.
    pub(super) fn lasts(&self, trial: &mut Trial<'_>, count: usize, victims: &VictimSet) -> bool {
        let own = &self.search.pods[..count];
        let claimers = self.claimers(trial, own, victims);
        if claimers.is_empty() {
            return true;
        }
        let mut nested = trial.nested();
        for pod in own {
            nested.retract(*pod);
        }
        !claimers.iter().any(|(group, pods)| {
            let mut attempt = Attempt::new(self.basis.config, *group, Mode::Nominate, pods);
            !pods.is_empty() && attempt.run(&mut nested.nested(), None).is_ok()
        })
    }

    /// The groups that may take what `own` pods were nominated for.
    fn claimers(&self, state: &State, own: &[PodId], victims: &VictimSet) -> Few<Claimer> {
        let facts = state.groups()[self.search.group].facts.as_ref();
        let facts = facts.expect("a group that waits is live");
        let queue = facts.queue.expect("a group that waits has a queue");
        // The victims leave here as well: what they may claim once they are gone is what counts. Who waits beside them may
        // claim no more than it could in its own turn.
        let is_settled = self.search.kind == EvictionKind::Reclaim;
        let judged = |held: Holding| if is_settled { held.settled() } else { held };
        let now = |queue: QueueId| judged(queue_snapshot::holding(state, queue));
        let before =
            |queue: QueueId| self.search.before.get(queue).map_or_else(|| now(queue), judged);
        let mut path = state.queues().path(queue);
        if !facts.preemptible || !path.any(|queue| rises(&before(queue), &now(queue))) {
            return Few::default();
        }
        let gained = own.iter().fold(Charge::default(), |sum, pod| sum + nominated(state, *pod));
        let gained = [gained];
        let gained = [(queue, gained.as_slice())];
        let multiplier_milli = self.basis.config.saturation_multiplier_milli;
        let takes = |claim: &Reclaimer| {
            entitled(&now, claim) && may_take(&now, claim, &gained, multiplier_milli)
        };
        let takes_anew = |claim: &Reclaimer| {
            takes(claim) && !may_take(&before, claim, &gained, multiplier_milli)
        };
        match self.search.kind {
            EvictionKind::Consolidate => Few::default(),
            // Where nobody reclaims, nobody takes it.
            EvictionKind::Preempt if !self.basis.config.actions.reclaim => Few::default(),
            EvictionKind::Preempt => {
                who_waits_beside(state, self.basis.pending, queue, takes).collect()
            }
            EvictionKind::Reclaim => {
                let lost = victims.iter().flat_map(|at| &self.search.order[*at].pods).copied();
                who_lost(state, &lost.collect::<Few<PodId>>().in_order(), takes_anew).collect()
            }
        }
    }
}

/// Tells whether a queue holds more than before of something of which it holds more than its quota, or than others let
/// it.
fn rises(before: &Holding, now: &Holding) -> bool {
    let allocatable = now.allocatable();
    now.allocated.iter().any(|(lane, held)| {
        held > before.allocated[lane]
            && !(now.quota[lane].admits(held) && allocatable[lane].admits(held))
    })
}

/// The first group of each class that waits in another queue and is entitled to what it asks for.
fn who_waits_beside(
    state: &State,
    pending: &Pending,
    queue: QueueId,
    takes: impl Fn(&Reclaimer) -> bool,
) -> impl Iterator<Item = Claimer> {
    let others = pending.class_queues().filter(move |(other, ..)| *other != queue);
    others.filter_map(move |(queue, class, pair)| {
        let group = pair.groups.first()?.group;
        let preemptible = state.groups()[group].facts.as_ref()?.preemptible;
        let claim =
            Reclaimer { queue, request: pending.class_ask(state, class), preemptible, mig: false };
        takes(&claim).then(|| (group, state.to_place(group)))
    })
}

/// The groups that lost some of these pods, which are in order, found no other place for them and are entitled to
/// what they then ask for.
fn who_lost(
    state: &State,
    lost: &[PodId],
    takes: impl Fn(&Reclaimer) -> bool,
) -> impl Iterator<Item = Claimer> {
    let status = &state.pods().status;
    let left = |status: &PodStatus| status.phase.leaves() && status.nominee.is_none();
    let gone = move |pod: &PodId| lost.binary_search(pod).is_ok() && left(&status[*pod]);
    let groups = lost.iter().filter(move |pod| gone(pod));
    let groups: Few<GroupId> = groups.filter_map(|pod| state.pods()[*pod].group()).collect();
    groups.in_order().into_iter().filter_map(move |group| {
        let tree = &state.groups()[group].tree;
        let pods = tree.to_place(&|pod| status[pod].is_waiting() || gone(&pod));
        let (queue, _, request) = other_pending::waiting(state, group, &pods);
        let preemptible = state.groups()[group].facts.as_ref()?.preemptible;
        let claim = Reclaimer { queue, request, preemptible, mig: false };
        takes(&claim).then_some((group, pods))
    })
}

/// Tells what a pod that was nominated for a place costs its queue there.
fn nominated(state: &State, pod: PodId) -> Charge {
    let shape = &state.shapes()[state.pods()[pod].shape];
    let place = state.pods().status[pod].nominee.as_ref();
    place.map_or(shape.charge, |place| shape.charge_on(state.nodes().gpus(place.node).memory_mib))
}
