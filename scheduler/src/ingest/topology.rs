//! Topology.

use kai_engine::{Topology, TopologyId};
use serde::Deserialize;

use super::{Common, Delta, Kind};
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

pub(super) fn apply(common: &mut Common, wire: &Wire<'_>) -> String {
    let meta = &wire.metadata;
    let row = common.names.topology(&meta.name).number();
    let mut levels = Vec::with_capacity(wire.spec.levels.len());
    let mut aliases = Vec::new();
    for level in &wire.spec.levels {
        let label = common.names.symbol(&level.node_label);
        levels.push(label);
        common.note_level(label);
        if !level.alias.is_empty() {
            aliases.push((Box::from(&*level.alias), label));
        }
    }
    let mut presence = common.names.topologies[row].presence;
    common.seen(Kind::Topology, &mut presence);
    let topology = &mut common.names.topologies[row];
    topology.presence = presence;
    if topology.aliases != aliases {
        topology.aliases = aliases;
        resolve_anew(common);
    }
    common.deltas.push(Delta::Topology(TopologyId::new(row), Box::new(Topology { levels })));
    meta.resource_version.to_string()
}

/// Rows of topologies stay: groups name them, and there are few.
pub(super) fn remove(common: &mut Common, name: &str) {
    if let Some(row) = common.names.topologies.find(name) {
        gone(common, row);
    }
}

/// Takes out what was not in the full list that is complete now.
pub(super) fn end(common: &mut Common) {
    for row in common.unseen(Kind::Topology, |names| &names.topologies) {
        gone(common, row);
    }
}

fn gone(common: &mut Common, row: u32) {
    let presence = &mut common.names.topologies[row].presence;
    if std::mem::take(&mut presence.is_there) {
        common.names.topologies[row].aliases.clear();
        common.deltas.push(Delta::TopologyGone(TopologyId::new(row)));
        resolve_anew(common);
    }
}

/// Groups that name levels are read again, so that aliases mean what they mean now.
fn resolve_anew(common: &mut Common) {
    if common.names.groups.iter().any(|(_, group)| group.has_topology) {
        common.resync.push(Kind::PodGroup);
    }
}
