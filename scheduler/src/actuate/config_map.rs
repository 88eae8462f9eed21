//! The config maps that tell a pod which GPUs it shares: written, renewed and removed only where they are the pod's own.
//!
//! # Source
//! docs/contract.md 4.7.

use http::Method;
use kai_api::names::{annotation, env};
use kai_daemon::backoff;
use serde::Deserialize;
use serde_json::{Map, Value, json};
use tokio::time::sleep;

use super::{Write, reservation::ATTEMPTS_MAX};
use crate::server::{
    call::{Failure, Form, call, read},
    wire::{OwnedMeta, OwnerReference, Pairs, Whereabouts},
};

/// The pod that config maps belong to.
#[derive(Clone, Copy, Debug)]
pub(super) struct Owner<'p> {
    pub(super) namespace: &'p str,
    pub(super) name: &'p str,
    pub(super) uid: &'p str,
}

/// A config map as it is read back.
#[derive(Deserialize, Default)]
#[serde(default)]
struct FoundMap<'a> {
    #[serde(borrow)]
    metadata: OwnedMeta<'a>,
    #[serde(borrow)]
    data: Option<Pairs<'a>>,
}

impl FoundMap<'_> {
    /// Tells whether it has the historic key of the devices.
    fn has_legacy(&self) -> bool {
        self.data.as_ref().is_some_and(|data| data.value(env::LEGACY_VISIBLE_DEVICES).is_some())
    }
}

