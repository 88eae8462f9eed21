//! Places a group's next pods, all or none.
//!
//! # Source
//! spec/scheduling.md 1.13.

use crate::{
    cluster::{Cluster, Phase},
    cycle::Config,
    device,
    fit::Room,
    ids::{GroupId, PodId, Rank},
    idset::IdSet,
    plan::Why,
    pod::Place,
    resources::{Charge, GPU_MILLI, Lane},
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

impl Cluster {
    /// Whether an evicted pod that was offered a place may as well stay where it is.
    fn can_stay(&self, pod: PodId, offer: &Place) -> bool {
        let Some(place) =
            self.pods.state[pod].place.as_ref().filter(|place| place.node == offer.node)
        else {
            return false;
        };
        let gpus = self.nodes.gpus(place.node);
        let Some(part) = device::part(&self.shapes[self.pods[pod].shape].facts.gpu, &gpus) else {
            return true;
        };
        let capacity = device::capacity(&gpus);
        let mut whole = self.nodes.free(place.node, Lane::GPU) / GPU_MILLI;
        self.nodes.devices.get(place.node).is_some_and(|devices| {
            place.devices.iter().all(|id| {
                let Some(device) = devices.iter().find(|device| device.id == *id) else {
                    return false;
                };
                // A device that only leaving pods use counts as a whole one to come: nobody else may have it yet.
                whole -= i64::from(device.is_leaving());
                whole >= 0 && capacity - device.held + device.leaving - device.promised >= part
            })
        })
    }
}
