//! Extended resources for which queues are charged GPUs.

use super::{ShapeRow, Shapes};
use crate::{
    base::resources::{GPU_MILLI, Lane, LaneKind},
    told::pod::Shape,
};

impl Shapes {
    /// Tells whether a shape ever asked for this lane, or for a later one.
    pub(crate) fn reaches(&self, lane: Lane) -> bool {
        self.last_lane.is_some_and(|last| lane <= last)
    }

    /// Works out every row again.
    pub(crate) fn recharge(&mut self, lanes: &[LaneKind]) {
        for row in self.rows.ids() {
            if let Some(row) = &mut self.rows[row] {
                **row = ShapeRow::new(&row.facts, &row.asks, lanes, self.has_backed_resources);
            }
        }
    }
}

/// GPUs in thousandths that stand in for extended resources of a pod.
pub(super) fn backed_milli(facts: &Shape, lanes: &[LaneKind]) -> i64 {
    let is_gpu = |lane: Lane| lanes.get(lane.row()) == Some(&LaneKind::Gpu);
    // No node has more, and a sum over a million pods fits.
    let most = i64::from(u16::MAX);
    let devices = facts.request.iter().filter(|(lane, _)| is_gpu(*lane));
    devices.map(|(_, amount)| amount.min(most) * GPU_MILLI).sum()
}

/// GPUs in thousandths that one instance on `lane` stands for.
pub(crate) fn mig_milli(lanes: &[LaneKind], lane: Lane) -> i64 {
    match lanes.get(lane.row()) {
        Some(LaneKind::Mig { gpus }) => i64::from(*gpus) * GPU_MILLI,
        Some(LaneKind::Plain | LaneKind::Gpu) | None => 0,
    }
}
