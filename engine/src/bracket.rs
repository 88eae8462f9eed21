//! Who of all queues comes first, or last: siblings meet in a tournament, its winner stands for the queue above.
//!
//! A change of one leaf costs the logarithm of the number of siblings at each level.

#![expect(
    clippy::inline_always,
    reason = "each turn changes a leaf: calls at each level cost half as much again"
)]

use std::cmp::{Ordering, Reverse};

use crate::{
    cluster::Cluster,
    cycle::Timestamp,
    ids::QueueId,
    order::{Measure, Stake, Standing},
    resources::Charge,
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
    /// Round by round: who meets, by position in a complete binary tree. The siblings are its second half, the others won
    /// the meets below them.
    pairs: Vec<Pair>,
    /// Room to put rounds together.
    members: Vec<Member>,
    /// The same: where the queues above leaves stand.
    inner: Vec<(QueueId, Entry)>,
}

impl Default for Bracket {
    fn default() -> Self {
        let (leaves, rounds, siblings, measures, pairs, members, inner) = Default::default();
        let (wins, only) = (Ordering::Less, None);
        Self { wins, leaves, only, rounds, siblings, measures, pairs, members, inner }
    }
}

/// A place in a round.
#[derive(Clone, Copy, Debug, Default)]
struct Entry {
    round: u32,
    /// The row among its siblings.
    at: u32,
}

/// Siblings in a fixed order, and the winner of each pair of them, and of each pair of winners, as far as the last one.
#[derive(Clone, Debug)]
struct Round {
    /// Where the winner enters next; nothing for the roots.
    up: Option<Entry>,
    /// How far below the roots.
    depth: usize,
    /// The first of its members, which are as many as its siblings.
    member: usize,
    /// The first of its siblings, and of its pairs, which are as many.
    first: usize,
    count: usize,
}

/// Two siblings that meet, the left one being older. The first pair of a round never does: its right one has won.
type Pair = [u32; 2];

/// Nobody stands here.
const NOBODY: u32 = u32::MAX;

/// One queue of a tournament; one line of the cache, since each turn meets some that were not met for long.
#[derive(Clone, Debug)]
#[repr(align(64))]
struct Sibling {
    /// Where it stands, as long as it is in a pair.
    standing: Standing,
    /// The row of its measure.
    measure: u32,
    queue: QueueId,
    /// Its place among those that meet: twice the pair, one more if it is the right one.
    slot: u32,
    /// The leaf below it that it stands for.
    leaf: u32,
}

/// A queue that takes part, while rounds are put together.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
struct Member {
    parent: Option<QueueId>,
    /// When it was made, and its UID: who goes first of those that stand alike.
    created: Timestamp,
    uid: u128,
    queue: QueueId,
    /// Its row among the leaves; [`NOBODY`] for those above.
    leaf: u32,
    /// The row of its measure.
    measure: u32,
}

impl Member {
    /// A queue, where so much is there in all; its measure is written down, unless it is that of the one before.
    fn new(
        cluster: &Cluster,
        (queue, leaf): (QueueId, u32),
        total: Charge,
        measures: &mut Vec<Measure>,
    ) -> Self {
        let row = &cluster.queues.rows[queue];
        let facts = row.facts.as_ref();
        let (created, uid) =
            facts.map_or_else(Default::default, |facts| (facts.created, facts.uid));
        let measure = Measure::new(row, total);
        if measures.last() != Some(&measure) {
            measures.push(measure);
        }
        let measure = number(measures.len() - 1);
        Self { parent: row.up, created, uid, queue, leaf, measure }
    }

