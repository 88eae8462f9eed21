//! `--gpu dra:CLASS:2`: a claim of each pod's own, from a template that goes with the workload.

use std::collections::BTreeSet;
use std::time::Duration;

use serde_json::{Value, json};

use super::args::DryRun;
use super::document::Document;
use crate::cluster::gpu::Gpu;
use crate::cluster::json::{ensure, text};
use crate::cluster::kinds::Shape;
use crate::cluster::manifest::{Site, place_name, sites};
use crate::cluster::{Call, Cluster, Resource, Select};
use crate::context::Context;
use crate::print::error::{Error, Exit, Problem, number};
use crate::print::output::clean;

/// The group that serves claims, and its versions that this program writes, the best first.
const GROUP: &str = "resource.k8s.io";
const VERSIONS: [&str; 3] = ["v1", "v1beta2", "v1beta1"];
/// Sets how long a rehearsal waits for the cluster to say what it serves.
const HURRY: Duration = Duration::from_millis(1500);
/// The name of the claim within a pod.
const NAME: &str = "gpu";

/// The name of the template that goes with a workload.
fn template(workload: &str) -> String {
    format!("{workload}-{NAME}")
}

/// Has the pods of a template claim their devices.
///
/// # Errors
/// It has no place for claims, or the workload no name of its own.
pub(super) fn refer(object: &mut Value, site: &Site) -> Result<(), Problem> {
    let workload = text(&object["metadata"]["name"]).to_owned();
    if workload.is_empty() {
        let what = "--gpu dra:… makes a template of claims, which needs a workload with a name";
        return Err(Problem::new(number::UNSUPPORTED, Exit::Usage, what)
            .fix("name it by metadata.name instead of generateName"));
    }
    let container = site.containers.first();
    let Some(container) = container.filter(|_| site.shape != Shape::Argo) else {
        let what = format!("{} has no place for claims", place_name(object, site));
        return Err(Problem::new(number::UNSUPPORTED, Exit::Refused, what)
            .fix("devices of a plugin: --gpu 2   or   --gpu amd:2"));
    };
    let claim = json!({ "name": NAME, "resourceClaimTemplateName": template(&workload) });
    push(object, &site.spec, "resourceClaims", claim);
    push(object, &format!("{container}/resources"), "claims", json!({ "name": NAME }));
    Ok(())
}

/// Takes out what was claimed before.
pub(super) fn clear(object: &mut Value, site: &Site) {
    let mut lists = vec![(site.spec.clone(), "resourceClaims")];
    lists.extend(site.containers.iter().map(|one| (format!("{one}/resources"), "claims")));
    for (at, list) in lists {
        let Some(Value::Object(map)) = object.pointer_mut(&at) else { continue };
        let Some(Value::Array(claims)) = map.get_mut(list) else { continue };
        claims.retain(|claim| text(&claim["name"]) != NAME);
        if claims.is_empty() {
            map.remove(list);
        }
    }
}

fn push(object: &mut Value, at: &str, list: &str, entry: Value) {
    let list = ensure(object, at).entry(list).or_insert_with(|| json!([]));
    if let Some(list) = list.as_array_mut() {
        list.push(entry);
    }
}

/// Puts a template of claims before each workload whose pods claim devices.
///
/// # Errors
/// The cluster serves no claims, or has no such class.
pub(super) async fn add(
    documents: &mut Vec<Document>,
    gpu: Option<&Gpu>,
    dry_run: DryRun,
    context: &mut Context,
) -> Result<(), Error> {
    let Some(Gpu::Claim { class, count }) = gpu else { return Ok(()) };
    let version = version(class, dry_run, context).await?;
    let mut made = BTreeSet::new();
    for at in (0..documents.len()).rev() {
        let workload = &documents[at];
        if !workload.takes_request() || !made.insert(workload.name().to_owned()) {
            continue;
        }
        let mut object = object(version, &template(workload.name()), class, *count);
        let namespace = &workload.object["metadata"]["namespace"];
        if namespace.is_string() {
            object["metadata"]["namespace"] = namespace.clone();
        }
        let source = format!("--gpu dra:{class}:{count}");
        documents.insert(at, Document { is_helper: true, ..Document::new(object, &source) });
    }
    Ok(())
}

fn object(version: &str, name: &str, class: &str, count: u32) -> Value {
    let exactly =
        json!({ "deviceClassName": class, "allocationMode": "ExactCount", "count": count });
    let request = match (version, exactly) {
        ("v1beta1", Value::Object(mut flat)) => {
            flat.shift_insert(0, "name".into(), json!(NAME));
            Value::Object(flat)
        }
        (_, exactly) => json!({ "name": NAME, "exactly": exactly }),
    };
    json!({
        "apiVersion": format!("{GROUP}/{version}"), "kind": "ResourceClaimTemplate",
        "metadata": { "name": name },
        "spec": { "spec": { "devices": { "requests": [request] } } },
    })
}

