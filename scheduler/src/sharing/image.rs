//! The image of reservation pods: where no other is named it is that of the scheduler, which holds their program too.

use kai_api::names::{env, label};
use kube::Client;
use serde_json::Value;

use crate::server::call::read;

/// The image that this process runs from, where it runs in a pod that it may read. The pod is named by `POD_NAME` and
/// `POD_NAMESPACE` (downward API); without them it is the host's name in `namespace`, which is right but on the host's
/// network.
pub(crate) async fn own_image(client: &Client, namespace: &str) -> Option<Box<str>> {
    let variable = |name| std::env::var(name).ok().filter(|text: &String| !text.is_empty());
    let name = variable(env::POD_NAME).or_else(|| hostname::get().ok()?.into_string().ok())?;
    let namespace = variable(env::POD_NAMESPACE).unwrap_or_else(|| namespace.to_owned());
    let path = format!("/api/v1/namespaces/{namespace}/pods/{name}");
    match read(client, &path).await {
        Ok(bytes) => scheduler_image(&serde_json::from_slice(&bytes).ok()?),
        Err(failure) => {
            tracing::warn!(
                %failure,
                "failed to read the own pod {namespace}/{name}: GPUs cannot be shared unless \
                 --resource-reservation-pod-image names the image of reservation pods"
            );
            None
        }
    }
}

/// The image of the container that is named as its Deployment is, which the pod carries as its label `app`; an injected
/// sidecar may come first.
fn scheduler_image(pod: &Value) -> Option<Box<str>> {
    let app = &pod["metadata"]["labels"][label::APP];
    let containers = pod["spec"]["containers"].as_array()?;
    let own = containers.iter().find(|container| app.is_string() && container["name"] == *app);
    own.or(containers.first())?["image"].as_str().map(Box::from)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn the_scheduler_is_found_beside_sidecars() {
        let pod = |app: &Value| {
            json!({"metadata": {"labels": {"app": app}}, "spec": {"containers": [
                {"name": "istio-proxy", "image": "proxy"}, {"name": "kai-scheduler-a", "image": "ours"}]}})
        };
        let check = |pod: &Value, expect: Option<&str>| {
            assert_eq!(scheduler_image(pod).as_deref(), expect, "{pod}");
        };
        check(&pod(&json!("kai-scheduler-a")), Some("ours"));
        check(&pod(&json!("other")), Some("proxy"));
        check(&pod(&json!(null)), Some("proxy"));
        check(&json!({}), None);
    }

    #[test]
    fn the_installed_pod_says_its_name() {
        let file = concat!(env!("CARGO_MANIFEST_DIR"), "/../deploy/scheduler.yaml");
        let text = std::fs::read_to_string(file).expect("it is there");
        let first = text.split("\n---").next().unwrap_or_default();
        let deployment: Value = serde_saphyr::from_str(first).expect("it is YAML");
        let template = &deployment["spec"]["template"];
        let container = &template["spec"]["containers"][0];
        assert_eq!(container["name"], template["metadata"]["labels"]["app"]);
        let names: Vec<_> = container["env"].as_array().into_iter().flatten().collect();
        let names: Vec<_> = names.iter().filter_map(|one| one["name"].as_str()).collect();
        assert_eq!(names, [env::POD_NAMESPACE, env::POD_NAME]);
    }
}
