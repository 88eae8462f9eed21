//! Takes away what was written for a bind of a shared GPU that came to nothing: config maps first, then the labels by
//! which they are found.
//!
//! # Source
//! docs/contract.md 4.3 (rollback), 4.6 (what a crash left).

use http::Method;
use kai_daemon::backoff;
use serde_json::{Map, Value, json};
use tokio::time::sleep;

use super::{Write, config_map::Owner};
use crate::{
    actuate::ShareOutcome,
    names::Maps,
    server::{
        call::{Failure, Form, call, read},
        wire::Whereabouts,
    },
};

/// A pod without a node that carries labels of shared GPUs.
#[derive(Clone, Debug)]
pub struct Strip {
    /// The pod by number.
    pub pod: u32,
    /// Its UID.
    pub uid: Box<str>,
    /// Its namespace.
    pub namespace: Box<str>,
    /// Its name.
    pub name: Box<str>,
    /// Its labels that name shared GPUs.
    pub labels: Vec<Box<str>>,
    /// Its config maps, where admission has prepared it.
    pub maps: Option<Maps>,
}

impl Strip {
    pub(super) async fn carry_out(self, write: &Write) -> ShareOutcome {
        let result = self.strip_for_certain(write).await;
        write.count("strip", result.is_ok());
        if let Err(failure) = &result {
            tracing::warn!(
                "failed to take labels of shared GPUs from pod {}/{}: {failure}",
                self.namespace,
                self.name
            );
        }
        ShareOutcome::Stripped { pod: self.pod, done: result.is_ok() }
    }

    /// Strips until it is certain what became of it: a write that is on its way yet would take from the pod what its next
    /// bind, which waits for this, tells it.
    async fn strip_for_certain(&self, write: &Write) -> Result<(), Failure> {
        let mut failures = 0;
        loop {
            match self.strip(write).await {
                Err(Failure::Unsure(message)) => {
                    tracing::debug!("no certain answer: {message}");
                    failures += 1;
                }
                result => return result,
            }
            tokio::select! {
                biased;
                () = write.stop.cancelled() => {
                    return Err(Failure::Unsure(String::from("the scheduler ends")));
                }
                () = sleep(backoff(failures)) => {}
            }
        }
    }

    async fn strip(&self, write: &Write) -> Result<(), Failure> {
        let path = format!("/api/v1/namespaces/{}/pods/{}", self.namespace, self.name);
        let bytes = match read(&write.client, &path).await {
            Ok(bytes) => bytes,
            Err(failure) if failure.code() == Some(404) => return Ok(()),
            Err(failure) => return Err(failure),
        };
        let unreadable = |error: serde_json::Error| Failure::Refused {
            code: 422,
            message: format!("no pod was answered: {error}"),
        };
        let pod: Whereabouts<'_> = serde_json::from_slice(&bytes).map_err(unreadable)?;
        // It is another pod, or it is bound: what it was told is true.
        if *pod.metadata.uid != *self.uid || !pod.spec.node_name.is_empty() {
            return Ok(());
        }
        if let Some(maps) = &self.maps {
            let owner = Owner { namespace: &self.namespace, name: &self.name, uid: &self.uid };
            owner.remove(write, &maps.capabilities()).await?;
            owner.remove(write, &maps.variables()).await?;
        }
        let labels: Map<String, Value> =
            self.labels.iter().map(|key| (key.to_string(), Value::Null)).collect();
        let version = &*pod.metadata.resource_version;
        let body = json!({ "metadata": { "uid": self.uid, "resourceVersion": version, "labels": labels } });
        match call(write, Method::PATCH, &path, Form::Merge, &body).await {
            Ok(_) | Err(Failure::Refused { code: 404, .. }) => Ok(()),
            Err(failure) => Err(failure),
        }
    }
}
