//! Reads what a request says, and what its pod and the pod's group say to it.
//!
//! Whoever may make requests in a namespace can have written one: no plan found its node, and no queue was asked. A request
//! gives its pod no more than a pod may have that is created with a node, which is what the policy `kai-placed-pods` lets
//! through: whole GPUs or none, on the account of its own group. Requests of KAI that ask for more are not finished in any case.

use kai_api::{
    bind_request::NumaZone,
    names::{annotation, label, value},
};
use serde::{Deserialize, de::IgnoredAny};
use serde_json::json;

use crate::{
    actuate::Bind,
    server::wire::{Meta, OwnedMeta, Text, null_as_default},
    short::is_name,
};

/// Holds what is read of a request. Devices of claims are passed over, however deep their parameters are nested.
#[derive(Deserialize, Default)]
#[serde(rename_all = "camelCase", default)]
pub(crate) struct Request<'a> {
    #[serde(borrow, deserialize_with = "null_as_default")]
    pub(super) metadata: OwnedMeta<'a>,
    #[serde(borrow, deserialize_with = "null_as_default")]
    spec: Spec<'a>,
    #[serde(borrow, deserialize_with = "null_as_default")]
    status: Status<'a>,
}

#[derive(Deserialize, Default)]
#[serde(rename_all = "camelCase", default)]
struct Spec<'a> {
    #[serde(borrow)]
    pod_name: Option<Text<'a>>,
    #[serde(borrow)]
    selected_node: Option<Text<'a>>,
    #[serde(borrow)]
    received_resource_type: Option<Text<'a>>,
    #[serde(rename = "selectedGPUGroups", deserialize_with = "null_as_default")]
    selected_gpu_groups: Vec<IgnoredAny>,
    #[serde(deserialize_with = "null_as_default")]
    resource_claim_allocations: Vec<IgnoredAny>,
    extended_resource_claim_allocation: Option<IgnoredAny>,
    #[serde(rename = "predictedNUMAZones", deserialize_with = "null_as_default")]
    predicted_numa_zones: Vec<NumaZone>,
    backoff_limit: Option<i64>,
}

#[derive(Deserialize, Default)]
#[serde(rename_all = "camelCase", default)]
struct Status<'a> {
    #[serde(borrow)]
    phase: Option<Text<'a>>,
    failed_attempts: Option<i64>,
}

/// Holds what is read of the pod of a request.
#[derive(Deserialize)]
pub(crate) struct Candidate<'a> {
    #[serde(borrow)]
    pub(crate) metadata: Meta<'a>,
    #[serde(borrow, default)]
    spec: CandidateSpec<'a>,
}

#[derive(Deserialize, Default)]
#[serde(rename_all = "camelCase", default)]
struct CandidateSpec<'a> {
    #[serde(borrow)]
    node_name: Text<'a>,
    #[serde(borrow)]
    scheduler_name: Text<'a>,
    #[serde(deserialize_with = "null_as_default")]
    resource_claims: Vec<IgnoredAny>,
}

/// Holds what is read of the group of a pod.
#[derive(Deserialize, Default)]
#[serde(default)]
pub(super) struct Group<'a> {
    #[serde(borrow)]
    spec: GroupSpec<'a>,
}

#[derive(Deserialize, Default)]
#[serde(default)]
struct GroupSpec<'a> {
    #[serde(borrow)]
    queue: Text<'a>,
    #[serde(borrow)]
    preemptibility: Text<'a>,
}

