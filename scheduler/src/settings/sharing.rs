//! The part of the command line that is about shared GPUs: KAI's binder's flags, under its names.

use std::{collections::BTreeMap, str::FromStr, time::Duration};

use clap::ArgAction;
use kai_api::{duration::GoDuration, names::namespace};
use serde::Deserialize;
use serde_json::Value;

/// Says how GPUs are shared.
#[derive(clap::Args, Clone, Debug)]
#[command(next_help_heading = "Shared GPUs")]
pub struct SharingArgs {
    /// Namespace of the pods that hold shared GPUs.
    #[arg(long, default_value = namespace::RESERVATION)]
    pub resource_reservation_namespace: String,
    /// `ServiceAccount` of the pods that hold shared GPUs.
    #[arg(long, default_value = "kai-resource-reservation")]
    pub resource_reservation_service_account: String,
    /// Image of the pods that hold shared GPUs; empty: the image that this scheduler runs from.
    #[arg(long, default_value = "")]
    pub resource_reservation_pod_image: String,
    /// How long such a pod may take to say its GPU: seconds, or a duration like 40s.
    #[arg(long, default_value = "40", value_parser = seconds)]
    pub resource_reservation_allocation_timeout: Duration,
    /// What such a pod requests besides its GPU, as JSON: {"cpu": "10m"} or {"requests": .., "limits": ..}.
    #[arg(long, default_value = "", value_parser = json_object)]
    pub resource_reservation_pod_resources: Option<Value>,
    /// Security context of such a pod, as JSON.
    #[arg(long, default_value = "", value_parser = json_object)]
    pub resource_reservation_pod_security_context: Option<Value>,
    /// Security context of its container, as JSON.
    #[arg(long, default_value = "", value_parser = json_object)]
    pub resource_reservation_container_security_context: Option<Value>,
    /// Runtime class of the pods that hold shared GPUs; empty: the cluster's default.
    #[arg(long, default_value = "")]
    pub runtime_class_name: String,
    /// Nodes pretend to have GPUs (label run.ai/fake.gpu): another program writes the device on the pods that hold them.
    #[arg(long, action = ArgAction::Set, num_args = 0..=1, require_equals = true,
        default_value = "false", default_missing_value = "true")]
    pub fake_gpu_nodes: bool,
    /// Name devices to pods as the Container Device Interface does; unset: as the GPU operator's `ClusterPolicy` says.
    #[arg(long, num_args = 0..=1, require_equals = true, default_missing_value = "true")]
    pub cdi_enabled: Option<bool>,
    /// KAI's binder plugins as JSON: {"hamicore": {"enabled": true}, "gpusharing": {"arguments": {"cdiEnabled": "true"}}}.
    #[arg(long, default_value = "", value_parser = Plugins::read)]
    pub plugins: Plugins,
}

/// Holds what is known of KAI's binder plugins.
#[derive(Clone, Default, PartialEq, Eq, Debug)]
pub struct Plugins {
    /// Pods are told how much memory of their device is theirs, for HAMi-core to hold them to it.
    pub has_hami_core: bool,
    /// Name devices as the Container Device Interface does.
    pub cdi_enabled: Option<bool>,
    /// No pod may share a GPU.
    pub is_sharing_off: bool,
}

#[derive(Deserialize)]
struct Plugin {
    enabled: Option<bool>,
    #[serde(default)]
    arguments: BTreeMap<String, Value>,
}

