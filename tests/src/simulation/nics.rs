//! Jobs whose pods have network cards, by resource claims: each pod its own, from a template, or all of a Job one together.

use anyhow::Result;
use k8s_openapi::api::batch::v1::Job;
use kai_sandbox::operators::{NIC_DRIVER, NICS_OF_NODE};
use kai_sim::generate::Seed;
use kube::{
    Api, Client, ResourceExt,
    api::{ApiResource, DynamicObject, PostParams},
    core::GroupVersionKind,
};
use serde_json::{Value, json};

/// Templates by name, each with the number of cards that a claim of it asks for.
const TEMPLATES: &[(&str, u64)] = &[("one-nic", 1), ("two-nics", 2)];
/// One Job in so many has cards: about as many are asked for at a time as there are, where nodes have ten pods each. Of those
/// one in so many has a claim of its own that all of its pods share.
const NICS_IN: u64 = 5;
const TOGETHER_IN: u64 = 3;
/// The name of the entry in pods.
const ENTRY: &str = "nic";

/// Network cards of a Job.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Nics {
    None,
    /// Each pod has so many.
    Each(u64),
    /// All pods have one claim, and so one node.
    Together,
}

/// Makes the templates.
pub(super) async fn prepare(client: &Client) -> Result<()> {
    let templates = objects(client, "ResourceClaimTemplate");
    for (name, count) in TEMPLATES {
        let template = json!({"metadata": {"name": name}, "spec": {"spec": spec(*count)}});
        templates.create(&PostParams::default(), &serde_json::from_value(template)?).await?;
    }
    Ok(())
}

/// Gives the pods of a Job network cards, or not.
pub(super) fn mix(template: &mut Value, job: &Value, draw: &mut Seed) -> Nics {
    if !draw.one_in(NICS_IN) {
        return Nics::None;
    }
    let (entry, nics) = if draw.one_in(TOGETHER_IN) {
        (json!({"name": ENTRY, "resourceClaimName": job}), Nics::Together)
    } else {
        let (name, count) = *draw.pick(TEMPLATES);
        (json!({"name": ENTRY, "resourceClaimTemplateName": name}), Nics::Each(count))
    };
    template["spec"]["resourceClaims"] = json!([entry]);
    // The container may ask for GPUs beside them.
    template["spec"]["containers"][0]["resources"]["claims"] = json!([{"name": ENTRY}]);
    nics
}

/// Makes the claim that the pods of a Job share, where they do: it comes after its pods, and goes with its Job.
pub(super) async fn share(client: &Client, job: &Job) -> Result<()> {
    let pod = job.spec.as_ref().and_then(|spec| spec.template.spec.as_ref());
    let entries = pod.and_then(|pod| pod.resource_claims.as_ref()).into_iter().flatten();
    for claim in entries.filter_map(|entry| entry.resource_claim_name.as_ref()) {
        let owner = json!({"apiVersion": "batch/v1", "kind": "Job", "name": job.name_any(), "uid": job.uid()});
        let object = json!({
            "metadata": {"name": claim, "ownerReferences": [owner]}, "spec": spec(1),
        });
        let claims = objects(client, "ResourceClaim");
        claims.create(&PostParams::default(), &serde_json::from_value(object)?).await?;
    }
    Ok(())
}

/// The number of pods of which a node has room, as far as their network cards say; none: of any number.
pub(super) fn pods_of_node(nics: u64) -> Option<u64> {
    u64::from(NICS_OF_NODE).checked_div(nics)
}

fn spec(count: u64) -> Value {
    json!({"devices": {"requests": [
        {"name": ENTRY, "exactly": {"deviceClassName": NIC_DRIVER, "count": count}},
    ]}})
}

fn objects(client: &Client, kind: &str) -> Api<DynamicObject> {
    let kind = GroupVersionKind::gvk("resource.k8s.io", "v1", kind);
    Api::default_namespaced_with(client.clone(), &ApiResource::from_gvk(&kind))
}
