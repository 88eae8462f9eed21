//! Limits of this server.

/// Limits of the embedded API server, a line each; `kubectl kai sandbox --limits` prints it.
pub const LIMITS: &[&str] = &[
    "pods/proxy and ephemeralcontainers answer 501",
    "pods/exec runs a stand-in for a shell with a few programs, as containers have no processes; others answer 127, not found",
    "pods/attach shows what a container prints and reads nothing; a forwarded port answers HTTP with one page",
    "answers are JSON or YAML: an Accept header without them answers 406; bodies may be protobuf, CBOR answers 415",
    "/openapi/v2 names the kinds without their fields, as protobuf alone; /openapi/v3 holds the first sentence of each description",
    "unknown query parameters answer 400; kube-apiserver ignores them",
    "webhooks are called by clientConfig.url; one that names a Service fails, by name, as its failurePolicy says",
    "no webhook or policy is asked about reviews, tokens and logs, nor about what the server's own controllers delete",
    "policies have no parameters, and the authorizer asks for rights in the whole cluster alone (others are refused); no status, and an Audit goes nowhere",
    "MutatingAdmissionPolicy is not served; conversion webhooks are not implemented (such a CRD is refused)",
    "no aggregation layer, priority and fairness, audit log, encryption, or storage on disk: all is gone when it stops",
    "ResourceQuota and LimitRange objects are stored and not enforced",
    "ServiceAccounts are not mounted into pods, and default tolerations are not added",
    "bearer tokens are random text, not JWTs, and bound to no audience; client certificates are not accepted",
    "documents about the server (discovery, OpenAPI, version, health) are open to every user with a token",
    "of the default ClusterRoles there are cluster-admin and system:basic-user",
    "list items carry apiVersion and kind also for built-in kinds",
    "built-in kinds are checked for types, names, required and immutable fields of pods and workloads, not for all that \
     kube-apiserver validates",
    "duplicate keys in a JSON body are not noticed; the last one counts",
    "a strategic merge patch with a value of the wrong type answers 400; kube-apiserver answers 422",
    "applying a quantity in another form (1000m for 1) is no conflict; in kube-apiserver it is one",
    "a change through scale is owned by the manager of the object, not of the subresource",
    "a resize of a pod is not compared with what its node has; the simulated kubelet says Infeasible",
    "percentages in a PodDisruptionBudget count the pods there are, not the scale of their owner",
    "CronJobs run by UTC: one with another time zone makes no Jobs",
    "PersistentVolumes are not provisioned, Services get no address, Endpoints are not made",
];

#[cfg(test)]
mod tests {
    #[test]
    fn the_document_names_every_limit() {
        let document = include_str!("../../LIMITS.md");
        for limit in super::LIMITS {
            assert!(document.contains(&format!("- {limit}\n")), "LIMITS.md lacks: {limit}");
        }
    }
}
