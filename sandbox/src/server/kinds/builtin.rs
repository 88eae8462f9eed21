//! The built-in resources, one row each.

use std::sync::Arc;

use super::{Kind, Scale, Version};
use crate::server::schema::{Compiled, definitions};
use crate::server::store::TableId;

/// Names and optional parts of a built-in resource.
#[derive(Clone, Copy)]
struct Row {
    group: &'static str,
    versions: &'static [&'static str],
    plural: &'static str,
    kind: &'static str,
    short: &'static str,
    /// Letters: `n` namespaced, `g` generation, `s` status, `c` scale, `a` category all, `r` review (create only).
    has: &'static str,
}

const fn row(
    group: &'static str,
    versions: &'static [&'static str],
    plural: &'static str,
    kind: &'static str,
) -> Row {
    Row { group, versions, plural, kind, short: "", has: "" }
}

impl Row {
    const fn with(self, short: &'static str, has: &'static str) -> Self {
        Self { short, has, ..self }
    }
}

const V1: &[&str] = &["v1"];
const ADMISSION: &str = "admissionregistration.k8s.io";
const AUTHENTICATION: &str = "authentication.k8s.io";
const AUTHORIZATION: &str = "authorization.k8s.io";
const RBAC: &str = "rbac.authorization.k8s.io";
const DRA: &str = "resource.k8s.io";

const ROWS: &[Row] = &[
    row("", V1, "namespaces", "Namespace").with("ns", "s"),
    row("", V1, "nodes", "Node").with("no", "s"),
    row("", V1, "pods", "Pod").with("po", "ngsa"),
    row("", V1, "persistentvolumes", "PersistentVolume").with("pv", "s"),
    row("", V1, "persistentvolumeclaims", "PersistentVolumeClaim").with("pvc", "ns"),
    row("", V1, "configmaps", "ConfigMap").with("cm", "n"),
    row("", V1, "secrets", "Secret").with("", "n"),
    row("", V1, "serviceaccounts", "ServiceAccount").with("sa", "n"),
    row("", V1, "events", "Event").with("ev", "n"),
    row("", V1, "services", "Service").with("svc", "nsa"),
    row("", V1, "endpoints", "Endpoints").with("ep", "n"),
    row("", V1, "replicationcontrollers", "ReplicationController").with("rc", "ngsca"),
    row("", V1, "resourcequotas", "ResourceQuota").with("quota", "ns"),
    row("", V1, "limitranges", "LimitRange").with("limits", "n"),
    row("", V1, "podtemplates", "PodTemplate").with("", "ng"),
    row("events.k8s.io", V1, "events", "Event").with("ev", "n"),
    row("apps", V1, "deployments", "Deployment").with("deploy", "ngsca"),
    row("apps", V1, "replicasets", "ReplicaSet").with("rs", "ngsca"),
    row("apps", V1, "statefulsets", "StatefulSet").with("sts", "ngsca"),
    row("apps", V1, "daemonsets", "DaemonSet").with("ds", "ngsa"),
    row("apps", V1, "controllerrevisions", "ControllerRevision").with("", "n"),
    row("batch", V1, "jobs", "Job").with("", "ngsa"),
    row("batch", V1, "cronjobs", "CronJob").with("cj", "ngsa"),
    row("autoscaling", &["v2"], "horizontalpodautoscalers", "HorizontalPodAutoscaler")
        .with("hpa", "nsa"),
    row("policy", V1, "poddisruptionbudgets", "PodDisruptionBudget").with("pdb", "ngs"),
    row("scheduling.k8s.io", V1, "priorityclasses", "PriorityClass").with("pc", "g"),
    row("storage.k8s.io", V1, "storageclasses", "StorageClass").with("sc", ""),
    row("storage.k8s.io", V1, "csinodes", "CSINode").with("", ""),
    row("storage.k8s.io", V1, "csidrivers", "CSIDriver").with("", "g"),
    row("storage.k8s.io", V1, "csistoragecapacities", "CSIStorageCapacity").with("", "n"),
    row("storage.k8s.io", V1, "volumeattachments", "VolumeAttachment").with("", "gs"),
    row("node.k8s.io", V1, "runtimeclasses", "RuntimeClass").with("", ""),
    row("coordination.k8s.io", V1, "leases", "Lease").with("", "n"),
    row("discovery.k8s.io", V1, "endpointslices", "EndpointSlice").with("", "ng"),
    row("networking.k8s.io", V1, "ingresses", "Ingress").with("ing", "ngs"),
    row("networking.k8s.io", V1, "networkpolicies", "NetworkPolicy").with("netpol", "ng"),
    row(RBAC, V1, "roles", "Role").with("", "n"),
    row(RBAC, V1, "rolebindings", "RoleBinding").with("", "n"),
    row(RBAC, V1, "clusterroles", "ClusterRole").with("", ""),
    row(RBAC, V1, "clusterrolebindings", "ClusterRoleBinding").with("", ""),
    row(DRA, V1, "deviceclasses", "DeviceClass").with("", "g"),
    row(DRA, V1, "resourceclaims", "ResourceClaim").with("", "ns"),
    row(DRA, V1, "resourceclaimtemplates", "ResourceClaimTemplate").with("", "n"),
    row(DRA, V1, "resourceslices", "ResourceSlice").with("", "g"),
    row("apiextensions.k8s.io", V1, "customresourcedefinitions", "CustomResourceDefinition")
        .with("crd crds", "gs"),
    row(ADMISSION, V1, "mutatingwebhookconfigurations", "MutatingWebhookConfiguration")
        .with("", "g"),
    row(ADMISSION, V1, "validatingwebhookconfigurations", "ValidatingWebhookConfiguration")
        .with("", "g"),
    row(ADMISSION, V1, "validatingadmissionpolicies", "ValidatingAdmissionPolicy").with("", "gs"),
    row(ADMISSION, V1, "validatingadmissionpolicybindings", "ValidatingAdmissionPolicyBinding")
        .with("", "g"),
    row(AUTHENTICATION, V1, "tokenreviews", "TokenReview").with("", "r"),
    row(AUTHENTICATION, V1, "selfsubjectreviews", "SelfSubjectReview").with("", "r"),
    row(AUTHORIZATION, V1, "subjectaccessreviews", "SubjectAccessReview").with("", "r"),
    row(AUTHORIZATION, V1, "selfsubjectaccessreviews", "SelfSubjectAccessReview").with("", "r"),
    row(AUTHORIZATION, V1, "localsubjectaccessreviews", "LocalSubjectAccessReview").with("", "nr"),
    row(AUTHORIZATION, V1, "selfsubjectrulesreviews", "SelfSubjectRulesReview").with("", "r"),
];

