//! Deeds of a cluster's own controllers that only the server can see whole: owner references, namespaces, accounts.
//!
//! They are driven by the feed of writes, one after another, so that their work is in the order of the writes.

mod budgets;
mod garbage;
mod namespaces;

use std::sync::Arc;

use serde_json::{Value, json};
use tokio::sync::mpsc::UnboundedReceiver;
use tokio_util::sync::CancellationToken;

use super::api::Api;
use super::fields::Intent;
use super::params::Params;
use super::refusal::ApiResult;
use super::route::Target;
use super::state::State;
use super::store::Written;
use super::write::insert;

/// Works off the feed of writes until cancelled.
pub(super) async fn run(
    api: Arc<Api>,
    mut feed: UnboundedReceiver<Written>,
    stop: CancellationToken,
) {
    loop {
        let written = tokio::select! {
            biased;
            () = stop.cancelled() => return,
            written = feed.recv() => written,
        };
        let Some(written) = written else { return };
        garbage::written(&api, &written);
        namespaces::written(&api, &written);
        budgets::written(&api, &written);
    }
}

impl Api {
    /// Makes what every fresh cluster has.
    pub(crate) fn create_first_objects(&self) {
        let mut state = self.write();
        for name in ["default", "kube-system", "kube-public", "kube-node-lease"] {
            make(&mut state, "", "namespaces", "", json!({ "metadata": { "name": name } }));
        }
        first_roles(&mut state);
        for (name, value) in
            [("system-cluster-critical", 2_000_000_000), ("system-node-critical", 2_000_001_000)]
        {
            let class = json!({ "metadata": { "name": name }, "value": value });
            make(&mut state, "scheduling.k8s.io", "priorityclasses", "", class);
        }
    }
}

/// The roles of a fresh cluster that users and tests meet.
fn first_roles(state: &mut State) {
    const GROUP: &str = "rbac.authorization.k8s.io";
    let reviews = json!(["selfsubjectaccessreviews", "selfsubjectrulesreviews"]);
    let roles = [
        (
            "cluster-admin",
            "system:masters",
            json!([{ "verbs": ["*"], "apiGroups": ["*"], "resources": ["*"] }]),
        ),
        (
            "system:basic-user",
            "system:authenticated",
            json!([
                { "verbs": ["create"], "apiGroups": ["authorization.k8s.io"], "resources": reviews },
                {
                    "verbs": ["create"],
                    "apiGroups": ["authentication.k8s.io"],
                    "resources": ["selfsubjectreviews"],
                },
            ]),
        ),
    ];
    for (name, group, rules) in roles {
        let role = json!({ "metadata": { "name": name }, "rules": rules });
        make(state, GROUP, "clusterroles", "", role);
        let binding = json!({
            "metadata": { "name": name },
            "roleRef": { "apiGroup": GROUP, "kind": "ClusterRole", "name": name },
            "subjects": [{ "apiGroup": GROUP, "kind": "Group", "name": group }],
        });
        make(state, GROUP, "clusterrolebindings", "", binding);
    }
}

/// Creates an object in the server's own name; one that exists is left alone.
fn make(state: &mut State, group: &str, plural: &str, namespace: &str, value: Value) {
    let refused = try_make(state, group, plural, namespace, value).err();
    if let Some(refusal) = refused.filter(|refusal| refusal.reason() != "AlreadyExists") {
        tracing::warn!(
            plural,
            namespace,
            message = refusal.message(),
            "failed to create an object"
        );
    }
}

fn try_make(
    state: &mut State,
    group: &str,
    plural: &str,
    namespace: &str,
    mut value: Value,
) -> ApiResult<()> {
    let kind = Arc::clone(state.kinds.find(group, plural).expect("a built-in resource"));
    let version = kind.storage_version.clone();
    value["apiVersion"] = json!(kind.api_version(&version));
    value["kind"] = json!(kind.kind);
    let target = Target {
        kind,
        version,
        namespace: namespace.to_owned(),
        name: String::new(),
        subresource: String::new(),
    };
    let params = Params::default();
    let mut intent = Intent {
        params: &params,
        manager: "kai-sandbox".to_owned(),
        warnings: Vec::new(),
        is_patch: false,
        applied: None,
    };
    insert(state, &target, value, &mut intent)?;
    Ok(())
}
