//! Describes what objects of every kind have in common.

use serde::{Deserialize, de::IgnoredAny};

use crate::server::wire::Meta;

/// An object of the API: its metadata, what is asked for, and how it stands; what is not named is not read.
#[derive(Deserialize, Debug)]
pub(super) struct Object<'a, S, T = IgnoredAny> {
    /// Its metadata.
    #[serde(borrow)]
    pub(super) metadata: Meta<'a>,
    /// `spec`, the default where it has none.
    #[serde(default)]
    pub(super) spec: S,
    /// `status`, the default where it has none.
    #[serde(default)]
    pub(super) status: T,
}

/// An object of which only the metadata matters.
#[derive(Deserialize, Debug)]
pub(super) struct Named<'a> {
    /// Its metadata.
    #[serde(borrow)]
    pub(super) metadata: Meta<'a>,
}
