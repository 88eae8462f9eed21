//! `Namespace`: its labels, for pod affinity that selects namespaces by them.
//!
//! Equal selectors are asked once, and only about what changed: a namespace that comes costs one question a selector, and a
//! selector that comes one a namespace. No pod is told anew for either.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use kai_engine::{Delta, NamespaceSelectorId, Requirement, Symbol};

use super::{Context, Kind, object::Named, selector::selects};

/// So many selectors may the pods of one namespace have in all: each is asked about every namespace, and what it means is
/// kept. Pods of a workload select alike.
pub(super) const OF_NAMESPACE_MAX: usize = 64;

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
    /// Number of terms of pods of a namespace that have a selector.
    terms_of: BTreeMap<Used, u32>,
    /// The selectors of each pod that has some, by its row.
    of_pods: HashMap<u32, Vec<Used>>,
    /// Those of the pod that is being read.
    read: Vec<Used>,
    /// The pod that is being read has one that the pods of its namespace have no room for.
    is_over: bool,
}

/// The namespace of a pod, and the row of a selector that it has.
type Used = (Symbol, u32);

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
    /// The selector of a term of the pod that is being read, which is of the namespace `own`; none where its pods have too many
    /// others.
    ///
    /// # Cost
    /// Where it is new, in the number of namespaces.
    pub(super) fn selector(
        &mut self,
        context: &mut Context,
        requirements: Vec<Requirement>,
        own: Symbol,
    ) -> Option<NamespaceSelectorId> {
        let known = self.known.get(&requirements).copied();
        let has_it = known.is_some_and(|row| self.terms_of.contains_key(&(own, row)));
        if !has_it && self.terms_of.range((own, 0)..=(own, u32::MAX)).count() >= OF_NAMESPACE_MAX {
            self.is_over = true;
            return None;
        }
        let row = known.unwrap_or_else(|| self.add(context, requirements));
        self.selectors[row as usize].uses += 1;
        *self.terms_of.entry((own, row)).or_default() += 1;
        self.read.push((own, row));
        Some(NamespaceSelectorId::new(row))
    }

    /// Tells whether the pod that is being read has a selector that the pods of its namespace have no room for.
    pub(super) fn take_over(&mut self) -> bool {
        std::mem::take(&mut self.is_over)
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

    fn release(&mut self, context: &mut Context, rows: Vec<Used>) {
        for used in rows {
            let (_, row) = used;
            if let Some(terms) = self.terms_of.get_mut(&used) {
                *terms -= 1;
                if *terms == 0 {
                    self.terms_of.remove(&used);
                }
            }
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
