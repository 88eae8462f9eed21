//! Shares of GPUs in objects that are about to be created: what admission would refuse later, pod by pod, is refused
//! here at once.

use kai_api::names::{CONFIG_NAME, annotation};
use kai_api::shared_gpu;
use serde_json::{Value, json};

use super::Document;
use crate::cluster::gpu::{self, Total};
use crate::cluster::json::{ensure, text};
use crate::cluster::kinds::Shape;
use crate::cluster::manifest::{self, Site, as_pod, place_name};
use crate::cluster::{Call, Cluster, Resource, names};
use crate::print::error::{Exit, Problem, number};

/// Annotations that ask for a share, or say something about one.
const ANNOTATIONS: [&str; 5] = [
    annotation::GPU_FRACTION,
    annotation::GPU_MEMORY,
    annotation::GPU_FRACTION_DEVICES,
    annotation::GPU_FRACTION_CONTAINER,
    annotation::MPS,
];

/// Says why the pods of a template would be refused for what they ask of shared GPUs; none where they would not.
///
/// # Source
/// docs/contract.md 3.6, by the rules of [`kai_api::shared_gpu`].
pub(super) fn check(object: &Value, site: &Site) -> Option<Problem> {
    let pod = as_pod(object, site);
    let place = place_name(object, site);
    let refuse = |what: String| {
        Problem::new(number::SHARE_AND_WHOLE, Exit::Refused, format!("{place}: {what}"))
    };
    let annotations = &pod["metadata"]["annotations"];
    let unquoted = ANNOTATIONS.iter().find_map(|key| {
        let value = &annotations[*key];
        (!value.is_null() && !value.is_string()).then_some((*key, value))
    });
    if let Some((key, value)) = unquoted {
        let problem = refuse(format!("annotation {key} is {value}, and has to be text"));
        return Some(problem.fix(format!("quote it: {key}: \"{value}\"")));
    }
    match gpu::shared(&pod) {
        Ok(None) => return None,
        Ok(Some(_)) => {}
        Err(invalid) => return Some(refuse(invalid.to_string())),
    }
    if !Total::of_pod(&pod).mig.is_empty() {
        let what = "a share of a GPU and MIG devices exclude each other";
        return Some(
            refuse(what.into()).fix("remove the annotation, or the limit nvidia.com/mig-…"),
        );
    }
    // Argo adds containers of its own, and who adds those of a place without any is not known.
    if site.containers.is_empty() || site.shape == Shape::Argo {
        return None;
    }
    let names = |list: &str| {
        let all = pod["spec"][list].as_array().into_iter().flatten();
        all.map(|container| text(&container["name"])).collect::<Vec<_>>()
    };
    let named = annotations[annotation::GPU_FRACTION_CONTAINER].as_str();
    let (init, regular) = (names("initContainers"), names("containers"));
    let unknown = shared_gpu::target(named, init.iter().copied(), regular.iter().copied()).err()?;
    Some(refuse(unknown.to_string()).line(format!("its containers: {}", regular.join(", "))))
}

/// Says which container gets the device, in every template that asks for a share.
///
/// # Errors
/// None does.
pub(super) fn name_container(
    object: &mut Value,
    sites: &[Site],
    container: &str,
) -> Result<(), Problem> {
    let mut is_named = false;
    for site in sites {
        let Some(meta) = &site.meta else { continue };
        let asks = |key: &str| object.pointer(&format!("{meta}/annotations/{key}")).is_some();
        if asks(names::FRACTION) || asks(names::MEMORY) {
            ensure(object, &format!("{meta}/annotations"))
                .insert(names::SHARE_CONTAINER.into(), json!(container));
            is_named = true;
        }
    }
    if is_named {
        return Ok(());
    }
    let what = format!(
        "--gpu-fraction-container: {}/{} asks for no share of a GPU",
        text(&object["kind"]).to_lowercase(),
        text(&object["metadata"]["name"])
    );
    Err(Problem::new(number::MISSING, Exit::Usage, what).fix("ask for one: --gpu 0.5"))
}

