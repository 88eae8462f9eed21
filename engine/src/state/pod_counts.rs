//! Counts of the pods that a selector means, by node: counted as pods come and go, never searched for.

use std::collections::{BTreeMap, BTreeSet};

use crate::{
    base::ids::{NodeId, PodId, ShapeId, Symbol},
    state::{
        State,
        booking::Sign,
        rows::{PodFacts, PodStatus},
    },
    told::{
        pod::Spread,
        requirement::{Holds, Requirement},
    },
};

/// Pods of a namespace that a selector means.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
struct CountedPods {
    namespace: Symbol,
    selector: Vec<Requirement>,
}

impl CountedPods {
    fn of(spread: &Spread) -> Self {
        Self { namespace: spread.namespace, selector: spread.selector.clone() }
    }
}

/// Such pods, counted.
#[derive(Clone, PartialEq, Eq, Debug)]
struct PodCount {
    meant: CountedPods,
    /// The shapes that ask about it.
    shapes: BTreeSet<ShapeId>,
    /// Per node: how many stay there, nominated ones included. Derived.
    on: BTreeMap<NodeId, u32>,
}

/// All counts that some shape asks about.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub(crate) struct PodCounts {
    rows: Vec<Option<PodCount>>,
    /// Rows that are none's.
    free: Vec<usize>,
    by_meant: BTreeMap<CountedPods, usize>,
    /// Counts by their namespace and a label that all of their pods have.
    by_label: BTreeMap<(Symbol, (Symbol, Symbol)), Vec<usize>>,
    /// Counts that name no label and value, by their namespace.
    loose: BTreeMap<Symbol, Vec<usize>>,
}

impl PodCounts {
    /// Tells whether nobody asks about any.
    pub(crate) fn is_empty(&self) -> bool {
        self.by_meant.is_empty()
    }

    /// Counts the pods that a constraint means, on each node with any.
    pub(crate) fn on(&self, spread: &Spread) -> impl Iterator<Item = (NodeId, u32)> {
        let row =
            self.by_meant.get(&CountedPods::of(spread)).and_then(|row| self.rows[*row].as_ref());
        row.into_iter()
            .flat_map(|count_row| count_row.on.iter().map(|(node, count)| (*node, *count)))
    }

    /// Counts a pod on a node; gives the number of selectors that it was compared with.
    ///
    /// # Cost
    /// In the pod's labels and the counts of its namespace that name one of them, or none.
    pub(crate) fn count(&mut self, pod: &PodFacts, node: NodeId, sign: Sign) -> u64 {
        let Self { rows, by_label, loose, .. } = self;
        let mut compared = 0;
        let namespace = pod.namespace;
        let named = pod.labels.iter().filter_map(|label| by_label.get(&(namespace, *label)));
        for row in named.chain(loose.get(&namespace)).flatten() {
            let Some(count_row) = &mut rows[*row] else { continue };
            compared += 1;
            if pod.is_meant(&count_row.meant.selector, count_row.meant.namespace) {
                let count = count_row.on.entry(node).or_default();
                sign.count(count);
                if *count == 0 {
                    count_row.on.remove(&node);
                }
            }
        }
        compared
    }

    /// Counts a pod on a node for some who did not ask before.
    fn count_for(&mut self, rows: &[usize], pod: &PodFacts, node: NodeId) {
        for row in rows {
            if let Some(count_row) = &mut self.rows[*row]
                && pod.is_selected(&count_row.meant.selector)
            {
                *count_row.on.entry(node).or_default() += 1;
            }
        }
    }

    /// Forgets all counts.
    pub(crate) fn clear_counts(&mut self) {
        self.rows.iter_mut().flatten().for_each(|count_row| count_row.on.clear());
    }