/// All built-in resources.
pub(super) fn kinds() -> impl Iterator<Item = Kind> {
    ROWS.iter().map(kind)
}

fn kind(row: &Row) -> Kind {
    let has = |letter: char| row.has.contains(letter);
    let scale = has('c').then(|| Scale {
        spec_replicas: "/spec/replicas".to_owned(),
        status_replicas: "/status/replicas".to_owned(),
        selector: Some("/spec/selector".to_owned()),
    });
    let versions = row.versions.iter().map(|name| Version {
        name: (*name).to_owned(),
        status: has('s'),
        scale: scale.clone(),
        schema: definitions::of_kind(row.group, name, row.kind)
            .map(|definition| Arc::new(Compiled::builtin(definition.name))),
        columns: Vec::new(),
        selectable_fields: Vec::new(),
        warning: None,
    });
    // Events are the same objects in both groups.
    let table_group = if row.group == "events.k8s.io" { "" } else { row.group };
    Kind {
        group: row.group.to_owned(),
        plural: row.plural.to_owned(),
        singular: row.kind.to_lowercase(),
        kind: row.kind.to_owned(),
        list_kind: format!("{}List", row.kind),
        short_names: row.short.split_whitespace().map(str::to_owned).collect(),
        categories: if has('a') { vec!["all".to_owned()] } else { Vec::new() },
        namespaced: has('n'),
        generation: has('g'),
        stored: !has('r'),
        versions: versions.collect(),
        storage_version: row.versions[0].to_owned(),
        custom: false,
        table: TableId::new(table_group, row.plural),
    }
}
