//! Pods of a group that go first when some must go.

use crate::{
    base::ids::PodId,
    state::tree::{Member, Tree},
};

impl Tree {
    /// The pods to evict next: surplus ones step by step, then all the rest at once.
    pub(crate) fn to_evict(&self, active: &impl Fn(PodId) -> bool) -> Vec<PodId> {
        if self.sets.is_empty() {
            return Vec::new();
        }
        let surplus = self.surplus(0, active);
        if surplus.is_empty() { self.active_of(Member::Set(0), active) } else { surplus }
    }

    fn surplus(&self, set: u16, active: &impl Fn(PodId) -> bool) -> Vec<PodId> {
        let satisfied = self.satisfied(set);
        if satisfied == 0 {
            return Vec::new();
        }
        let mut members = self.ordered(set);
        members.reverse();
        let spare = satisfied > self.sets[usize::from(set)].needed();
        if spare || members.iter().any(|member| self.has_surplus(*member)) {
            for member in &members {
                let step = match member {
                    Member::Set(inner) => self.surplus(*inner, active),
                    Member::Leaf(leaf) => {
                        let leaf = &self.leaves[usize::from(*leaf)];
                        let last = leaf.pods.iter().copied().rev().find(|pod| active(*pod));
                        last.filter(|_| leaf.count.active > leaf.min).into_iter().collect()
                    }
                };
                if !step.is_empty() {
                    return step;
                }
            }
        }
        if spare {
            return members
                .into_iter()
                .map(|member| self.active_of(member, active))
                .find(|pods| !pods.is_empty())
                .unwrap_or_default();
        }
        Vec::new()
    }

    fn has_surplus(&self, member: Member) -> bool {
        match member {
            Member::Leaf(leaf) => {
                let leaf = &self.leaves[usize::from(leaf)];
                leaf.count.active > leaf.min
            }
            Member::Set(set) => {
                self.satisfied(set) > self.sets[usize::from(set)].needed()
                    || self.walked(set).iter().any(|member| self.has_surplus(*member))
            }
        }
    }

    /// All active pods below a member, last to go first within each leaf.
    fn active_of(&self, member: Member, active: &impl Fn(PodId) -> bool) -> Vec<PodId> {
        match member {
            Member::Leaf(leaf) => self.leaves[usize::from(leaf)]
                .pods
                .iter()
                .copied()
                .rev()
                .filter(|pod| active(*pod))
                .collect(),
            Member::Set(set) => {
                self.walked(set).iter().flat_map(|member| self.active_of(*member, active)).collect()
            }
        }
    }
}
