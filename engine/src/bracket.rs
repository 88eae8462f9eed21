//! Who of all queues comes first, or last: siblings meet in a tournament, its winner stands for the queue above.
//!
//! A change of one leaf costs the logarithm of the number of siblings at each level.

use std::cmp::{Ordering, Reverse};

use crate::{cluster::Cluster, cycle::Timestamp, ids::QueueId, order::Standing};

/// A tree of tournaments over some leaf queues, which are known by their row.
///
/// All tournaments lie in the same lists, so that one that is put together again needs no memory anew.
#[derive(Clone, Debug)]
pub(crate) struct Bracket {
    /// [`Ordering::Less`] where the first wins, [`Ordering::Greater`] where the last does.
    wins: Ordering,
    leaves: Vec<Entry>,
    /// The leaf queue, where there is only one, and whether it stands: nobody is there to meet.
    only: Option<(QueueId, bool)>,
    /// From below: each comes before the one that its winner enters. The last one is that of the roots.
    rounds: Vec<Round>,
    /// Round by round, the oldest first.
    siblings: Vec<Sibling>,
    /// Round by round: winners by position in a complete binary tree; the siblings are its second half.
    winners: Vec<u32>,
    /// Room to put rounds together.
    members: Vec<Member>,
    /// The same: where the queues above leaves stand.
    inner: Vec<(QueueId, Entry)>,
}

impl Default for Bracket {
    fn default() -> Self {
        let (leaves, rounds, siblings, winners, members, inner) = Default::default();
        let (wins, only) = (Ordering::Less, None);
        Self { wins, leaves, only, rounds, siblings, winners, members, inner }
    }
}

/// A place in a tournament.
#[derive(Clone, Copy, Debug, Default)]
struct Entry {
    round: usize,
    /// The row among all siblings.
    at: usize,
}

/// A tournament: siblings in a fixed order, and the winner of each pair of them, and of each pair of winners.
#[derive(Clone, Debug)]
struct Round {
    /// Where the winner enters next; nothing for the roots.
    up: Option<Entry>,
    /// How far below the roots.
    depth: usize,
    /// The first of its members, which are as many as its siblings.
    member: usize,
    count: usize,
    /// Where its winners begin.
    winner: usize,
}

impl Round {
    /// How many siblings there would be room for.
    fn width(&self) -> usize {
        self.count.next_power_of_two()
    }
}

/// Nobody stands here.
const NOBODY: u32 = u32::MAX;

/// One queue of a tournament.
#[derive(Clone, Debug)]
struct Sibling {
    queue: QueueId,
    /// Its place among the winners.
    slot: usize,
    /// The leaf below it that it stands for.
    leaf: usize,
    /// Where it stands, as long as it is among the winners.
    standing: Standing,
}

/// A queue that takes part, while rounds are put together.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
struct Member {
    parent: Option<QueueId>,
    /// When it was made, and its UID: who goes first of those that stand alike.
    age: (Timestamp, u128),
    queue: QueueId,
    /// Its row among the leaves; `usize::MAX` for those above.
    leaf: usize,
}

impl Member {
    fn new(cluster: &Cluster, queue: QueueId, leaf: usize) -> Self {
        let row = &cluster.queues.rows[queue];
        let facts = row.facts.as_ref();
        let age = facts.map_or_else(Default::default, |facts| (facts.created, facts.uid));
        Self { parent: row.up, age, queue, leaf }
    }
}

impl Bracket {
    /// Some leaf queues, by row, and all queues above them; nobody stands yet.
    pub(crate) fn new(
        cluster: &Cluster,
        leaves: impl ExactSizeIterator<Item = QueueId>,
        wins: Ordering,
    ) -> Self {
        let mut bracket = Self { wins, ..Self::default() };
        bracket.open(cluster, leaves);
        bracket
    }

    /// Begins anew with other leaf queues.
    pub(crate) fn open(
        &mut self,
        cluster: &Cluster,
        mut leaves: impl ExactSizeIterator<Item = QueueId>,
    ) {
        self.rounds.clear();
        self.siblings.clear();
        self.winners.clear();
        self.inner.clear();
        self.leaves.clear();
        self.only = None;
        if leaves.len() == 1 {
            self.only = leaves.next().map(|queue| (queue, false));
            return;
        }
        self.leaves.resize(leaves.len(), Entry::default());
        self.gather(cluster, leaves);
        self.divide(cluster);
        self.siblings.reserve(self.members.len());
        for round in 0..self.rounds.len() {
            self.line_up(round);
        }
        self.inner.sort_unstable_by_key(|(queue, _)| *queue);
        for round in &mut self.rounds {
            round.up = self.members[round.member].parent.map(|parent| {
                let at = self.inner.binary_search_by_key(&parent, |(queue, _)| *queue);
                self.inner[at.expect("a queue above others takes part")].1
            });
        }
    }

    /// Finds leaves and all above them, siblings side by side.
    fn gather(&mut self, cluster: &Cluster, leaves: impl Iterator<Item = QueueId>) {
        let members = &mut self.members;
        members.clear();
        members.extend(leaves.enumerate().map(|(leaf, queue)| Member::new(cluster, queue, leaf)));
        let mut from = 0;
        while from < members.len() {
            let end = members.len();
            for at in from..end {
                let Some(parent) = members[at].parent else { continue };
                // Siblings come in a row, most of the time.
                if members[end..].last().is_none_or(|last| last.queue != parent) {
                    members.push(Member::new(cluster, parent, usize::MAX));
                }
            }
            // Leaves come in order, most of the time, so that there is little to sort.
            if !members[end..].is_sorted_by_key(|member| member.queue) {
                members[end..].sort_by_key(|member| member.queue);
                members.dedup();
            }
            from = end;
        }
        members.sort();
        // A queue is found again above leaves of different depth.
        members.dedup();
    }

