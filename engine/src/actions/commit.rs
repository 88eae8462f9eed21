//! Turns what trials kept into the plan.

use crate::{
    actions::Cycle,
    base::{
        ids::{GroupId, NodeId, PodId},
        min_set::MinSet,
    },
    decided::plan::{Change, Eviction, Grant},
    state::{
        State, device,
        rows::{Phase, PodStatus},
    },
    told::pod::{GpuRequest, Place},
};

impl Cycle<'_> {
    /// Appends what the log holds to the plan, in order, each pod once with what became of it in the end.
    ///
    /// `reason` says why a pod is evicted; it is asked for evicted pods only.
    pub(crate) fn commit(&mut self, reason: &mut dyn FnMut(PodId) -> Option<Eviction>) {
        let log = self.cluster.state.take_log();
        if let [op] = log.as_slice() {
            self.commit_pod(op.pod, &op.was, reason);
        } else {
            for op in &log {
                if self.marked.insert(op.pod) {
                    self.commit_pod(op.pod, &op.was, reason);
                }
            }
            self.marked.clear();
        }
        self.cluster.state.reuse_log(log);
        self.cluster.absorb();
    }

    /// A pod of a group that is moved has come where one was expected, or is nominated for that place; once.
    fn arrive(&mut self, pod: PodId, node: NodeId) {
        let Some(group) = self.cluster.state.pods()[pod].group() else { return };
        self.cluster.state.nominations.arrive(pod, group, node);
    }

    /// Tells nominations again that stood already, of groups that pods are evicted for or from: a plan that evicts says
    /// whole for whom, and where all of them go.
    pub(crate) fn repeat_nominations(&mut self) {
        let mut groups: MinSet<GroupId> = MinSet::default();
        for change in &self.changes {
            if let Change::Evict { pod, reason, .. } = change {
                groups.extend(reason.for_group());
                groups.extend(self.cluster.state.pods()[*pod].group());
            }
        }
        for (pod, Place { node, devices, reserved }) in
            std::mem::take(&mut self.repeated_nominations)
        {
            if self.cluster.state.pods()[pod].group().is_some_and(|group| groups.contains(&group)) {
                self.changes.push(Change::Nominate { pod, node, devices, reserved });
            }
        }
    }

    fn commit_pod(
        &mut self,
        pod: PodId,
        was: &PodStatus,
        reason: &mut dyn FnMut(PodId) -> Option<Eviction>,
    ) {
        let status = &self.cluster.state.pods().status[pod];
        let phase = status.phase;
        let nomination =
            status.nominee.as_ref().filter(|place| was.nominee.as_ref() != Some(*place));
        let nomination = nomination.cloned();
        if phase.leaves() && self.is_placed_this_cycle(pod) {
            let nominee = status.nominee.clone();
            self.retract(pod, nominee);
        } else if was.phase.is_active() && phase.leaves() {
            let node = status.place.as_ref().expect("an evicted pod holds its place").node;
            let reason = reason(pod).expect("who evicts says why");
            self.changes.push(Change::Evict { pod, node, reason });
            self.cluster.state.note_eviction(pod, self.now);
        }
        if phase == Phase::Binding && was.phase == Phase::Pending {
            let place = self.cluster.state.pods().status[pod].place.clone();
            let place = place.expect("a placed pod holds its place");
            self.cluster.state.note_placement();
            let before = self.nominated.get(&pod);
            let is_same = before.is_some_and(|before| is_repeated(before, &place));
            self.cluster.pending.epoch.pay_nomination(pod, is_same);
            self.arrive(pod, place.node);
            let grant = grant(&self.cluster.state, pod);
            self.changes.push(Change::Place {
                pod,
                node: place.node,
                devices: place.devices,
                reserved: place.reserved,
                grant,
            });
        }
        if let Some(place) = nomination {
            if phase == Phase::Pending {
                self.arrive(pod, place.node);
            }
            self.nominate(pod, place);
        }
    }

    /// Asserts that the state is as if the plan had been carried out: what it says and what it did are written apart.
    pub(super) fn assert_carried_out(&self) {
        let state = &self.cluster.state;
        assert!(state.log().is_empty(), "a plan ends while nothing is tried");
        for change in &self.changes {
            match change {
                Change::Place { pod, node, .. } => {
                    assert_eq!(state.node_of(*pod), Some(*node), "a placed pod is on its node");
                }
                Change::Evict { pod, .. } => {
                    let phase = state.pods().status[*pod].phase;
                    assert_eq!(phase, Phase::Evicting, "an evicted pod leaves");
                }
                Change::Nominate { pod, node, .. } => {
                    let nominee = state.pods().status[*pod].nominee.as_ref();
                    let to = nominee.map(|place| place.node);
                    assert_eq!(to, Some(*node), "a nominated pod has its place kept");
                }
            }
        }
    }

    /// Tells what a pod is nominated for, or keeps it where that is no news.
    pub(super) fn nominate(&mut self, pod: PodId, place: Place) {
        self.cluster.state.nominations.places.insert(pod, place.clone());
        let before = self.nominated.get(&pod);
        let is_same = before.is_some_and(|before| is_repeated(before, &place));
        self.cluster.pending.epoch.pay_nomination(pod, is_same);
        if is_same {
            self.repeated_nominations.push((pod, place));
            return;
        }
        self.cluster.state.note_placement();
        let Place { node, devices, reserved } = place;
        self.changes.push(Change::Nominate { pod, node, devices, reserved });
    }
}

/// Tells whether a nomination says what one before said; a device to be opened is counted anew each time.
fn is_repeated(before: &Place, place: &Place) -> bool {
    let devices = || before.devices.iter().zip(&place.devices);
    before.node == place.node
        && before.reserved == place.reserved
        && before.devices.len() == place.devices.len()
        && devices().all(|(old, new)| old == new || (old.is_opened() && new.is_opened()))
}

/// Says what a placed pod gets of GPUs.
fn grant(state: &State, pod: PodId) -> Grant {
    let gpu = &state.shapes()[state.pods()[pod].shape].facts.gpu;
    match gpu {
        GpuRequest::None => Grant::Regular { count: 0 },
        GpuRequest::Whole(count) => Grant::Regular { count: *count },
        GpuRequest::Fraction { devices, .. } | GpuRequest::Memory { devices, .. } => {
            let node = state.node_of(pod).expect("a placed pod holds its place");
            let portion = device::portion_milli(gpu, state.nodes().gpus(node).memory_mib);
            let portion_milli = u32::try_from(portion).expect("a part is at most a device");
            let portion_micro = match gpu {
                GpuRequest::Fraction { micro, .. } => *micro,
                GpuRequest::None
                | GpuRequest::Whole(_)
                | GpuRequest::Memory { .. }
                | GpuRequest::Mig(_)
                | GpuRequest::LegacyMig(_) => portion_milli * 1000,
            };
            Grant::Fraction { devices: *devices, portion_milli, portion_micro }
        }
        GpuRequest::Mig(_) | GpuRequest::LegacyMig(_) => Grant::Mig,
    }
}

/// Tells whether some pod of a group holds a place and is not leaving.
pub(crate) fn has_started(state: &State, group: GroupId) -> bool {
    let count = state.groups()[group].tree.count();
    count.active > count.nominated
}
