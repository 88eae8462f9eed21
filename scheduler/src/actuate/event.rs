//! Events, written under the Lease. One that is there already says the same.

use http::Method;
use jiff::Timestamp;
use kai_daemon::clock;
use kai_daemon::event::{Regarding, Severity, Statement, object};
use serde_json::Value;

use super::Write;
use crate::server::call::{Form, call};

/// Holds what an event is about.
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
    /// The object that it is about.
    pub target: Target,
    /// Tells whether it is a warning.
    pub is_warning: bool,
    /// Its reason.
    pub reason: &'static str,
    /// Its message.
    pub message: String,
    /// Its annotations.
    pub annotations: Vec<(&'static str, String)>,
    /// The component that says it.
    pub component: std::sync::Arc<str>,
}

impl Event {
    pub(super) async fn carry_out(self, write: &Write) {
        let path = format!("/api/v1/namespaces/{}/events", self.target.namespace);
        let body = self.body(clock::now());
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
        let regarding = Regarding {
            api_version: match target.kind {
                "Pod" => "v1",
                _ => "scheduling.run.ai/v2alpha2",
            },
            kind: target.kind,
            namespace: &target.namespace,
            name: &target.name,
            uid: &target.uid,
        };
        let statement = Statement {
            severity: if self.is_warning { Severity::Warning } else { Severity::Normal },
            reason: self.reason,
            message: &self.message,
            annotations: &self.annotations,
            component: &self.component,
        };
        object(regarding, statement, now)
    }
}
