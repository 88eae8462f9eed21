//! Who of all queues comes first, or last: siblings meet in a tournament, its winner stands for the queue above.
//!
//! A change of one leaf costs the logarithm of the number of siblings at each level.

use std::{
    cmp::{Ordering, Reverse},
    ops::Range,
};

use crate::{
    cluster::Cluster,
    cycle::Timestamp,
    ids::QueueId,
    order::{Measure, Stake, Standing},
};

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
    /// How siblings are measured; many of a round are measured alike.
    measures: Vec<Measure>,
    /// Round by round: winners by position in a complete binary tree; the siblings are its second half.
    winners: Vec<u32>,
    /// Room to put rounds together.
    members: Vec<Member>,
    /// The same: where the queues above leaves stand.
    inner: Vec<(QueueId, Entry)>,
}

impl Default for Bracket {
    fn default() -> Self {
        let (leaves, rounds, siblings, measures, winners, members, inner) = Default::default();
        let (wins, only) = (Ordering::Less, None);
        Self { wins, leaves, only, rounds, siblings, measures, winners, members, inner }
    }
}

/// A place in a tournament.
#[derive(Clone, Copy, Debug, Default)]
struct Entry {
    round: u32,
    /// The row among all siblings.
    at: u32,
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
    /// Where its winners are: the last one at 1, the two that it met at 2 and 3 and so on.
    fn winners(&self) -> Range<usize> {
        self.winner..self.winner + self.count * 2
    }

    /// The place of a sibling among them. Places of the lowest level are the first from the left.
    fn slot(&self, sibling: usize) -> usize {
        let slot = self.count.next_power_of_two() + sibling;
        if slot < self.count * 2 { slot } else { slot - self.count }
    }
}

/// Nobody stands here.
const NOBODY: u32 = u32::MAX;

/// One queue of a tournament; one line of the cache, since each turn meets some that were not met for long.
#[derive(Clone, Debug)]
#[repr(align(64))]
struct Sibling {
    /// Where it stands, as long as it is among the winners.
    standing: Standing,
    /// The row of its measure.
    measure: u32,
    queue: QueueId,
    /// Its place among the winners of its round.
    slot: u32,
    /// The leaf below it that it stands for.
    leaf: u32,
}

/// A queue that takes part, while rounds are put together.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
struct Member {
    parent: Option<QueueId>,
    /// When it was made, and its UID: who goes first of those that stand alike.
    age: (Timestamp, u128),
    queue: QueueId,
    /// Its row among the leaves; [`NOBODY`] for those above.
    leaf: u32,
}

