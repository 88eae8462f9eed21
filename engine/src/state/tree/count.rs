//! Counts of a leaf's pods by state.

/// Pods of a leaf by state.
///
/// # Source
/// docs/behaviour.md 1.4.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(crate) struct Count {
    pub(crate) pending: u32,
    pub(crate) gated: u32,
    /// Hold a place and are not leaving; nominated ones included.
    pub(crate) active: u32,
    /// Of those, how many are only nominated.
    pub(crate) nominated: u32,
    /// Hold or will hold a place, leaving ones included.
    pub(crate) used: u32,
    pub(crate) succeeded: u32,
}

impl Count {
    /// The sum of some.
    pub(super) fn sum<'c>(counts: impl Iterator<Item = &'c Self>) -> Self {
        counts.fold(Self::default(), |sum, count| Self {
            pending: sum.pending + count.pending,
            gated: sum.gated + count.gated,
            active: sum.active + count.active,
            nominated: sum.nominated + count.nominated,
            used: sum.used + count.used,
            succeeded: sum.succeeded + count.succeeded,
        })
    }
}
