//! What this server leaves out.

/// What the embedded API server does not do, a line each; `kubectl kai sandbox --limits` prints it.
pub const LIMITS: &[&str] = &[
    "pods/exec, attach, portforward, proxy, ephemeralcontainers and resize answer 501",
    "JSON and YAML only: protobuf and CBOR bodies answer 415, an Accept header without JSON 406",
    "unknown query parameters and field selectors answer 400; kube-apiserver ignores unknown parameters",
    "no admission webhooks, no ValidatingAdmissionPolicy, no conversion webhooks (such a CRD is refused)",
    "no aggregation layer, priority and fairness, audit log, encryption, or storage on disk: all is gone when it stops",
    "ResourceQuota and LimitRange objects are stored and not enforced",
    "bearer tokens are random text, not JWTs, and bound to no audience; client certificates are not accepted",
    "list items carry apiVersion and kind also for built-in kinds",
    "PersistentVolumes are not provisioned, Services get no address, Endpoints are not made",
];
