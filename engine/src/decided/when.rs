//! The time at which there is room.

/// The time when there is room, or at which amounts are looked at.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum When {
    /// In what is idle.
    Now,
    /// Once what is leaving has left.
    Later,
}
