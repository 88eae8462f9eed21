//! The view of a reconcile, and the actions that it may ask for.

use jiff::{SignedDuration, Timestamp};
use kube::core::DynamicObject;
use serde_json::{Value, json};

use super::Kind;

/// One object and all objects that it controls, as the watches have them.
#[derive(Debug)]
pub(super) struct View<'a> {
    pub(super) object: &'a DynamicObject,
    pub(super) children: Vec<&'a DynamicObject>,
    /// Objects of the kinds that its row reads, of its namespace and of none.
    pub(super) others: Vec<&'a DynamicObject>,
    pub(super) now: Timestamp,
    /// Factor by which simulated time runs faster than the clock.
    pub(super) pace: u32,
}

/// One step towards what should be. Steps are carried out in order; a failed one ends the look,
/// and the object is looked at again.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Action {
    /// Create this object, in the owner's namespace and controlled by it. One that exists is left.
    Create(Kind, Value),
    /// Delete this child, unless it is another one by now.
    Delete(Kind, String, String),
    /// Delete the object itself.
    DeleteSelf,
    /// Merge this into a child, e.g. to scale it.
    Patch(Kind, String, Value),
    /// Merge this into the object itself.
    PatchSelf(Value),
    /// The object's status should be this; nothing is written when it is.
    Status(Value),
    /// Look again at this moment.
    Again(Timestamp),
}

impl<'a> View<'a> {
    pub(super) fn name(&self) -> &str {
        self.object.metadata.name.as_deref().unwrap_or_default()
    }

    pub(super) fn namespace(&self) -> &str {
        self.object.metadata.namespace.as_deref().unwrap_or_default()
    }

    pub(super) fn uid(&self) -> &str {
        self.object.metadata.uid.as_deref().unwrap_or_default()
    }

    pub(super) fn kind(&self) -> &str {
        self.object.types.as_ref().map_or("", |types| types.kind.as_str())
    }

    pub(super) fn spec(&self) -> &Value {
        &self.object.data["spec"]
    }

    pub(super) fn status(&self) -> &Value {
        &self.object.data["status"]
    }

    pub(super) fn annotation(&self, key: &str) -> Option<&str> {
        self.object.metadata.annotations.as_ref()?.get(key).map(String::as_str)
    }

    pub(super) fn labels(&self) -> Value {
        json!(self.object.metadata.labels.clone().unwrap_or_default())
    }

    /// The children of one kind.
    pub(super) fn of(&self, kind: Kind) -> impl Iterator<Item = &'a DynamicObject> + '_ {
        self.children.iter().copied().filter(move |child| kind_of(child) == kind.kind)
    }

    /// The child of that kind and name.
    pub(super) fn child(&self, kind: Kind, name: &str) -> Option<&'a DynamicObject> {
        self.of(kind).find(|child| child.metadata.name.as_deref() == Some(name))
    }

    /// `seconds` of simulated time after `from`.
    pub(super) fn after(&self, from: Timestamp, seconds: i64) -> Timestamp {
        let millis = seconds.saturating_mul(1000) / i64::from(self.pace);
        from.saturating_add(SignedDuration::from_millis(millis)).unwrap_or(Timestamp::MAX)
    }

    /// Deletes all of `children`.
    pub(super) fn delete(kind: Kind, child: &DynamicObject) -> Action {
        let name = child.metadata.name.clone().unwrap_or_default();
        Action::Delete(kind, name, child.metadata.uid.clone().unwrap_or_default())
    }
}

/// The kind of an object.
pub(super) fn kind_of(object: &DynamicObject) -> &str {
    object.types.as_ref().map_or("", |types| types.kind.as_str())
}

/// A pod's phase; `Pending` before the first status.
pub(super) fn phase(pod: &DynamicObject) -> &str {
    pod.data["status"]["phase"].as_str().unwrap_or("Pending")
}

/// Tells whether the object is being deleted.
pub(super) fn leaving(object: &DynamicObject) -> bool {
    object.metadata.deletion_timestamp.is_some()
}

/// Tells whether the pod neither ended nor is being deleted.
pub(super) fn active(pod: &DynamicObject) -> bool {
    !leaving(pod) && !matches!(phase(pod), "Succeeded" | "Failed")
}

/// Tells whether a condition of that type is `True`.
pub(super) fn is_true(object: &DynamicObject, condition: &str) -> bool {
    super::condition::find(&object.data["status"], condition)
        .is_some_and(|found| found["status"] == "True")
}

/// Five letters and digits, always the same for the same text, from the alphabet of the API
/// server's own random names.
pub(super) fn suffix(text: &str) -> String {
    const ALPHABET: &[u8] = b"bcdfghjklmnpqrstvwxz2456789";
    let mut hash = u64::from(fnv32a(text)) | (u64::from(fnv32a(&format!("{text}#"))) << 32);
    let mut letters = String::with_capacity(5);
    for _ in 0..5 {
        let index = usize::try_from(hash % ALPHABET.len() as u64).expect("below 27");
        letters.push(char::from(ALPHABET[index]));
        hash /= ALPHABET.len() as u64;
    }
    letters
}

/// The 32-bit FNV-1a hash, which Argo names its pods by.
pub(super) fn fnv32a(text: &str) -> u32 {
    text.bytes().fold(0x811c_9dc5, |hash, byte| (hash ^ u32::from(byte)).wrapping_mul(0x0100_0193))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn argo_ids() {
        // Seen from Argo Workflows 3.7.4.
        assert_eq!(fnv32a("etl[0].extract"), 3_078_942_605);
        assert_eq!(fnv32a("dag.prep"), 3_692_028_064);
    }

    #[test]
    fn suffixes_are_stable_and_differ() {
        assert_eq!(suffix("a/0"), suffix("a/0"));
        assert_ne!(suffix("a/0"), suffix("a/1"));
        assert_eq!(suffix("a/0").len(), 5);
    }
}