/// Says what is to be done about a request that is not carried out.
#[derive(Debug)]
pub(crate) enum Fate {
    /// It goes with its pod.
    Leave,
    /// Nobody will carry it out.
    GiveUp(&'static str),
}

/// Holds a bind that was begun, as its request alone says it.
#[derive(Debug)]
pub(crate) struct Begun {
    /// Without the pod's UID, and on no account.
    pub(crate) bind: Bind,
    /// UIDs of the request's owners.
    owners: Vec<Box<str>>,
}

/// Works out what a request says by itself: the bind that it asks for, or what else is to become of it.
pub(crate) fn begun(request: &Request<'_>) -> Result<Begun, Fate> {
    if request.metadata.deletion_timestamp.is_some() || phase(request) == "Succeeded" {
        return Err(Fate::Leave);
    }
    if has_failed(request) {
        return Err(Fate::GiveUp("it failed"));
    }
    let bind = bind_of(request)
        .ok_or(Fate::GiveUp("it is incomplete, or asks for resource claims or a share of a GPU"))?;
    let owners = request.metadata.owner_references.iter();
    Ok(Begun { bind, owners: owners.map(|owner| Box::from(&*owner.uid)).collect() })
}

/// Says what becomes of a request that cannot be carried out for this pod; none where it can. `scheduler` is the name by
/// which pods ask for this scheduler.
pub(crate) fn objection(begun: &Begun, pod: &Candidate<'_>, scheduler: &str) -> Option<Fate> {
    if *pod.spec.scheduler_name != *scheduler {
        // Whoever serves that name settles it.
        return Some(Fate::Leave);
    }
    let uid = &*pod.metadata.uid;
    if !begun.owners.is_empty() && !begun.owners.iter().any(|owner| **owner == *uid) {
        return Some(Fate::GiveUp("its pod was replaced by another"));
    }
    if !pod.spec.node_name.is_empty() {
        return Some(Fate::GiveUp("its pod has a node"));
    }
    pod.has_more_than(&begun.bind).then_some(Fate::GiveUp(
        "its pod asks for a share of a GPU or resource claims, or says itself what it was given",
    ))
}

impl Candidate<'_> {
    /// Returns the name of its group; none where no group can be called so.
    pub(super) fn group(&self) -> Option<&str> {
        self.metadata.annotations.value(annotation::POD_GROUP).filter(|name| is_name(name))
    }

    /// Tells whether it would have more than whole GPUs once it has a node. What names GPUs and zones on a pod without a node
    /// was written by its user, or for a bind that KAI would not have asked for like this; such a bind writes over zones where
    /// it has some.
    fn has_more_than(&self, bind: &Bind) -> bool {
        let Meta { labels, annotations, .. } = &self.metadata;
        let is_annotated =
            |keys: [&str; 2]| keys.into_iter().any(|key| annotations.value(key).is_some());
        let is_of_gpu =
            |key: &str| key == label::GPU_GROUP || key.starts_with(label::GPU_GROUP_PREFIX);
        !self.spec.resource_claims.is_empty()
            || is_annotated([annotation::GPU_FRACTION, annotation::GPU_MEMORY])
            || labels.iter().any(|(key, _)| is_of_gpu(key))
            || (bind.zones.is_none()
                && is_annotated([annotation::NUMA_OBSERVED, annotation::NUMA_PREDICTED]))
    }
}

impl Group<'_> {
    /// Puts a bind on the account of the group's queue, whatever is written on the pod.
    pub(super) fn charge(&self, bind: Bind) -> Result<Bind, Fate> {
        let queue = Some(&*self.spec.queue).filter(|queue| is_name(queue));
        let queue = queue.ok_or(Fate::GiveUp("the PodGroup of its pod names no queue"))?;
        let is_preemptible = *self.spec.preemptibility == *value::PREEMPTIBLE;
        Ok(Bind { queue: Some(Box::from(queue)), is_preemptible, ..bind })
    }
}

fn phase<'r>(request: &'r Request<'_>) -> &'r str {
    request.status.phase.as_deref().unwrap_or_default()
}

/// Source: docs/contract.md 4.1.
fn has_failed(request: &Request<'_>) -> bool {
    let attempts = request.status.failed_attempts.unwrap_or(0);
    phase(request) == "Failed" && request.spec.backoff_limit.is_none_or(|limit| attempts >= limit)
}

/// Takes a name, where it is one. Where a user may make requests, a path or parameters may stand there, and a read of a pod with
/// `?watch=1` lasts until it is given up, before anything is decided.
fn named(text: &str) -> Option<Box<str>> {
    is_name(text).then(|| Box::from(text))
}

