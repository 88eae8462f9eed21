//! Amounts that pods hold, as they are entered in the books of nodes, devices and queues.

use crate::base::{few::Few, ids::PodId, resources::Charge};

/// An amount that is held, and whether it is added or taken back.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Booking {
    pub(crate) hold: HoldKind,
    pub(crate) sign: Sign,
}

/// Way in which a pod holds a place.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum HoldKind {
    Stays,
    Leaves,
    Nominated,
}

/// Direction of a booking: added or taken back.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Sign {
    Plus,
    Minus,
}

impl Sign {
    /// Gives an amount the sign.
    pub(crate) fn of(self, amount: i64) -> i64 {
        match self {
            Self::Plus => amount,
            Self::Minus => -amount,
        }
    }

    /// Counts one more, or one less.
    pub(crate) fn count(self, count: &mut u32) {
        match self {
            Self::Plus => *count += 1,
            Self::Minus => *count -= 1,
        }
    }

    /// Adds a pod to some that are in order, or takes it out.
    pub(super) fn enter(self, pods: &mut Few<PodId>, pod: PodId) {
        match (pods.binary_search(&pod), self) {
            (Err(at), Self::Plus) => pods.insert(at, pod),
            (Ok(at), Self::Minus) => pods.remove(at),
            (Ok(_), Self::Plus) | (Err(_), Self::Minus) => {}
        }
    }

    /// Adds a charge to a sum, or takes it back.
    pub(super) fn charge(self, sum: &mut Charge, charge: Charge) {
        match self {
            Self::Plus => *sum += charge,
            Self::Minus => *sum -= charge,
        }
    }
}

impl Booking {
    /// Enters one holder.
    pub(super) fn count(self, held: &mut u32, leaving: &mut u32, nominated: &mut u32) {
        match self.hold {
            HoldKind::Stays => self.sign.count(held),
            HoldKind::Leaves => {
                self.sign.count(held);
                self.sign.count(leaving);
            }
            HoldKind::Nominated => self.sign.count(nominated),
        }
    }
}
