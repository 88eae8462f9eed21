//! The part of a tree that has pods: what is asked of a group costs its pods, and not the sub-groups that they could be in.
//!
//! A sub-group without pods is satisfied, ready and whole where it needs nothing, else it is neither, and nothing of it is
//! placed or evicted. So walks of a tree pass over such sub-groups, and count those that are satisfied.

use std::cmp::Ordering;

use crate::{
    base::{few::Few, ids::PodId},
    state::tree::{Leaf, Member, Set, Tree, adjust, count::Count},
};

/// The place of a member: the set that holds it, and its place in the list of members there.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
struct Seat {
    set: u16,
    at: u16,
}

/// The facts that are kept of a set.
#[derive(Clone, PartialEq, Eq, Debug)]
struct Branch {
    /// None for the group itself.
    seat: Option<Seat>,
    /// Number of members that must be satisfied.
    needed: usize,
    /// The members with pods, in the order of all.
    members: Vec<Member>,
    /// Number of the others that are satisfied.
    idle: usize,
    /// True if nothing below has to be together.
    is_free: bool,
}

/// The sub-groups with pods of a group, and what is counted over all of its sub-groups.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Occupied {
    /// Rows of the leaves with pods, ascending.
    leaves: Vec<u16>,
    /// By set.
    branches: Vec<Branch>,
    /// By leaf.
    seats: Vec<Seat>,
    /// Number of leaves without pods that need some.
    vacant: u32,
    /// Sums over all leaves.
    sum: Count,
    /// Number of leaves that are below their minimum.
    below: u32,
    /// Number of leaves that are above it.
    above: u32,
}

impl Occupied {
    /// Nothing of a tree in which all hangs below the first set.
    pub(super) fn new(sets: &[Set], leaves: &[Leaf]) -> Self {
        let branch = |set: &Set| {
            let (needed, members) = (set.needed(), Vec::new());
            Branch { seat: None, needed, members, idle: 0, is_free: true }
        };
        let needy = leaves.iter().map(|leaf| u32::from(leaf.min > 0)).sum::<u32>();
        let mut occupied = Self {
            leaves: Vec::new(),
            branches: sets.iter().map(branch).collect(),
            seats: vec![Seat::default(); leaves.len()],
            vacant: needy,
            sum: Count::default(),
            below: needy,
            above: 0,
        };
        occupied.settle(0, sets, leaves);
        occupied
    }

    /// Finds out where the members of a set are, and all below them, and what holds of these without pods.
    fn settle(&mut self, set: u16, sets: &[Set], leaves: &[Leaf]) {
        for (at, member) in (0..).zip(sets[usize::from(set)].members.iter()) {
            let seat = Seat { set, at };
            let (is_idle, is_free) = match *member {
                Member::Leaf(leaf) => {
                    self.seats[usize::from(leaf)] = seat;
                    let leaf = &leaves[usize::from(leaf)];
                    (leaf.min == 0, leaf.topology.is_none())
                }
                Member::Set(inner) => {
                    self.settle(inner, sets, leaves);
                    let branch = &mut self.branches[usize::from(inner)];
                    branch.seat = Some(seat);
                    let is_free = branch.is_free && sets[usize::from(inner)].topology.is_none();
                    (branch.idle >= branch.needed, is_free)
                }
            };
            let branch = &mut self.branches[usize::from(set)];
            branch.idle += usize::from(is_idle);
            branch.is_free &= is_free;
        }
    }

    /// Notes that a leaf has its first pod.
    fn enter(&mut self, leaf: u16, min: u32) {
        let at = self.leaves.partition_point(|other| *other < leaf);
        self.leaves.insert(at, leaf);
        self.vacant -= u32::from(min > 0);
        let (mut member, mut seat) = (Member::Leaf(leaf), self.seats[usize::from(leaf)]);
        let mut was_idle = min == 0;
        loop {
            let at = self.rank(seat);
            let branch = &mut self.branches[usize::from(seat.set)];
            let was_empty = branch.members.is_empty();
            let was_satisfied = branch.idle >= branch.needed;
            branch.members.insert(at, member);
            branch.idle -= usize::from(was_idle);
            let Some(above) = branch.seat.filter(|_| was_empty) else { return };
            (member, was_idle, seat) = (Member::Set(seat.set), was_satisfied, above);
        }
    }