/// The version in which claims are served, once the class is known to be there. A rehearsal here takes the best one for
/// granted where no cluster answers.
async fn version(
    class: &str,
    dry_run: DryRun,
    context: &mut Context,
) -> Result<&'static str, Error> {
    let is_rehearsal = dry_run == DryRun::Client;
    let cluster = match context.cluster().await {
        Ok(cluster) if is_rehearsal => cluster.hurried(HURRY),
        Ok(cluster) => cluster,
        Err(_) if is_rehearsal => return Ok(VERSIONS[0]),
        Err(error) => return Err(error),
    };
    let groups = match cluster.groups().await {
        Ok(groups) => groups,
        Err(_) if is_rehearsal => return Ok(VERSIONS[0]),
        Err(failure) => return Err(cluster.explain_any(&failure)),
    };
    let served = groups.iter().find(|(group, _)| group == GROUP);
    let served = served.map(|(_, versions)| versions.as_slice()).unwrap_or_default();
    let best = VERSIONS.into_iter().find(|version| served.iter().any(|one| one == version));
    let Some(best) = best else {
        let what = format!("this cluster serves no resource claims ({GROUP})");
        return Err(Problem::new(number::KIND_NOT_SERVED, Exit::NotFound, what)
            .fix("devices of a plugin: --gpu 2   or   --gpu amd:2")
            .into());
    };
    if !is_rehearsal {
        check_class(class, best, &cluster).await?;
    }
    Ok(best)
}

async fn check_class(class: &str, version: &str, cluster: &Cluster) -> Result<(), Error> {
    let classes =
        Resource::new(&format!("{GROUP}/{version}"), "DeviceClass", "deviceclasses").cluster_wide();
    let call = Call::new("get", &classes).name(class);
    match cluster.get(&call).await {
        Ok(Some(_)) => return Ok(()),
        Ok(None) => {}
        // Not to be allowed to look is no reason to stop.
        Err(failure) if failure.is_forbidden() => return Ok(()),
        Err(failure) => return Err(cluster.explain(&call, &failure)),
    }
    let all = cluster.list(&Call::new("list", &classes), &Select::default()).await;
    let all = all.ok().flatten().unwrap_or_default();
    let names: Vec<&str> = all.iter().map(|one| text(&one["metadata"]["name"])).collect();
    let what = format!("there is no class of devices \"{class}\"");
    let problem = Problem::new(number::GPU, Exit::NotFound, what);
    Err(match names.as_slice() {
        [] => problem.fix("(admin) install the driver that brings it, and its DeviceClass"),
        names => problem.fix(format!("--gpu dra:CLASS with one of {}", clean(&names.join(", ")))),
    }
    .into())
}

/// Refuses a copy whose claims are made from a template that goes with the original.
///
/// # Errors
/// Devices were not asked for again.
pub(super) fn check_copy(object: &Value, name: &str, gpu: Option<&Gpu>) -> Result<(), Problem> {
    let own = template(name);
    let claims_own = |site: &Site| {
        let claims = object.pointer(&format!("{}/resourceClaims", site.spec));
        let claims = claims.and_then(Value::as_array).into_iter().flatten();
        claims.into_iter().any(|claim| text(&claim["resourceClaimTemplateName"]) == own)
    };
    if gpu.is_some() || !sites(object).iter().any(claims_own) {
        return Ok(());
    }
    let what = format!("its claims are made from {own}, which goes with {name}");
    Err(Problem::new(number::MISSING, Exit::Usage, what).fix("ask again: --gpu dra:CLASS:2"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_template_has_the_shape_of_its_version() {
        let request = |version: &str| {
            object(version, "x-gpu", "c", 2)["spec"]["spec"]["devices"]["requests"][0].to_string()
        };
        let fields = r#""deviceClassName":"c","allocationMode":"ExactCount","count":2"#;
        assert_eq!(request("v1"), format!(r#"{{"name":"gpu","exactly":{{{fields}}}}}"#));
        assert_eq!(request("v1beta1"), format!(r#"{{"name":"gpu",{fields}}}"#));
    }

    #[test]
    fn what_was_claimed_before_is_claimed_once() {
        let mut job = json!({"apiVersion": "batch/v1", "kind": "Job", "metadata": {"name": "x"},
            "spec": {"template": {"spec": {"containers": [{"name": "main"}]}}}});
        let site = sites(&job).remove(0);
        for _ in 0..2 {
            clear(&mut job, &site);
            refer(&mut job, &site).expect("it has a place");
        }
        let pod = &job["spec"]["template"]["spec"];
        assert_eq!(
            pod["resourceClaims"],
            json!([{"name": "gpu", "resourceClaimTemplateName": "x-gpu"}])
        );
        assert_eq!(pod["containers"][0]["resources"], json!({"claims": [{"name": "gpu"}]}));
        assert!(check_copy(&job, "x", None).is_err() && check_copy(&job, "y", None).is_ok());
    }
}
