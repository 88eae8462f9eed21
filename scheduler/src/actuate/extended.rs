//! The claim of a pod whose extended resources devices stand in for: made, given its devices and named in the pod's
//! status before the bind.
//!
//! The claim holds nothing until the pod's status names it, so that a crash leaves no devices with a claim that nobody finds:
//! what is left before that goes with the pod, which owns it; a claim that is named is bound to like any other.
//! Source: docs/contract.md 4.4, `dynamicresources`; KEP-5004.

use http::Method;
use kai_api::quantity::Quantity;
use kai_daemon::backoff;
use serde_json::{Value, json};
use tokio::time::sleep;

use super::{
    Write,
    claim::{Consumer, FINALIZER},
};
use crate::server::call::{Failure, Form, call, read};

/// Sets how often it is tried to take a claim back.
const ATTEMPTS_MAX: u32 = 8;
/// Says that a claim was made for extended resources.
pub(crate) const EXTENDED: &str = "resource.kubernetes.io/extended-resource-claim";

/// Holds what the claim of a pod is to hold.
#[derive(Clone, Debug)]
pub struct ExtendedGrant {
    /// The version of `resource.k8s.io` that is written.
    pub version: &'static str,
    /// The node.
    pub node: Box<str>,
    /// Holds what stands in for each of the resources.
    pub backed: Vec<Backed>,
}

/// Devices that stand in for an extended resource.
#[derive(Clone, Debug)]
pub struct Backed {
    /// The resource.
    pub resource: Box<str>,
    /// The device class that serves it.
    pub class: Box<str>,
    /// Holds what the class configures.
    pub config: Vec<Value>,
    /// Driver, pool and name of each device.
    pub devices: Vec<[Box<str>; 3]>,
}

/// A claim that was made; it holds nothing yet.
#[derive(Debug)]
pub(super) struct Made<'g> {
    grant: &'g ExtendedGrant,
    path: String,
    claim: Value,
    parts: Vec<Part<'g>>,
}

/// A request of the claim: which container asks for what, and which devices it gets.
#[derive(Debug)]
struct Part<'g> {
    name: String,
    container: String,
    of: &'g Backed,
    devices: &'g [[Box<str>; 3]],
}

impl ExtendedGrant {
    /// Makes the claim of a pod at `pod`.
    pub(super) async fn make(
        &self,
        write: &Write,
        pod: &str,
        consumer: Consumer<'_>,
    ) -> Result<Made<'_>, String> {
        let bytes =
            read(&write.client, pod).await.map_err(|failure| failed("prepare", &failure))?;
        let object: Value = serde_json::from_slice(&bytes).unwrap_or_default();
        let parts = self.parts(&object)?;
        let namespace = object["metadata"]["namespace"].as_str().unwrap_or_default();
        let path =
            format!("/apis/resource.k8s.io/{}/namespaces/{namespace}/resourceclaims", self.version);
        let body = self.claim(consumer, &parts);
        let made = call(write, Method::POST, &path, Form::Object, &body).await;
        let made = made.map_err(|failure| failed("make", &failure))?;
        let claim: Value = serde_json::from_slice(&made).unwrap_or_default();
        let path = format!("{path}/{}", claim["metadata"]["name"].as_str().unwrap_or_default());
        Ok(Made { grant: self, path, claim, parts })
    }

    /// The requests of a pod's containers, each with its devices. Ordinary init containers come last and get what is
    /// left: what they use is used again after them.
    fn parts(&self, pod: &Value) -> Result<Vec<Part<'_>>, String> {
        let mut left: Vec<&[[Box<str>; 3]]> = self.backed.iter().map(|of| &*of.devices).collect();
        let list = |field: &str| pod["spec"][field].as_array().cloned().unwrap_or_default();
        let (inits, mains) = (list("initContainers"), list("containers"));
        let all: Vec<&Value> = inits.iter().chain(&mains).collect();
        let is_ordinary = |at: usize| at < inits.len() && all[at]["restartPolicy"] != "Always";
        let (last, first): (Vec<usize>, Vec<usize>) =
            (0..all.len()).partition(|at| is_ordinary(*at));
        let mut parts = Vec::new();
        for at in first.into_iter().chain(last) {
            let asked = |of: &Backed| {
                let amount = all[at]["resources"]["requests"][&*of.resource].as_str();
                let amount = amount.and_then(|text| Quantity::parse(text).ok()?.value().ok());
                amount.and_then(|amount| usize::try_from(amount).ok()).filter(|count| *count > 0)
            };
            let of_container = self.backed.iter().enumerate();
            let of_container = of_container.filter_map(|(row, of)| Some((row, of, asked(of)?)));
            for (number, (row, of, count)) in of_container.enumerate() {
                let Some((devices, rest)) = left[row].split_at_checked(count) else {
                    if is_ordinary(at) {
                        continue;
                    }
                    return Err(format!("the pod asks for more {} than it was given", of.resource));
                };
                left[row] = rest;
                parts.push(Part {
                    name: format!("container-{at}-request-{number}"),
                    container: all[at]["name"].as_str().unwrap_or_default().to_owned(),
                    of,
                    devices,
                });
            }
        }
        Ok(parts)
    }

    fn claim(&self, consumer: Consumer<'_>, parts: &[Part<'_>]) -> Value {
        let request = |part: &Part<'_>| {
            let exactly = json!({
                "deviceClassName": part.of.class,
                "allocationMode": "ExactCount",
                "count": part.devices.len(),
            });
            if self.version != "v1beta1" {
                return json!({ "name": part.name, "exactly": exactly });
            }
            let mut request = exactly;
            request["name"] = json!(part.name);
            request
        };
        json!({
            "apiVersion": format!("resource.k8s.io/{}", self.version),
            "kind": "ResourceClaim",
            "metadata": {
                "generateName": format!("{}-extended-resources-", consumer.name),
                "annotations": { EXTENDED: "true" },
                "finalizers": [FINALIZER],
                "ownerReferences": [{
                    "apiVersion": "v1",
                    "kind": "Pod",
                    "name": consumer.name,
                    "uid": consumer.uid,
                    "controller": true,
                }],
            },
            "spec": { "devices": { "requests": parts.iter().map(request).collect::<Vec<_>>() } },
        })
    }

    fn allocation(&self, parts: &[Part<'_>]) -> Value {
        let mut results = Vec::new();
        let mut config = Vec::new();
        for part in parts {
            for [driver, pool, device] in part.devices {
                results.push(json!({
                    "request": part.name, "driver": driver, "pool": pool, "device": device,
                }));
            }
            for entry in &part.of.config {
                let mut entry = entry.clone();
                entry["source"] = json!("FromClass");
                entry["requests"] = json!([part.name]);
                config.push(entry);
            }
        }
        let mut devices = json!({ "results": results });
        if !config.is_empty() {
            devices["config"] = json!(config);
        }
        let field = json!({ "key": "metadata.name", "operator": "In", "values": [self.node] });
        json!({
            "devices": devices,
            "nodeSelector": { "nodeSelectorTerms": [{ "matchFields": [field] }] },
        })
    }
}

