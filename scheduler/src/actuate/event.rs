//! Events. Each has a name made from what it says, so that saying it twice is one event.

use http::Method;
use jiff::Timestamp;
use serde_json::{Map, Value, json};

use super::Write;
use crate::call::{Form, call};

/// What an event is about.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Target {
    /// `Pod` or `PodGroup`.
    pub kind: &'static str,
    /// Its namespace.
    pub namespace: Box<str>,
    /// Its name.
    pub name: Box<str>,
    /// Its UID.
    pub uid: Box<str>,
}

/// One event.
#[derive(Clone, Debug)]
pub struct Event {
    /// What it is about.
    pub target: Target,
    /// Whether it is a warning.
    pub is_warning: bool,
    /// Its reason.
    pub reason: &'static str,
    /// Its message.
    pub message: String,
    /// Its annotations.
    pub annotations: Vec<(&'static str, String)>,
    /// Who says it.
    pub component: std::sync::Arc<str>,
}

/// The API refuses longer messages.
const MESSAGE_BYTES_MAX: usize = 1024;
/// A name holds 253; the rest is the hash.
const NAME_BYTES_MAX: usize = 230;

impl Event {
    pub(super) async fn carry_out(self, write: &Write) {
        let path = format!("/api/v1/namespaces/{}/events", self.target.namespace);
        let body = self.body(Timestamp::now());
        let posted = call(write, Method::POST, &path, Form::Object, &body).await;
        // One that is there already says the same.
        let done = match &posted {
            Ok(_) => true,
            Err(failure) => failure.code() == Some(409),
        };
        write.count("event", done);
        if let Err(failure) = posted
            && !done
        {
            tracing::debug!(reason = self.reason, %failure, "failed to write an event");
        }
    }

    fn body(&self, now: Timestamp) -> Value {
        let target = &self.target;
        let annotations: Map<String, Value> = self
            .annotations
            .iter()
            .map(|(key, value)| (String::from(*key), json!(value)))
            .collect();
        let version = match target.kind {
            "Pod" => "v1",
            _ => "scheduling.run.ai/v2alpha2",
        };
        let whole_second = Timestamp::from_second(now.as_second()).unwrap_or(now);
        json!({
            "apiVersion": "v1",
            "kind": "Event",
            "metadata": {
                "name": self.name(),
                "namespace": target.namespace,
                "annotations": annotations,
            },
            "involvedObject": {
                "apiVersion": version,
                "kind": target.kind,
                "namespace": target.namespace,
                "name": target.name,
                "uid": target.uid,
            },
            "type": if self.is_warning { "Warning" } else { "Normal" },
            "reason": self.reason,
            "message": truncated(&self.message, MESSAGE_BYTES_MAX),
            "source": { "component": &*self.component },
            "reportingComponent": &*self.component,
            "count": 1,
            "firstTimestamp": whole_second,
            "lastTimestamp": whole_second,
        })
    }

    /// The target's name and a hash of what is said.
    fn name(&self) -> String {
        let said = format!("{}/{}/{}", self.target.uid, self.reason, self.message);
        let hash = uuid::Uuid::new_v5(&uuid::Uuid::NAMESPACE_OID, said.as_bytes()).simple();
        let hash = hash.to_string();
        format!("{}.{}", truncated(&self.target.name, NAME_BYTES_MAX), &hash[..16])
    }
}

/// The start of a text, cut at a character.
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

    fn event(message: &str) -> Event {
        Event {
            target: Target {
                kind: "PodGroup",
                namespace: Box::from("ns"),
                name: Box::from("g"),
                uid: Box::from("u"),
            },
            is_warning: false,
            reason: "Unschedulable",
            message: String::from(message),
            annotations: Vec::new(),
            component: std::sync::Arc::from("kai-scheduler"),
        }
    }

    #[test]
    fn the_same_words_make_the_same_event() {
        assert_eq!(event("a").name(), event("a").name());
        assert_ne!(event("a").name(), event("b").name());
        assert!(event("a").name().starts_with("g."));
    }

    #[test]
    fn a_long_message_is_cut_at_a_character() {
        let body = event(&"ä".repeat(1000)).body(Timestamp::UNIX_EPOCH);
        assert_eq!(body["message"].as_str().expect("a text").len(), 1024);
        assert_eq!(truncated("äb", 1), "");
    }
}