impl Member {
    fn new(cluster: &Cluster, queue: QueueId, leaf: u32) -> Self {
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
        self.measures.clear();
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
        self.winners.reserve(self.members.len() * 2);
        for round in 0..self.rounds.len() {
            self.line_up(cluster, round);
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
        // Few queues have one below them alone.
        members.reserve(self.leaves.len() + self.leaves.len() / 2);
        let leaves = (0..).zip(leaves);
        members.extend(leaves.map(|(leaf, queue)| Member::new(cluster, queue, leaf)));
        let mut from = 0;
        while from < members.len() {
            let end = members.len();
            for at in from..end {
                let Some(parent) = members[at].parent else { continue };
                // Siblings come in a row, most of the time.
                if members[end..].last().is_none_or(|last| last.queue != parent) {
                    members.push(Member::new(cluster, parent, NOBODY));
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
    fn line_up(&mut self, cluster: &Cluster, at: usize) {
        let total = cluster.total();
        let round = &mut self.rounds[at];
        round.winner = self.winners.len();
        let members = &self.members[round.member..round.member + round.count];
        for (sibling, member) in members.iter().enumerate() {
            let entry = Entry { round: number(at), at: number(self.siblings.len()) };
            match self.leaves.get_mut(member.leaf as usize) {
                Some(leaf) => *leaf = entry,
                None => self.inner.push((member.queue, entry)),
            }
            let Member { queue, leaf, .. } = *member;
            let measure = Measure::new(&cluster.queues.rows[queue], total);
            if self.measures.last() != Some(&measure) {
                self.measures.push(measure);
            }
            let measure = number(self.measures.len() - 1);
            let (standing, slot) = (Standing::default(), number(round.slot(sibling)));
            self.siblings.push(Sibling { standing, measure, queue, slot, leaf });
        }
        self.winners.resize(round.winners().end, NOBODY);
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
        self.siblings.get(winner as usize).map(|sibling| sibling.leaf as usize)
    }

    /// Has a leaf and all above it stand for what is at stake for the leaf that won below each, as `stakes` has it; a
    /// leaf without stakes stands no more.
    pub(crate) fn seat(
        &mut self,
        cluster: &Cluster,
        leaf: usize,
        stakes: impl Fn(usize) -> Option<Stake>,
    ) {
        let mut stake = stakes(leaf);
        if let Some((_, stands)) = &mut self.only {
            *stands = stake.is_some();
            return;
        }
        let mut best = leaf;
        let mut entry = Some(self.leaves[leaf]);
        while let Some(at) = entry {
            self.enter(cluster, at, (best, stake.as_ref()));
            self.play(at);
            let round = &self.rounds[at.round as usize];
            entry = round.up;
            match self.winner_of(round) {
                Some(winner) if winner != best || stake.is_none() => {
                    best = winner;
                    stake = stakes(winner);
                }
                Some(_) => {}
                None => stake = None,
            }
        }
    }

    /// Has all leaves stand, as [`seat`](Self::seat) has one, each queue once.
    pub(crate) fn seat_all(&mut self, cluster: &Cluster, stakes: impl Fn(usize) -> Option<Stake>) {
        if self.only.is_some() {
            return self.seat(cluster, 0, stakes);
        }
        for leaf in 0..self.leaves.len() {
            self.enter(cluster, self.leaves[leaf], (leaf, stakes(leaf).as_ref()));
        }
        for below in 0..self.rounds.len() {
            self.play_all(below);
            let round = &self.rounds[below];
            let Some((leaf, up)) = self.winner_of(round).zip(round.up) else { continue };
            self.enter(cluster, up, (leaf, stakes(leaf).as_ref()));
        }
    }

    /// Has a sibling stand for a leaf, or not at all.
    #[inline]
    fn enter(
        &mut self,
        cluster: &Cluster,
        Entry { round, at }: Entry,
        (leaf, stake): (usize, Option<&Stake>),
    ) {
        let sibling = &mut self.siblings[at as usize];
        sibling.leaf = number(leaf);
        let slot = self.rounds[round as usize].winner + sibling.slot as usize;
        self.winners[slot] = match stake {
            Some(stake) => {
                let used = cluster.queues.rows[sibling.queue].used;
                let measure = &self.measures[sibling.measure as usize];
                sibling.standing = Standing::new(used, stake, measure);
                at
            }
            None => NOBODY,
        };
    }

    /// Has one sibling meet those on its way.
    #[inline]
    fn play(&mut self, Entry { round, at }: Entry) {
        let Self { rounds, siblings, measures, winners, wins, .. } = self;
        let winners = &mut winners[rounds[round as usize].winners()];
        let mut slot = siblings[at as usize].slot as usize;
        let mut winner = winners[slot];
        while slot > 1 {
            let other = winners[slot ^ 1];
            let (left, right) = if slot & 1 == 0 { (winner, other) } else { (other, winner) };
            winner = meet((siblings, measures), (left, right), *wins);
            slot /= 2;
            winners[slot] = winner;
        }
    }

    /// Has all siblings of a round meet.
    fn play_all(&mut self, round: usize) {
        let Self { rounds, siblings, measures, winners, wins, .. } = self;
        let winners = &mut winners[rounds[round].winners()];
        for slot in (1..rounds[round].count).rev() {
            let pair = (winners[slot * 2], winners[slot * 2 + 1]);
            winners[slot] = meet((siblings, measures), pair, *wins);
        }
    }
}

/// The one of two siblings that wins, the left one being older.
#[expect(
    clippy::inline_always,
    reason = "called for each pair that meets in each turn: a call costs as much again"
)]
#[inline(always)]
fn meet(
    (siblings, measures): (&[Sibling], &[Measure]),
    (left, right): (u32, u32),
    wins: Ordering,
) -> u32 {
    if right == NOBODY {
        return left;
    }
    let (Some(l), Some(r)) = (siblings.get(left as usize), siblings.get(right as usize)) else {
        return right;
    };
    let (l, r) = ((&l.standing, l.measure), (&r.standing, r.measure));
    // The older one goes first where they stand alike.
    let right_first = Standing::compare(r, l, measures).is_lt();
    if right_first == wins.is_lt() { right } else { left }
}

/// The number of a row.
fn number(row: usize) -> u32 {
    u32::try_from(row).expect("queues are numbered by u32")
}
