//! Budgets of disruptions: how many pods of an application may be evicted at a time.
//!
//! The adapter tells them where an operator wants them kept; without them every eviction is allowed.
//!
//! # Source
//! `PodDisruptionBudget` of `policy/v1`, as the API server's eviction subresource judges it: pods that do not run yet may
//! leave whatever it says, a pod of two budgets may not. KAI deletes pods and heeds no budget.

use crate::{
    base::{
        few::Few,
        few_map::FewMap,
        ids::{BudgetId, PodId, Symbol},
    },
    state::{State, rows::Phase},
    told::{budget::Budget, requirement::Holds},
};
use std::collections::BTreeMap;

/// Number of budgets of a namespace, and of labels and values in their selectors, that its pods are compared with. Where there
/// are more no pod of it is evicted: one budget alone may say as much.
const NAMED_MAX: usize = 1_024;

/// Budgets of disruptions.
#[derive(Clone, Default, Debug)]
pub(crate) struct Budgets {
    /// By namespace, as pods are asked for.
    rows: BTreeMap<(Symbol, BudgetId), Row>,
    namespaces: BTreeMap<BudgetId, Symbol>,
    /// Budgets of each namespace with the labels and values in their selectors.
    named: BTreeMap<Symbol, usize>,
    /// Evictions that `allowed` does not show yet.
    evicted: Vec<Evicted>,
}

#[derive(Clone, Debug)]
struct Row {
    budget: Box<Budget>,
    /// Number of times that it was told.
    told: u64,
}

/// A pod that was evicted. Pods and budgets are told by themselves: it counts until both were.
#[derive(Clone, Debug)]
struct Evicted {
    /// None once it is gone.
    pod: Option<PodId>,
    budget: BudgetId,
    /// Number of times that the budget had been told then.
    told: u64,
}

/// Evictions that are looked at together, before any of them is decided.
#[derive(Default, Debug)]
pub(crate) struct SpentBudgets {
    /// Number of further evictions that each budget allows, of those that were asked about.
    left: FewMap<BudgetId, i64>,
}

/// Counts a budget with the labels and values in its selector.
fn named(budget: &Budget) -> usize {
    let values = budget.selector.iter().map(|requirement| match &requirement.holds {
        Holds::In(values) | Holds::NotIn(values) => 1 + values.len(),
        Holds::Exists | Holds::Absent | Holds::Above(_) | Holds::Below(_) => 1,
    });
    1 + values.sum::<usize>()
}

impl Budgets {
    /// Tells whether a namespace has more of them than its pods are compared with.
    fn are_too_many(&self, namespace: Symbol) -> bool {
        self.named.get(&namespace).is_some_and(|named| *named > NAMED_MAX)
    }

    /// The facts of budgets as they were told last.
    pub(crate) fn facts(&self) -> impl Iterator<Item = (BudgetId, &Budget)> {
        self.rows.iter().map(|((_, id), row)| (*id, &*row.budget))
    }

    /// Forgets a pod that is gone: its number may soon be another's.
    pub(crate) fn forget(&mut self, pod: PodId) {
        for evicted in self.evicted.iter_mut().filter(|evicted| evicted.pod == Some(pod)) {
            evicted.pod = None;
        }
    }

    /// Counts a pod no more that was to be evicted, and stays.
    pub(crate) fn give_back(&mut self, pod: PodId) {
        self.evicted.retain(|one| one.pod != Some(pod));
    }
}

impl State {
    /// Takes in a budget, or that it is gone.
    pub(crate) fn budget_told(&mut self, id: BudgetId, budget: Option<Box<Budget>>) {
        let Budgets { rows, namespaces, named: of_namespaces, .. } = &mut self.budgets;
        let before = namespaces.remove(&id).and_then(|namespace| rows.remove(&(namespace, id)));
        if let Some(row) = &before
            && let Some(all) = of_namespaces.get_mut(&row.budget.namespace)
        {
            *all -= named(&row.budget);
            if *all == 0 {
                of_namespaces.remove(&row.budget.namespace);
            }
        }
        let told = before.as_ref().map_or(0, |row| row.told) + 1;
        let is_new = before.as_ref().map(|row| &row.budget) != budget.as_ref();
        if let Some(budget) = budget {
            *of_namespaces.entry(budget.namespace).or_default() += named(&budget);
            namespaces.insert(id, budget.namespace);
            rows.insert((budget.namespace, id), Row { budget, told });
        }
        let pods = &self.pods;
        let waits =
            |pod: PodId| pods.status[pod].phase.leaves() && pods[pod].told.phase == Phase::Running;
        let count = self.budgets.evicted.len();
        self.budgets.evicted.retain(|one| one.budget != id || one.pod.is_some_and(waits));
        if is_new || self.budgets.evicted.len() < count {
            self.changes.grow_room();
        }
    }

