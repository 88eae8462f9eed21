//! Budgets of disruptions: how many pods of an application may be evicted at a time.
//!
//! The adapter tells them where an operator wants them kept; without them every eviction is allowed.
//!
//! # Source
//! `PodDisruptionBudget` of `policy/v1`, as the API server's eviction subresource judges it: pods that do not run yet may
//! leave whatever it says, a pod of two budgets may not. The peer deletes pods and heeds no budget.

use std::collections::BTreeMap;

use crate::{
    cluster::{Cluster, Phase},
    fewmap::FewMap,
    ids::{BudgetId, GroupId, PodId, QueueId, Symbol},
    idset::IdSet,
    pod::Requirement,
};

/// How many of some pods may be evicted now.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Budget {
    /// Where the pods are.
    pub namespace: Symbol,
    /// Which pods: all requirements hold.
    pub selector: Vec<Requirement>,
    /// How many more may leave: `status.disruptionsAllowed`.
    pub allowed: u32,
}

/// What is known of budgets.
#[derive(Clone, Default, Debug)]
pub(crate) struct Budgets {
    rows: BTreeMap<BudgetId, Box<Budget>>,
    /// Pods that were evicted; what is not told to leave yet is not counted by `allowed`.
    evicted: IdSet<PodId>,
}

impl Budgets {
    /// Notes that a pod was evicted.
    pub(crate) fn leaves(&mut self, pod: PodId) {
        if !self.rows.is_empty() {
            self.evicted.insert(pod);
        }
    }

    /// Forgets a pod: its number may soon be another's.
    pub(crate) fn forget(&mut self, pod: PodId) {
        self.evicted.remove(pod);
    }
}

impl Cluster {
    /// Takes in a budget, or that it is gone.
    pub(crate) fn budget_told(&mut self, id: BudgetId, budget: Option<Box<Budget>>) {
        let rows = &mut self.budgets.rows;
        if rows.get(&id) == budget.as_ref() {
            return;
        }
        match budget {
            Some(budget) => drop(rows.insert(id, budget)),
            None => drop(rows.remove(&id)),
        }
        if rows.is_empty() {
            self.budgets.evicted.clear();
        }
        self.agenda.grow();
    }

    /// Whether every budget stands if these pods are evicted together, besides those that are leaving.
    ///
    /// # Cost
    /// In the pods times the budgets; nothing where there are none.
    pub(crate) fn keeps_budgets(&self, pods: impl IntoIterator<Item = PodId>) -> bool {
        if self.budgets.rows.is_empty() {
            return true;
        }
        let mut left: FewMap<BudgetId, i64> = FewMap::default();
        pods.into_iter().filter(|pod| self.pods.state[*pod].phase == Phase::Running).all(|pod| {
            let mut budgets = self.budgets_of(pod);
            let Some((id, budget)) = budgets.next() else { return true };
            let left = left.or_insert_with(id, || i64::from(budget.allowed) - self.leaving(budget));
            *left -= 1;
            *left >= 0 && budgets.next().is_none()
        })
    }

    /// Whether budgets allow that a group loses something: one pod if it can spare some, else all at once.
    #[inline]
    pub(crate) fn may_lose(&self, group: GroupId) -> bool {
        self.budgets.rows.is_empty() || self.may_lose_by_budgets(group)
    }

    fn may_lose_by_budgets(&self, group: GroupId) -> bool {
        let row = &self.groups[group];
        let pods = row.pods.iter().copied().filter(|pod| self.is_evictable(*pod));
        if row.tree.is_elastic() {
            return pods.into_iter().any(|pod| self.keeps_budgets([pod]));
        }
        self.keeps_budgets(pods)
    }

    /// How many groups run in some queues that budgets do not let lose anything now.
    pub(crate) fn count_guarded(&self, queue: impl Fn(QueueId) -> bool) -> usize {
        if self.budgets.rows.is_empty() {
            return 0;
        }
        let queues = self.agenda.running.iter().filter(|(id, _)| queue(*id));
        let groups = queues.flat_map(|(_, groups)| groups.iter());
        groups.filter(|key| !self.may_lose(key.group)).count()
    }

    fn budgets_of(&self, pod: PodId) -> impl Iterator<Item = (BudgetId, &Budget)> {
        let budgets = self.budgets.rows.iter().map(|(id, budget)| (*id, &**budget));
        budgets.filter(move |(_, budget)| self.is_of(pod, budget))
    }

    fn is_of(&self, pod: PodId, budget: &Budget) -> bool {
        let facts = &self.pods[pod];
        facts.namespace == budget.namespace && facts.is_selected(&budget.selector)
    }

    /// How many pods of a budget were evicted and are not told to leave.
    fn leaving(&self, budget: &Budget) -> i64 {
        let untold = |pod: &PodId| {
            self.pods.state[*pod].phase == Phase::Releasing
                && self.pods[*pod].told.phase == Phase::Running
                && self.is_of(*pod, budget)
        };
        i64::try_from(self.budgets.evicted.iter().filter(untold).count()).unwrap_or(i64::MAX)
    }
}
