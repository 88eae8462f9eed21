//! NUMA zones of a node that a pod would get.
//!
//! # Source
//! docs/behaviour.md 13.3.

pub(crate) mod align;

use crate::{
    base::ids::NodeId,
    decided::{plan::Misfit, when::When},
    state::{State, shape::ShapeRow},
    told::numa::{NumaPolicy, ZoneAmount},
};

/// Works out what a pod of a shape would hold of a node's zones, and whether it could have it now.
pub(crate) fn zones_for(
    state: &State,
    shape: &ShapeRow,
    node: NodeId,
) -> Result<(Vec<ZoneAmount>, When), Misfit> {
    let Some(alignment) = &shape.facts.alignment else {
        return Ok((Vec::new(), When::Now));
    };
    let Some(Some(table)) = state.nodes().zones.get(node) else {
        return Ok((Vec::new(), When::Now));
    };
    if table.facts.policy == NumaPolicy::None {
        return Ok((Vec::new(), When::Now));
    }
    if let Some(zones) = align::fit(&table.facts, table.left(When::Now), alignment) {
        return Ok((zones, When::Now));
    }
    let later = align::fit(&table.facts, table.left(When::Later), alignment);
    later.map(|zones| (zones, When::Later)).ok_or(Misfit::Zones)
}

/// Counts what it costs to find zones on a node for a pod of a shape, in looks at devices: each container is compared with each
/// zone.
pub(crate) fn looks(state: &State, shape: &ShapeRow, node: NodeId) -> usize {
    let Some(alignment) = &shape.facts.alignment else { return 0 };
    let Some(Some(table)) = state.nodes().zones.get(node) else { return 0 };
    let containers = alignment.serial.len() + alignment.concurrent.len();
    if table.facts.policy == NumaPolicy::None { 0 } else { containers * table.facts.zones.len() }
}

/// Over how many zones a pod of a shape would spread on a node; fewer are better, 0 where it does not matter.
pub(crate) fn span(state: &State, shape: &ShapeRow, node: NodeId, zones: &[ZoneAmount]) -> usize {
    if shape.facts.alignment.is_none() || state.nodes().zones_max == 0 {
        return 0;
    }
    match state.nodes().zones.get(node) {
        Some(Some(table)) if table.facts.policy != NumaPolicy::None => {
            let mut seen: Vec<u16> = zones.iter().map(|amount| amount.zone).collect();
            seen.sort_unstable();
            seen.dedup();
            seen.len().max(1)
        }
        Some(Some(table)) => table.facts.zones.len(),
        Some(None) | None => state.nodes().zones_max,
    }
}