/// The bind that a request asks for; none where a part is missing, or where claims would have to be allocated with it.
fn bind_of(request: &Request<'_>) -> Option<Bind> {
    let spec = &request.spec;
    let received = [value::RECEIVED_REGULAR, value::RECEIVED_FRACTION, value::RECEIVED_MIG]
        .into_iter()
        .find(|known| spec.received_resource_type.as_deref() == Some(known))?;
    let has_claims = !spec.resource_claim_allocations.is_empty()
        || spec.extended_resource_claim_allocation.is_some();
    let has_share = received == value::RECEIVED_FRACTION || !spec.selected_gpu_groups.is_empty();
    // A share of a GPU needs a reservation pod and config maps: the pod is placed anew, and what was begun is taken away.
    if has_claims || has_share {
        return None;
    }
    let namespace = named(&request.metadata.namespace)?;
    let name = named(spec.pod_name.as_deref()?)?;
    let node = named(spec.selected_node.as_deref()?)?;
    let zones = (!spec.predicted_numa_zones.is_empty())
        .then(|| json!(spec.predicted_numa_zones).to_string());
    Some(Bind { received, zones, ..Bind::without_grants(namespace, name, node) })
}

#[cfg(test)]
mod tests {
    use serde_json::Value;

    use super::*;

    /// Has something done with the request that this YAML is.
    fn read<T>(yaml: &str, then: impl FnOnce(&Request<'_>) -> T) -> T {
        let value: Value = serde_saphyr::from_str(yaml).expect("it is YAML");
        let json = value.to_string();
        then(&serde_json::from_str(&json).expect("a BindRequest"))
    }

    /// Compares what is known without the pod: the bind, or why there is none.
    fn check(yaml: &str, expect: &str) {
        let text = read(yaml, |request| match (has_failed(request), bind_of(request)) {
            (true, _) => String::from("failed"),
            (false, None) => String::from("incomplete"),
            (false, Some(bind)) => format!(
                "{}/{} to {} {}{}",
                bind.namespace,
                bind.name,
                bind.node,
                bind.received,
                bind.zones.map_or_else(String::new, |zones| format!(" zones={zones}")),
            ),
        });
        assert_eq!(text, expect, "{yaml}");
    }

    #[test]
    fn a_request_is_finished_as_it_was_meant() {
        let request = |spec: &str, status: &str| {
            format!(
                "{{metadata: {{name: p, namespace: ns}}, spec: {{{spec}}}, status: {{{status}}}}}"
            )
        };
        let whole = "podName: p, selectedNode: n1, receivedResourceType: Regular";
        check(&request(whole, ""), "ns/p to n1 Regular");
        check(
            &request(
                &format!("{whole}, predictedNUMAZones: [{{zone: node-0, amount: {{cpu: 4}}}}]"),
                "",
            ),
            r#"ns/p to n1 Regular zones=[{"zone":"node-0","amount":{"cpu":"4"}}]"#,
        );
        check(&request(whole, "phase: Failed, failedAttempts: 1"), "failed");
        let retried = format!("{whole}, backoffLimit: 3");
        check(&request(&retried, "phase: Failed, failedAttempts: 1"), "ns/p to n1 Regular");
        check(&request(&retried, "phase: Failed, failedAttempts: 3"), "failed");
        let part = "podName: p, selectedNode: n1, receivedResourceType: Fraction";
        check(&request(part, ""), "incomplete");
        check(&request(&format!("{part}, selectedGPUGroups: [g]"), ""), "incomplete");
        check(&request(&format!("{whole}, selectedGPUGroups: [g]"), ""), "incomplete");
        check(
            &request(&format!("{whole}, resourceClaimAllocations: [{{name: c}}]"), ""),
            "incomplete",
        );
        check(
            &request(&format!("{whole}, extendedResourceClaimAllocation: {{}}"), ""),
            "incomplete",
        );
        check(&request("podName: p", ""), "incomplete");
        for wrong in ["p?watch=1", "../../kube-system/pods/p", "", "P"] {
            let spec = |pod: &str, node: &str| {
                format!("podName: '{pod}', selectedNode: '{node}', receivedResourceType: Regular")
            };
            check(&request(&spec(wrong, "n1"), ""), "incomplete");
            check(&request(&spec("p", wrong), ""), "incomplete");
        }
    }

    /// A request that is deleted was taken back, although a finalizer keeps it for a while.
    #[test]
    fn a_request_that_goes_or_is_done_is_left_alone() {
        for (meta, status, is_left) in [
            ("labels: {}", "", false),
            ("deletionTimestamp: '2026-01-01T00:00:00Z', finalizers: [example.com/keep]", "", true),
            ("labels: {}", "phase: Succeeded", true),
        ] {
            let yaml = format!(
                "{{metadata: {{name: p, namespace: ns, {meta}}}, status: {{{status}}}, \
                 spec: {{podName: p, selectedNode: n1, receivedResourceType: Regular}}}}"
            );
            let found = read(&yaml, |request| matches!(begun(request), Err(Fate::Leave)));
            assert_eq!(found, is_left, "{yaml}");
        }
    }

    /// Gives what becomes of a request with these further fields for a pod with these.
    fn objected(spec: &str, pod: &str) -> &'static str {
        let request = format!(
            "{{metadata: {{name: p, namespace: ns, ownerReferences: [{{uid: u}}]}}, \
             spec: {{podName: p, selectedNode: n1, receivedResourceType: Regular{spec}}}}}"
        );
        let begun = read(&request, begun).expect("it was begun");
        let pod: Value = serde_saphyr::from_str(pod).expect("it is YAML");
        let pod = pod.to_string();
        let pod: Candidate<'_> = serde_json::from_str(&pod).expect("a Pod");
        match objection(&begun, &pod, "kai-scheduler") {
            None => "finished",
            Some(Fate::Leave) => "left",
            Some(Fate::GiveUp(reason)) => reason,
        }
    }

