//! Reservation pods: one that asks the device plugin for a GPU and keeps it, so that other pods can share it.
//!
//! # Source
//! docs/contract.md 4.5 and 4.6.

use std::{fmt::Write as _, sync::Arc};

use http::Method;
use kai_api::names::{annotation, env, label, resource};
use kai_daemon::backoff;
use ring::digest::{SHA256, digest};
use serde_json::{Map, Value, json};
use tokio::time::sleep;

use super::{
    Write, comes_true_late,
    found::{Found, delete_now},
    until_next_look,
};
use crate::{
    actuate::ShareOutcome,
    server::call::{Failure, Form, call, read},
};

/// The program of the container.
const PROGRAM: &str = "kai-reservation";
/// Only waits: that will do where GPUs are pretended.
const FAKE_IMAGE: &str = "ubuntu";
/// After a lost answer a write is tried again this often; each is refused where it was done.
pub(super) const ATTEMPTS_MAX: u32 = 5;

/// Says how reservation pods are made.
#[derive(Clone, Default, Debug)]
pub struct Template {
    /// Their namespace.
    pub namespace: Box<str>,
    /// Their label `app`.
    pub app: Box<str>,
    /// `spec.schedulerName` of the pods that share what they hold.
    pub scheduler_name: Box<str>,
    /// Their account.
    pub service_account: Box<str>,
    /// Their image; none where it is not known.
    pub image: Option<Box<str>>,
    /// Their runtime class, where one is set.
    pub runtime_class: Option<Box<str>>,
    /// Holds what they request besides the GPU.
    pub resources: Option<Value>,
    /// Security context of the pod, where one is set.
    pub pod_security: Option<Value>,
    /// Security context of the container, where one is set.
    pub container_security: Option<Value>,
    /// GPUs are pretended.
    pub is_fake: bool,
}

/// Says where a shared GPU is.
#[derive(Clone, Debug)]
pub struct Place {
    /// Its group.
    pub group: Arc<str>,
    /// Its node.
    pub node: Box<str>,
}

/// Makes the reservation pod of a device.
#[derive(Clone, Debug)]
pub struct Reserve {
    /// The group by number.
    pub device: u32,
    /// The group and its node.
    pub place: Place,
    /// Namespace and name of the pod that asks first: what it tolerates is tolerated.
    pub for_pod: (Box<str>, Box<str>),
    /// Says how it is made.
    pub template: Arc<Template>,
}

/// The name of a reservation pod: the same for the same device, whoever makes it.
pub(crate) fn pod_name(node: &str, group: &str) -> String {
    let hash = digest(&SHA256, format!("{node}/{group}").as_bytes());
    let mut name = String::from("gpu-reservation-");
    for byte in &hash.as_ref()[..8] {
        let _ = write!(name, "{byte:02x}");
    }
    name
}

impl Template {
    /// The path of reservation pods, or of one of them.
    pub(super) fn path(&self, pod: &str) -> String {
        let slash = if pod.is_empty() { "" } else { "/" };
        format!("/api/v1/namespaces/{}/pods{slash}{pod}", self.namespace)
    }

    fn resources(&self) -> Value {
        let given = self.resources.clone().unwrap_or_default();
        let is_split = given.get("requests").is_some() || given.get("limits").is_some();
        let part = |key: &str| {
            let part = if is_split { given.get(key) } else { Some(&given) };
            let mut amounts: Map<String, Value> =
                part.and_then(Value::as_object).cloned().unwrap_or_default();
            amounts.insert(String::from(resource::NVIDIA_GPU), json!("1"));
            amounts
        };
        json!({ "requests": part("requests"), "limits": part("limits") })
    }

    fn container(&self, image: &str) -> Value {
        let security = json!({
            "allowPrivilegeEscalation": false,
            "readOnlyRootFilesystem": true,
            "runAsNonRoot": true,
            "runAsUser": 10000,
            "capabilities": { "drop": ["ALL"] },
            "seccompProfile": { "type": "RuntimeDefault" },
        });
        let field = |path: &str| json!({ "fieldRef": { "fieldPath": path } });
        json!({
            "name": "resource-reservation",
            "image": image,
            "imagePullPolicy": "IfNotPresent",
            "command": if self.is_fake { json!(["sleep", "infinity"]) } else { json!([PROGRAM]) },
            "resources": self.resources(),
            "env": [
                { "name": env::POD_NAME, "valueFrom": field("metadata.name") },
                { "name": env::POD_NAMESPACE, "valueFrom": field("metadata.namespace") },
            ],
            "securityContext": self.container_security.clone().unwrap_or(security),
        })
    }
}

impl Reserve {
    pub(super) async fn carry_out(self, write: &Write) -> ShareOutcome {
        let refused = self.reserve(write).await.err();
        write.count("reservation", refused.is_none());
        if let Some(reason) = &refused {
            tracing::warn!(
                node = &*self.place.node,
                group = &*self.place.group,
                reason,
                "failed to reserve a GPU"
            );
        }
        ShareOutcome::Reserved { device: self.device, refused }
    }

