//! Finds the namespace that the scheduler lives in.

use kai_api::names::{CONFIG_NAME, KAI_GROUP, namespace};
use serde_json::Value;

use super::json::text;
use super::{Call, Cluster, Resource};

impl Cluster {
    /// Returns the namespace of the scheduler, by one request: the usual one where nothing names another, or that may not be
    /// read.
    pub(crate) async fn home(&self) -> String {
        let configs = configs();
        let config = self.get(&Call::new("get", &configs).name(CONFIG_NAME)).await;
        named(config.ok().flatten().as_ref()).to_owned()
    }
}

/// The kind of the scheduler's settings.
pub(crate) fn configs() -> Resource {
    Resource::new(&format!("{KAI_GROUP}/v1"), "Config", "configs").cluster_wide()
}

/// Returns the namespace that `kai-config` names; the usual one where it names none, or is not there.
pub(crate) fn named(config: Option<&Value>) -> &str {
    let named = config.map(|config| text(&config["spec"]["namespace"]));
    named.filter(|name| !name.is_empty()).unwrap_or(namespace::SYSTEM)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn the_scheduler_lives_where_its_settings_say() {
        for (config, expect) in [
            (None, "kai-scheduler"),
            (Some(json!({"spec": {}})), "kai-scheduler"),
            (Some(json!({"spec": {"namespace": "gpu"}})), "gpu"),
        ] {
            assert_eq!(named(config.as_ref()), expect, "{config:?}");
        }
    }
}
