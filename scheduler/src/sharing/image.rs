//! The image of reservation pods: where no other is named it is that of the scheduler, which holds their program too.

use kai_api::names::{env, label};
use kai_daemon::backoff;
use kube::Client;
use serde_json::Value;
use tokio::time::sleep;
use tokio_util::sync::CancellationToken;

use crate::server::call::read;

/// The image that this process runs from, where it runs in a pod that it may read. The pod is named by `POD_NAME` and
/// `POD_NAMESPACE` (downward API); without them it is the host's name in `namespace`, which is right but on the host's
/// network. It is asked until there is an answer, or `stop`: one failure must not keep GPUs from being shared.
pub(crate) async fn own_image(
    client: &Client,
    namespace: &str,
    stop: &CancellationToken,
) -> Option<Box<str>> {
    let variable = |name| std::env::var(name).ok().filter(|text: &String| !text.is_empty());
    let name = variable(env::POD_NAME).or_else(|| hostname::get().ok()?.into_string().ok())?;
    let namespace = variable(env::POD_NAMESPACE).unwrap_or_else(|| namespace.to_owned());
    let path = format!("/api/v1/namespaces/{namespace}/pods/{name}");
    let mut failures = 0;
    loop {
        let failure = match stop.run_until_cancelled(read(client, &path)).await? {
            Ok(bytes) => return scheduler_image(&serde_json::from_slice(&bytes).ok()?),
            Err(failure) => failure,
        };
        if !failure.is_no_answer() {
            tracing::warn!(
                %failure,
                "failed to read the own pod {namespace}/{name}: GPUs cannot be shared unless \
                 --resource-reservation-pod-image names the image of reservation pods"
            );
            return None;
        }
        failures += 1;
        stop.run_until_cancelled(sleep(backoff(failures))).await?;
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
    use std::{
        convert::Infallible,
        sync::atomic::{AtomicUsize, Ordering},
    };

    use http::{Request, Response};
    use kube::client::Body;
    use serde_json::json;

    use super::*;

    /// Compares the image that is found at a server that answers with these codes in turn.
    async fn check_answers(codes: &'static [u16], expect: Option<&str>) {
        let asked = AtomicUsize::new(0);
        let server = tower::service_fn(move |_: Request<Body>| {
            let code = codes[asked.fetch_add(1, Ordering::Relaxed)];
            let pod = json!({"spec": {"containers": [{"name": "c", "image": "ours"}]}});
            let body = Body::from(pod.to_string().into_bytes());
            let answer = Response::builder().status(code).body(body).expect("it is a response");
            std::future::ready(Ok::<_, Infallible>(answer))
        });
        let client = Client::new(server, "default");
        let image = own_image(&client, "kai-scheduler", &CancellationToken::new()).await;
        assert_eq!(image.as_deref(), expect, "{codes:?}");
    }

    #[tokio::test(start_paused = true)]
    async fn a_failure_is_no_answer() {
        check_answers(&[500, 429, 200], Some("ours")).await;
        check_answers(&[403], None).await;
        check_answers(&[503, 404], None).await;
    }

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
