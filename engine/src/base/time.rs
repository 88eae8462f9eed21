//! Moments and spans of time, as the caller gives them.

/// A moment: milliseconds since the epoch, given by the caller.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default)]
pub struct Timestamp(pub i64);

/// A span of time in milliseconds.
pub type Millis = i64;