    async fn reserve(&self, write: &Write) -> Result<(), String> {
        let name = pod_name(&self.place.node, &self.place.group);
        let body = self.body(&name, &self.tolerations(write).await)?;
        let path = self.template.path("");
        let mut unsure = 0;
        loop {
            let message = match call(write, Method::POST, &path, Form::Object, &body).await {
                Ok(_) => return Ok(()),
                Err(Failure::Refused { code: 409, message }) => {
                    match self.is_there(write, &name).await {
                        Ok(true) => return Ok(()),
                        Ok(false) => message,
                        Err(failure) if failure.is_no_answer() => failure.to_string(),
                        Err(failure) => return Err(failure.to_string()),
                    }
                }
                Err(Failure::Unsure(message)) => message,
                Err(Failure::Lost(lost)) => return Err(lost.to_string()),
                // A quota may refuse it for the pod that an attempt without an answer made.
                Err(Failure::Refused { message, .. }) => {
                    return self.comes_late(write, &name, message).await;
                }
            };
            unsure += 1;
            if unsure == ATTEMPTS_MAX {
                return self.comes_late(write, &name, message).await;
            }
            sleep(backoff(unsure)).await;
        }
    }

    /// Waits for what an attempt without an answer may make yet, where the last one failed with this message: its GPU would be given
    /// to somebody else, and both would have it.
    async fn comes_late(&self, write: &Write, name: &str, message: String) -> Result<(), String> {
        let comes = comes_true_late(write, until_next_look, || self.is_there(write, name)).await;
        if comes { Ok(()) } else { Err(message) }
    }

    /// Tells whether the pod of this name holds this device. One that ended, or is of another device, goes first.
    async fn is_there(&self, write: &Write, name: &str) -> Result<bool, Failure> {
        let bytes = match read(&write.client, &self.template.path(name)).await {
            Ok(bytes) => bytes,
            Err(failure) if failure.code() == Some(404) => return Ok(false),
            Err(failure) => return Err(failure),
        };
        let unreadable =
            |error: serde_json::Error| Failure::Refused { code: 422, message: error.to_string() };
        let found: Found = serde_json::from_slice(&bytes).map_err(unreadable)?;
        let is_of_device = found.metadata.labels.get(label::GPU_GROUP).map(String::as_str)
            == Some(&*self.place.group)
            && *found.spec.node_name == *self.place.node;
        let is_leaving = found.metadata.deletion_timestamp.is_some();
        if is_of_device && !is_leaving && !found.has_ended() {
            return Ok(true);
        }
        delete_now(write, &self.template.path(name), &found.metadata.uid).await;
        Ok(false)
    }

    /// Works out what the pod that asks first tolerates; nothing where it is gone, as nothing will be bound for it then. For
    /// how long it tolerates a taint is its own affair: others share the GPU later, and are ended with the reservation.
    async fn tolerations(&self, write: &Write) -> Vec<Value> {
        let (namespace, name) = &self.for_pod;
        let path = format!("/api/v1/namespaces/{namespace}/pods/{name}");
        let Ok(bytes) = read(&write.client, &path).await else { return Vec::new() };
        let pod = serde_json::from_slice::<Found>(&bytes).unwrap_or_default();
        let mut tolerations = pod.spec.tolerations.unwrap_or_default();
        for toleration in tolerations.iter_mut().filter_map(Value::as_object_mut) {
            toleration.remove("tolerationSeconds");
        }
        tolerations
    }

    fn body(&self, name: &str, tolerations: &[Value]) -> Result<Value, String> {
        let template = &self.template;
        let image = match &template.image {
            _ if template.is_fake => FAKE_IMAGE,
            Some(image) => image,
            None => {
                return Err(String::from(
                    "no image is known for the pods that hold shared GPUs: set --resource-reservation-pod-image",
                ));
            }
        };
        let mut spec = json!({
            "nodeName": self.place.node,
            "serviceAccountName": template.service_account,
            "restartPolicy": "Always",
            "terminationGracePeriodSeconds": 0,
            "tolerations": tolerations,
            "containers": [template.container(image)],
        });
        if let Some(class) = &template.runtime_class {
            spec["runtimeClassName"] = json!(class);
        }
        if let Some(security) = &template.pod_security {
            spec["securityContext"] = security.clone();
        }
        Ok(json!({
            "apiVersion": "v1",
            "kind": "Pod",
            "metadata": {
                "name": name,
                "namespace": template.namespace,
                "labels": { (label::APP): template.app, (label::GPU_GROUP): *self.place.group },
                "annotations": { (annotation::KARPENTER_DO_NOT_DISRUPT): "true" },
            },
            "spec": spec,
        }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_name_follows_from_node_and_group() {
        let name = pod_name("node-1", "0f7a5b1e-1c7e-4b63-9a1e-2f6b8c1d2e3f");
        assert_eq!(name, pod_name("node-1", "0f7a5b1e-1c7e-4b63-9a1e-2f6b8c1d2e3f"));
        assert_ne!(name, pod_name("node-2", "0f7a5b1e-1c7e-4b63-9a1e-2f6b8c1d2e3f"));
        assert_eq!(name.len(), "gpu-reservation-".len() + 16);
        // sha256sum of "n/g"
        assert_eq!(pod_name("n", "g"), "gpu-reservation-9bcc03168826c629");
    }

    #[test]
    fn extra_resources_never_change_the_gpu() {
        let resources =
            |given: Option<Value>| Template { resources: given, ..Template::default() }.resources();
        let expect =
            json!({"requests": {"nvidia.com/gpu": "1"}, "limits": {"nvidia.com/gpu": "1"}});
        assert_eq!(resources(None), expect);
        let given = json!({"cpu": "10m", "nvidia.com/gpu": "4"});
        assert_eq!(resources(Some(given))["limits"], json!({"cpu": "10m", "nvidia.com/gpu": "1"}));
        let given = json!({"requests": {"cpu": "10m"}});
        assert_eq!(resources(Some(given))["limits"], expect["limits"]);
        let given = json!({"limits": {"cpu": "10m"}});
        assert_eq!(resources(Some(given))["requests"], expect["requests"]);
    }
}
