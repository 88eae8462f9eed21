//! Requests of claims, and how many of them are compared with every device or volume.

/// Different requests that the claims of a namespace may have at a time.
pub const REQUESTS_MAX: usize = 256;
/// Different attributes that their constraints may name.
pub const ATTRIBUTES_MAX: usize = 64;

/// Different volumes that the claims of a namespace may ask for at a time.
pub const VOLUME_REQUESTS_MAX: usize = 256;
/// In front of the names of claims, devices and sets of nodes that are about volumes; nothing in the API is named so.
pub const VOLUME: &str = "volume:";

/// A request of a claim, as an allocation names it.
#[derive(Debug, Default, PartialEq)]
pub struct AskedFor {
    /// The name of the request.
    pub request: Box<str>,
    /// Its device class.
    pub class: Box<str>,
    /// Holds what it selects, by number.
    pub selection: u32,
    /// It is for access to devices whoever has them.
    pub admin: bool,
    /// The taints of devices that it puts up with, as written.
    pub tolerations: Vec<serde_json::Value>,
}
