//! Describes what a bind has to write so that the claims of its pod get their volumes, and what is kept for that until it shows in
//! the claims and volumes themselves.

use std::collections::{HashMap, HashSet};

use kai_engine::{Change, Cluster, NodeId, Requirement, Reserved};

use super::{Class, Form, Mount, Needs, Volume, Volumes, capacity::Made, counted, open::Seeker};
use crate::{
    actuate::{Task, VolumeGrant, VolumeStep},
    ingest::{Context, Ingest},
    names::Number,
};

impl Ingest {
    /// Adds to the binds of a plan what has to be written so that the claims of their pods get their volumes; from now on
    /// this is under way.
    pub fn grant_volumes(&mut self, tasks: &mut [Task], changes: &[Change], cluster: &Cluster) {
        let held = changes.iter().filter_map(|change| match change {
            Change::Place { pod, reserved, .. } => Some((pod.number(), reserved.as_deref()?)),
            Change::Evict { .. } | Change::Nominate { .. } => None,
        });
        let held: HashMap<u32, &Reserved> = held.collect();
        for task in tasks {
            if let Task::Bind(bind) = task
                && let Some(node) = self.context.names.nodes.find(&bind.node)
            {
                let meets = |terms: &[_]| cluster.meets(NodeId::new(node), terms);
                let reserved = held.get(&bind.pod).copied();
                bind.volumes = grants(self, bind.pod, &bind.node, reserved, &meets);
            }
        }
    }

    /// A bind failed: what it was to give to claims is free again, unless the volume says otherwise. The pod may be gone
    /// meanwhile. A claim that was told its node is served there by others, with or without this bind.
    pub fn take_back_volumes(&mut self, pod: u32, grants: &[VolumeGrant]) {
        if grants.is_empty() {
            return;
        }
        for grant in grants {
            let (key, volumes) = (grant.key(), &mut self.needs.volumes);
            if let VolumeStep::Give(volume) = &grant.step {
                volumes.take_back(volume, &key);
            }
            let Volumes { claims, capacities, .. } = volumes;
            if claims.get(&key).is_none_or(|claim| claim.selected_node.is_none()) {
                capacities.forget(&key);
            }
            self.needs.claim_changed(&key);
        }
        self.needs.offers_changed();
        self.needs.look_again(pod);
    }

    /// Keeps room for the volumes of claims that were told their node by an earlier process, or by a bind that failed.
    /// `meets` says of terms whether one of them holds for a node. Whether that takes something from other claims, which
    /// the next [`Ingest::advance`] tells of.
    ///
    /// # Cost
    /// None where neither such claims nor capacities changed; else in the claims of which it is not known yet where
    /// their volume is made, times the capacities of their class.
    ///
    /// # Source
    /// docs/behaviour.md 2.10: what is left of a capacity is without the claims provisioned there that are not bound.
    pub fn keep_room(&mut self, meets: &dyn Fn(NodeId, &[Vec<Requirement>]) -> bool) -> bool {
        let Volumes { claims, classes, capacities, .. } = &mut self.needs.volumes;
        let mut is_kept = false;
        for key in capacities.take_told() {
            let Some(claim) = claims.get(&key) else { continue };
            let node =
                claim.selected_node.as_ref().and_then(|node| self.context.names.nodes.find(node));
            let class = classes.get(&claim.wish.form.class).filter(|class| class.provisions());
            if let (Some(node), Some(class)) = (node, class) {
                let Form { class: name, bytes, .. } = &claim.wish.form;
                let of = Made { class: name, driver: &class.driver, bytes: *bytes };
                is_kept |= capacities.keep(&key, of, &|terms| meets(NodeId::new(node), terms));
            }
        }
        if is_kept {
            self.needs.offers_changed();
        }
        is_kept
    }
}

impl Needs {
    /// Lists the claims of a pod that cannot be used on a node by now, where the pod waits to be told what they allow and may have
    /// been placed by what they did before; none of other pods. `meets` says of terms whether one of them holds for the node.
    fn refused(
        &mut self,
        context: &mut Context,
        pod: u32,
        meets: &dyn Fn(&[Vec<Requirement>]) -> bool,
    ) -> HashSet<Box<str>> {
        let mut refused = HashSet::new();
        if !self.late.has(pod) {
            return refused;
        }
        let Some(needy) = self.pods.remove(&pod) else { return refused };
        let lacks = self.volumes.lacks(&needy.refers.mounts);
        for mount in &needy.refers.mounts {
            let nodes = self.nodes(context, mount, &needy, &lacks);
            let is_open = nodes.is_ok_and(|nodes| nodes.is_none_or(|nodes| meets(&nodes.terms)));
            if !is_open {
                refused.insert(mount.claim.clone());
            }
        }
        self.pods.insert(pod, needy);
        refused
    }
}

/// Works out what has to be written for a pod on a node, given what a plan reserved for it there. `meets` says of terms whether one
/// of them holds for the node.
fn grants(
    ingest: &mut Ingest,
    pod: u32,
    node: &str,
    reserved: Option<&Reserved>,
    meets: &dyn Fn(&[Vec<Requirement>]) -> bool,
) -> Vec<VolumeGrant> {
    let mut grants = Vec::new();
    let bound_within = ingest.context.rules.volumes_bound_within;
    let grant = |mount: &Mount, uid: Box<str>, step: VolumeStep| {
        let (namespace, claim) = mount.claim.split_once('/').unwrap_or_default();
        let (namespace, claim) = (Box::from(namespace), Box::from(claim));
        VolumeGrant { namespace, claim, uid, node: Box::from(node), step, bound_within }
    };
    let refused = ingest.needs.refused(&mut ingest.context, pod, meets);
    for mount in ingest.needs.mounts_of(pod).to_vec() {
        if refused.contains(&mount.claim) {
            grants.push(grant(&mount, Box::default(), VolumeStep::Refuse));
            continue;
        }
        let volumes = &mut ingest.needs.volumes;
        let Some(claim) = volumes.claims.get(&mount.claim).filter(|claim| !claim.is_bound) else {
            continue;
        };
        let on_node = |volume: &Volume| volume.terms.as_deref().is_none_or(meets);
        let meant = counted::reserved(&ingest.context.names, &mount.claim, reserved);
        let best = volumes.best(
            Seeker { key: &mount.claim, claim, meant },
            &ingest.context.names,
            &on_node,
        );
        let class = volumes.classes.get(&claim.wish.form.class).filter(|class| class.provisions());
        let is_told = claim.selected_node.is_some();
        let mut has_room = |class: &Class| {
            let Form { class: name, bytes, .. } = &claim.wish.form;
            let of = Made { class: name, driver: &class.driver, bytes: *bytes };
            volumes.capacities.make(&mount.claim, of, meets)
        };
        let step = match (best, class) {
            (Some(volume), _) if !is_told => VolumeStep::Give(volume),
            // There was room when it was told its node.
            (_, Some(class)) if is_told || has_room(class) => VolumeStep::Provision,
            _ => VolumeStep::Refuse,
        };
        grants.push(grant(&mount, claim.uid.clone(), step.clone()));
        if let VolumeStep::Give(volume) = step {
            volumes.give(&volume, &mount.claim);
            ingest.needs.claim_changed(&mount.claim);
        }
        if !is_told {
            ingest.needs.offers_changed();
        }
    }
    grants
}

#[cfg(test)]
mod tests;
