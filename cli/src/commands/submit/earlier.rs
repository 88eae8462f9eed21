//! The devices that a template asked for before `--gpu`: they are taken out, or said where nothing tells what they are.

use std::collections::BTreeSet;

use serde_json::Value;

use super::claims;
use crate::cluster::gpu::Gpu;
use crate::cluster::json::{ensure, resolve, text};
use crate::cluster::kinds::Shape;
use crate::cluster::manifest::Site;
use crate::cluster::names;
use crate::print::output::clean;

/// Removes what the template asked for before; what it says about a share stays where another share follows.
pub(super) fn clear(object: &mut Value, site: &Site, gpu: &Gpu) {
    if let Some(Value::Object(annotations)) =
        site.meta.as_ref().and_then(|meta| object.pointer_mut(&format!("{meta}/annotations")))
    {
        for key in [names::FRACTION, names::MEMORY, names::DEVICES] {
            annotations.remove(key);
        }
        if !gpu.is_share() {
            annotations.remove(names::SHARE_CONTAINER);
            annotations.remove(names::MPS);
        }
    }
    if site.shape == Shape::Spark {
        ensure(object, &site.spec).remove("gpu");
    }
    claims::clear(object, site);
    for container in &site.containers {
        for list in ["limits", "requests"] {
            if let Some(Value::Object(map)) =
                object.pointer_mut(&format!("{container}/resources/{list}"))
            {
                map.retain(|name, _| !is_device(name, gpu));
            }
        }
    }
}

/// Says what templates go on asking device plugins for, where they have no devices that `--gpu` is known to replace: it may
/// be their GPUs, of a maker that is not known.
pub(super) fn kept(object: &Value, sites: &[&Site], gpu: &Gpu) -> Option<String> {
    let containers = sites.iter().flat_map(|site| &site.containers);
    let limits = containers.filter_map(|at| resolve(object, &format!("{at}/resources/limits")));
    let asked = limits.filter_map(Value::as_object).flatten();
    let asked: BTreeSet<&str> = asked.map(|(name, _)| name.as_str()).collect();
    if asked.iter().any(|name| is_device(name, gpu)) {
        return None;
    }
    let kept: Vec<&str> = asked.into_iter().filter(|name| is_of_plugin(name)).collect();
    let name = text(&object["metadata"]["name"]);
    (!kept.is_empty()).then(|| {
        let kept = kept.join(", ");
        clean(&format!("{name}: it asks for {kept} too, which --gpu {gpu} does not replace")).into()
    })
}

/// Tells whether a resource is devices that `--gpu` replaces: those of the makers that it knows, and those that it asks for.
fn is_device(name: &str, gpu: &Gpu) -> bool {
    let is_asked = matches!(gpu, Gpu::Device { resource, .. } if resource == name);
    let known = [names::GPU, names::AMD_GPU, names::GAUDI];
    is_asked || known.contains(&name) || name.starts_with(names::MIG)
}

/// Tells whether `--gpu` could name a resource, which then is of a device plugin.
fn is_of_plugin(name: &str) -> bool {
    let domain = name.split_once('/').map_or("", |(domain, _)| domain);
    domain.contains('.') && !domain.ends_with("kubernetes.io")
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::cluster::manifest::sites;

    /// Checks what is left of the limits and requests of a Job, and what is said of it.
    fn check(asked: &Value, gpu: &str, left: &Value, said: Option<&str>) {
        let (_, gpu) = Gpu::parse_typed(gpu).expect("it is an amount");
        let container = json!({"name": "main", "resources": {"limits": asked, "requests": asked}});
        let mut job = json!({"apiVersion": "batch/v1", "kind": "Job", "metadata": {"name": "j"},
            "spec": {"template": {"spec": {"containers": [container]}}}});
        let sites = sites(&job);
        assert_eq!(kept(&job, &[&sites[0]], &gpu).as_deref(), said, "{asked} --gpu {gpu}");
        clear(&mut job, &sites[0], &gpu);
        let resources = &job["spec"]["template"]["spec"]["containers"][0]["resources"];
        assert_eq!(*resources, json!({"limits": left, "requests": left}), "--gpu {gpu}");
    }

    #[test]
    fn devices_of_before_are_taken_out_or_said() {
        let (intel, efa) = ("gpu.intel.com/xe", "vpc.amazonaws.com/efa");
        check(&json!({intel: "1", "cpu": "4"}), "gpu.intel.com/xe:2", &json!({"cpu": "4"}), None);
        check(&json!({"nvidia.com/mig-1g.10gb": 1}), "amd:1", &json!({}), None);
        let nvidia = json!({"nvidia.com/gpu": 8, efa: 4});
        check(&nvidia, "2", &json!({efa: 4}), None);
        let plain = json!({"cpu": 4, "ephemeral-storage": "1Gi", "rdma/hca": 1});
        check(&plain, "0.5", &plain, None);
        let said = "j: it asks for gpu.intel.com/xe too, which --gpu 2 does not replace";
        check(&json!({intel: 1}), "2", &json!({intel: 1}), Some(said));
    }
}