impl Owner<'_> {
    fn path(&self, map: &str) -> String {
        let slash = if map.is_empty() { "" } else { "/" };
        format!("/api/v1/namespaces/{}/configmaps{slash}{map}", self.namespace)
    }

    /// Makes a map, or adds to it where it is the pod's own.
    pub(super) async fn write(
        &self,
        write: &Write,
        name: &str,
        data: Map<String, Value>,
    ) -> Result<(), String> {
        let body = json!({
            "apiVersion": "v1",
            "kind": "ConfigMap",
            "metadata": {
                "name": name,
                "namespace": self.namespace,
                "ownerReferences": [{ "apiVersion": "v1", "kind": "Pod", "name": self.name, "uid": self.uid }],
            },
            "data": data,
        });
        let failed = |message: &str| {
            format!("failed to write config map {}/{name}: {message}", self.namespace)
        };
        let mut tries = 0;
        loop {
            let message = match call(write, Method::POST, &self.path(""), Form::Object, &body).await
            {
                Ok(_) => return Ok(()),
                Err(Failure::Refused { code: 409, .. }) => {
                    match self.renew(write, name, &data).await {
                        Ok(true) => return Ok(()),
                        Ok(false) => String::from("it changes all the time"),
                        Err(Failure::Unsure(message)) => message,
                        Err(failure) => return Err(failed(&failure.to_string())),
                    }
                }
                Err(Failure::Unsure(message)) => message,
                Err(failure) => return Err(failed(&failure.to_string())),
            };
            tries += 1;
            if tries == ATTEMPTS_MAX {
                return Err(failed(&message));
            }
            sleep(backoff(tries)).await;
        }
    }

    /// Brings a map that is there up to date, and tells whether it holds the data now. One whose pod is gone is deleted, to be made anew.
    async fn renew(
        &self,
        write: &Write,
        name: &str,
        data: &Map<String, Value>,
    ) -> Result<bool, Failure> {
        let path = self.path(name);
        let bytes = match read(&write.client, &path).await {
            Ok(bytes) => bytes,
            Err(failure) if failure.code() == Some(404) => return Ok(false),
            Err(failure) => return Err(failure),
        };
        let found: FoundMap<'_> = serde_json::from_slice(&bytes)
            .map_err(|error| Failure::Unsure(format!("no config map: {error}")))?;
        let meta = &found.metadata;
        let owners = || meta.owner_references.iter();
        if !owners().any(|owner| *owner.uid == *self.uid) {
            let Some(owner) = owners().find(|owner| &*owner.kind == "Pod") else {
                return Err(foreign(name, "nobody"));
            };
            if self.is_alive(write, owner).await? {
                return Err(foreign(name, &format!("pod {}", owner.name)));
            }
            if meta.deletion_timestamp.is_some() {
                return Err(foreign(name, "a pod that is gone, and does not go itself"));
            }
            delete(write, &path, meta).await?;
            return Ok(false);
        }
        // What is written to it goes with it, as soon as whoever keeps it lets go, for as long as he likes.
        if meta.deletion_timestamp.is_some() {
            let message = String::from("it is being deleted, and finalizers keep it");
            return Err(Failure::Refused { code: 409, message });
        }
        let mut data = data.clone();
        if let (true, Some(devices)) = (found.has_legacy(), data.get(env::VISIBLE_DEVICES).cloned())
        {
            data.insert(String::from(env::LEGACY_VISIBLE_DEVICES), devices);
        }
        let written = meta.annotations.value(annotation::WRITE_COUNT);
        let written = written.and_then(|text| text.parse::<u32>().ok()).unwrap_or(1);
        let body = json!({
            "metadata": {
                "uid": *meta.uid,
                "resourceVersion": *meta.resource_version,
                // Gives it another version even where it holds the data already: a deletion of who led before, or of an
                // earlier bind, that is on its way yet does not fit it any more.
                "annotations": { (annotation::WRITE_COUNT): written.wrapping_add(1).to_string() },
            },
            "data": data,
        });
        match call(write, Method::PATCH, &path, Form::Merge, &body).await {
            Ok(_) => Ok(true),
            Err(Failure::Refused { code: 404 | 409, .. }) => Ok(false),
            Err(failure) => Err(failure),
        }
    }

    async fn is_alive(&self, write: &Write, owner: &OwnerReference<'_>) -> Result<bool, Failure> {
        // Its user may have written a path of its own there, which no pod has for a name.
        if !owner.name.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-.".contains(&byte)) {
            return Ok(false);
        }
        let path = format!("/api/v1/namespaces/{}/pods/{}", self.namespace, owner.name);
        match read(&write.client, &path).await {
            Ok(bytes) => {
                let pod = serde_json::from_slice::<Whereabouts<'_>>(&bytes);
                Ok(pod.map_or(true, |pod| *pod.metadata.uid == *owner.uid))
            }
            Err(failure) if failure.code() == Some(404) => Ok(false),
            Err(failure) => Err(failure),
        }
    }

    /// Deletes a map of the pod's own, where it is there. One that an old KAI began under its historic key stays: it alone
    /// says that the pod's containers ask for that key, and the next bind brings it up to date.
    pub(super) async fn remove(&self, write: &Write, name: &str) -> Result<(), Failure> {
        let path = self.path(name);
        let bytes = match read(&write.client, &path).await {
            Ok(bytes) => bytes,
            Err(failure) if failure.code() == Some(404) => return Ok(()),
            Err(failure) => return Err(failure),
        };
        let Ok(found) = serde_json::from_slice::<FoundMap<'_>>(&bytes) else { return Ok(()) };
        let is_own = found.metadata.owner_references.iter().any(|owner| *owner.uid == *self.uid);
        if is_own && !found.has_legacy() {
            delete(write, &path, &found.metadata).await?;
        }
        Ok(())
    }
}

fn foreign(name: &str, owner: &str) -> Failure {
    Failure::Refused {
        code: 409,
        message: format!(
            "it is there and belongs to {owner}: the annotation {} of the pod must name no config map of others; take \
             it out of the pod's template ({name})",
            annotation::SHARED_GPU_CONFIG_MAP
        ),
    }
}

/// Deletes what was found as it was found: one that was written since stays.
async fn delete(write: &Write, path: &str, found: &OwnedMeta<'_>) -> Result<(), Failure> {
    let body = json!({
        "apiVersion": "v1",
        "kind": "DeleteOptions",
        "preconditions": { "uid": *found.uid, "resourceVersion": *found.resource_version },
    });
    match call(write, Method::DELETE, path, Form::Object, &body).await {
        Ok(_) | Err(Failure::Refused { code: 404 | 409, .. }) => Ok(()),
        Err(failure) => Err(failure),
    }
}
