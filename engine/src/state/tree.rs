//! The tree of sub-groups of a group: who must run together, who goes next, who goes first when pods must go.
//!
//! # Source
//! docs/behaviour.md 1.6 to 1.9.

pub(crate) mod count;
mod occupied;
mod surplus;

use std::{borrow::Cow, cmp::Ordering};

use crate::{
    base::{
        few::Few,
        ids::{PodId, Symbol},
    },
    state::tree::{count::Count, occupied::Occupied},
    told::group::{Constraint, Min, Structure},
};

/// A child of a set: another set, or a leaf that holds pods.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(crate) enum Member {
    Set(u16),
    Leaf(u16),
}

/// An inner sub-group, or the group itself.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Set {
    pub(crate) name: Symbol,
    /// Number of members that must be satisfied.
    min: Option<u32>,
    pub(crate) topology: Option<Constraint>,
    /// In ascending order of names.
    pub(crate) members: Cow<'static, [Member]>,
}

/// The member of a group without sub-groups.
const ALL: Cow<'static, [Member]> = Cow::Borrowed(&[Member::Leaf(0)]);

/// The row of the leaf of a group without sub-groups.
const FIRST: Cow<'static, [u16]> = Cow::Borrowed(&[0]);

/// The sets of a group without sub-groups and without topology: nearly every one, and they all share it.
static FLAT: [Set; 1] = [Set { name: Symbol::EMPTY, min: None, topology: None, members: ALL }];

impl Set {
    /// Number of members that must be satisfied.
    pub(crate) fn needed(&self) -> usize {
        self.min.map_or(self.members.len(), |min| min as usize)
    }
}

/// A sub-group that holds pods.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(crate) struct Leaf {
    pub(crate) name: Symbol,
    pub(crate) min: u32,
    pub(crate) topology: Option<Constraint>,
    /// Its pods, first to go first.
    pub(crate) pods: Few<PodId>,
    pub(crate) count: Count,
}

impl Leaf {
    pub(crate) fn is_satisfied(&self) -> bool {
        self.count.active >= self.min
    }

    pub(crate) fn alive(&self) -> u32 {
        // Nominated pods count once: those that wait are pending no more, those that were evicted leave.
        self.count.active + self.count.pending + self.count.gated
    }

    /// Tells whether enough pods are there, gated ones aside. A pod that ended well did its part: without it a gang
    /// that lost its last pods could never end.
    pub(crate) fn is_ready(&self) -> bool {
        self.alive() - self.count.gated + self.count.succeeded >= self.min
    }

    /// Tells whether its minimum runs, pods that are leaving included.
    fn is_whole(&self) -> bool {
        self.count.used >= self.min
    }

    /// Lists what is missing of its minimum, else one pod more.
    fn next(&self, eligible: &impl Fn(PodId) -> bool) -> impl Iterator<Item = PodId> {
        let count = (self.min.saturating_sub(self.count.active)).max(1) as usize;
        self.pods.iter().copied().filter(|pod| eligible(*pod)).take(count)
    }

    /// Tells whether it is below its minimum because pods of it ended well, while others go on. One of which nothing runs any
    /// more has done its part: what comes after it, as training after what prepares it, is not ending.
    fn is_completing(&self) -> bool {
        self.count.succeeded > 0 && (1..self.min).contains(&self.count.used)
    }

    /// Tells whether it has pods beyond its minimum.
    fn is_elastic(&self) -> bool {
        (self.min as usize) < self.pods.len()
    }

    /// Compares what runs and stays with the minimum.
    fn level(&self) -> Ordering {
        self.count.active.cmp(&self.min)
    }
}

/// A group's sub-groups with the state of their pods.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(crate) struct Tree {
    /// Row 0 is the group itself; empty where the structure is unknown.
    pub(crate) sets: Cow<'static, [Set]>,
    pub(crate) leaves: Few<Leaf>,
    /// Rows of the leaves by their names, those of one name in their own order.
    by_name: Cow<'static, [u16]>,
    /// The structure makes no tree: nothing of it starts, and what runs is all in one leaf.
    pub(crate) is_malformed: bool,
    /// Number of leaves that are completing.
    completing: u32,
    /// Number of leaves that have pods beyond their minimum.
    elastic: u32,
    /// The part of a group with sub-groups that has pods.
    occupied: Option<Box<Occupied>>,
}

impl Tree {
    /// The tree of a structure, without pods.
    pub(crate) fn new(structure: &Structure) -> Self {
        Self::well_formed(structure).unwrap_or_else(|| Self {
            sets: Cow::Borrowed(FLAT.as_slice()),
            leaves: Few::One([Leaf::default()]),
            by_name: FIRST,
            is_malformed: true,
            ..Self::default()
        })
    }

