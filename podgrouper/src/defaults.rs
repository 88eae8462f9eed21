//! The `ConfigMap` with priority and preemptibility per workload type.

use serde::Deserialize;
use serde_json::Value;

use crate::facts::{Answer, Facts, Read, Stop};
use crate::object::Gvk;
use crate::settings::Settings;

#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub(crate) struct TypeDefaults {
    type_name: String,
    group: String,
    pub(crate) priority_name: String,
    pub(crate) preemptibility: String,
}

impl TypeDefaults {
    fn key(&self) -> String {
        if self.group.is_empty() {
            self.type_name.clone()
        } else {
            format!("{}.{}", self.type_name, self.group)
        }
    }
}

/// Defaults per type. Reading a broken `ConfigMap` gives none and a note.
#[derive(Debug, Default)]
pub(crate) struct Defaults(Vec<TypeDefaults>);

impl Defaults {
    /// Asks for the `ConfigMap`, if one is configured.
    pub(crate) fn read(
        settings: &Settings,
        facts: &Facts,
        notes: &mut Vec<String>,
    ) -> Result<Self, Stop> {
        let Some((namespace, name)) = &settings.defaults else { return Ok(Self::default()) };
        let read = Read::get("v1", "ConfigMap", namespace, name);
        let why = match facts.ask(read)? {
            Answer::Found(object) => match parse(object.value()) {
                Ok(defaults) => return Ok(defaults),
                Err(why) => why,
            },
            Answer::Absent | Answer::Unserved | Answer::List(_) => "it does not exist".to_owned(),
            Answer::Failed(why) => why.clone(),
        };
        notes.push(format!("failed to read per-type defaults from {namespace}/{name}: {why}"));
        Ok(Self::default())
    }

    /// The entry of a kind: by kind and group, then by kind alone; of equal ones the last.
    pub(crate) fn of(&self, gvk: &Gvk) -> Option<&TypeDefaults> {
        let by = |key: &str| self.0.iter().rev().find(|entry| entry.key() == key);
        by(&gvk.group_kind()).or_else(|| by(&gvk.kind))
    }
}

fn parse(config_map: &Value) -> Result<Defaults, String> {
    let text = config_map["data"]["types"].as_str().ok_or("it has no data.types")?;
    serde_json::from_str(text)
        .map(Defaults)
        .map_err(|error| format!("data.types is not valid: {error}"))
}
