//! Reasons why one node is not for a pod: the detailed form of a verdict.

use crate::{base::ids::NodeId, decided::plan::Misfit};

/// The reason why one node is not for a pod.
///
/// # Source
/// docs/behaviour.md 12.3, the detailed form.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Refusal {
    /// The node.
    pub node: NodeId,
    /// The first reason in the order of evaluation; of a node that is short of something, also what it is short of
    /// besides. With the amounts, where too little of a resource is free.
    pub reasons: Vec<(Misfit, Option<Amounts>)>,
}

/// Amounts of a pod and a node on one resource, in the resource's unit; GPUs in milli-devices.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Amounts {
    /// Amount that the pod asks for.
    pub requested: i64,
    /// Amount in use, without that of pods that leave, and with that kept for nominated pods.
    pub used: i64,
    /// Amount that the node has in all.
    pub capacity: i64,
}