    fn well_formed(structure: &Structure) -> Option<Self> {
        let (min, topology, sub_groups) = match structure {
            Structure::Flat { min, topology } => {
                let root =
                    |topology| Set { name: Symbol::EMPTY, min: None, topology, members: ALL };
                let sets = if topology.is_none() {
                    Cow::Borrowed(FLAT.as_slice())
                } else {
                    Cow::Owned(vec![root(*topology)])
                };
                let leaf = Leaf { min: *min, ..Leaf::default() };
                let leaves = Few::One([leaf]);
                return Some(Self { sets, leaves, by_name: FIRST, ..Self::default() });
            }
            Structure::Tree { min, topology, sub_groups } => (*min, *topology, sub_groups),
            Structure::Malformed => return None,
        };
        let root = Set { name: Symbol::EMPTY, min, topology, members: Cow::default() };
        let mut sets = vec![root];
        let mut leaves = Vec::new();
        let mut set_of = vec![None; sub_groups.len()];
        let mut members = Vec::with_capacity(sub_groups.len());
        for (at, sub_group) in sub_groups.iter().enumerate() {
            let (name, topology) = (sub_group.name, sub_group.topology);
            members.push(match sub_group.min {
                Min::Pods(min) => {
                    leaves.push(Leaf { name, min, topology, ..Leaf::default() });
                    Member::Leaf(index(leaves.len() - 1))
                }
                Min::Members(min) => {
                    sets.push(Set { name, min, topology, members: Cow::default() });
                    set_of[at] = Some(sets.len() - 1);
                    Member::Set(index(sets.len() - 1))
                }
            });
        }
        for (at, sub_group) in sub_groups.iter().enumerate() {
            let set = match sub_group.parent {
                None => 0,
                Some(parent) => (*set_of.get(usize::from(parent))?)?,
            };
            sets[set].members.to_mut().push(members[at]);
        }
        let mut by_name: Vec<u16> = (0..leaves.len()).map(index).collect();
        by_name.sort_by_key(|leaf| leaves[usize::from(*leaf)].name);
        let (leaves, by_name) = (leaves.into(), by_name.into());
        let tree = Self { sets: sets.into(), leaves, by_name, ..Self::default() };
        // Everything hangs below the root unless parents form a ring; `minSubGroup` must be reachable.
        let reached = tree.count_below(0, sub_groups.len())?;
        let makes_a_tree = reached == sub_groups.len()
            && tree.sets.iter().all(|set| set.needed() <= set.members.len());
        let occupied = makes_a_tree.then(|| Occupied::new(&tree.sets, &tree.leaves))?;
        Some(Self { occupied: Some(Box::new(occupied)), ..tree })
    }

    fn count_below(&self, set: usize, bound: usize) -> Option<usize> {
        let mut count = 0;
        for member in self.sets[set].members.iter() {
            count += 1;
            if let Member::Set(inner) = member {
                count += self.count_below(usize::from(*inner), bound.checked_sub(1)?)?;
            }
        }
        Some(count)
    }

    /// The leaf of a name, the first one where several have it; adds the names that it was compared with.
    ///
    /// # Cost
    /// That of a search: each pod of a group with thousands of sub-groups may be told at once.
    pub(crate) fn leaf_of(&self, name: Symbol, compared: &mut u64) -> Option<u16> {
        let name_of = |leaf: &u16| self.leaves[usize::from(*leaf)].name;
        let at = self.by_name.partition_point(|leaf| {
            *compared += 1;
            name_of(leaf) < name
        });
        self.by_name.get(at).filter(|leaf| name_of(leaf) == name).copied()
    }

    pub(crate) fn is_satisfied(&self, member: Member) -> bool {
        match member {
            Member::Leaf(leaf) => self.leaves[usize::from(leaf)].is_satisfied(),
            Member::Set(set) => self.satisfied(set) >= self.sets[usize::from(set)].needed(),
        }
    }

    /// Tells whether a member is satisfied by what holds a place, without those that are only nominated.
    pub(crate) fn stands(&self, member: Member) -> bool {
        match member {
            Member::Leaf(leaf) => {
                let leaf = &self.leaves[usize::from(leaf)];
                leaf.count.active - leaf.count.nominated >= leaf.min
            }
            Member::Set(set) => self.has_needed(set, |member| self.stands(member)),
        }
    }

    /// Counts the members of a set that are satisfied.
    pub(crate) fn satisfied(&self, set: u16) -> usize {
        self.count_members(set, |member| self.is_satisfied(member))
    }

