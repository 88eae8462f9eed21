//! Who of all queues comes first, or last: siblings meet in a tournament, its winner stands for the queue above.
//!
//! A change of one leaf costs the logarithm of the number of siblings at each level.

use std::cmp::{Ordering, Reverse};

use crate::{cluster::Cluster, cycle::Timestamp, ids::QueueId, order::Standing};

/// A tree of tournaments over some leaf queues, which are known by their row.
#[derive(Clone, Debug)]
pub(crate) struct Bracket {
    /// [`Ordering::Less`] where the first wins, [`Ordering::Greater`] where the last does.
    wins: Ordering,
    leaves: Vec<Entry>,
    /// The leaf queue, where there is only one, and whether it stands: nobody is there to meet.
    only: Option<(QueueId, bool)>,
    /// From below: each comes before the one that its winner enters. The last one is that of the roots.
    rounds: Vec<Tournament>,
}

/// A place in a tournament.
#[derive(Clone, Copy, Debug, Default)]
struct Entry {
    round: usize,
    at: usize,
}

/// Siblings in a fixed order, and the winner of each pair of them, and of each pair of winners.
#[derive(Clone, Debug)]
struct Tournament {
    /// Where the winner enters next; nothing for the roots.
    up: Option<Entry>,
    siblings: Vec<Sibling>,
    /// Winners by position in a complete binary tree; the leaves are the second half.
    winners: Vec<u32>,
}

/// Nobody stands here.
const NOBODY: u32 = u32::MAX;

/// One queue of a tournament.
#[derive(Clone, Debug)]
struct Sibling {
    queue: QueueId,
    /// When it was made, and its UID: who goes first of those that stand alike.
    age: (Timestamp, u128),
    /// The leaf below it that it stands for.
    leaf: usize,
    /// Where it stands, as long as it is among the winners.
    standing: Standing,
}

/// A queue that takes part, while rounds are put together.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
struct Member {
    parent: Option<QueueId>,
    queue: QueueId,
    /// Its row among the leaves; `usize::MAX` for those above.
    leaf: usize,
}

impl Member {
    fn new(cluster: &Cluster, queue: QueueId, leaf: usize) -> Self {
        Self { parent: cluster.queues.rows[queue].up, queue, leaf }
    }

    /// Its place in a tournament, where nobody stands yet.
    fn sibling(&self, cluster: &Cluster) -> Sibling {
        let facts = cluster.queues.rows[self.queue].facts.as_ref();
        let age = facts.map_or_else(Default::default, |facts| (facts.created, facts.uid));
        Sibling { queue: self.queue, age, leaf: self.leaf, standing: Standing::default() }
    }

    /// Leaves and all above them, siblings side by side.
    fn all(cluster: &Cluster, leaves: impl Iterator<Item = QueueId>) -> Vec<Self> {
        let mut all: Vec<Self> =
            leaves.enumerate().map(|(leaf, queue)| Self::new(cluster, queue, leaf)).collect();
        let mut above: Vec<QueueId> = Vec::new();
        let mut from = 0;
        while from < all.len() {
            above.clear();
            above.extend(all[from..].iter().filter_map(|member| member.parent));
            // Leaves come in order, most of the time, so that there is little to sort.
            above.sort();
            above.dedup();
            from = all.len();
            all.extend(above.iter().map(|queue| Self::new(cluster, *queue, usize::MAX)));
        }
        all.sort();
        // A queue is found again above leaves of different depth.
        all.dedup();
        all
    }
}

impl Tournament {
    fn new(siblings: Vec<Sibling>) -> Self {
        let winners = vec![NOBODY; siblings.len().next_power_of_two() * 2];
        Self { up: None, siblings, winners }
    }

    /// The leaf of the queue that wins.
    fn winner(&self) -> Option<usize> {
        self.siblings.get(self.winners[1] as usize).map(|sibling| sibling.leaf)
    }

    fn enter(&mut self, at: usize, leaf: usize, standing: Option<Standing>) {
        let slot = self.winners.len() / 2 + at;
        let sibling = &mut self.siblings[at];
        sibling.leaf = leaf;
        self.winners[slot] = NOBODY;
        if let Some(standing) = standing {
            sibling.standing = standing;
            self.winners[slot] = u32::try_from(at).expect("queues are numbered by u32");
        }
    }

