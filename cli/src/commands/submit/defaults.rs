//! Defaults that the cluster keeps: the queue of a namespace, and the settings that an administrator gives to all.

use serde_json::Value;

use super::check::HURRY;
use crate::cluster::json::text;
use crate::cluster::{Call, Resource};
use crate::context::Context;
use crate::print::output::clean;
use crate::settings::{KEYS, Origin, Settings};

/// The label of a namespace that names the queue of what is submitted in it.
const QUEUE_LABEL: &str = "kai.scheduler/default-queue";
/// Says where an administrator keeps settings for everybody: keys are the settings' names.
const NAMESPACE: &str = "kai-scheduler";
const CONFIG_MAP: &str = "kai-cli-defaults";

/// Puts the cluster's defaults behind the settings of environment and files, and says whom the server takes the user for.
///
/// What cannot be read is left out: not to be allowed to look is no reason to stop, and whatever else is wrong stops the
/// requests that follow.
pub(super) async fn read(context: &mut Context) -> Option<String> {
    let cluster = context.cluster().await.ok()?;
    let cluster = cluster.hurried(HURRY);
    let (namespaces, maps) = (
        Resource::new("v1", "Namespace", "namespaces").cluster_wide(),
        Resource::new("v1", "ConfigMap", "configmaps"),
    );
    let namespace_call = Call::new("get", &namespaces).name(&cluster.namespace);
    let map_call = Call::new("get", &maps).namespace(Some(NAMESPACE)).name(CONFIG_MAP);
    let (namespace, map, user) =
        futures::join!(cluster.get(&namespace_call), cluster.get(&map_call), cluster.me_if_told(),);
    let none = Value::Null;
    let unknown = add(
        &mut context.settings,
        namespace.ok().flatten().as_ref().unwrap_or(&none),
        map.ok().flatten().as_ref().unwrap_or(&none),
    );
    if !unknown.is_empty() {
        context.out.warn(&format!(
            "ConfigMap {NAMESPACE}/{CONFIG_MAP} has settings that this version does not know: {}",
            clean(&unknown.join(", "))
        ));
    }
    user
}

/// Adds the namespace's queue, then what the `ConfigMap` says; the keys that are no settings of a cluster.
fn add(settings: &mut Settings, namespace: &Value, map: &Value) -> Vec<String> {
    let queue = text(&namespace["metadata"]["labels"][QUEUE_LABEL]);
    if !queue.is_empty() {
        let name = text(&namespace["metadata"]["name"]);
        let origin = Origin::Cluster(format!("label {QUEUE_LABEL} of namespace {}", clean(name)));
        settings.add("queue", queue.to_owned(), origin);
    }
    let mut unknown = Vec::new();
    for (key, value) in map["data"].as_object().into_iter().flatten() {
        // Namespace and colour are the user's own business.
        let is_setting = KEYS.iter().any(|known| known.name == key)
            && !matches!(key.as_str(), "namespace" | "color");
        if is_setting {
            let origin = Origin::Cluster(format!("ConfigMap {NAMESPACE}/{CONFIG_MAP}"));
            settings.add(key, text(value).trim().to_owned(), origin);
        } else {
            unknown.push(key.clone());
        }
    }
    unknown
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn the_namespace_goes_before_the_cluster_and_both_after_the_user() {
        let namespace = json!({"metadata": {"name": "ml", "labels": {QUEUE_LABEL: "team-a"}}});
        let map =
            json!({"data": {"queue": "common", "image": "i:1\n", "color": "never", "qeue": "x"}});
        let mut settings = Settings::default();
        assert_eq!(add(&mut settings, &namespace, &map), ["color", "qeue"]);
        let told: Vec<String> = settings
            .all("queue")
            .iter()
            .map(|setting| format!("{} by {}", setting.value, setting.origin))
            .collect();
        let expect = [
            "team-a by label kai.scheduler/default-queue of namespace ml",
            "common by ConfigMap kai-scheduler/kai-cli-defaults",
        ];
        assert_eq!(told, expect);
        assert_eq!(settings.get("image").map(|image| image.value.as_str()), Some("i:1"));
        let env = [("KAI_QUEUE".to_owned(), "mine".to_owned())].into();
        let mut settings = Settings::from_env(&env);
        add(&mut settings, &namespace, &map);
        assert_eq!(settings.get("queue").map(|queue| queue.value.as_str()), Some("mine"));
    }
}
