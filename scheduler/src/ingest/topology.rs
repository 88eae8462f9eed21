//! Topology.

use std::collections::BTreeSet;

use kai_engine::{Symbol, Topology, TopologyId};
use serde::Deserialize;

use super::{Delta, Ingest, Kind};
use crate::{
    names::Number,
    server::wire::{Text, null_as_default},
};

pub(super) type Wire<'a> = super::object::Object<'a, Spec<'a>>;

#[derive(Deserialize, Default, Debug)]
#[serde(default)]
pub(super) struct Spec<'a> {
    #[serde(borrow, deserialize_with = "null_as_default")]
    levels: Vec<Level<'a>>,
}

#[derive(Deserialize, Default, Debug)]
#[serde(rename_all = "camelCase", default)]
struct Level<'a> {
    #[serde(borrow)]
    node_label: Text<'a>,
    #[serde(borrow)]
    alias: Text<'a>,
}

pub(super) fn applied(ingest: &mut Ingest, wire: &Wire<'_>) -> String {
    let meta = &wire.metadata;
    let row = ingest.names.topology(&meta.name).number();
    let mut levels = Vec::with_capacity(wire.spec.levels.len());
    let mut aliases = Vec::new();
    for level in &wire.spec.levels {
        let label = ingest.names.symbol(&level.node_label);
        levels.push(label);
        note_level(ingest, label);
        if !level.alias.is_empty() {
            aliases.push((Box::from(&*level.alias), label));
        }
    }
    let mut presence = ingest.names.topologies[row].presence;
    ingest.seen(Kind::Topology, &mut presence);
    let topology = &mut ingest.names.topologies[row];
    topology.presence = presence;
    if topology.aliases != aliases {
        topology.aliases = aliases;
        resolve_anew(ingest);
    }
    ingest.deltas.push(Delta::Topology(TopologyId::new(row), Box::new(Topology { levels })));
    meta.resource_version.to_string()
}

/// Rows of topologies stay: groups name them, and there are few.
pub(super) fn gone(ingest: &mut Ingest, row: u32) {
    let presence = &mut ingest.names.topologies[row].presence;
    if std::mem::take(&mut presence.is_there) {
        ingest.names.topologies[row].aliases.clear();
        ingest.deltas.push(Delta::TopologyGone(TopologyId::new(row)));
        resolve_anew(ingest);
    }
}

/// Labels of nodes: which of them are levels of topologies, and with what values they are there.
#[derive(Default, Debug)]
pub(super) struct Levels {
    keys: BTreeSet<Symbol>,
    /// Keys with values.
    values: BTreeSet<(Symbol, Symbol)>,
}

/// A node has this label; where its key is a level the engine hears how its value is written.
pub(super) fn labelled(ingest: &mut Ingest, key: Symbol, value: Symbol) {
    let Levels { keys, values } = &mut ingest.levels;
    if values.insert((key, value)) && keys.contains(&key) {
        spell(ingest, value);
    }
}

/// A label is a level; the engine hears how the values are written that nodes have of it.
fn note_level(ingest: &mut Ingest, key: Symbol) {
    let Levels { keys, values } = &mut ingest.levels;
    if keys.insert(key) {
        let of_key = values.range((key, Symbol::EMPTY)..).take_while(|(of, _)| *of == key);
        for value in of_key.map(|(_, value)| *value).collect::<Vec<_>>() {
            spell(ingest, value);
        }
    }
}

fn spell(ingest: &mut Ingest, value: Symbol) {
    let text = Box::from(ingest.names.text(value).as_bytes());
    ingest.deltas.push(Delta::Spelling(value, text));
}

/// Groups that name levels are read again, so that aliases mean what they mean now.
fn resolve_anew(ingest: &mut Ingest) {
    if ingest.names.groups.iter().any(|(_, group)| group.has_topology) {
        ingest.resync.push(Kind::PodGroup);
    }
}