    /// Notes that a pod was evicted.
    pub(crate) fn spend_budget(&mut self, pod: PodId) {
        // The server counts no pod that did not run yet.
        if self.pods[pod].told.phase != Phase::Running {
            return;
        }
        let budgets = self.budgets_of(pod).map(|(id, row)| Evicted {
            pod: Some(pod),
            budget: id,
            told: row.told,
        });
        let evicted: Few<Evicted> = budgets.collect();
        self.budgets.evicted.extend(evicted);
    }

    /// The eviction of a pod was refused: its budgets allow nothing until they are told anew.
    pub(crate) fn exhaust_budgets(&mut self, pod: PodId) {
        let ids: Few<BudgetId> = self.budgets_of(pod).map(|(id, _)| id).collect();
        let Budgets { rows, namespaces, evicted, .. } = &mut self.budgets;
        evicted.retain(|one| one.pod != Some(pod));
        for id in &ids {
            if let Some(row) =
                namespaces.get(id).and_then(|namespace| rows.get_mut(&(*namespace, *id)))
            {
                row.budget.allowed = 0;
            }
        }
    }

    /// Tells whether every budget stands if these pods are evicted together, besides those that are leaving.
    ///
    /// # Cost
    /// In the pods times the budgets; nothing where there are none.
    pub(crate) fn keeps_budgets(&self, pods: impl IntoIterator<Item = PodId>) -> bool {
        self.spend_budgets(&mut SpentBudgets::default(), pods)
    }

    /// Tells whether every budget stands if these pods are evicted together with those of before, which `spent` tells; they
    /// are among these from here on, or, where a budget does not stand, none of them is.
    ///
    /// # Cost
    /// In these pods times the budgets; nothing where there are none.
    pub(crate) fn spend_budgets(
        &self,
        spent: &mut SpentBudgets,
        pods: impl IntoIterator<Item = PodId>,
    ) -> bool {
        if self.budgets.rows.is_empty() {
            return true;
        }
        let mut taken: Few<BudgetId> = Few::default();
        let stands = pods.into_iter().all(|pod| {
            if self.pods.status[pod].phase != Phase::Running {
                return true;
            }
            if self.budgets.are_too_many(self.pods[pod].namespace) {
                return false;
            }
            let mut budgets = self.budgets_of(pod);
            let Some((id, row)) = budgets.next() else { return true };
            let free = || i64::from(row.budget.allowed) - self.leaving(id, row);
            let left = spent.left.or_insert_with(id, free);
            *left -= 1;
            taken.push(id);
            *left >= 0 && budgets.next().is_none()
        });
        for id in taken.iter().filter(|_| !stands) {
            *spent.left.or_default(*id) += 1;
        }
        stands
    }

    /// Tells whether anybody told of a budget.
    pub(crate) fn has_budgets(&self) -> bool {
        !self.budgets.rows.is_empty()
    }

    fn budgets_of(&self, pod: PodId) -> impl Iterator<Item = (BudgetId, &Row)> {
        let facts = &self.pods[pod];
        let here = (facts.namespace, BudgetId::new(0))..=(facts.namespace, BudgetId::new(u32::MAX));
        let are_compared = !self.budgets.are_too_many(facts.namespace);
        let rows = self.budgets.rows.range(here).filter(move |_| are_compared);
        rows.filter(|(_, row)| facts.is_selected(&row.budget.selector))
            .map(|((_, id), row)| (*id, row))
    }

    /// Counts the pods of a budget that were evicted and that it does not show yet.
    fn leaving(&self, id: BudgetId, row: &Row) -> i64 {
        let is_untold = |pod: PodId| {
            self.pods.status[pod].phase.leaves() && self.pods[pod].told.phase == Phase::Running
        };
        let counts = |one: &&Evicted| {
            one.budget == id && (one.told == row.told || one.pod.is_some_and(is_untold))
        };
        i64::try_from(self.budgets.evicted.iter().filter(counts).count()).unwrap_or(i64::MAX)
    }
}
