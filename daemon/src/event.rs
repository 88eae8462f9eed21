//! Events as objects of the API. Each has a name made from what it says, so that saying it twice is one event.

use jiff::Timestamp;
use serde_json::{Map, Value, json};

/// The API refuses longer messages.
const MESSAGE_BYTES_MAX: usize = 1024;
/// A name holds 253 bytes; the rest is the hash.
const NAME_BYTES_MAX: usize = 230;
/// Letters of the hash in a name.
const HASH_LETTERS: usize = 16;

/// The object that an event is about.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Regarding<'a> {
    /// Its group and version, as in `apiVersion`.
    pub api_version: &'a str,
    /// Its kind.
    pub kind: &'a str,
    /// Its namespace, which is the event's as well.
    pub namespace: &'a str,
    /// Its name.
    pub name: &'a str,
    /// Its UID.
    pub uid: &'a str,
}

/// Importance of an event.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Severity {
    /// Things go their way.
    Normal,
    /// Somebody should look.
    Warning,
}

/// Contents of an event.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Statement<'a> {
    /// Its importance.
    pub severity: Severity,
    /// A word in camel case.
    pub reason: &'a str,
    /// Sentences; what is beyond 1024 bytes is cut off.
    pub message: &'a str,
    /// Annotations of the event.
    pub annotations: &'a [(&'a str, String)],
    /// The component that says it.
    pub component: &'a str,
}

/// Makes the name of an event: its object's, and a hash of the object's UID, the reason and the whole message.
pub fn name(regarding: Regarding<'_>, reason: &str, message: &str) -> String {
    let all = format!("{}/{reason}/{message}", regarding.uid);
    let hash = uuid::Uuid::new_v5(&uuid::Uuid::NAMESPACE_OID, all.as_bytes()).simple().to_string();
    // Each part of a name ends in a letter or a digit.
    let start = truncated(regarding.name, NAME_BYTES_MAX).trim_end_matches(['-', '.']);
    format!("{start}.{}", &hash[..HASH_LETTERS])
}

/// Makes an event of `v1` that happened once, at the whole second before `now`.
pub fn object(regarding: Regarding<'_>, statement: Statement<'_>, now: Timestamp) -> Value {
    let annotations: Map<String, Value> =
        statement.annotations.iter().map(|(key, text)| ((*key).to_owned(), json!(text))).collect();
    let at = whole_second(now);
    json!({
        "apiVersion": "v1",
        "kind": "Event",
        "metadata": {
            "name": name(regarding, statement.reason, statement.message),
            "namespace": regarding.namespace,
            "annotations": annotations,
        },
        "involvedObject": {
            "apiVersion": regarding.api_version,
            "kind": regarding.kind,
            "namespace": regarding.namespace,
            "name": regarding.name,
            "uid": regarding.uid,
        },
        "type": match statement.severity {
            Severity::Normal => "Normal",
            Severity::Warning => "Warning",
        },
        "reason": statement.reason,
        "message": truncated(statement.message, MESSAGE_BYTES_MAX),
        "source": { "component": statement.component },
        "reportingComponent": statement.component,
        "count": 1,
        "firstTimestamp": at,
        "lastTimestamp": at,
    })
}

/// Cuts a time to whole seconds, the form of an event's times.
pub fn whole_second(now: Timestamp) -> Timestamp {
    Timestamp::from_second(now.as_second()).unwrap_or(now)
}

/// Cuts a text at a character.
fn truncated(text: &str, bytes_max: usize) -> &str {
    if text.len() <= bytes_max {
        return text;
    }
    let end = (0..=bytes_max).rev().find(|end| text.is_char_boundary(*end)).unwrap_or(0);
    &text[..end]
}

#[cfg(test)]
mod tests {
    use super::*;

    const GROUP: Regarding<'_> = Regarding {
        api_version: "scheduling.run.ai/v2alpha2",
        kind: "PodGroup",
        namespace: "ns",
        name: "g",
        uid: "u",
    };

    /// The name is the one that earlier versions gave, so that an upgrade says nothing twice.
    #[test]
    fn the_same_words_make_the_same_event() {
        assert_eq!(name(GROUP, "Unschedulable", "a"), "g.1303af3aa2355385");
        assert_ne!(name(GROUP, "Unschedulable", "b"), name(GROUP, "Unschedulable", "a"));
        assert_ne!(name(GROUP, "NotReady", "a"), name(GROUP, "Unschedulable", "a"));
    }

    /// An event that cannot be called so is one that nobody hears of.
    #[test]
    fn a_long_name_is_cut_where_a_part_of_a_name_may_end() {
        let [short, long] = [229, 253].map(|bytes| "a".repeat(bytes));
        for (of, start) in [
            (long.clone(), &long[..NAME_BYTES_MAX]),
            (format!("{short}-{}", "b".repeat(20)), &*short),
            (format!("{short}.{}", "b".repeat(20)), &*short),
            (format!("{}--{}", &short[..228], "b".repeat(20)), &short[..228]),
        ] {
            let name = name(Regarding { name: &of, ..GROUP }, "Unschedulable", "a");
            let hash = name.strip_prefix(start).and_then(|rest| rest.strip_prefix('.'));
            assert_eq!(hash.map(str::len), Some(HASH_LETTERS), "{name}");
            assert!(name.len() <= 253, "{name}");
        }
    }

    #[test]
    fn a_long_message_is_cut_at_a_character() {
        let statement = Statement {
            severity: Severity::Warning,
            reason: "NotReady",
            message: &"ä".repeat(1000),
            annotations: &[("a", String::from("b"))],
            component: "kai-scheduler",
        };
        let event = object(GROUP, statement, Timestamp::UNIX_EPOCH);
        assert_eq!(event["message"].as_str().expect("a text").len(), 1024);
        assert_eq!(event["type"], "Warning");
        assert_eq!(event["metadata"]["annotations"], json!({"a": "b"}));
        assert_eq!(event["firstTimestamp"], "1970-01-01T00:00:00Z");
        assert_eq!(truncated("äb", 1), "");
    }
}
