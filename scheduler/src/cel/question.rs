//! Describes what is asked of devices, and what comes of it.

use std::sync::Arc;

/// A value of a device's attribute.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Attribute {
    /// A truth value.
    Bool(bool),
    /// A number.
    Int(i64),
    /// Text.
    Text(Box<str>),
    /// A semantic version.
    Version(Box<str>),
}

/// All that expressions see of a device: devices that are alike are one to them.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default)]
pub struct Described {
    /// Says who publishes it.
    pub driver: Box<str>,
    /// Its attributes by domain and name.
    pub attributes: Vec<(Box<str>, Box<str>, Attribute)>,
    /// Its capacities by domain and name, as they are written.
    pub capacity: Vec<(Box<str>, Box<str>, Box<str>)>,
}

/// Tells whether an expression holds for a device.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Question {
    /// Says whose claims ask; empty for a device class, which belongs to the cluster.
    pub namespace: Arc<str>,
    /// The expression.
    pub expression: Arc<str>,
    /// The device.
    pub device: Arc<Described>,
}

/// Says what came of a question.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub enum Verdict {
    /// It holds.
    Holds,
    /// It does not, or it fails.
    Fails,
    /// It costs more than it may.
    Costly,
    /// It cannot be used on any device.
    Fault(Arc<str>),
}

/// A question with its verdict.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Answer {
    /// The expression.
    pub expression: Arc<str>,
    /// The device.
    pub device: Arc<Described>,
    /// Tells whether it holds.
    pub verdict: Verdict,
}

impl Question {
    /// The question with its verdict.
    pub fn answer(self, verdict: Verdict) -> Answer {
        Answer { expression: self.expression, device: self.device, verdict }
    }
}
