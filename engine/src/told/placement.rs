//! Rankings of nodes and devices, as an operator wants them.

use crate::told::pod::Shape;

/// Ranking of nodes or devices that all fit.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Placement {
    /// Fill up what is used most.
    #[default]
    Pack,
    /// Even out.
    Spread,
    /// Take the first by name.
    Any,
    /// Leave the fewest fragments that the typical workload has no use for; see [`Config::typical`](crate::Config::typical).
    Fragmentation,
}

impl Placement {
    /// Tells whether what has less free goes first, where nothing finer decides.
    pub(crate) fn packs(self) -> bool {
        matches!(self, Self::Pack | Self::Fragmentation)
    }
}

/// Pods of the typical workload that are alike.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Typical {
    /// Requests of such a pod; whole GPUs, or a part of one.
    pub shape: Shape,
    /// Their number, against that of the others.
    pub weight: u32,
}
