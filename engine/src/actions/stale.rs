//! Evicts gangs that run below their minimum for too long.
//!
//! # Source
//! docs/behaviour.md 7. Unlike KAI this heeds `minSubGroup` (14.3, Q4) and re-arms the preemption delay (Q28).

use crate::{
    actions::Cycle,
    base::{
        ids::{GroupId, PodId},
        time::Timestamp,
    },
    decided::plan::Eviction,
    state::{tree::Tree, trial::Trial},
};

impl Cycle<'_> {
    /// Looks at every group that may have lost pods, and at those that were below their minimum before.
    pub(crate) fn stale(&mut self) {
        let suspects = self.cluster.pending.suspects();
        for group in suspects.iter() {
            self.judge(group);
        }
    }

    fn judge(&mut self, group: GroupId) {
        let row = &self.cluster.state.groups()[group];
        let Some(facts) = &row.facts else { return };
        let count = row.tree.count();
        let whole = row.tree.sets.is_empty() || row.tree.is_whole();
        if whole || count.succeeded > 0 || count.used == 0 {
            self.cluster.state.note_stale(group, None);
            return;
        }
        let since = row.stale_since.unwrap_or(self.now);
        let grace = facts.staleness_grace.unwrap_or(self.config.staleness_grace);
        self.cluster.state.note_stale(group, Some(since));
        if grace < 0 {
            return;
        }
        self.cluster.pending.suspect(group);
        let until = Timestamp(since.0.saturating_add(grace));
        if self.now < until {
            self.wake_at(until);
            return;
        }
        let (sub_group, min) = short_leaf(&self.cluster.state.groups()[group].tree);
        let pods: Vec<PodId> = self.cluster.state.groups()[group].pods.iter().copied().collect();
        let running = pods
            .iter()
            .copied()
            .filter(|pod| self.cluster.pending.is_evictable(&self.cluster.state, *pod));
        if !self.cluster.state.keeps_budgets(running) {
            return;
        }
        // Its breaking was news, and what it held until now is so again.
        self.cluster.pending.eviction_history.forget_before(self.now);
        let mut trial = Trial::new(&mut self.cluster.state);
        for pod in pods {
            if trial.pods().status[pod].phase.is_active() {
                trial.evict(pod);
                if !self.cluster.pending.placed_this_cycle.contains(pod) {
                    self.cluster.pending.eviction_history.leaves(group);
                }
            }
        }
        trial.keep();
        self.commit(&mut |_| Some(Eviction::Stale { sub_group, min }));
        self.relist(group);
    }
}

/// The first sub-group that is short, and its minimum; without a name where there is only one.
fn short_leaf(tree: &Tree) -> (crate::Symbol, u32) {
    let Some(short) = tree.leaves.iter().find(|leaf| leaf.count.used < leaf.min) else {
        return Default::default();
    };
    let name = if tree.leaves.len() > 1 { short.name } else { crate::Symbol::EMPTY };
    (name, short.min)
}
