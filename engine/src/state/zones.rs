//! Room that is left in a node's zones.

use crate::{
    base::resources::Resources,
    decided::when::When,
    state::booking::{Booking, HoldKind},
    told::numa::{Numa, ZoneAmount},
};

/// The zones of a node and what is left of them.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct ZoneTable {
    pub(crate) facts: Numa,
    /// Per zone: what nobody holds. Derived; may be negative.
    idle: Vec<Resources>,
    /// Per zone: what is leaving less what is kept for nominated pods. Derived.
    releasing: Vec<Resources>,
}

impl ZoneTable {
    pub(crate) fn new(facts: Numa) -> Self {
        let idle = facts.zones.clone();
        let releasing = vec![Resources::default(); idle.len()];
        Self { facts, idle, releasing }
    }

    /// Lists what is left of each zone.
    pub(crate) fn left(&self, room: When) -> Vec<Resources> {
        let mut left = self.idle.clone();
        for (zone, coming) in left.iter_mut().zip(&self.releasing) {
            for (lane, amount) in coming.iter() {
                // What is kept for nominated pods is gone now; what is leaving comes later.
                if room == When::Later || amount < 0 {
                    zone.add(lane, amount);
                }
            }
        }
        left
    }

    /// Tells whether a leaving pod may keep what it holds: what is kept since for nominated pods is covered by the
    /// rest.
    pub(crate) fn may_keep(&self, zones: &[ZoneAmount]) -> bool {
        zones.iter().all(|held| {
            let at = usize::from(held.zone);
            let left = |rows: &[Resources]| rows.get(at).map_or(0, |row| row.amount(held.lane));
            left(&self.idle) + left(&self.releasing) >= held.amount
        })
    }

    /// Adds what a pod holds of some zones, or takes it back.
    pub(super) fn hold(&mut self, zones: &[ZoneAmount], entry: Booking) {
        for ZoneAmount { zone, lane, amount } in zones {
            let at = usize::from(*zone);
            let amount = entry.sign.of(*amount);
            let (Some(idle), Some(releasing)) = (self.idle.get_mut(at), self.releasing.get_mut(at))
            else {
                continue;
            };
            match entry.hold {
                HoldKind::Stays => idle.add(*lane, -amount),
                HoldKind::Leaves => {
                    idle.add(*lane, -amount);
                    releasing.add(*lane, amount);
                }
                HoldKind::Nominated => releasing.add(*lane, -amount),
            }
        }
    }
}