    /// Tells whether something holds for as many members of a set as must be satisfied.
    fn has_needed(&self, set: u16, holds: impl Fn(Member) -> bool) -> bool {
        self.count_members(set, holds) >= self.sets[usize::from(set)].needed()
    }

    /// Tells whether some sub-group is below its minimum because pods of it ended well: such a group is left to end.
    pub(crate) fn is_completing(&self) -> bool {
        self.completing > 0
    }

    /// The leaf of a group without sub-groups, whose minimum is all that counts.
    pub(crate) fn plain(&self) -> Option<&Leaf> {
        let ([Set { min: None, .. }], [leaf]) = (&*self.sets, &*self.leaves) else { return None };
        Some(leaf)
    }

    /// Tells whether enough pods are there, gated ones aside.
    pub(crate) fn is_ready(&self) -> bool {
        self.plain().map_or_else(|| self.is_member_ready(Member::Set(0)), Leaf::is_ready)
    }

    fn is_member_ready(&self, member: Member) -> bool {
        match member {
            Member::Leaf(leaf) => self.leaves[usize::from(leaf)].is_ready(),
            Member::Set(set) => self.has_needed(set, |member| self.is_member_ready(member)),
        }
    }

    /// Tells whether what must run together does, pods that are leaving included.
    ///
    /// Unlike KAI this heeds `minSubGroup` (docs/behaviour.md 14.3, Q4).
    pub(crate) fn is_whole(&self) -> bool {
        self.plain().map_or_else(|| self.is_member_whole(Member::Set(0)), Leaf::is_whole)
    }

    fn is_member_whole(&self, member: Member) -> bool {
        match member {
            Member::Leaf(leaf) => self.leaves[usize::from(leaf)].is_whole(),
            Member::Set(set) => self.has_needed(set, |member| self.is_member_whole(member)),
        }
    }

    /// The one leaf of a group without sub-groups and without topology.
    pub(crate) fn only_leaf(&self) -> Option<u16> {
        let ([set], [leaf]) = (&*self.sets, &*self.leaves) else { return None };
        (set.topology.is_none() && leaf.topology.is_none()).then_some(0)
    }

    /// The name of a member, and where its pods have to be.
    pub(crate) fn constraint(&self, member: Member) -> (Symbol, Option<Constraint>) {
        match member {
            Member::Leaf(leaf) => {
                let leaf = &self.leaves[usize::from(leaf)];
                (leaf.name, leaf.topology)
            }
            Member::Set(set) => {
                let set = &self.sets[usize::from(set)];
                (set.name, set.topology)
            }
        }
    }

    /// Tells whether neither a member nor anything below it has to be together.
    pub(crate) fn is_free(&self, member: Member) -> bool {
        self.constraint(member).1.is_none() && self.is_free_below(member)
    }

    /// Tells whether some leaf has pods beyond its minimum.
    pub(crate) fn is_elastic(&self) -> bool {
        self.elastic > 0
    }

    /// The members of a set that have pods, first to be filled first.
    pub(crate) fn ordered(&self, set: u16) -> Vec<Member> {
        let mut members = self.walked(set).to_vec();
        if members.len() == 1 {
            return members;
        }
        members.sort_by(|left, right| self.compare(*left, *right));
        members
    }

    /// Tells which of two members is filled first; equal ones by name, which is their place in the list.
    fn compare(&self, left: Member, right: Member) -> Ordering {
        let (lc, lt) = self.level(left);
        let (rc, rt) = self.level(right);
        match (lc < lt, rc < rt) {
            (true, true) => Ordering::Equal,
            (true, false) => Ordering::Less,
            (false, true) => Ordering::Greater,
            (false, false) => match (lt > 0, rt > 0) {
                (true, false) => Ordering::Less,
                (false, true) => Ordering::Greater,
                (false, false) => lc.cmp(&rc),
                (true, true) => (lc * rt).cmp(&(rc * lt)),
            },
        }
    }

    fn level(&self, member: Member) -> (u64, u64) {
        match member {
            Member::Leaf(leaf) => {
                let leaf = &self.leaves[usize::from(leaf)];
                (u64::from(leaf.count.active), u64::from(leaf.min))
            }
            Member::Set(set) => {
                (self.satisfied(set) as u64, self.sets[usize::from(set)].needed() as u64)
            }
        }
    }