/// The problem where work asks for a share and an administrator has switched sharing off: one request, none without such
/// an ask. Silent where the user may not look.
pub(super) async fn is_refused(documents: &[Document], cluster: &Cluster) -> Option<Problem> {
    let is_shared = |document: &Document| {
        let object = document.templates();
        let sites = manifest::sites(object);
        sites.iter().any(|site| matches!(gpu::shared(&as_pod(object, site)), Ok(Some(_))))
    };
    if documents.iter().any(|document| document.is_workload && is_shared(document)) {
        is_off(cluster).await
    } else {
        None
    }
}

/// The problem where an administrator has switched sharing off.
async fn is_off(cluster: &Cluster) -> Option<Problem> {
    let resource = Resource::new("kai.scheduler/v1", "Config", "configs").cluster_wide();
    let config = cluster.get(&Call::new("get", &resource).name(CONFIG_NAME)).await.ok()??;
    switched_off(&config)
}

/// The problem where the configuration says so; what it leaves out it leaves open.
fn switched_off(config: &Value) -> Option<Problem> {
    (config["spec"]["admission"]["gpuSharing"] == json!(false)).then(|| {
        let what = "a share of a GPU is asked for, and GPU sharing is off in this cluster";
        Problem::new(number::SHARING_OFF, Exit::Refused, what).fix(format!(
            "ask for whole GPUs: --gpu 1   or (admin) set spec.admission.gpuSharing: true in config {CONFIG_NAME}"
        ))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Says what is refused of a pod with these annotations and this spec; empty where nothing is.
    fn check_pod(annotations: &str, spec: &str, expect: &str) {
        let yaml = |text: &str| -> Value { serde_saphyr::from_str(text).expect("written below") };
        let pod = json!({"apiVersion": "v1", "kind": "Pod", "spec": yaml(spec),
            "metadata": {"name": "p", "annotations": yaml(annotations)}});
        let problem = manifest::sites(&pod).iter().find_map(|site| check(&pod, site));
        let got = problem.map_or_else(String::new, |problem| problem.what);
        assert!(
            got.contains(expect) && got.is_empty() == expect.is_empty(),
            "{annotations}: {got}"
        );
    }

    #[test]
    fn what_admission_refuses_is_refused_before_anything_is_created() {
        let one = "{containers: [{name: a}]}";
        check_pod("{gpu-fraction: '0.5'}", one, "");
        check_pod("{gpu-fraction: 5e-1}", one, "has to be text");
        check_pod("{gpu-fraction: '5e-1', gpu-fraction-num-devices: '2'}", one, "");
        check_pod("{gpu-fraction: '1.5'}", one, "smaller than 1.0");
        check_pod("{gpu-fraction: '0x1p-1'}", one, "decimal or scientific");
        check_pod("{gpu-memory: '0'}", one, "positive integer");
        check_pod("{gpu-memory: 2Gi}", one, "positive integer");
        check_pod("{gpu-memory: '5', gpu-fraction: '0.5'}", one, "exclude each other");
        check_pod("{gpu-fraction-num-devices: '2'}", one, "needs the share");
        check_pod("{gpu-fraction: '0.5', gpu-fraction-num-devices: '0'}", one, "num-devices");
        check_pod("{mps: 'true'}", one, "needs a share");
        check_pod(
            "{gpu-fraction: '0.5', gpu-fraction-container-name: b}",
            one,
            "names no container",
        );
        let init = "{initContainers: [{name: b, resources: {limits: {nvidia.com/gpu: 1}}}], containers: [{name: a}]}";
        check_pod(
            "{gpu-fraction: '0.5', gpu-fraction-container-name: b}",
            init,
            "a pod has either",
        );
        let init = "{initContainers: [{name: b}], containers: [{name: a}]}";
        check_pod("{gpu-fraction: '0.5', gpu-fraction-container-name: b}", init, "");
        let mig = "{containers: [{name: a, resources: {limits: {nvidia.com/mig-1g.5gb: 1}}}]}";
        check_pod("{gpu-memory: '5'}", mig, "MIG devices exclude");
    }

    #[test]
    fn only_an_administrator_who_says_so_switches_sharing_off() {
        let off =
            |switch: Value| switched_off(&json!({"spec": {"admission": {"gpuSharing": switch}}}));
        let problem = off(json!(false)).map(|problem| (problem.number, problem.exit));
        assert_eq!(problem, Some((number::SHARING_OFF, Exit::Refused)));
        assert_eq!(off(json!(true)), None);
        assert_eq!(switched_off(&json!({"spec": {}})), None);
    }
}
