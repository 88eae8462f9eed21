//! `Namespace`: its labels, for pod affinity that selects namespaces by them.
//!
//! Equal selectors are asked once, and only about what changed: a namespace that comes costs one question a selector, and a
//! selector that comes one a namespace. No pod is told anew for either.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use kai_engine::{Delta, NamespaceSelectorId, Requirement, Symbol};

use super::{Context, Kind, object::Named, selector::selects};

/// Labels of namespaces, and the selectors that pods have of them.
#[derive(Debug, Default)]
pub(super) struct Namespaces {
    /// By name: the full list in which it was seen last, and its labels.
    rows: BTreeMap<Box<str>, (u32, Labels)>,
    /// Selectors, as many as are in use or were.
    selectors: Vec<Selector>,
    /// The rows of those that are in use.
    known: HashMap<Vec<Requirement>, u32>,
    /// The rows of the others.
    free: Vec<u32>,
    /// The selectors of each pod that has some, by its row.
    of_pods: HashMap<u32, Vec<u32>>,
    /// Those of the pod that is being read.
    read: Vec<u32>,
}

type Labels = Vec<(Box<str>, Box<str>)>;

/// A selector of namespaces.
#[derive(Debug, Default)]
struct Selector {
    requirements: Vec<Requirement>,
    /// Number of terms of pods that have it.
    uses: u32,
    /// The namespaces of which the engine was told that it means them.
    told: BTreeSet<Symbol>,
}

impl Namespaces {
    /// The selector of a term of the pod that is being read.
    ///
    /// # Cost
    /// Where it is new, in the number of namespaces.
    pub(super) fn selector(
        &mut self,
        context: &mut Context,
        requirements: Vec<Requirement>,
    ) -> NamespaceSelectorId {
        let row = match self.known.get(&requirements) {
            Some(row) => *row,
            None => self.add(context, requirements),
        };
        self.selectors[row as usize].uses += 1;
        self.read.push(row);
        NamespaceSelectorId::new(row)
    }

    /// Counts the selectors of the pod that is being read.
    pub(super) fn count_read(&self) -> usize {
        self.read.len()
    }

    /// Keeps the selectors of the pod that was read, instead of those that it had.
    pub(super) fn keep(&mut self, context: &mut Context, pod: u32) {
        let read = std::mem::take(&mut self.read);
        let was = if read.is_empty() {
            self.of_pods.remove(&pod)
        } else {
            self.of_pods.insert(pod, read)
        };
        self.release(context, was.unwrap_or_default());
    }

    /// Forgets a pod that is gone.
    pub(super) fn forget(&mut self, context: &mut Context, pod: u32) {
        let was = self.of_pods.remove(&pod);
        self.release(context, was.unwrap_or_default());
    }

    pub(super) fn apply(&mut self, context: &mut Context, wire: &Named<'_>) -> String {
        let meta = &wire.metadata;
        let labels = meta.labels.iter();
        let labels: Labels =
            labels.map(|(key, value)| (Box::from(key), Box::from(value))).collect();
        let generation = context.generation(Kind::Namespace);
        let was = self.rows.insert(Box::from(&*meta.name), (generation, labels.clone()));
        if was.is_none_or(|(_, was)| was != labels) {
            self.ask_all(context, &meta.name, Some(&labels));
        }
        meta.resource_version.to_string()
    }

    pub(super) fn remove(&mut self, context: &mut Context, name: &str) {
        if self.rows.remove(name).is_some() {
            self.ask_all(context, name, None);
        }
    }

    /// A full list is complete: what was not in it is gone.
    pub(super) fn end(&mut self, context: &mut Context) {
        let generation = context.generation(Kind::Namespace);
        let gone = self.rows.extract_if(.., |_, (seen, _)| *seen != generation);
        for (name, _) in gone.collect::<Vec<_>>() {
            self.ask_all(context, &name, None);
        }
    }

    /// Asks all selectors about a namespace, which has these labels or is gone.
    fn ask_all(&mut self, context: &mut Context, name: &str, labels: Option<&Labels>) {
        for row in self.known.values().copied().collect::<BTreeSet<u32>>() {
            self.ask(context, row, name, labels);
        }
    }

    /// Tells the engine whether a selector means a namespace, where that is news.
    fn ask(&mut self, context: &mut Context, row: u32, name: &str, labels: Option<&Labels>) {
        let selector = &mut self.selectors[row as usize];
        let meant = |labels: &Labels| selects(&selector.requirements, labels, &context.names);
        let is_meant = labels.is_some_and(meant);
        if !is_meant && selector.told.is_empty() {
            return;
        }
        let namespace = context.names.symbol(name);
        let known = &mut selector.told;
        let is_news = if is_meant { known.insert(namespace) } else { known.remove(&namespace) };
        if is_news {
            context.deltas.push(told(row, namespace, is_meant));
        }
    }

    fn add(&mut self, context: &mut Context, requirements: Vec<Requirement>) -> u32 {
        let row = self.free.pop().unwrap_or_else(|| {
            self.selectors.push(Selector::default());
            u32::try_from(self.selectors.len() - 1).expect("pods have fewer selectors")
        });
        self.known.insert(requirements.clone(), row);
        let selector = &mut self.selectors[row as usize];
        selector.requirements = requirements;
        let rows = std::mem::take(&mut self.rows);
        for (name, (_, labels)) in &rows {
            self.ask(context, row, name, Some(labels));
        }
        self.rows = rows;
        row
    }

    fn release(&mut self, context: &mut Context, rows: Vec<u32>) {
        for row in rows {
            let selector = &mut self.selectors[row as usize];
            selector.uses -= 1;
            if selector.uses == 0 {
                self.known.remove(&selector.requirements);
                self.free.push(row);
                for namespace in std::mem::take(&mut selector.told) {
                    context.deltas.push(told(row, namespace, false));
                }
            }
        }
    }
}

fn told(selector: u32, namespace: Symbol, is_meant: bool) -> Delta {
    Delta::NamespaceSelector(NamespaceSelectorId::new(selector), namespace, is_meant)
}