    /// Makes siblings a round each, the lowest first.
    fn divide(&mut self, cluster: &Cluster) {
        let depth = |parent: QueueId| cluster.queues.path(parent).count();
        let mut member = 0;
        let siblings = self.members.chunk_by(|left, right| left.parent == right.parent);
        self.rounds.extend(siblings.map(|siblings| {
            let (first, count) = (member, siblings.len());
            member += count;
            let depth = siblings[0].parent.map_or(0, depth);
            Round { up: None, depth, member: first, count, winner: 0 }
        }));
        self.rounds.sort_unstable_by_key(|round| (Reverse(round.depth), round.member));
    }

    /// Gives the members of a round their places.
    fn line_up(&mut self, at: usize) {
        let round = &mut self.rounds[at];
        round.winner = self.winners.len();
        let members = &self.members[round.member..round.member + round.count];
        for (slot, member) in (round.winner + round.width()..).zip(members) {
            let entry = Entry { round: at, at: self.siblings.len() };
            match self.leaves.get_mut(member.leaf) {
                Some(leaf) => *leaf = entry,
                None => self.inner.push((member.queue, entry)),
            }
            let Member { queue, leaf, .. } = *member;
            self.siblings.push(Sibling { queue, slot, leaf, standing: Standing::default() });
        }
        self.winners.resize(round.winner + round.width() * 2, NOBODY);
    }

    /// The leaf that wins.
    pub(crate) fn winner(&self) -> Option<usize> {
        match self.only {
            Some((_, stands)) => stands.then_some(0),
            None => self.winner_of(self.rounds.last()?),
        }
    }

    /// The leaf of the queue that wins a round.
    fn winner_of(&self, round: &Round) -> Option<usize> {
        let winner = self.winners[round.winner + 1];
        self.siblings.get(winner as usize).map(|sibling| sibling.leaf)
    }

    /// Has a leaf and all above it stand where `standing` says: a queue, for the leaf that won below it.
    pub(crate) fn seat(
        &mut self,
        leaf: usize,
        standing: impl Fn(QueueId, usize) -> Option<Standing>,
    ) {
        if let Some((queue, stands)) = &mut self.only {
            *stands = standing(*queue, leaf).is_some();
            return;
        }
        let mut best = Some(leaf);
        let mut entry = Some(self.leaves[leaf]);
        while let Some(Entry { round, at }) = entry {
            let queue = self.siblings[at].queue;
            let now = best.and_then(|leaf| standing(queue, leaf));
            self.enter(at, best.unwrap_or_default(), now);
            self.play(Entry { round, at });
            best = self.winner_of(&self.rounds[round]);
            entry = self.rounds[round].up;
        }
    }

    /// Has all leaves stand, as [`seat`](Self::seat) has one, each queue once.
    pub(crate) fn seat_all(&mut self, standing: impl Fn(QueueId, usize) -> Option<Standing>) {
        if self.only.is_some() {
            return self.seat(0, standing);
        }
        for leaf in 0..self.leaves.len() {
            let entry = self.leaves[leaf];
            let now = standing(self.siblings[entry.at].queue, leaf);
            self.enter(entry.at, leaf, now);
        }
        for below in 0..self.rounds.len() {
            self.play_all(below);
            let round = &self.rounds[below];
            let Some((leaf, up)) = self.winner_of(round).zip(round.up) else { continue };
            let now = standing(self.siblings[up.at].queue, leaf);
            self.enter(up.at, leaf, now);
        }
    }

    fn enter(&mut self, at: usize, leaf: usize, standing: Option<Standing>) {
        let sibling = &mut self.siblings[at];
        sibling.leaf = leaf;
        self.winners[sibling.slot] = match standing {
            Some(standing) => {
                sibling.standing = standing;
                u32::try_from(at).expect("queues are numbered by u32")
            }
            None => NOBODY,
        };
    }

    /// Has one sibling meet those on its way.
    fn play(&mut self, Entry { round, at }: Entry) {
        let root = self.rounds[round].winner;
        let mut slot = self.siblings[at].slot - root;
        let mut winner = self.winners[root + slot];
        while slot > 1 {
            let other = self.winners[root + (slot ^ 1)];
            let (left, right) = if slot & 1 == 0 { (winner, other) } else { (other, winner) };
            winner = self.meet(left, right);
            slot /= 2;
            self.winners[root + slot] = winner;
        }
    }

    /// Has all siblings of a round meet.
    fn play_all(&mut self, round: usize) {
        let (root, width) = (self.rounds[round].winner, self.rounds[round].width());
        for slot in (1..width).rev() {
            let below = root + slot * 2;
            self.winners[root + slot] = self.meet(self.winners[below], self.winners[below + 1]);
        }
    }

    /// The one of two that wins, the left one being older.
    fn meet(&self, left: u32, right: u32) -> u32 {
        if right == NOBODY {
            return left;
        }
        if left == NOBODY {
            return right;
        }
        let (l, r) = (&self.siblings[left as usize], &self.siblings[right as usize]);
        let order = r.standing.compare(&l.standing).then(Ordering::Greater);
        if order == self.wins { right } else { left }
    }
}
