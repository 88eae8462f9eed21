//! Amounts that a pod holds of its node by its requests, as the books of nodes read them.
//!
//! A pod that a plan placed holds what its shape says. One that no plan placed has a row of its own.

use crate::{
    base::{
        ids::{NodeId, PodId},
        resources::{Charge, Lane, PerLane},
        time::Timestamp,
    },
    state::shape::ShapeRow,
    told::pod::GpuRequest,
};

/// Amounts that are entered of a pod at its node.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Taken<'t> {
    /// Amounts by lane, ascending.
    pub(crate) amounts: &'t [(Lane, i64)],
    /// GPUs of claims of its own among them, in milli-devices: they are held device by device.
    pub(crate) own_milli: i64,
    /// The request that says which part of each GPU it shares.
    pub(crate) gpu: &'t GpuRequest,
    /// Number of GPUs that it shares; 0 where it shares none.
    pub(crate) shared: u16,
}

impl Taken<'_> {
    /// Lists the amounts, claims aside.
    pub(crate) fn plain(&self) -> impl Iterator<Item = (Lane, i64)> {
        let claims = |lane| if lane == Lane::GPU { self.own_milli } else { 0 };
        self.amounts.iter().map(move |(lane, amount)| (*lane, amount - claims(*lane)))
    }
}

impl ShapeRow {
    /// Gives what a pod of the shape takes of a node that a plan gives it.
    pub(crate) fn taken(&self) -> Taken<'_> {
        Taken {
            amounts: &self.take,
            own_milli: self.own_milli,
            gpu: &self.facts.gpu,
            shared: self.shared,
        }
    }
}

/// Place of a pod that no plan placed among those of its node, the oldest first.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(crate) struct Turn {
    pub(crate) node: NodeId,
    pub(crate) created: Timestamp,
    pub(crate) uid: u128,
    pub(crate) pod: PodId,
}

impl Turn {
    /// The place before all others of a node.
    pub(crate) fn first(node: NodeId) -> Self {
        Self { node, created: Timestamp(i64::MIN), uid: 0, pod: PodId::new(0) }
    }
}

/// Amounts that a pod holds which no plan placed: of what it asks for as much as its node has for it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Holding {
    /// Amounts by lane, ascending, claims aside.
    pub(crate) amounts: Vec<(Lane, i64)>,
    /// Its request where it shares GPUs, of memory no more than one has; else none.
    pub(crate) gpu: GpuRequest,
    /// Number of GPUs that it shares.
    pub(crate) shared: u16,
    /// Amounts that its queue is charged.
    pub(crate) charge: Charge,
    /// GPUs that come free with it but for claims, in milli-devices.
    pub(crate) gives_milli: i64,
}

/// The row of a pod for which its node has nothing.
pub(crate) static NOTHING: Holding = Holding {
    amounts: Vec::new(),
    gpu: GpuRequest::None,
    shared: 0,
    charge: PerLane([0; 3]),
    gives_milli: 0,
};

impl Holding {
    /// Gives what is entered of it at its node.
    pub(crate) fn taken(&self) -> Taken<'_> {
        Taken { amounts: &self.amounts, own_milli: 0, gpu: &self.gpu, shared: self.shared }
    }
}