    /// The pods to place next: what is missing of the core as a whole, else one step more.
    pub(crate) fn to_place(&self, eligible: &impl Fn(PodId) -> bool) -> Few<PodId> {
        if let ([_], [leaf]) = (&*self.sets, &*self.leaves) {
            return leaf.next(eligible).collect();
        }
        let mut pods = Vec::new();
        if !self.sets.is_empty() {
            self.collect(0, eligible, &mut pods);
        }
        pods.into()
    }

    fn collect(&self, set: u16, eligible: &impl Fn(PodId) -> bool, pods: &mut Vec<PodId>) {
        let members = self.ordered(set);
        if self.satisfied(set) < self.sets[usize::from(set)].needed() {
            let members = self.to_fill(set, members, eligible).into_iter();
            for member in members.filter(|member| !self.is_satisfied(*member)) {
                self.collect_member(member, eligible, pods);
            }
            return;
        }
        let before = pods.len();
        for member in members {
            self.collect_member(member, eligible, pods);
            if pods.len() > before {
                return;
            }
        }
    }

    /// The members of a set that are filled for it to be satisfied, of those with pods in their order.
    fn to_fill(
        &self,
        set: u16,
        mut members: Vec<Member>,
        eligible: &impl Fn(PodId) -> bool,
    ) -> Vec<Member> {
        let row = &self.sets[usize::from(set)];
        let needed = row.needed();
        if needed < row.members.len() {
            // A member that has too few pods would be filled in part, for nothing.
            let can_fill = |member: &Member| self.can_fill(*member, eligible);
            members.retain(can_fill);
            let short = needed.saturating_sub(members.len() + self.idle(set));
            members.truncate(needed);
            // Where these are not enough, the others come by name, with pods or without.
            let others = row.members.iter().copied().filter(|member| !can_fill(member));
            members.extend(others.take(short));
        }
        members
    }

    /// Tells whether what must run together would, with every eligible pod placed.
    pub(crate) fn can_fill(&self, member: Member, eligible: &impl Fn(PodId) -> bool) -> bool {
        match member {
            Member::Leaf(leaf) => {
                let leaf = &self.leaves[usize::from(leaf)];
                let more = leaf.pods.iter().filter(|pod| eligible(**pod)).count();
                leaf.count.active as usize + more >= leaf.min as usize
            }
            Member::Set(set) => self.has_needed(set, |member| self.can_fill(member, eligible)),
        }
    }

    fn collect_member(
        &self,
        member: Member,
        eligible: &impl Fn(PodId) -> bool,
        pods: &mut Vec<PodId>,
    ) {
        match member {
            Member::Set(set) => self.collect(set, eligible, pods),
            Member::Leaf(leaf) => pods.extend(self.leaves[usize::from(leaf)].next(eligible)),
        }
    }
}

/// Adjusts the number of leaves for which something holds by one that may have changed.
fn adjust(number: &mut u32, was: bool, is: bool) {
    *number = *number + u32::from(is) - u32::from(was);
}

fn index(row: usize) -> u16 {
    u16::try_from(row).expect("a group has at most u16::MAX sub-groups")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::told::group::SubGroup;

    fn leaves(names: impl Iterator<Item = u32>) -> Tree {
        let leaf = |name| SubGroup {
            name: Symbol::new(name),
            parent: None,
            min: Min::Pods(1),
            topology: None,
        };
        let sub_groups = names.map(leaf).collect();
        Tree::new(&Structure::Tree { min: None, topology: None, sub_groups })
    }

    /// Each pod of a group that its user changes is put into its sub-group anew.
    #[test]
    fn a_sub_group_is_found_without_a_look_at_all_others() {
        // Names in no order, an odd number for each.
        let tree = leaves((0..10_000).map(|at| 2 * (at * 7919 % 10_000) + 1));
        for (row, leaf) in tree.leaves.iter().enumerate() {
            let mut compared = 0;
            assert_eq!(tree.leaf_of(leaf.name, &mut compared), Some(index(row)));
            assert!(compared <= 15, "{compared} names");
        }
        assert_eq!(tree.leaf_of(Symbol::new(2), &mut 0), None);
    }

    #[test]
    fn the_first_sub_group_of_a_name_has_it() {
        let tree = leaves([5, 3, 5, 3].into_iter());
        let found = [3, 4, 5].map(|name| tree.leaf_of(Symbol::new(name), &mut 0));
        assert_eq!(found, [Some(1), None, Some(0)]);
        let flat = Tree::new(&Structure::Flat { min: 1, topology: None });
        assert_eq!(flat.leaf_of(Symbol::EMPTY, &mut 0), Some(0));
        assert_eq!(Tree::default().leaf_of(Symbol::EMPTY, &mut 0), None);
    }
}
