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
    /// No pods.
    pub(super) const NONE: Self =
        Self { pending: 0, gated: 0, active: 0, nominated: 0, used: 0, succeeded: 0 };
}