fn failed(what: &str, failure: &Failure) -> String {
    format!("failed to {what} the resource claim for extended resources: {failure}")
}

impl Made<'_> {
    /// Has the status of its pod name the claim, and gives it its devices.
    pub(super) async fn allot(
        &self,
        write: &Write,
        pod: &str,
        consumer: Consumer<'_>,
    ) -> Result<(), String> {
        self.name_it(write, pod, consumer).await?;
        let mut claim = self.claim.clone();
        claim["status"] = json!({
            "allocation": self.grant.allocation(&self.parts),
            "reservedFor": [{ "resource": "pods", "name": consumer.name, "uid": consumer.uid }],
        });
        let status = format!("{}/status", self.path);
        let given = call(write, Method::PUT, &status, Form::Object, &claim).await;
        given.map(drop).map_err(|failure| failed("allocate", &failure))
    }

    /// Names the claim in the status of its pod, where the kubelet looks for it.
    async fn name_it(
        &self,
        write: &Write,
        pod: &str,
        consumer: Consumer<'_>,
    ) -> Result<(), String> {
        let mapping = |part: &Part<'_>| {
            json!({
                "containerName": part.container,
                "resourceName": part.of.resource,
                "requestName": part.name,
            })
        };
        let mappings: Vec<Value> = self.parts.iter().map(mapping).collect();
        let name = self.claim["metadata"]["name"].as_str().unwrap_or_default();
        let status = json!({ "resourceClaimName": name, "requestMappings": mappings });
        let body = json!({
            "metadata": { "uid": consumer.uid },
            "status": { "extendedResourceClaimStatus": status },
        });
        let path = format!("{pod}/status");
        let answer = call(write, Method::PATCH, &path, Form::Merge, &body).await;
        let answer = answer.map_err(|failure| {
            format!("failed to name the resource claim {name} in the pod's status: {failure}")
        })?;
        let answer: Value = serde_json::from_slice(&answer).unwrap_or_default();
        if answer["status"]["extendedResourceClaimStatus"].is_null() {
            return Err(String::from(
                "the API server keeps no status.extendedResourceClaimStatus of pods: extended resources that \
                 device classes serve need its feature DRAExtendedResource",
            ));
        }
        Ok(())
    }

    /// Takes the devices back, and deletes the claim; what fails is tried again until the scheduler ends, as nobody else has
    /// them while it is there.
    pub(super) async fn undo(&self, write: &Write, pod: &str, consumer: Consumer<'_>) {
        for attempt in 1..=ATTEMPTS_MAX {
            match self.try_undo(write, pod, consumer).await {
                Ok(()) | Err(Failure::Lost(_)) => return,
                Err(failure) => {
                    tracing::warn!(claim = self.path, %failure, "failed to take a resource claim back");
                    let pause = sleep(backoff(attempt));
                    if write.stop.run_until_cancelled(pause).await.is_none() {
                        return;
                    }
                }
            }
        }
    }

    async fn try_undo(
        &self,
        write: &Write,
        pod: &str,
        consumer: Consumer<'_>,
    ) -> Result<(), Failure> {
        let uid = &self.claim["metadata"]["uid"];
        let body = json!({
            "metadata": { "uid": uid },
            "status": { "allocation": null, "reservedFor": null },
        });
        patch(write, &format!("{}/status", self.path), &body).await?;
        let body = json!({
            "metadata": { "uid": consumer.uid },
            "status": { "extendedResourceClaimStatus": null },
        });
        patch(write, &format!("{pod}/status"), &body).await?;
        let body = json!({ "metadata": { "uid": uid, "finalizers": null } });
        patch(write, &self.path, &body).await?;
        let options = json!({
            "apiVersion": "v1",
            "kind": "DeleteOptions",
            "preconditions": { "uid": uid },
        });
        match call(write, Method::DELETE, &self.path, Form::Object, &options).await {
            Ok(_) | Err(Failure::Refused { code: 404 | 409, .. }) => Ok(()),
            Err(failure) => Err(failure),
        }
    }
}