    /// Has a count kept for a shape; says whether it is a new one.
    fn join(&mut self, meant: CountedPods, shape: ShapeId) -> Option<usize> {
        if let Some(row) = self.by_meant.get(&meant) {
            if let Some(count_row) = &mut self.rows[*row] {
                count_row.shapes.insert(shape);
            }
            return None;
        }
        let row = self.free.pop().unwrap_or(self.rows.len());
        match label_of(&meant.selector) {
            Some((key, values)) => {
                for value in values.iter().collect::<BTreeSet<_>>() {
                    let label = (meant.namespace, (key, *value));
                    self.by_label.entry(label).or_default().push(row);
                }
            }
            None => self.loose.entry(meant.namespace).or_default().push(row),
        }
        self.by_meant.insert(meant.clone(), row);
        let count_row = PodCount { meant, shapes: BTreeSet::from([shape]), on: BTreeMap::new() };
        if row == self.rows.len() {
            self.rows.push(Some(count_row));
        } else {
            self.rows[row] = Some(count_row);
        }
        Some(row)
    }

    fn leave(&mut self, meant: &CountedPods, shape: ShapeId) {
        let Some(row) = self.by_meant.get(meant).copied() else { return };
        let Some(count_row) = &mut self.rows[row] else { return };
        count_row.shapes.remove(&shape);
        if !count_row.shapes.is_empty() {
            return;
        }
        match label_of(&meant.selector) {
            Some((key, values)) => {
                for value in values {
                    let label = (meant.namespace, (key, *value));
                    if let Some(rows) = self.by_label.get_mut(&label) {
                        rows.retain(|other| *other != row);
                        if rows.is_empty() {
                            self.by_label.remove(&label);
                        }
                    }
                }
            }
            None => {
                if let Some(rows) = self.loose.get_mut(&meant.namespace) {
                    rows.retain(|other| *other != row);
                    if rows.is_empty() {
                        self.loose.remove(&meant.namespace);
                    }
                }
            }
        }
        self.rows[row] = None;
        self.free.push(row);
        self.by_meant.remove(meant);
    }
}

/// A label of which every pod that a selector means has one of some values.
fn label_of(selector: &[Requirement]) -> Option<(Symbol, &[Symbol])> {
    selector.iter().find_map(|requirement| match &requirement.holds {
        Holds::In(values) => Some((requirement.key, values.as_slice())),
        Holds::NotIn(_) | Holds::Exists | Holds::Absent | Holds::Above(_) | Holds::Below(_) => None,
    })
}

impl PodStatus {
    /// The node on which a pod counts as one that stays: the one it was nominated for, else the one it is on.
    pub(crate) fn stays_on(&self) -> Option<NodeId> {
        let here = || self.place.as_ref().filter(|_| self.phase.is_active());
        self.nominee.as_ref().or_else(here).map(|place| place.node)
    }
}

impl State {
    /// Has the pods counted that a shape asks about.
    ///
    /// # Cost
    /// In the number of pods of their namespaces, where nobody asked about them before.
    pub(crate) fn start_counting(&mut self, shape: ShapeId) {
        let mut new: BTreeMap<Symbol, Vec<usize>> = BTreeMap::new();
        for spread in &self.shapes[shape].facts.spread {
            if let Some(row) = self.pod_counts.join(CountedPods::of(spread), shape) {
                new.entry(spread.namespace).or_default().push(row);
            }
        }
        if new.is_empty() {
            return;
        }
        self.ensure_placed();
        for (namespace, rows) in new {
            let pods: Vec<PodId> = self.placed_in(namespace).collect();
            for pod in pods {
                if let Some(node) = self.pods.status[pod].stays_on() {
                    self.pod_counts.count_for(&rows, &self.pods[pod], node);
                }
            }
        }
    }

    /// Has nobody counted any more for a shape that is gone.
    pub(crate) fn stop_counting(&mut self, shape: ShapeId, spreads: &[Spread]) {
        for spread in spreads {
            self.pod_counts.leave(&CountedPods::of(spread), shape);
        }
    }
}
