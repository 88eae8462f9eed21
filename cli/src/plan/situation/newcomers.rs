//! Nodes that a change adds: where they stand is taken from a node like them.

use std::collections::BTreeSet;

use kai_api::names::node::GPU_PRODUCT;
use kai_engine::{Node, NodeId, Symbol};
use kai_sandbox::nodes::group::Spec;
use kai_scheduler::names::{Names, Number};
use serde_json::Value;

use super::Situation;
use crate::plan::change::{self, Change, PLACES};

/// Nodes that come.
#[derive(Debug, Default)]
pub(in crate::plan) struct Newcomers {
    pub(in crate::plan) nodes: Vec<Value>,
    /// Holds what was taken for granted of their places, a sentence each.
    pub(in crate::plan) notes: Vec<String>,
}

impl Situation {
    /// The nodes that changes add.
    pub(in crate::plan) fn newcomers(&self, changes: &[Change]) -> Newcomers {
        let args = &self.snapshot.args;
        let pool = (!args.nodepool_label_key.is_empty() && !args.partition_label_value.is_empty())
            .then(|| (args.nodepool_label_key.clone(), args.partition_label_value.clone()));
        let names = &self.snapshot.ingest.context.names;
        let mut newcomers = Newcomers::default();
        let mut number = 0;
        let specs = changes.iter().filter_map(|change| match change {
            Change::AddNodes { specs, .. } => Some(specs),
            _ => None,
        });
        for spec in specs.flatten() {
            let name = loop {
                number += 1;
                let name = format!("new-{number}");
                if names.nodes.find(&name).is_none() {
                    break name;
                }
            };
            let (mut labels, note) = self.place_of(spec);
            labels.extend(pool.clone());
            newcomers.nodes.push(change::node(spec, &name, &labels));
            if !newcomers.notes.contains(&note) {
                newcomers.notes.push(note);
            }
        }
        newcomers
    }

    /// The labels that say where a new node stands, and what is to be said of that.
    fn place_of(&self, spec: &Spec) -> (Vec<(String, String)>, String) {
        let names = &self.snapshot.ingest.context.names;
        let keys = self.place_keys(names);
        let Some((id, node)) = self.like(spec, names) else {
            let note = "no node is like the new ones: they carry no labels of zones and racks, and what is bound to such places does not go there";
            return (Vec::new(), note.to_owned());
        };
        let place = node.labels.iter().filter(|label| keys.contains(&label.key));
        let mut labels: Vec<(String, String)> = place
            .map(|label| (names.text(label.key).to_owned(), names.text(label.value).to_owned()))
            .collect();
        labels.sort();
        let like = names.nodes.key(id.number());
        let shown: Vec<String> =
            labels.iter().map(|(key, value)| format!("{key}={value}")).collect();
        let note = if shown.is_empty() {
            format!(
                "new nodes carry no labels of zones and racks, as {like}, which is like them, has none"
            )
        } else {
            format!("new nodes stand where {like} does, which is like them: {}", shown.join(", "))
        };
        (labels, note)
    }

    /// The labels by which nodes stand together: region, zone, and the levels of topologies above the node itself.
    fn place_keys(&self, names: &Names) -> BTreeSet<Symbol> {
        let levels = self.snapshot.cluster.topologies();
        let levels = levels.flat_map(|(_, topology)| topology.levels.iter().copied());
        let places = PLACES.iter().filter_map(|key| names.symbols.find(key).map(Symbol::new));
        let host = names.symbols.find("kubernetes.io/hostname").map(Symbol::new);
        levels.chain(places).filter(|key| Some(*key) != host).collect()
    }

    /// The node that is most like a new one, the first by name: of the same product and number of devices, of one of
    /// them, or, for a node without devices, any without.
    fn like(&self, spec: &Spec, names: &Names) -> Option<(NodeId, &Node)> {
        let product_key = names.symbols.find(GPU_PRODUCT).map(Symbol::new);
        let alike = |node: &Node| {
            let product = node.labels.iter().find(|label| Some(label.key) == product_key);
            let product = product.map(|label| names.text(label.value));
            let Some(model) = spec.model else { return u8::from(node.gpus.count == 0) };
            let has_product = product.is_some_and(|product| product == model.product);
            let has_count = u32::from(node.gpus.count) == spec.gpus;
            2 * u8::from(has_product) + u8::from(has_count)
        };
        let nodes = self.snapshot.cluster.nodes().map(|(id, node)| (alike(node), id, node));
        let nodes = nodes.filter(|(alike, ..)| *alike > 0);
        let best = nodes.min_by(|one, two| two.0.cmp(&one.0).then(one.2.name.cmp(&two.2.name)))?;
        Some((best.1, best.2))
    }
}
