//! Resource claims of a scenario.
//!
//! Requests are `class*count` or `class*all`, several joined by ` + `, alternatives by ` | `, the best first; ` alike`
//! behind them wants devices with the same value behind `@` in their names, ` distinct` each with its own. `admin` in
//! front of a request wants access whoever has the devices, `class(memory=40)*1` a part of a device that claims share.

use serde::{Deserialize, Serialize};

use crate::entries::Entries;

/// Devices of a class: how many, or what else there is to say of them.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, Serialize)]
#[serde(untagged)]
pub enum Devices {
    /// So many, each for one claim.
    Count(u32),
    /// More to say.
    Described(Described),
}

/// Devices of which there is more to say than how many there are.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize, Serialize)]
#[serde(default, deny_unknown_fields)]
pub struct Described {
    /// Their number.
    pub count: u32,
    /// Amounts that each draws from counters while somebody has it.
    pub draws: Entries<i64>,
    /// Capacities of each that claims share; none where one claim has it to itself.
    pub capacity: Entries<i64>,
    /// True if a claim that has one is bound to the node where it got it.
    pub binds: bool,
}

impl Devices {
    /// All that is to say of them.
    pub fn described(&self) -> Described {
        match self {
            Self::Count(count) => Described { count: *count, ..Described::default() },
            Self::Described(described) => described.clone(),
        }
    }
}

/// Devices that several nodes reach.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize, Serialize)]
#[serde(default, deny_unknown_fields)]
pub struct Reach {
    /// The labels of those nodes; every node's where there are none.
    pub labels: Entries<String>,
    /// The devices by class, as those of a node.
    pub devices: Entries<Devices>,
}

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
    /// Requests: `gpu*2 + nic*1 alike`.
    pub devices: String,
    /// The node where it was given devices, though no pod of it is there.
    pub on: Option<String>,
    /// Number of its consumers; a claim may have 256.
    pub consumers: u32,
    /// True if it is being deleted.
    pub leaves: bool,
    /// True if it was made for the extended resources of its pod.
    pub for_extended: bool,
}
