//! A table of amounts: a row per id, a column per lane.

use crate::base::{ids::Id, resources::Lane};
use std::marker::PhantomData;

/// Amounts of every lane for every id of one kind. Any number of lanes; a lane that was never written is 0.
#[derive(Clone, Debug)]
pub(crate) struct LaneTable<I> {
    cells: Vec<i64>,
    /// Number of lanes that there is room for.
    lanes: usize,
    /// Number of lanes up to the last that was written.
    written: usize,
    id: PhantomData<fn(I)>,
}

impl<I> Default for LaneTable<I> {
    fn default() -> Self {
        let lanes = Lane::FIRST_EXTENDED as usize;
        Self { cells: Vec::new(), lanes, written: lanes, id: PhantomData }
    }
}

impl<I: Id> PartialEq for LaneTable<I> {
    /// Equal amounts; how far the storage reaches does not count.
    fn eq(&self, other: &Self) -> bool {
        let lanes = self.lanes.max(other.lanes);
        let rows = (self.cells.len() / self.lanes).max(other.cells.len() / other.lanes);
        let lane = |at: usize| Lane::new(u16::try_from(at).expect("lanes are numbered by u16"));
        (0..rows).all(|row| {
            (0..lanes)
                .all(|at| self.get(I::of_row(row), lane(at)) == other.get(I::of_row(row), lane(at)))
        })
    }
}

impl<I: Id> LaneTable<I> {
    /// Tells whether an amount of this lane, or of a later one, was ever written.
    pub(crate) fn reaches(&self, lane: Lane) -> bool {
        lane.row() < self.written
    }

    /// The amount of `lane` in the row of `id`.
    pub(crate) fn get(&self, id: I, lane: Lane) -> i64 {
        if lane.row() >= self.lanes {
            return 0;
        }
        self.cells.get(id.row() * self.lanes + lane.row()).copied().unwrap_or(0)
    }

    /// Adds to the amount of `lane` in the row of `id`.
    pub(crate) fn add(&mut self, id: I, lane: Lane, amount: i64) {
        self.widen(lane.row() + 1);
        let at = id.row() * self.lanes + lane.row();
        if at >= self.cells.len() {
            self.cells.resize((id.row() + 1) * self.lanes, 0);
        }
        self.cells[at] += amount;
    }

    /// The amounts of the first lanes in the row of `id`; those that are not there are 0.
    pub(crate) fn row(&self, id: I) -> &[i64] {
        let from = id.row() * self.lanes;
        self.cells.get(from..from + self.lanes).unwrap_or_default()
    }

    /// The amounts of at least the first `lanes` lanes in the row of `id`, to be changed.
    pub(crate) fn row_mut(&mut self, id: I, lanes: usize) -> &mut [i64] {
        self.widen(lanes);
        let (from, to) = (id.row() * self.lanes, (id.row() + 1) * self.lanes);
        if to > self.cells.len() {
            self.cells.resize(to, 0);
        }
        &mut self.cells[from..to]
    }

    /// Makes room for so many lanes. It grows by doubling: each time all rows move, and a pod after the other may name one lane
    /// more.
    fn widen(&mut self, lanes: usize) {
        self.written = self.written.max(lanes);
        if lanes <= self.lanes {
            return;
        }
        let lanes = lanes.next_power_of_two();
        let mut cells = vec![0; self.cells.len() / self.lanes * lanes];
        for (new, old) in cells.chunks_exact_mut(lanes).zip(self.cells.chunks_exact(self.lanes)) {
            new[..self.lanes].copy_from_slice(old);
        }
        self.cells = cells;
        self.lanes = lanes;
    }
}

impl<I: Id> LaneTable<I> {
    /// Tells whether every amount in the row of `id` is 0.
    pub(crate) fn is_zero(&self, id: I) -> bool {
        self.row(id).iter().all(|amount| *amount == 0)
    }
}