    /// Notes that a leaf lost its last pod.
    fn leave(&mut self, leaf: u16, min: u32) {
        let at = self.leaves.partition_point(|other| *other < leaf);
        self.leaves.remove(at);
        self.vacant += u32::from(min > 0);
        let (mut seat, mut is_idle) = (self.seats[usize::from(leaf)], min == 0);
        loop {
            let at = self.rank(seat);
            let branch = &mut self.branches[usize::from(seat.set)];
            branch.members.remove(at);
            branch.idle += usize::from(is_idle);
            let Some(above) = branch.seat.filter(|_| branch.members.is_empty()) else { return };
            (is_idle, seat) = (branch.idle >= branch.needed, above);
        }
    }

    /// Counts the members with pods before a place.
    fn rank(&self, seat: Seat) -> usize {
        let place = |member: &Member| match *member {
            Member::Leaf(leaf) => Some(self.seats[usize::from(leaf)].at),
            Member::Set(set) => self.branches[usize::from(set)].seat.map(|seat| seat.at),
        };
        let members = &self.branches[usize::from(seat.set)].members;
        members.partition_point(|member| place(member) < Some(seat.at))
    }
}

impl Tree {
    /// The members of a set that have pods, in the order of names; all members of a group without sub-groups.
    pub(crate) fn walked(&self, set: u16) -> &[Member] {
        match &self.occupied {
            Some(occupied) => &occupied.branches[usize::from(set)].members,
            None => &self.sets[usize::from(set)].members,
        }
    }

    /// Counts the other members of a set that are satisfied.
    pub(crate) fn idle(&self, set: u16) -> usize {
        self.occupied.as_ref().map_or(0, |occupied| occupied.branches[usize::from(set)].idle)
    }

    /// Counts the members of a set for which something holds; of one without pods it holds where that is satisfied.
    pub(super) fn count_members(&self, set: u16, holds: impl Fn(Member) -> bool) -> usize {
        let walked = self.walked(set).iter().filter(|member| holds(**member)).count();
        walked + self.idle(set)
    }

    /// The leaves with pods by row; of a group without sub-groups the only one.
    pub(crate) fn leaves_with_pods(&self) -> impl Iterator<Item = (u16, &Leaf)> {
        let rows = match &self.occupied {
            Some(occupied) => &*occupied.leaves,
            None => &*self.by_name,
        };
        rows.iter().map(move |row| (*row, &self.leaves[usize::from(*row)]))
    }

    /// The pods of all leaves, those of one after those of the other.
    pub(crate) fn pods(&self) -> impl Iterator<Item = &PodId> {
        self.leaves_with_pods().flat_map(|(_, leaf)| &leaf.pods)
    }

    /// Tells whether some sub-group needs pods and has none.
    pub(crate) fn has_vacant(&self) -> bool {
        self.occupied.as_ref().is_some_and(|occupied| occupied.vacant > 0)
    }

    /// Tells whether nothing below a member has to be together.
    pub(crate) fn is_free_below(&self, member: Member) -> bool {
        let Member::Set(set) = member else { return true };
        // What has to be together of a group without sub-groups is all of it.
        self.occupied.as_ref().is_none_or(|occupied| occupied.branches[usize::from(set)].is_free)
    }

    /// The leaves with pods below a member; a leaf itself, whatever it has.
    pub(crate) fn leaves_below(&self, member: Member) -> Vec<u16> {
        match member {
            Member::Leaf(leaf) => vec![leaf],
            Member::Set(set) => {
                self.walked(set).iter().flat_map(|member| self.leaves_below(*member)).collect()
            }
        }
    }

    /// Changes the counts of a leaf; sums over all leaves are changed alike.
    pub(crate) fn count_in(&mut self, leaf: u16, change: impl Fn(&mut Count)) {
        let leaf = &mut self.leaves[usize::from(leaf)];
        let (was, level) = (leaf.is_completing(), leaf.level());
        change(&mut leaf.count);
        adjust(&mut self.completing, was, leaf.is_completing());
        if let Some(occupied) = &mut self.occupied {
            change(&mut occupied.sum);
            adjust(&mut occupied.below, level.is_lt(), leaf.level().is_lt());
            adjust(&mut occupied.above, level.is_gt(), leaf.level().is_gt());
        }
    }

