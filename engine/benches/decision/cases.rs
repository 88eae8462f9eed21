//! Every benchmark of one cycle: what it starts from, what is told, and what has to come out.

mod allocate;
mod devices;
mod evict;

use kai_engine::{Change, Cluster, Config, Delta, Eviction, Plan};

use crate::world::World;

/// One benchmark of one cycle.
pub(crate) struct Kind {
    pub(crate) id: &'static str,
    pub(crate) sizes: &'static [u32],
    /// The steepest growth allowed.
    pub(crate) slope_max: Option<f64>,
    pub(crate) what: &'static str,
    pub(crate) case: fn(u32) -> Case,
}

/// One size of it.
pub(crate) struct Case {
    pub(crate) base: Cluster,
    /// Told as part of what is measured.
    pub(crate) news: Vec<Delta>,
    pub(crate) config: Config,
    /// Changes that the plan has to hold; a benchmark of a wrong decision is worth nothing.
    pub(crate) expect: Expect,
}

/// Numbers of changes that a plan holds, by their kinds.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(crate) struct Expect {
    pub(crate) placed: u32,
    pub(crate) nominated: u32,
    pub(crate) evicted: u32,
}

impl Expect {
    /// Only pods placed.
    pub(crate) fn placed(placed: u32) -> Self {
        Self { placed, ..Self::default() }
    }

    /// So many pods that wait for the room of so many others.
    pub(crate) fn instead(nominated: u32, evicted: u32) -> Self {
        Self { placed: 0, nominated, evicted }
    }

    /// Counts what a plan holds; a pod that is only moved counts as nothing.
    pub(crate) fn of(plan: &Plan) -> Self {
        let mut count = Self::default();
        let mut moved = 0;
        for change in &plan.changes {
            *match change {
                Change::Place { .. } => &mut count.placed,
                Change::Nominate { .. } => &mut count.nominated,
                Change::Evict { reason: Eviction::Consolidate { .. }, .. } => &mut moved,
                Change::Evict { .. } => &mut count.evicted,
            } += 1;
        }
        count.nominated -= moved;
        count
    }
}

impl World {
    /// A cycle on what was told, with the news told in it.
    fn case(self, config: Config, expect: Expect) -> Case {
        Case { base: self.cluster, news: self.news, config, expect }
    }
}

/// Lists what there is.
pub(crate) fn kinds() -> Vec<Kind> {
    let mut kinds = allocate::KINDS.to_vec();
    kinds.extend_from_slice(devices::KINDS);
    kinds.extend_from_slice(evict::KINDS);
    kinds.sort_by_key(|kind| kind.id);
    kinds
}

impl Clone for Kind {
    fn clone(&self) -> Self {
        Self { ..*self }
    }
}
