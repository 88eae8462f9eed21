//! Places a group's next pods, all or none.
//!
//! # Source
//! spec/scheduling.md 1.13.

use crate::plan::Why;
use crate::{
    cluster::gpu_milli,
    cycle::Config,
    fit::Room,
    ids::{GroupId, PodId, Rank},
    idset::IdSet,
    resources::Charge,
    tree::Member,
    trial::Trial,
};

/// How placed pods take room.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Mode {
    /// For real: idle room is taken, room to come is promised.
    Real,
    /// To see whether it would fit: everything is promised.
    Promise,
}

/// An attempt to place one group.
#[derive(Debug)]
pub(crate) struct Attempt<'a> {
    pub(crate) config: &'a Config,
    pub(crate) group: GroupId,
    pub(crate) mode: Mode,
    /// The pods to place, in order.
    pub(crate) pods: &'a [PodId],
    /// How many of them found a place so far.
    placed: u32,
}

impl<'a> Attempt<'a> {
    pub(crate) fn new(config: &'a Config, group: GroupId, mode: Mode, pods: &'a [PodId]) -> Self {
        Self { config, group, mode, pods, placed: 0 }
    }

    /// Places the pods in a trial, or says why not; the caller drops the trial then.
    pub(crate) fn run(
        &mut self,
        trial: &mut Trial<'_>,
        nodes: Option<&IdSet<Rank>>,
    ) -> Result<(), Why> {
        let ask = self.ask(trial);
        trial.affords(self.group, ask)?;
        self.place_set(trial, 0, nodes)?;
        if self.mode == Mode::Real {
            self.postpone(trial);
        }
        Ok(())
    }

    /// What the pods cost, GPU memory counted against the largest devices there are.
    fn ask(&self, trial: &Trial<'_>) -> Charge {
        let largest = trial.nodes.memory_max();
        self.pods.iter().fold(Charge::default(), |sum, pod| sum + trial.ask(*pod, largest))
    }

    fn place_set(
        &mut self,
        trial: &mut Trial<'_>,
        set: u16,
        nodes: Option<&IdSet<Rank>>,
    ) -> Result<(), Why> {
        for member in trial.groups[self.group].tree.ordered(set) {
            match member {
                Member::Set(inner) => self.place_set(trial, inner, nodes)?,
                Member::Leaf(leaf) => self.place_leaf(trial, leaf, nodes)?,
            }
        }
        Ok(())
    }

    fn place_leaf(
        &mut self,
        trial: &mut Trial<'_>,
        leaf: u16,
        nodes: Option<&IdSet<Rank>>,
    ) -> Result<(), Why> {
        let mut placed = 0;
        for pod in self.pods {
            if trial.pods[*pod].leaf != Some(leaf) {
                continue;
            }
            let found = trial.cluster().best_node(*pod, nodes, self.config.device_placement);
            let Some(found) = found else {
                return Err(trial.cluster().no_room(*pod, self.placed, placed));
            };
            if self.mode == Mode::Real
                && found.room == Room::Now
                && trial.pods.state[*pod].place.is_none()
            {
                trial.place(*pod, found.place, found.opened);
            } else {
                trial.nominate(*pod, found.place, found.opened);
            }
            self.placed += 1;
            placed += 1;
        }
        Ok(())
    }

    /// A gang that needs room to come waits as a whole: placements become promises.
    ///
    /// # Source
    /// spec/scheduling.md 1.12, `shouldPipeline`.
    fn postpone(&self, trial: &mut Trial<'_>) {
        let waits = trial.groups[self.group].tree.leaves.iter().any(|leaf| {
            leaf.count.nominated > 0 && leaf.count.active - leaf.count.nominated < leaf.min
        });
        if !waits {
            return;
        }
        for pod in self.pods {
            if trial.pods.state[*pod].place.is_some() && trial.pods.state[*pod].nominee.is_none() {
                trial.postpone(*pod);
            }
        }
    }
}

/// What a group asks for at its next step, GPU memory counted against devices of this size.
pub(crate) fn ask_of(ask: Charge, ask_mib: i64, memory_mib: Option<u32>) -> Charge {
    let mut ask = ask;
    if let Some(memory_mib) = memory_mib {
        ask.0[2] += gpu_milli(ask_mib, memory_mib);
    }
    ask
}
