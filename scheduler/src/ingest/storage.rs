//! Describes what pods refer to besides nodes and devices: volumes and config maps.

use std::{
    collections::{BTreeSet, HashMap},
    sync::Arc,
};

use kai_engine::{ClaimId, Missing, VolumeNodes};

mod config_map;
pub(in crate::ingest) mod needs;
pub(in crate::ingest) mod volume;

use super::turns::Turns;
use volume::{Volumes, counted::Counted};

/// A volume claim that a pod uses.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub(in crate::ingest) struct Mount {
    /// Namespace and name, with a slash between.
    pub(in crate::ingest) claim: Box<str>,
    /// The claim is made for the pod and goes with it.
    pub(in crate::ingest) ephemeral: bool,
}

/// A pod that refers to something. There may be as many as pods, and those of a gang refer to the same.
#[derive(Debug)]
pub(in crate::ingest) struct Needy {
    uid: Arc<str>,
    /// Its resource claims.
    claims: Box<[ClaimId]>,
    refers: Arc<Refers>,
    /// Says what these allow, as it was told.
    told: Arc<Allowed>,
}

/// Says what the needs of pods allow.
#[derive(PartialEq, Eq, Default, Debug)]
struct Allowed {
    volumes: Arc<Vec<VolumeNodes>>,
    /// Claims of volumes that are counted for a pod that waits.
    counted: Vec<ClaimId>,
    /// Things that a pod waits for.
    missing: Vec<Missing>,
}

/// Volume claims and config maps to which a pod refers.
#[derive(PartialEq, Eq, Hash, Debug)]
pub(in crate::ingest) struct Refers {
    mounts: Vec<Mount>,
    /// Config maps by namespace and name.
    config_maps: Vec<Box<str>>,
}

/// Holds what pods refer to, and who refers to it.
#[derive(Debug, Default)]
pub(in crate::ingest) struct Needs {
    pub(in crate::ingest) volumes: Volumes,
    /// Volumes as the engine counts them.
    pub(in crate::ingest) counted: Counted,
    /// Config maps by namespace and name, each with the full list in which it was seen last.
    pub(in crate::ingest) config_maps: HashMap<Box<str>, u32>,
    /// By the pod's number.
    pods: HashMap<u32, Needy>,
    /// References of pods, each once, with what they were found to allow last.
    refers: HashMap<Arc<Refers>, Arc<Allowed>>,
    /// Pods by the claim that they use.
    pub(in crate::ingest) claim_users: HashMap<Box<str>, BTreeSet<u32>>,
    /// Pods by the config map that they refer to.
    config_map_users: HashMap<Box<str>, BTreeSet<u32>>,
    /// Pods to look at again.
    due: BTreeSet<u32>,
    /// Those of them for which there was no room in the last round.
    late: Turns,
    /// Claims without a volume have to be looked at again: what they may get changed.
    pub(in crate::ingest) unbound_due: bool,
}

impl Needs {
    /// A claim changed.
    pub(in crate::ingest) fn claim_changed(&mut self, claim: &str) {
        self.due.extend(self.claim_users.get(claim).into_iter().flatten());
        self.counted.due.insert(Box::from(claim));
    }

    /// Has claims without a volume looked at again: what they may get changed.
    pub(in crate::ingest) fn offers_changed(&mut self) {
        self.unbound_due = true;
    }

    /// A config map came or went.
    pub(in crate::ingest) fn config_map_changed(&mut self, name: &str) {
        self.due.extend(self.config_map_users.get(name).into_iter().flatten());
    }

    /// The claims of a pod, in the order of its volumes.
    fn mounts_of(&self, pod: u32) -> &[Mount] {
        self.pods.get(&pod).map_or(&[], |needy| &needy.refers.mounts)
    }

    /// Tells whether pods wait for the next round to be looked at again.
    pub(in crate::ingest) fn has_late(&self) -> bool {
        !self.late.is_empty()
    }

    /// Has a pod looked at again.
    fn look_again(&mut self, pod: u32) {
        self.due.insert(pod);
    }

    fn remove(&mut self, pod: u32) {
        let Some(needy) = self.pods.remove(&pod) else { return };
        self.late.forget(pod);
        for mount in &needy.refers.mounts {
            leave(&mut self.claim_users, &mount.claim, pod);
            self.counted.due.insert(mount.claim.clone());
        }
        for name in &needy.refers.config_maps {
            leave(&mut self.config_map_users, name, pod);
        }
        // The last one besides the set's own.
        if Arc::strong_count(&needy.refers) == 2 {
            self.refers.remove(&needy.refers);
        }
    }

    /// The same that other pods refer to, where there are such.
    fn shared(&mut self, refers: Refers) -> Arc<Refers> {
        if let Some((known, _)) = self.refers.get_key_value(&refers) {
            return Arc::clone(known);
        }
        let refers = Arc::new(refers);
        self.refers.insert(Arc::clone(&refers), Arc::default());
        refers
    }

    fn insert(&mut self, pod: u32, needy: Needy) {
        for mount in &needy.refers.mounts {
            self.claim_users.entry(mount.claim.clone()).or_default().insert(pod);
            self.counted.due.insert(mount.claim.clone());
        }
        for name in &needy.refers.config_maps {
            self.config_map_users.entry(name.clone()).or_default().insert(pod);
        }
        self.pods.insert(pod, needy);
    }
}

fn leave(users: &mut HashMap<Box<str>, BTreeSet<u32>>, key: &str, pod: u32) {
    if let Some(pods) = users.get_mut(key) {
        pods.remove(&pod);
        if pods.is_empty() {
            users.remove(key);
        }
    }
}

#[cfg(test)]
mod tests;