    /// What two that are the same have in common.
    fn same(&mut self) -> (QueueId, u32) {
        (self.queue, self.leaf)
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
        self.pairs.clear();
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
        self.pairs.reserve(self.members.len());
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
        let Self { members, measures, .. } = self;
        let total = cluster.total();
        members.clear();
        // Few queues have one below them alone.
        members.reserve(self.leaves.len() + self.leaves.len() / 2);
        members.extend(leaves.zip(0..).map(|leaf| Member::new(cluster, leaf, total, measures)));
        let mut from = 0;
        while from < members.len() {
            let end = members.len();
            for at in from..end {
                let Some(parent) = members[at].parent else { continue };
                // Siblings come in a row, most of the time.
                if members[end..].last().is_none_or(|last| last.queue != parent) {
                    members.push(Member::new(cluster, (parent, NOBODY), total, measures));
                }
            }
            // Leaves come in order, most of the time, so that there is little to sort.
            if !members[end..].is_sorted_by_key(|member| member.queue) {
                members[end..].sort_by_key(|member| member.queue);
                members.dedup_by_key(Member::same);
            }
            from = end;
        }
        members.sort();
        // A queue is found again above leaves of different depth.
        members.dedup_by_key(Member::same);
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
            Round { up: None, depth, member: first, first: 0, count }
        }));
        self.rounds.sort_by_key(|round| Reverse(round.depth));
    }

    /// Gives the members of a round their places.
    fn line_up(&mut self, at: usize) {
        let round = &mut self.rounds[at];
        round.first = self.siblings.len();
        let members = &self.members[round.member..round.member + round.count];
        for (sibling, member) in members.iter().enumerate() {
            let entry = Entry { round: number(at), at: number(sibling) };
            let Member { queue, leaf, measure, .. } = *member;
            match self.leaves.get_mut(leaf as usize) {
                Some(leaf) => *leaf = entry,
                None => self.inner.push((queue, entry)),
            }
            let (standing, slot) = (Standing::default(), number(slot(sibling, round.count)));
            self.siblings.push(Sibling { standing, measure, queue, slot, leaf });
        }
        self.pairs.resize(self.siblings.len(), [NOBODY; 2]);
    }

    /// The meets of a round.
    #[inline(always)]
    fn tournament(&mut self, round: u32) -> Tournament<'_> {
        let Round { first, count, .. } = self.rounds[round as usize];
        Tournament {
            siblings: &mut self.siblings[first..first + count],
            pairs: &mut self.pairs[first..first + count],
            measures: &self.measures,
            wins: self.wins,
        }
    }

    /// The leaf that wins.
    pub(crate) fn winner(&self) -> Option<usize> {
        if let Some((_, stands)) = self.only {
            return stands.then_some(0);
        }
        let Round { first, .. } = *self.rounds.last()?;
        let winner = self.siblings.get(first + self.pairs[first][1] as usize);
        winner.map(|sibling| sibling.leaf as usize)
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
        while let Some(Entry { round, at }) = entry {
            let mut tournament = self.tournament(round);
            tournament.enter(cluster, at, (best, stake.as_ref()));
            tournament.play(at);
            match tournament.winner() {
                Some(winner) if winner != best || stake.is_none() => {
                    best = winner;
                    stake = stakes(winner);
                }
                Some(_) => {}
                None => stake = None,
            }
            entry = self.rounds[round as usize].up;
        }
    }

    /// Has all leaves stand, as [`seat`](Self::seat) has one, each queue once.
    pub(crate) fn seat_all(&mut self, cluster: &Cluster, stakes: impl Fn(usize) -> Option<Stake>) {
        if self.only.is_some() {
            return self.seat(cluster, 0, stakes);
        }
        for leaf in 0..self.leaves.len() {
            let Entry { round, at } = self.leaves[leaf];
            self.tournament(round).enter(cluster, at, (leaf, stakes(leaf).as_ref()));
        }
        for below in 0..self.rounds.len() {
            let mut tournament = self.tournament(number(below));
            tournament.play_all();
            let winner = tournament.winner();
            let Some((leaf, Entry { round, at })) = winner.zip(self.rounds[below].up) else {
                continue;
            };
            self.tournament(round).enter(cluster, at, (leaf, stakes(leaf).as_ref()));
        }
    }
}

/// One round, with all that its meets ask for.
struct Tournament<'b> {
    siblings: &'b mut [Sibling],
    /// Who wins pair 1 is the right one of pair 0, who wins pairs 2 and 3 are pair 1, and so on down to the siblings.
    pairs: &'b mut [Pair],
    measures: &'b [Measure],
    wins: Ordering,
}

impl Tournament<'_> {
    /// The leaf of the queue that wins.
    fn winner(&self) -> Option<usize> {
        let winner = self.siblings.get(self.pairs[0][1] as usize);
        winner.map(|sibling| sibling.leaf as usize)
    }

    /// Has a sibling stand for a leaf, or not at all.
    #[inline(always)]
    fn enter(&mut self, cluster: &Cluster, at: u32, (leaf, stake): (usize, Option<&Stake>)) {
        let sibling = &mut self.siblings[at as usize];
        sibling.leaf = number(leaf);
        let slot = sibling.slot as usize;
        self.pairs[slot / 2][slot % 2] = match stake {
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
    #[inline(always)]
    fn play(&mut self, at: u32) {
        let mut pair = self.siblings[at as usize].slot as usize / 2;
        while pair > 0 {
            self.decide(pair);
            pair /= 2;
        }
    }

    /// Has all siblings meet.
    fn play_all(&mut self) {
        for pair in (1..self.pairs.len()).rev() {
            self.decide(pair);
        }
    }

    /// Puts the winner of a pair where it meets another.
    #[inline(always)]
    fn decide(&mut self, pair: usize) {
        self.pairs[pair / 2][pair % 2] = self.meet(self.pairs[pair]);
    }

    /// The one of two siblings that wins, the left one being older.
    #[inline(always)]
    fn meet(&self, [left, right]: Pair) -> u32 {
        let Some(r) = self.siblings.get(right as usize) else { return left };
        let Some(l) = self.siblings.get(left as usize) else { return right };
        let (l, r) = ((&l.standing, l.measure), (&r.standing, r.measure));
        // The older one goes first where they stand alike.
        let right_first = Standing::compare(r, l, self.measures).is_lt();
        if right_first == self.wins.is_lt() { right } else { left }
    }
}

/// The place of a sibling among those that meet in a round of so many: the lowest places are the first from the left.
fn slot(sibling: usize, count: usize) -> usize {
    let slot = count.next_power_of_two() + sibling;
    if slot < count * 2 { slot } else { slot - count }
}

/// The number of a row.
fn number(row: usize) -> u32 {
    u32::try_from(row).expect("queues are numbered by u32")
}
