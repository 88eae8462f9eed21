//! Counts of the pods that a selector means, by node: counted as pods come and go, never searched for.

use std::collections::{BTreeMap, BTreeSet};

use crate::{
    base::ids::{NodeId, PodId, ShapeId, Symbol},
    state::{
        State,
        booking::Sign,
        rows::{PodFacts, PodStatus},
        tallies::{POD, cost, weight},
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
    /// Comparisons that looking at a pod costs.
    cost: u64,
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

    /// Counts a pod on a node; gives the comparisons that it took.
    ///
    /// # Cost
    /// In the pod's labels and the counts of its namespace that name one of them, or none, with all that these name.
    pub(crate) fn count(&mut self, pod: &PodFacts, node: NodeId, sign: Sign) -> u64 {
        let Self { rows, by_label, loose, .. } = self;
        // Looking up a few labels is nothing beside entering the pod; more than these count.
        let mut compared = weight(pod.labels.len()) - 1;
        let namespace = pod.namespace;
        let named = pod.labels.iter().filter_map(|label| by_label.get(&(namespace, *label)));
        for row in named.chain(loose.get(&namespace)).flatten() {
            let Some(count_row) = &mut rows[*row] else { continue };
            compared += count_row.cost;
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

    /// Counts a pod on a node for some who did not ask before; gives the comparisons that it took.
    fn count_for(&mut self, rows: &[usize], pod: &PodFacts, node: NodeId) -> u64 {
        let mut compared = POD;
        for row in rows {
            let Some(count_row) = &mut self.rows[*row] else { continue };
            compared += count_row.cost;
            if pod.is_selected(&count_row.meant.selector) {
                *count_row.on.entry(node).or_default() += 1;
            }
        }
        compared
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
        let cost = cost(&meant.selector);
        let shapes = BTreeSet::from([shape]);
        let count_row = PodCount { meant, cost, shapes, on: BTreeMap::new() };
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
    /// In the number of pods of their namespaces that have a place, times all that the selectors name, where nobody asked about
    /// them before.
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
                    let compared = self.pod_counts.count_for(&rows, &self.pods[pod], node);
                    self.steps.compared += compared;
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::told::{
        delta::Delta,
        pod::{Place, Pod, PodState, Shape},
    };

    /// So many labels has a pod, and so many of them a selector asks about.
    const LABELS: u32 = 128;
    const ASKED: u32 = 31;

    /// A pod on a node, with its labels in no order.
    fn placed(value: u32) -> Pod {
        let label = |key| (Symbol::new(key), Symbol::new(value));
        Pod {
            labels: (0..LABELS).rev().map(label).collect(),
            state: PodState::Running(Place::on(NodeId::new(0))),
            ..Pod::default()
        }
    }

    /// A constraint about pods that have all labels from this one on which are asked about.
    fn spread(from: u32) -> Spread {
        let requirement = |key| Requirement { key: Symbol::new(key), holds: Holds::Exists };
        Spread {
            topology_key: Symbol::EMPTY,
            skew_max: 1,
            domains_min: 1,
            namespace: Symbol::EMPTY,
            selector: (from..from + ASKED).map(requirement).collect(),
            honors_selection: true,
            honors_taints: false,
            required: true,
        }
    }

    /// Tells of a pod; gives the comparisons that it took.
    fn tell(state: &mut State, id: u32, pod: Pod) -> u64 {
        let before = state.steps.compared;
        state.apply(Delta::Pod(PodId::new(id), Box::new(pod)));
        assert_eq!(state.check(), Vec::<String>::new());
        state.steps.compared - before
    }

    /// A pod that waits and has these constraints.
    fn waiting(spread: Vec<Spread>) -> Pod {
        Pod { shape: Shape { spread, ..Shape::default() }, ..Pod::default() }
    }

    /// A selector may name hundreds of labels, each of which is looked for in each pod.
    #[test]
    fn comparisons_are_all_that_selectors_name() {
        const PODS: u32 = 20;
        let (pods, asked) = (u64::from(PODS), u64::from(ASKED));
        let mut state = State::default();
        state.apply(Delta::Node(NodeId::new(0), Box::default()));
        for id in 0..PODS {
            tell(&mut state, id, placed(0));
        }
        let all = vec![spread(0), spread(LABELS - ASKED), spread(LABELS - ASKED + 1)];
        let compared = tell(&mut state, PODS, waiting(all.clone()));
        assert!(compared >= pods * 3 * asked, "{compared} for selectors that are new");
        assert_eq!(tell(&mut state, PODS + 1, waiting(all.clone())), 0, "they are known");
        let compared = tell(&mut state, 0, placed(1));
        assert!(compared >= 2 * 3 * asked, "{compared} for a pod that changes");
        let counts = all.iter().map(|one| state.pod_counts.on(one).collect::<Vec<_>>());
        let on = vec![(NodeId::new(0), PODS)];
        assert_eq!(counts.collect::<Vec<_>>(), [on.clone(), on, Vec::new()]);
    }
}