    /// A user who may make requests gives his pods nothing by them that admission refuses on pods with a node.
    #[test]
    fn a_bind_gives_no_more_than_a_pod_with_a_node_may_have() {
        const MORE: &str = "its pod asks for a share of a GPU or resource claims, or says itself \
                            what it was given";
        let pod = |meta: &str, spec: &str| {
            format!(
                "{{metadata: {{uid: u, {meta}}}, spec: {{schedulerName: kai-scheduler{spec}}}}}"
            )
        };
        let annotated = |key: &str| pod(&format!("annotations: {{{key}: '1'}}"), "");
        let labelled = |key: &str| pod(&format!("labels: {{{key}: g}}"), "");
        for (text, expect) in [
            (pod("labels: {app: a}, annotations: {pod-group-name: g}", ""), "finished"),
            (pod("", ", resourceClaims: []"), "finished"),
            (pod("", ", nodeName: n2"), "its pod has a node"),
            ("{metadata: {uid: v}, spec: {schedulerName: other}}".into(), "left"),
            ("{metadata: {uid: u}, spec: {}}".into(), "left"),
            (
                "{metadata: {uid: v}, spec: {schedulerName: kai-scheduler}}".into(),
                "its pod was replaced by another",
            ),
            (labelled("runai-gpu-group"), MORE),
            (labelled("runai-gpu-group/g"), MORE),
            (annotated("gpu-fraction"), MORE),
            (annotated("gpu-memory"), MORE),
            (pod("", ", resourceClaims: [{name: c}]"), MORE),
            (annotated("kai.scheduler/numa-placement-observed"), MORE),
            (annotated("kai.scheduler/numa-placement-predicted"), MORE),
        ] {
            assert_eq!(objected("", &text), expect, "{text}");
        }
        let zones = ", predictedNUMAZones: [{zone: node-0, amount: {cpu: 4}}]";
        for key in
            ["kai.scheduler/numa-placement-observed", "kai.scheduler/numa-placement-predicted"]
        {
            assert_eq!(objected(zones, &annotated(key)), "finished", "{key} is written over");
        }
    }
}
