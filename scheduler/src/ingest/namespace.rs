//! `Namespace`: its labels, for pod affinity that selects namespaces by them.

use std::collections::HashMap;

use kai_engine::{Requirement, Symbol};

use super::{Context, Kind, object::Named, selector::selects};

/// Labels of namespaces, and whether anybody asks about them.
#[derive(Debug, Default)]
pub(super) struct Namespaces {
    /// By name: the full list in which it was seen last, and its labels.
    rows: HashMap<Box<str>, (u32, Labels)>,
    /// Some pod selects namespaces.
    asked: bool,
}

type Labels = Vec<(Box<str>, Box<str>)>;

impl Namespaces {
    /// The namespaces that a selector means now. From now on changes of namespaces have pods read again.
    pub(super) fn selected(
        &mut self,
        context: &mut Context,
        selector: &[Requirement],
    ) -> Vec<Symbol> {
        self.asked = true;
        let names = &mut context.names;
        let rows = self.rows.iter();
        let found = rows.filter(|(_, (_, labels))| selects(selector, labels, names));
        let mut found: Vec<Box<str>> = found.map(|(name, _)| name.clone()).collect();
        found.sort_unstable();
        found.iter().map(|name| names.symbol(name)).collect()
    }

    pub(super) fn apply(&mut self, context: &mut Context, wire: &Named<'_>) -> String {
        let meta = &wire.metadata;
        let labels = meta.labels.iter();
        let labels: Labels =
            labels.map(|(key, value)| (Box::from(key), Box::from(value))).collect();
        let generation = context.generation(Kind::Namespace);
        let rows = &mut self.rows;
        let was = rows.insert(Box::from(&*meta.name), (generation, labels.clone()));
        if was.is_none_or(|(_, was)| was != labels) {
            self.read_pods_again(context);
        }
        meta.resource_version.to_string()
    }

    pub(super) fn remove(&mut self, context: &mut Context, name: &str) {
        if self.rows.remove(name).is_some() {
            self.read_pods_again(context);
        }
    }

    /// A full list is complete: what was not in it is gone.
    pub(super) fn end(&mut self, context: &mut Context) {
        let generation = context.generation(Kind::Namespace);
        let count = self.rows.len();
        self.rows.retain(|_, (seen, _)| *seen == generation);
        if self.rows.len() != count {
            self.read_pods_again(context);
        }
    }

    fn read_pods_again(&self, context: &mut Context) {
        if self.asked {
            context.resync.push(Kind::Pod);
        }
    }
}
