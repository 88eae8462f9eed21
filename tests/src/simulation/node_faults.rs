//! Nodes that break, go and come back.

use std::{collections::BTreeMap, time::Duration};

use anyhow::Result;
use k8s_openapi::api::core::v1::Node;
use kai_sandbox::nodes::fault::FAULTS;
use kai_sim::generate::Seed;
use kube::{
    Api, Client,
    api::{DeleteParams, Patch, PatchParams, PostParams},
};
use serde_json::{Value, json};
use tokio::time::Instant;

use super::weather::Weather;

/// Something happens to a node once in so many of the users' acts.
const FAULT_IN: u64 = 15;
/// Names of faults of nodes, and what their annotation says.
const KINDS: &[(&str, &str)] = &[
    ("dead", "dead"),
    ("reject", "reject"),
    ("reject-reservations", "reject-reservations"),
    ("silent-reservations", "silent-reservations"),
    ("lost-device", "lost=0"),
    ("lost-devices", "lost=1,lost=2"),
    ("cordon", ""),
    ("gone", ""),
];
/// The longest time that a node is out of order.
const BROKEN_MAX_MILLIS: u64 = 600_000;

/// Nodes of a cluster, some of which are out of order.
#[derive(Debug)]
pub(super) struct NodeFaults {
    nodes: Api<Node>,
    count: u32,
    /// Each until when.
    broken: Vec<(Instant, String)>,
    /// Nodes that were deleted, as they were.
    gone: BTreeMap<String, Node>,
}

impl NodeFaults {
    /// All nodes `node-1` to `node-COUNT` are in order.
    pub(super) fn new(client: &Client, count: u32) -> Self {
        let nodes = Api::all(client.clone());
        Self { nodes, count, broken: Vec::new(), gone: BTreeMap::new() }
    }

    /// Breaks a node, or not.
    pub(super) async fn break_one(
        &mut self,
        mut draw: Seed,
        act: u64,
        weather: &Weather,
    ) -> Result<()> {
        let is_drawn = draw.one_in(FAULT_IN);
        let node = format!("node-{}", 1 + draw.below(u64::from(self.count)));
        let (kind, words) = *draw.pick(KINDS);
        let millis = draw.below(BROKEN_MAX_MILLIS);
        let is_broken = self.broken.iter().any(|(_, broken)| *broken == node);
        if is_broken || !weather.has(&format!("{node}/{act}"), is_drawn, kind) {
            return Ok(());
        }
        match kind {
            "gone" => {
                self.gone.insert(node.clone(), self.nodes.get(&node).await?);
                self.nodes.delete(&node, &DeleteParams::default()).await?;
            }
            "cordon" => self.patch(&node, &json!({"spec": {"unschedulable": true}})).await?,
            _ => {
                let patch = json!({"metadata": {"annotations": {(FAULTS): words}}});
                self.patch(&node, &patch).await?;
            }
        }
        self.broken.push((Instant::now() + Duration::from_millis(millis), node));
        Ok(())
    }

    /// Mends the nodes whose time is over at a moment; none: all of them.
    pub(super) async fn mend(&mut self, at: Option<Instant>) -> Result<()> {
        let is_due = |(until, _): &(Instant, String)| at.is_none_or(|at| *until <= at);
        let (due, rest): (Vec<_>, Vec<_>) =
            std::mem::take(&mut self.broken).into_iter().partition(is_due);
        self.broken = rest;
        for (_, node) in due {
            self.mend_one(&node).await?;
        }
        Ok(())
    }

    async fn mend_one(&mut self, node: &str) -> Result<()> {
        let Some(mut gone) = self.gone.remove(node) else {
            let patch = json!({
                "metadata": {"annotations": {(FAULTS): null}}, "spec": {"unschedulable": null},
            });
            return self.patch(node, &patch).await;
        };
        let status = json!({"status": gone.status});
        gone.metadata.resource_version = None;
        gone.metadata.uid = None;
        gone.metadata.managed_fields = None;
        self.nodes.create(&PostParams::default(), &gone).await?;
        let patch = Patch::Merge(status);
        self.nodes.patch_status(node, &PatchParams::default(), &patch).await?;
        Ok(())
    }

    async fn patch(&self, node: &str, patch: &Value) -> Result<()> {
        self.nodes.patch(node, &PatchParams::default(), &Patch::Merge(patch)).await?;
        Ok(())
    }
}
