//! Topology.

use kai_engine::{Topology, TopologyId};
use serde::Deserialize;

use super::{Context, Delta, Kind};
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

pub(super) fn apply(context: &mut Context, wire: &Wire<'_>) -> String {
    let meta = &wire.metadata;
    let row = context.names.topology(&meta.name).number();
    let mut levels = Vec::with_capacity(wire.spec.levels.len());
    let mut aliases = Vec::new();
    for level in &wire.spec.levels {
        let label = context.names.symbol(&level.node_label);
        levels.push(label);
        context.note_level(label);
        if !level.alias.is_empty() {
            aliases.push((Box::from(&*level.alias), label));
        }
    }
    let mut presence = context.names.topologies[row].presence;
    context.seen(Kind::Topology, &mut presence);
    let topology = &mut context.names.topologies[row];
    topology.presence = presence;
    if topology.aliases != aliases {
        topology.aliases = aliases;
        resolve_anew(context);
    }
    context.deltas.push(Delta::Topology(TopologyId::new(row), Box::new(Topology { levels })));
    meta.resource_version.to_string()
}

/// Rows of topologies stay: groups name them, and there are few.
pub(super) fn remove(context: &mut Context, name: &str) {
    if let Some(row) = context.names.topologies.find(name) {
        gone(context, row);
    }
}

/// Takes out what was not in the full list that is complete now.
pub(super) fn end(context: &mut Context) {
    for row in context.unseen(Kind::Topology, |names| &names.topologies) {
        gone(context, row);
    }
}

fn gone(context: &mut Context, row: u32) {
    let presence = &mut context.names.topologies[row].presence;
    if std::mem::take(&mut presence.is_there) {
        context.names.topologies[row].aliases.clear();
        context.deltas.push(Delta::TopologyGone(TopologyId::new(row)));
        resolve_anew(context);
    }
}

/// Groups that name levels are read again, so that aliases mean what they mean now.
fn resolve_anew(context: &mut Context) {
    if context.names.groups.iter().any(|(_, group)| group.has_topology) {
        context.resync.push(Kind::PodGroup);
    }
}
