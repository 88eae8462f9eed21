//! `Namespace`: its labels, for pod affinity that selects namespaces by them.

use std::collections::HashMap;

use kai_engine::{Requirement, Symbol};

use super::{Ingest, Kind, selector::selects};
use crate::server::wire::Meta;

/// Labels of namespaces, and whether anybody asks about them.
#[derive(Debug, Default)]
pub(super) struct Namespaces {
    /// By name: the full list in which it was seen last, and its labels.
    rows: HashMap<Box<str>, (u32, Labels)>,
    /// Some pod selects namespaces.
    asked: bool,
}

type Labels = Vec<(Box<str>, Box<str>)>;

/// The namespaces that a selector means now. From now on changes of namespaces have pods read again.
pub(super) fn selected(ingest: &mut Ingest, selector: &[Requirement]) -> Vec<Symbol> {
    ingest.namespaces.asked = true;
    let Ingest { names, namespaces, .. } = ingest;
    let rows = namespaces.rows.iter();
    let found = rows.filter(|(_, (_, labels))| selects(selector, labels, names));
    let mut found: Vec<Box<str>> = found.map(|(name, _)| name.clone()).collect();
    found.sort_unstable();
    found.iter().map(|name| names.symbol(name)).collect()
}

pub(super) fn applied(ingest: &mut Ingest, meta: &Meta<'_>) -> String {
    let labels = meta.labels.iter();
    let labels: Labels = labels.map(|(key, value)| (Box::from(key), Box::from(value))).collect();
    let generation = ingest.generation(Kind::Namespace);
    let rows = &mut ingest.namespaces.rows;
    let was = rows.insert(Box::from(&*meta.name), (generation, labels.clone()));
    if was.is_none_or(|(_, was)| was != labels) {
        read_pods_again(ingest);
    }
    meta.resource_version.to_string()
}

pub(super) fn gone(ingest: &mut Ingest, name: &str) {
    if ingest.namespaces.rows.remove(name).is_some() {
        read_pods_again(ingest);
    }
}

/// A full list is complete: what was not in it is gone.
pub(super) fn end(ingest: &mut Ingest) {
    let generation = ingest.generation(Kind::Namespace);
    let count = ingest.namespaces.rows.len();
    ingest.namespaces.rows.retain(|_, (seen, _)| *seen == generation);
    if ingest.namespaces.rows.len() != count {
        read_pods_again(ingest);
    }
}

fn read_pods_again(ingest: &mut Ingest) {
    if ingest.namespaces.asked {
        ingest.resync.push(Kind::Pod);
    }
}
