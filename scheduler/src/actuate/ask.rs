//! Finds out which of several GPUs the users of a group were told: KAI before v0.16 made two reservation pods of one group
//! in a race, and what its pods were told stands in their config maps alone. Users may edit those, so that a GPU counts only
//! where nobody says otherwise; whichever counts, the reservation pods keep all of them until the last user is gone.
//!
//! # Source
//! docs/contract.md 4.7 (config maps), 10.3 R1.

use std::sync::Arc;

use kai_api::{
    names::{annotation, env},
    shared_gpu,
};
use serde::Deserialize;

use super::{
    Write,
    found::Found,
    reservation::{Place, Template},
    share::CDI_PREFIX,
    unreserve::users,
};
use crate::{
    actuate::ShareOutcome,
    server::{
        call::{Failure, read},
        wire::Pairs,
    },
};

/// The users of a group that has several reservation pods.
#[derive(Clone, Debug)]
pub struct Ask {
    /// The group by number.
    pub device: u32,
    /// The group and its node.
    pub place: Place,
    /// The UUIDs that its reservation pods say.
    pub among: Vec<Box<str>>,
    /// Says how reservation pods are made.
    pub template: Arc<Template>,
}

/// Holds what is read of a config map.
#[derive(Deserialize)]
struct Told<'a> {
    #[serde(borrow, default)]
    data: Pairs<'a>,
}

impl Ask {
    pub(super) async fn carry_out(self, write: &Write) -> ShareOutcome {
        let answer = self.ask(write).await;
        write.count("ask", answer.is_ok());
        let done = answer.is_ok();
        ShareOutcome::Asked { device: self.device, told: answer.ok().flatten(), done }
    }

    /// Reads the config maps of all users. Whoever may edit one decides nothing about the GPU of others: a GPU counts
    /// where all that name one name the same, and none does where they differ.
    async fn ask(&self, write: &Write) -> Result<Option<Box<str>>, Failure> {
        let mut told: Option<Box<str>> = None;
        for pod in users(write, &self.place, &self.template).await? {
            for map in maps(&pod) {
                let path =
                    format!("/api/v1/namespaces/{}/configmaps/{map}", pod.metadata.namespace);
                let bytes = match read(&write.client, &path).await {
                    Ok(bytes) => bytes,
                    Err(failure) if failure.code() == Some(404) => continue,
                    Err(failure) => return Err(failure),
                };
                let Some(uuid) = self.named(&bytes) else { continue };
                if told.as_ref().is_some_and(|before| *before != uuid) {
                    self.warn_of_difference();
                    return Ok(None);
                }
                told = Some(uuid);
            }
        }
        Ok(told)
    }

    fn warn_of_difference(&self) {
        tracing::warn!(
            node = &*self.place.node,
            group = &*self.place.group,
            "config maps of pods that share a GPU name different ones, so that none of them is believed: pods that come later \
             share the GPU of the first reservation pod of their group"
        );
    }

    /// The one of the GPUs that a config map names.
    fn named(&self, map: &[u8]) -> Option<Box<str>> {
        let told: Told<'_> = serde_json::from_slice(map).ok()?;
        let devices = told.data.value(env::VISIBLE_DEVICES)?;
        let mut uuids =
            devices.split(',').map(|name| name.strip_prefix(CDI_PREFIX).unwrap_or(name));
        uuids.find_map(|uuid| self.among.iter().find(|one| ***one == *uuid)).cloned()
    }
}

/// The names of the config maps by which a pod is told its devices; none where admission has not prepared it.
fn maps(pod: &Found) -> Vec<String> {
    let annotation = |key: &str| pod.metadata.annotations.get(key).map(String::as_str);
    let prefix = annotation(annotation::SHARED_GPU_CONFIG_MAP);
    let prefix = prefix.filter(|prefix| shared_gpu::is_map_prefix(prefix));
    let init = pod.spec.init_containers.iter().map(|container| &*container.name);
    let regular = pod.spec.containers.iter().map(|container| &*container.name);
    let target = shared_gpu::target(annotation(annotation::GPU_FRACTION_CONTAINER), init, regular);
    let (Some(prefix), Ok(target)) = (prefix, target) else { return Vec::new() };
    vec![shared_gpu::capabilities_map(prefix, target), shared_gpu::variables_map(prefix, target)]
}

#[cfg(test)]
mod tests {
    use kai_api::names::namespace;
    use serde_json::json;

    use super::*;

    #[test]
    fn a_config_map_names_one_of_the_gpus() {
        let ask = Ask {
            device: 0,
            place: Place { group: Arc::from("g"), node: Box::from("n1") },
            among: vec![Box::from("GPU-a"), Box::from("GPU-b")],
            template: Arc::default(),
        };
        let check = |map: serde_json::Value, expect: Option<&str>| {
            assert_eq!(ask.named(map.to_string().as_bytes()).as_deref(), expect, "{map}");
        };
        let devices = |text: &str| json!({"data": {"NVIDIA_VISIBLE_DEVICES": text}});
        check(devices("GPU-b"), Some("GPU-b"));
        check(devices("GPU-other,GPU-a"), Some("GPU-a"));
        check(devices("k8s.device-plugin.nvidia.com/gpu=GPU-b"), Some("GPU-b"));
        check(devices("GPU-other"), None);
        check(json!({"data": {"GPU_PORTION": "0.50"}}), None);
        check(json!({"data": null}), None);
        check(json!({}), None);
    }

    #[test]
    fn the_config_maps_are_those_of_the_container_that_gets_the_device() {
        let check = |annotations: serde_json::Value, expect: &[&str]| {
            let pod = json!({
                "metadata": {"namespace": namespace::SYSTEM, "annotations": annotations},
                "spec": {"containers": [{"name": "web"}, {"name": "main"}], "initContainers": [{"name": "load"}]},
            });
            let pod: Found = serde_json::from_value(pod).expect("a pod");
            assert_eq!(maps(&pod), expect, "{annotations}");
        };
        let key = annotation::SHARED_GPU_CONFIG_MAP;
        check(json!({key: "p"}), &["p-0", "p-0-evar"]);
        let named = |name: &str| json!({key: "p", annotation::GPU_FRACTION_CONTAINER: name});
        check(named("main"), &["p-1", "p-1-evar"]);
        check(named("load"), &["p-i0", "p-i0-evar"]);
        check(named("none"), &[]);
        check(json!({}), &[]);
    }
}