    /// Changes which pods a leaf has.
    pub(crate) fn seat_in(&mut self, leaf: u16, change: impl FnOnce(&mut Few<PodId>)) {
        let row = &mut self.leaves[usize::from(leaf)];
        let (was, was_empty) = (row.is_elastic(), row.pods.is_empty());
        change(&mut row.pods);
        adjust(&mut self.elastic, was, row.is_elastic());
        if let Some(occupied) = &mut self.occupied {
            match (was_empty, row.pods.is_empty()) {
                (true, false) => occupied.enter(leaf, row.min),
                (false, true) => occupied.leave(leaf, row.min),
                (true, true) | (false, false) => {}
            }
        }
    }

    /// Sums over all leaves.
    #[inline]
    pub(crate) fn count(&self) -> &Count {
        match (&self.occupied, &*self.leaves) {
            (Some(occupied), _) => &occupied.sum,
            (None, [leaf, ..]) => &leaf.count,
            (None, []) => &Count::NONE,
        }
    }

    /// 0 while some leaf is below its minimum, 1 when all are at it, 2 above.
    pub(crate) fn fill(&self) -> u8 {
        let has = |level: Ordering| self.leaves.iter().any(|leaf| leaf.level() == level);
        let (is_below, is_above) = match &self.occupied {
            Some(occupied) => (occupied.below > 0, occupied.above > 0),
            None => (has(Ordering::Less), has(Ordering::Greater)),
        };
        if is_below { 0 } else { 1 + u8::from(is_above) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        base::ids::Symbol,
        told::group::{Min, Structure, SubGroup},
    };

    /// Numbers that follow from a first one.
    struct Draws(u64);

    impl Draws {
        fn below(&mut self, end: u32) -> u32 {
            let next = self.0.wrapping_mul(6_364_136_223_846_793_005);
            self.0 = next.wrapping_add(1_442_695_040_888_963_407);
            u32::try_from(self.0 >> 33).expect("31 bits are left") % end
        }
    }

    /// Some sub-groups, within the group or within each other; most structures make a tree.
    fn drawn(draws: &mut Draws) -> Tree {
        let mut sub_groups: Vec<SubGroup> = Vec::new();
        for at in 0..2 + draws.below(8) {
            let above: Vec<u16> = (0..)
                .zip(&sub_groups)
                .filter_map(|(row, other)| matches!(other.min, Min::Members(_)).then_some(row))
                .collect();
            let parent = draws.below(4) as usize;
            let min = match draws.below(6) {
                0 => Min::Members(None),
                1 => Min::Members(Some(draws.below(3))),
                _ => Min::Pods(draws.below(3)),
            };
            let (name, parent) = (Symbol::new(at + 1), above.get(parent).copied());
            sub_groups.push(SubGroup { name, parent, min, topology: None });
        }
        let min = Some(draws.below(4)).filter(|min| *min > 0);
        Tree::new(&Structure::Tree { min, topology: None, sub_groups })
    }

    #[derive(Clone, Copy, PartialEq, Eq, Debug)]
    enum State {
        Waits,
        Runs,
        Ended,
    }

    /// Puts a pod into a leaf, or takes it out.
    fn change(tree: &mut Tree, leaf: u16, pod: PodId, state: State, is_there: bool) {
        let add = |number: &mut u32| *number = if is_there { *number + 1 } else { *number - 1 };
        let seat = |pods: &mut Few<PodId>| {
            let at = pods.partition_point(|other| *other < pod);
            if is_there {
                pods.insert(at, pod);
            } else {
                pods.remove(at);
            }
        };
        if is_there {
            tree.seat_in(leaf, seat);
        }
        tree.count_in(leaf, |count| match state {
            State::Waits => add(&mut count.pending),
            State::Runs => {
                add(&mut count.active);
                add(&mut count.used);
            }
            State::Ended => add(&mut count.succeeded),
        });
        if !is_there {
            tree.seat_in(leaf, seat);
        }
    }

    /// The sum of what leaves count.
    fn sum(leaves: &[Leaf]) -> Count {
        leaves.iter().map(|leaf| &leaf.count).fold(Count::NONE, |sum, count| Count {
            pending: sum.pending + count.pending,
            gated: sum.gated + count.gated,
            active: sum.active + count.active,
            nominated: sum.nominated + count.nominated,
            used: sum.used + count.used,
            succeeded: sum.succeeded + count.succeeded,
        })
    }

    /// Passing over parts of a tree changes no answer: a tree that passes over nothing gives all of them alike.
    #[test]
    fn sub_groups_without_pods_change_no_answer() {
        for seed in 0..2_000 {
            let mut draws = Draws(seed);
            let mut tree = drawn(&mut draws);
            let leaves = u32::try_from(tree.leaves.len()).expect("few leaves");
            if tree.is_malformed || leaves == 0 {
                continue;
            }
            let mut pods: Vec<(u16, PodId, State)> = Vec::new();
            for number in 0..12 {
                if draws.below(4) == 0 && !pods.is_empty() {
                    let (leaf, pod, state) = pods.remove(draws.below(9) as usize % pods.len());
                    change(&mut tree, leaf, pod, state, false);
                } else {
                    let leaf = u16::try_from(draws.below(leaves)).expect("few leaves");
                    let states = [State::Waits, State::Runs, State::Ended];
                    let state = states[draws.below(3) as usize];
                    change(&mut tree, leaf, PodId::new(number), state, true);
                    pods.push((leaf, PodId::new(number), state));
                }
                let all = Tree { occupied: None, ..tree.clone() };
                let is =
                    |pod: PodId, state| pods.iter().any(|(_, one, is)| (*one, *is) == (pod, state));
                let (waits, runs) = (|pod| is(pod, State::Waits), |pod| is(pod, State::Runs));
                let group = Member::Set(0);
                assert_eq!(tree.to_place(&waits), all.to_place(&waits), "seed {seed}");
                assert_eq!(tree.to_evict(&runs), all.to_evict(&runs), "seed {seed}");
                assert_eq!(tree.can_fill(group, &waits), all.can_fill(group, &waits));
                assert_eq!(tree.satisfied(0), all.satisfied(0), "seed {seed}");
                assert_eq!(tree.stands(group), all.stands(group), "seed {seed}");
                assert_eq!(tree.is_ready(), all.is_ready(), "seed {seed}");
                assert_eq!(tree.is_whole(), all.is_whole(), "seed {seed}");
                assert_eq!(*tree.count(), sum(&tree.leaves), "seed {seed}");
                assert_eq!(tree.fill(), all.fill(), "seed {seed}");
            }
            for (leaf, pod, state) in pods {
                change(&mut tree, leaf, pod, state, false);
            }
            assert_eq!(tree, drawn(&mut Draws(seed)), "seed {seed}");
        }
    }

    /// Whoever has many sub-groups and few pods has nobody go through the many for each of the few.
    #[test]
    fn walks_go_through_what_has_pods() {
        for min in [0, 1] {
            let sub_group = |at| SubGroup {
                name: Symbol::new(at),
                parent: None,
                min: Min::Pods(min),
                topology: None,
            };
            let sub_groups = (0..10_000).map(sub_group).collect();
            let mut tree = Tree::new(&Structure::Tree { min: Some(1), topology: None, sub_groups });
            for leaf in [70, 7, 7_000] {
                let pod = PodId::new(u32::from(leaf));
                change(&mut tree, leaf, pod, State::Runs, true);
            }
            assert_eq!(tree.walked(0), [7, 70, 7_000].map(Member::Leaf));
            assert!(tree.leaves_with_pods().map(|(row, _)| row).eq([7, 70, 7_000]));
            assert_eq!(tree.leaves_below(Member::Set(0)), [7, 70, 7_000]);
            assert_eq!(tree.satisfied(0), if min == 0 { 10_000 } else { 3 });
            assert_eq!(tree.has_vacant(), min > 0);
        }
    }
}
