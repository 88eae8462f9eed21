//! What this server leaves out.

/// What the embedded API server does not do, a line each; `kubectl kai sandbox --limits` prints it.
pub const LIMITS: &[&str] = &[
    "pods/exec, attach, portforward, proxy, ephemeralcontainers and resize answer 501",
    "answers are JSON or YAML: an Accept header without them answers 406; bodies may be protobuf, CBOR answers 415",
    "unknown query parameters and field selectors answer 400; kube-apiserver ignores unknown parameters",
    "no admission webhooks, no ValidatingAdmissionPolicy, no conversion webhooks (such a CRD is refused)",
    "no aggregation layer, priority and fairness, audit log, encryption, or storage on disk: all is gone when it stops",
    "ResourceQuota and LimitRange objects are stored and not enforced",
    "bearer tokens are random text, not JWTs, and bound to no audience; client certificates are not accepted",
    "list items carry apiVersion and kind also for built-in kinds",
    "PersistentVolumes are not provisioned, Services get no address, Endpoints are not made",
];