/// Patches an object, where it is there yet: whichever of pod and claim is gone, or has given its name to another, the rest
/// is taken back all the same.
async fn patch(write: &Write, path: &str, body: &Value) -> Result<(), Failure> {
    match call(write, Method::PATCH, path, Form::Merge, body).await {
        Ok(_) | Err(Failure::Refused { code: 404 | 409, .. }) => Ok(()),
        Err(failure) => Err(failure),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn grant(devices: usize) -> ExtendedGrant {
        let device = |at: usize| ["d", "n1", &format!("gpu-{at}")].map(Box::from);
        ExtendedGrant {
            version: "v1",
            node: Box::from("n1"),
            backed: vec![Backed {
                resource: Box::from("example.com/gpu"),
                class: Box::from("gpu"),
                config: Vec::new(),
                devices: (0..devices).map(device).collect(),
            }],
        }
    }

    /// Init containers and containers by what they ask for (`+` in front of a sidecar) against `REQUEST=DEVICES`.
    fn check(inits: &[&str], mains: &[&str], devices: usize, expect: Result<&str, &str>) {
        let list = |all: &[&str]| -> Vec<Value> {
            let one = |text: &&str| {
                let count = text.trim_start_matches('+');
                let mut container = json!({ "name": "c", "resources": { "requests": { "example.com/gpu": count } } });
                if text.starts_with('+') {
                    container["restartPolicy"] = json!("Always");
                }
                container
            };
            all.iter().map(one).collect()
        };
        let pod = json!({ "spec": { "initContainers": list(inits), "containers": list(mains) } });
        let grant = grant(devices);
        let parts = grant.parts(&pod).map(|parts| {
            let one = |part: &Part<'_>| {
                let devices: Vec<&str> = part.devices.iter().map(|device| &*device[2]).collect();
                format!("{}={}", part.name, devices.join(","))
            };
            parts.iter().map(one).collect::<Vec<_>>().join(" ")
        });
        assert_eq!(parts.as_deref().map_err(|error| &**error), expect, "{inits:?} {mains:?}");
    }

    #[test]
    fn devices_are_dealt_out_to_containers() {
        check(&[], &["2"], 2, Ok("container-0-request-0=gpu-0,gpu-1"));
        check(
            &[],
            &["1", "0", "1"],
            2,
            Ok("container-0-request-0=gpu-0 container-2-request-0=gpu-1"),
        );
        check(&["+1"], &["1"], 2, Ok("container-0-request-0=gpu-0 container-1-request-0=gpu-1"));
        // An init container that ends before the others begin gets what is left of the pod's devices.
        check(&["2"], &["1"], 2, Ok("container-1-request-0=gpu-0"));
        check(&["1"], &["1"], 2, Ok("container-1-request-0=gpu-0 container-0-request-0=gpu-1"));
        check(&[], &["2"], 1, Err("the pod asks for more example.com/gpu than it was given"));
    }

    /// The configuration of a class is for the requests of that class alone.
    #[test]
    fn a_class_configures_its_own_requests() {
        let backed = |name: &str| Backed {
            resource: Box::from(format!("example.com/{name}")),
            class: Box::from(name),
            config: vec![json!({ "opaque": { "driver": name } })],
            devices: vec![[name, "n1", "0"].map(Box::from)],
        };
        let grant = ExtendedGrant { backed: vec![backed("a"), backed("b")], ..grant(0) };
        let requests = json!({ "example.com/a": "1", "example.com/b": "1" });
        let container = json!({ "name": "c", "resources": { "requests": requests } });
        let parts = grant.parts(&json!({ "spec": { "containers": [container] } }));
        let allocation = grant.allocation(&parts.expect("there are devices for both"));
        let entry = |driver: &str, number: u32| {
            json!({
                "source": "FromClass",
                "requests": [format!("container-0-request-{number}")],
                "opaque": { "driver": driver },
            })
        };
        assert_eq!(allocation["devices"]["config"], json!([entry("a", 0), entry("b", 1)]));
    }
}