impl Plugins {
    fn read(text: &str) -> Result<Self, String> {
        if text.is_empty() {
            return Ok(Self::default());
        }
        let plugins: BTreeMap<String, Plugin> = serde_json::from_str(text).map_err(|error| {
            format!("expected JSON like {{\"hamicore\": {{\"enabled\": true}}}}: {error}")
        })?;
        let known = ["volumebinding", "dynamicresources", "gpusharing", "hamicore"];
        if let Some(name) = plugins.keys().find(|name| !known.contains(&name.as_str())) {
            return Err(format!("no plugin {name:?}; there are {}", known.join(", ")));
        }
        let cdi = plugins.get("gpusharing").and_then(|plugin| plugin.arguments.get("cdiEnabled"));
        let cdi_enabled = cdi.and_then(|value| match value {
            Value::Bool(set) => Some(*set),
            Value::String(text) => text.parse().ok(),
            Value::Null | Value::Number(_) | Value::Array(_) | Value::Object(_) => None,
        });
        let is =
            |name: &str, enabled| plugins.get(name).is_some_and(|one| one.enabled == Some(enabled));
        let (has_hami_core, is_sharing_off) = (is("hamicore", true), is("gpusharing", false));
        Ok(Self { has_hami_core, cdi_enabled, is_sharing_off })
    }
}

impl SharingArgs {
    /// Says how long such a pod may take to say its GPU, in milliseconds.
    pub(crate) fn patience_ms(&self) -> i64 {
        i64::try_from(self.resource_reservation_allocation_timeout.as_millis()).unwrap_or(i64::MAX)
    }

    /// Tells whether devices are named as the Container Device Interface does, where that is set.
    pub fn cdi(&self) -> Option<bool> {
        self.cdi_enabled.or(self.plugins.cdi_enabled)
    }
}

/// A number is seconds, as KAI's flag has it.
fn seconds(text: &str) -> Result<Duration, String> {
    let refused = || String::from("expected seconds, or a duration like 40s, more than 0");
    let duration = if let Ok(seconds) = text.parse::<u64>() {
        Duration::from_secs(seconds)
    } else {
        let read = GoDuration::from_str(text).map_err(|_| refused())?;
        Duration::from_nanos(u64::try_from(read.nanos()).map_err(|_| refused())?)
    };
    if duration.is_zero() { Err(refused()) } else { Ok(duration) }
}

fn json_object(text: &str) -> Result<Value, String> {
    if text.is_empty() {
        return Ok(Value::Null);
    }
    let value: Value =
        serde_json::from_str(text).map_err(|error| format!("expected JSON: {error}"))?;
    if value.is_object() { Ok(value) } else { Err(String::from("expected a JSON object")) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::settings::Args;

    #[test]
    fn plugins_are_read_as_kai_writes_them() {
        let read = |text: &str| Plugins::read(text);
        assert_eq!(read(""), Ok(Plugins::default()));
        let both = r#"{"hamicore": {"enabled": true, "priority": 50}, "gpusharing": {"arguments": {"cdiEnabled": "true"}}}"#;
        assert_eq!(
            read(both),
            Ok(Plugins { has_hami_core: true, cdi_enabled: Some(true), is_sharing_off: false })
        );
        assert!(read("{\"hami\": {}}").is_err_and(|error| error.contains("no plugin")));
        assert!(read("on").is_err());
    }

    /// Compares whether devices are named as that interface does.
    fn check_cdi(flags: &[&str], expect: Option<bool>) {
        let words = std::iter::once("kai-scheduler").chain(flags.iter().copied());
        let args = Args::from_command_line(words.map(Into::into)).expect("valid flags");
        assert_eq!(args.sharing.cdi(), expect, "{flags:?}");
    }

    #[test]
    fn the_flag_about_the_container_device_interface_goes_before_the_plugin() {
        let plugin = r#"--plugins={"gpusharing": {"arguments": {"cdiEnabled": true}}}"#;
        check_cdi(&[], None);
        check_cdi(&[plugin], Some(true));
        check_cdi(&[plugin, "--cdi-enabled=false"], Some(false));
        check_cdi(&["--cdi-enabled"], Some(true));
    }

    #[test]
    fn a_timeout_is_seconds_or_a_duration() {
        assert_eq!(seconds("40"), Ok(Duration::from_secs(40)));
        assert_eq!(seconds("1m30s"), Ok(Duration::from_secs(90)));
        assert!(seconds("0").is_err() && seconds("-1s").is_err() && seconds("soon").is_err());
    }
}
