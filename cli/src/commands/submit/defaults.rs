//! Defaults that the cluster keeps: the queue of a namespace, and the settings that an administrator gives to all.

use kai_api::names::{CONFIG_NAME, namespace};
use serde_json::Value;

use super::check::HURRY;
use crate::cluster::json::text;
use crate::cluster::{Call, Resource, home};
use crate::context::Context;
use crate::print::output::clean;
use crate::settings::{KEYS, Origin, Settings};

/// The label of a namespace that names the queue of what is submitted in it.
const QUEUE_LABEL: &str = "kai.scheduler/default-queue";
/// Names where an administrator keeps settings for everybody, in the namespace of the scheduler: keys are their names.
const CONFIG_MAP: &str = "kai-cli-defaults";

/// Puts the cluster's defaults behind the settings of environment and files, and says whom the server takes the user for.
///
/// What cannot be read is left out: not to be allowed to look is no reason to stop, and whatever else is wrong stops the
/// requests that follow.
pub(super) async fn read(context: &mut Context) -> Option<String> {
    let cluster = context.cluster().await.ok()?;
    let cluster = cluster.hurried(HURRY);
    let namespaces = Resource::new("v1", "Namespace", "namespaces").cluster_wide();
    let maps = Resource::new("v1", "ConfigMap", "configmaps");
    let configs = home::configs();
    let namespace_call = Call::new("get", &namespaces).name(&cluster.namespace);
    let config_call = Call::new("get", &configs).name(CONFIG_NAME);
    let map_in = |home| Call::new("get", &maps).namespace(Some(home)).name(CONFIG_MAP);
    let usual = map_in(namespace::SYSTEM);
    let (namespace, config, map, user) = futures::join!(
        cluster.get(&namespace_call),
        cluster.get(&config_call),
        cluster.get(&usual),
        cluster.me_if_told(),
    );
    let is_told = config.is_ok();
    let home = Home::new(config.ok().flatten().as_ref(), is_told);
    let map = if home.namespace == namespace::SYSTEM {
        map
    } else {
        cluster.get(&map_in(&home.namespace)).await
    };
    let none = Value::Null;
    let namespace = namespace.ok().flatten();
    let map = map.ok().flatten();
    let left = add(
        &mut context.settings,
        namespace.as_ref().unwrap_or(&none),
        map.as_ref().unwrap_or(&none),
        &home,
    );
    if !left.unknown.is_empty() {
        context.out.warn(&format!(
            "{} has settings that this version does not know: {}",
            home.map(),
            clean(&left.unknown.join(", "))
        ));
    }
    if left.image {
        context.out.warn(&format!(
            "the image of {} is not taken: config {CONFIG_NAME} says whether it is the administrator's, and you may not read it (the role kai-viewer lets you)",
            home.map()
        ));
    }
    user
}

/// Says where the scheduler lives: a namespace of its usual name is anybody's where it lives elsewhere.
struct Home {
    namespace: String,
    /// Tells whether the cluster said so.
    is_told: bool,
}

impl Home {
    /// Reads kai-config; what is not there leaves the usual place, and so does what cannot be read.
    fn new(config: Option<&Value>, is_told: bool) -> Self {
        Self { namespace: home::named(config).to_owned(), is_told }
    }

    fn map(&self) -> String {
        format!("ConfigMap {}/{CONFIG_MAP}", clean(&self.namespace))
    }
}

/// Holds what a config map says and is not taken.
#[derive(Debug, Default, PartialEq, Eq)]
struct Left {
    unknown: Vec<String>,
    /// An image that somebody else than an administrator may have named, where the user names none.
    image: bool,
}

/// Adds the namespace's queue, then what the `ConfigMap` says but for keys that are no settings of a cluster.
fn add(settings: &mut Settings, namespace: &Value, map: &Value, home: &Home) -> Left {
    let queue = text(&namespace["metadata"]["labels"][QUEUE_LABEL]);
    if !queue.is_empty() {
        let name = text(&namespace["metadata"]["name"]);
        let origin = Origin::Cluster(format!("label {QUEUE_LABEL} of namespace {}", clean(name)));
        settings.add("queue", queue.to_owned(), origin);
    }
    let mut left = Left::default();
    for (key, value) in map["data"].as_object().into_iter().flatten() {
        // Namespace and colour are the user's own business.
        let is_setting = KEYS.iter().any(|known| known.name == key)
            && !matches!(key.as_str(), "namespace" | "color");
        if !is_setting {
            left.unknown.push(key.clone());
        } else if key == "image" && !home.is_told {
            left.image = settings.get(key).is_none();
        } else {
            settings.add(key, text(value).trim().to_owned(), Origin::Cluster(home.map()));
        }
    }
    left
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
        let home = Home::new(None, true);
        let mut settings = Settings::default();
        let left = add(&mut settings, &namespace, &map, &home);
        assert_eq!(left, Left { unknown: vec!["color".into(), "qeue".into()], image: false });
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
        add(&mut settings, &namespace, &map, &home);
        assert_eq!(settings.get("queue").map(|queue| queue.value.as_str()), Some("mine"));
    }

    /// Whoever may make namespaces gave everybody an image where the scheduler lives elsewhere.
    #[test]
    fn the_config_says_where_the_defaults_are() {
        let config = json!({"spec": {"namespace": "gpu"}});
        for (config, expect, is_told) in [
            (Some(&config), "ConfigMap gpu/kai-cli-defaults", true),
            (Some(&json!({"spec": {}})), "ConfigMap kai-scheduler/kai-cli-defaults", true),
            (None, "ConfigMap kai-scheduler/kai-cli-defaults", true),
            (None, "ConfigMap kai-scheduler/kai-cli-defaults", false),
        ] {
            let home = Home::new(config, is_told);
            assert_eq!(home.map(), expect);
            let mut settings = Settings::default();
            let map = json!({"data": {"image": "evil", "cpu": "1"}});
            let left = add(&mut settings, &Value::Null, &map, &home);
            assert_eq!(settings.get("image").is_some(), is_told, "{config:?}");
            assert_eq!(left, Left { unknown: Vec::new(), image: !is_told }, "{config:?}");
            assert!(settings.get("cpu").is_some(), "{config:?}");
        }
    }
}
