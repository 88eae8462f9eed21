//! Resource claims of a scenario.
//!
//! Requests are `class*count` or `class*all`, several joined by ` + `, alternatives by ` | `, the best first; ` alike`
//! behind them wants devices with the same value behind `@` in their names, ` distinct` each with its own.

use serde::{Deserialize, Serialize};

/// A device class.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize, Serialize)]
#[serde(default, deny_unknown_fields)]
pub struct DeviceClass {
    /// The extended resource whose requests it serves where no device plugin does.
    pub backs: Option<String>,
}

/// A resource claim that pods name.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize, Serialize)]
#[serde(default, deny_unknown_fields)]
pub struct Claim {
    /// The queue that it is labelled with.
    pub queue: Option<String>,
    /// What it asks for: `gpu*2 + nic*1 alike`.
    pub devices: String,
    /// The node where it was given devices, though no pod of it is there.
    pub on: Option<String>,
    /// Whether it has as many consumers as a claim may have.
    pub full: bool,
}