    /// Has one sibling meet those on its way.
    fn play(&mut self, at: usize, wins: Ordering) {
        let mut slot = self.winners.len() / 2 + at;
        let mut winner = self.winners[slot];
        while slot > 1 {
            let other = self.winners[slot ^ 1];
            let (left, right) = if slot & 1 == 0 { (winner, other) } else { (other, winner) };
            winner = self.meet(left, right, wins);
            slot /= 2;
            self.winners[slot] = winner;
        }
    }

    /// Has all of them meet.
    fn play_all(&mut self, wins: Ordering) {
        for slot in (1..self.winners.len() / 2).rev() {
            let (left, right) = (self.winners[slot * 2], self.winners[slot * 2 + 1]);
            self.winners[slot] = self.meet(left, right, wins);
        }
    }

    /// The one of two that wins.
    fn meet(&self, left: u32, right: u32, wins: Ordering) -> u32 {
        if right == NOBODY {
            return left;
        }
        if left == NOBODY {
            return right;
        }
        let (l, r) = (&self.siblings[left as usize], &self.siblings[right as usize]);
        let order = r.standing.compare(&l.standing).then_with(|| r.age.cmp(&l.age));
        if order == wins { right } else { left }
    }
}

impl Bracket {
    /// Some leaf queues, by row, and all queues above them; nobody stands yet.
    pub(crate) fn new(
        cluster: &Cluster,
        mut leaves: impl ExactSizeIterator<Item = QueueId>,
        wins: Ordering,
    ) -> Self {
        if leaves.len() == 1 {
            let only = leaves.next().map(|queue| (queue, false));
            return Self { wins, leaves: Vec::new(), only, rounds: Vec::new() };
        }
        let mut entries = vec![Entry::default(); leaves.len()];
        let members = Member::all(cluster, leaves);
        let depth = |parent: QueueId| cluster.queues.path(parent).count();
        let mut groups: Vec<(usize, &[Member])> = members
            .chunk_by(|left, right| left.parent == right.parent)
            .map(|siblings| (siblings[0].parent.map_or(0, depth), siblings))
            .collect();
        groups.sort_by_key(|(depth, _)| Reverse(*depth));
        let mut rounds: Vec<Tournament> = Vec::with_capacity(groups.len());
        // Where the queues above leaves stand.
        let mut inner: Vec<(QueueId, Entry)> = Vec::new();
        for (round, (_, siblings)) in groups.iter().enumerate() {
            let mut siblings: Vec<Sibling> =
                siblings.iter().map(|member| member.sibling(cluster)).collect();
            siblings.sort_by_key(|sibling| sibling.age);
            for (at, sibling) in siblings.iter().enumerate() {
                let entry = Entry { round, at };
                match entries.get_mut(sibling.leaf) {
                    Some(leaf) => *leaf = entry,
                    None => inner.push((sibling.queue, entry)),
                }
            }
            rounds.push(Tournament::new(siblings));
        }
        inner.sort_unstable_by_key(|(queue, _)| *queue);
        for (round, (_, siblings)) in rounds.iter_mut().zip(&groups) {
            round.up = siblings[0].parent.map(|parent| {
                let at = inner.binary_search_by_key(&parent, |(queue, _)| *queue);
                inner[at.expect("a queue above others takes part")].1
            });
        }
        Self { wins, leaves: entries, only: None, rounds }
    }

    /// The leaf that wins.
    pub(crate) fn winner(&self) -> Option<usize> {
        match self.only {
            Some((_, stands)) => stands.then_some(0),
            None => self.rounds.last()?.winner(),
        }
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
            let round = &mut self.rounds[round];
            let queue = round.siblings[at].queue;
            let now = best.and_then(|leaf| standing(queue, leaf));
            round.enter(at, best.unwrap_or_default(), now);
            round.play(at, self.wins);
            best = round.winner();
            entry = round.up;
        }
    }

    /// Has all leaves stand, as [`seat`](Self::seat) has one, each queue once.
    pub(crate) fn seat_all(&mut self, standing: impl Fn(QueueId, usize) -> Option<Standing>) {
        if self.only.is_some() {
            return self.seat(0, standing);
        }
        for (leaf, Entry { round, at }) in self.leaves.iter().enumerate() {
            let round = &mut self.rounds[*round];
            let now = standing(round.siblings[*at].queue, leaf);
            round.enter(*at, leaf, now);
        }
        for below in 0..self.rounds.len() {
            let round = &mut self.rounds[below];
            round.play_all(self.wins);
            let Some((leaf, up)) = round.winner().zip(round.up) else { continue };
            let above = &mut self.rounds[up.round];
            let now = standing(above.siblings[up.at].queue, leaf);
            above.enter(up.at, leaf, now);
        }
    }
}
