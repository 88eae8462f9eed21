//! Requirements on labels.

use crate::base::ids::Symbol;

/// One requirement on the labels of a node or pod.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Requirement {
    /// The label key. A node's name may be asked for through a key that the adapter reserves for it.
    pub key: Symbol,
    /// Condition on its value.
    pub holds: Holds,
}

/// Condition on a label.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Holds {
    /// Present, and one of these.
    In(Vec<Symbol>),
    /// Absent, or none of these.
    NotIn(Vec<Symbol>),
    /// Present.
    Exists,
    /// Absent.
    Absent,
    /// Present, an integer, and greater.
    Above(i64),
    /// Present, an integer, and smaller.
    Below(i64),
}

impl Requirement {
    /// The label and its values, where it has to have one of some.
    pub(crate) fn values(&self) -> Option<(Symbol, &[Symbol])> {
        match &self.holds {
            Holds::In(values) => Some((self.key, values)),
            Holds::NotIn(_) | Holds::Exists | Holds::Absent | Holds::Above(_) | Holds::Below(_) => {
                None
            }
        }
    }
}
