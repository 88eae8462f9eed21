//! Takes evictions out of a plan that were decided by what pods were told of their needs before.

use std::{
    collections::{HashMap, HashSet},
    sync::Arc,
};

use kai_engine::{Change, Cluster, Delta, GroupId, PodId, Requirement, VolumeNodes};

use super::{Allowed, Needs, Round};
use crate::{
    ingest::{Context, Ingest},
    names::{Names, Number},
};

/// Groups for which a plan evicts.
struct Gaining {
    groups: HashSet<GroupId>,
    /// By the pod that leaves.
    victims: HashMap<PodId, GroupId>,
}

impl Gaining {
    fn by(changes: &[Change]) -> Self {
        let victims = changes.iter().filter_map(|change| match change {
            Change::Evict { pod, reason, .. } => Some((*pod, reason.for_group()?)),
            Change::Place { .. } | Change::Nominate { .. } => None,
        });
        let victims: HashMap<PodId, GroupId> = victims.collect();
        Self { groups: victims.values().copied().collect(), victims }
    }

    /// Finds the one for which a pod is given a place: its own, or the one for which it is moved there.
    fn of_place(&self, pod: PodId, names: &Names) -> Option<GroupId> {
        let own = || names.pods[pod.number()].group.map(GroupId::new);
        let group = self.victims.get(&pod).copied().or_else(own);
        group.filter(|group| self.groups.contains(group))
    }
}

impl Ingest {
    /// Takes out of a plan what it evicts for a group of which a pod, or one that is moved for it, waits to be told what its needs
    /// allow, and cannot have its place by that; tells the engine who stays. One pod of each such group is told at once, so that
    /// the next plan knows.
    ///
    /// # Cost
    /// None where no pod is late or nobody is evicted; else in the changes, and in what late pods among them refer to, once
    /// for all that refer to the same.
    ///
    /// # Source
    /// docs/behaviour.md 10.3.
    pub fn withdraw(&mut self, changes: &mut Vec<Change>, cluster: &Cluster) {
        if !self.has_late() {
            return;
        }
        let gaining = Gaining::by(changes);
        let misled = self.misled(changes, &gaining, cluster);
        if misled.is_empty() {
            return;
        }
        let Context { names, deltas, .. } = &mut self.context;
        let names = &*names;
        changes.retain(|change| {
            let (group, evicted) = match change {
                Change::Evict { pod, reason, .. } => (reason.for_group(), Some(*pod)),
                Change::Nominate { pod, .. } => (gaining.of_place(*pod, names), None),
                // Whether it can be bound is looked at when it is.
                Change::Place { .. } => (None, None),
            };
            let stands = group.is_none_or(|group| !misled.contains(&group));
            if !stands {
                deltas.extend(evicted.map(Delta::EvictWithdrawn));
            }
            stands
        });
    }

    /// Finds the groups for which a plan evicts by what was told before.
    fn misled(
        &mut self,
        changes: &[Change],
        gaining: &Gaining,
        cluster: &Cluster,
    ) -> HashSet<GroupId> {
        let Self { context, needs, .. } = self;
        let facts = |pod: PodId| cluster.pod_told(pod);
        let mut round = Round::new(&facts, None);
        let mut misled = HashSet::new();
        for change in changes {
            let (pod, node, is_placed) = match change {
                Change::Place { pod, node, .. } => (*pod, *node, true),
                Change::Nominate { pod, node, .. } => (*pod, *node, false),
                Change::Evict { .. } => continue,
            };
            let Some(group) = gaining.of_place(pod, &context.names) else { continue };
            if misled.contains(&group) {
                continue;
            }
            let row = pod.number();
            let Some([told, now]) = needs.late_news(context, &mut round, row) else { continue };
            let meets = |terms: &[_]| cluster.meets(node, terms);
            if now.denies(&told, !cluster.is_leaving(pod), &meets) {
                misled.insert(group);
                // The bind of one that is placed asks whether it is late.
                if !is_placed {
                    needs.late.forget(row);
                    needs.tell_pod(context, &mut round, row);
                }
            }
        }
        misled
    }
}

impl Needs {
    /// Gives what a pod was told that its needs allow, and what they allow by now, where it waits to be told.
    fn late_news(
        &mut self,
        context: &mut Context,
        round: &mut Round<'_>,
        row: u32,
    ) -> Option<[Arc<Allowed>; 2]> {
        if !self.late.has(row) {
            return None;
        }
        let needy = self.pods.remove(&row)?;
        let now = self.look(context, round, &needy);
        let told = Arc::clone(&needy.told);
        self.pods.insert(row, needy);
        (!Arc::ptr_eq(&told, &now)).then_some([told, now])
    }
}

impl Allowed {
    /// Tells whether a pod cannot have a place by this that it could have by what was told before: a volume is elsewhere by now
    /// or, for one that waits, something is missing. `meets` says of terms whether one of them holds for the place.
    fn denies(
        &self,
        before: &Self,
        waits: bool,
        meets: &dyn Fn(&[Vec<Requirement>]) -> bool,
    ) -> bool {
        let reaches = |volume: &VolumeNodes| meets(&volume.terms);
        if !self.volumes.iter().all(reaches) {
            return true;
        }
        // A claim that is counted since needs one of the volumes that are there.
        let is_new = self.counted.iter().any(|claim| !before.counted.contains(claim));
        waits && (is_new || !self.missing.is_empty())
    }
}

#[cfg(test)]
mod tests {
    use kai_engine::{ClaimId, Missing};

    use super::*;

    #[test]
    fn a_place_is_denied_by_a_volume_elsewhere_and_to_who_waits_by_what_is_missing() {
        let volume = |terms| VolumeNodes { terms, bound: true, storage: None };
        let (here, elsewhere) = (volume(vec![Vec::new()]), volume(Vec::new()));
        let before = Allowed { counted: vec![ClaimId::new(1)], ..Allowed::default() };
        let now = |volumes: &[&VolumeNodes], counted: &[u32], missing: &[Missing]| Allowed {
            volumes: Arc::new(volumes.iter().copied().cloned().collect()),
            counted: counted.iter().copied().map(ClaimId::new).collect(),
            missing: missing.to_vec(),
        };
        for (now, who_waits, who_is_moved) in [
            (now(&[], &[], &[]), false, false),
            (now(&[&here], &[1], &[]), false, false),
            (now(&[&here, &elsewhere], &[1], &[]), true, true),
            (now(&[&here], &[1, 2], &[]), true, false),
            (now(&[], &[], &[Missing::Unbound]), true, false),
        ] {
            let denies = |waits| now.denies(&before, waits, &|terms| !terms.is_empty());
            assert_eq!([denies(true), denies(false)], [who_waits, who_is_moved], "{now:?}");
        }
    }
}
