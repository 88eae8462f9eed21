//! Topology: the levels of a cluster's network, as node labels.

use kube::CustomResource;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::schema;

/// The levels, from coarse to fine.
///
/// # Source
/// docs/contract.md 1.5. Node labels can't change after creation; aliases can.
#[derive(CustomResource, Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[kube(
    group = "kai.scheduler",
    version = "v1alpha1",
    kind = "Topology",
    plural = "topologies",
    derive = "Default",
    derive = "PartialEq",
    doc = "The levels of a cluster's network, as node labels."
)]
#[serde(rename_all = "camelCase")]
pub struct TopologySpec {
    /// 1 to 16 levels, from coarse to fine.
    #[schemars(
        length(min = 1, max = 16),
        extend("x-kubernetes-list-type" = "atomic", "x-kubernetes-validations" = level_rules())
    )]
    pub levels: Vec<TopologyLevel>,
}

/// One level.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct TopologyLevel {
    /// Key of the node label whose values are the level's domains.
    #[schemars(length(min = 1, max = 316), regex(pattern = schema::core::QUALIFIED_NAME))]
    pub node_label: String,
    /// A name for people, usable wherever a level is named.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1, max = 316), regex(pattern = schema::core::QUALIFIED_NAME))]
    pub alias: Option<String>,
}

/// Gives what the API server checks of the list of levels, in CEL.
fn level_rules() -> Value {
    json!([
        {
            "rule": "self.map(l, l.nodeLabel) == oldSelf.map(l, l.nodeLabel)",
            "message": "nodeLabel structure is immutable; only aliases may be edited",
        },
        {
            "rule": "size(self.filter(i, size(self.filter(j, j.nodeLabel == i.nodeLabel)) > 1)) == 0",
            "message": "nodeLabel must be unique",
        },
        {
            "rule": "size(self.filter(i, i.nodeLabel == 'kubernetes.io/hostname')) == 0 \
                     || self[size(self) - 1].nodeLabel == 'kubernetes.io/hostname'",
            "message": "the kubernetes.io/hostname label can only be used at the lowest level of \
                        topology",
        },
    ])
}
