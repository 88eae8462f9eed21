//! Describes what a report of a fault needs, in one file.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::Write as _;
use std::path::Path;

use flate2::{Compression, write::GzEncoder};
use serde_json::{Value, json};

use super::facts::{Facts, Source};
use crate::print::error::{Error, Exit, Problem, number};

/// Fields that may hold secrets, or data that no fault needs: left out at any depth.
const DROPPED: [&str; 6] = [
    "env",
    "envFrom",
    "managedFields",
    "command",
    "args",
    "kubectl.kubernetes.io/last-applied-configuration",
];
/// Fields that name somebody or something of the user's.
const NAMES: [&str; 12] = [
    "name",
    "namespace",
    "generateName",
    "queue",
    "parentQueue",
    "displayName",
    "nodeName",
    "hostname",
    "holderIdentity",
    "image",
    "user",
    "kai.scheduler/queue",
];

/// Writes lists and verdicts as one gzipped JSON document, and says what it holds.
///
/// # Errors
/// The file cannot be written, or is there already.
pub(super) fn write(
    path: &Path,
    facts: &Facts,
    verdicts: &Value,
    redact: bool,
) -> Result<Vec<String>, Error> {
    let mut told = Vec::new();
    let mut lists = serde_json::Map::new();
    let mut names = Names::default();
    for source in Source::ALL {
        match facts.list(source) {
            Ok(objects) => {
                told.push(format!("{} {}", objects.len(), source.title()));
                let objects =
                    objects.iter().map(|object| cleaned(object, redact.then_some(&mut names)));
                lists.insert(source.title(), objects.collect());
            }
            Err(unread) => {
                lists.insert(source.title(), json!({ "notRead": unread.sentence }));
            }
        }
    }
    let document = json!({
        "kind": "DoctorBundle",
        "apiVersion": crate::print::format::API_VERSION,
        "time": facts.now.to_string(),
        "client": env!("CARGO_PKG_VERSION"),
        "redacted": redact,
        "findings": if redact { Value::Null } else { verdicts.clone() },
        "lists": lists,
    });
    let failed = |e: std::io::Error| {
        let what = format!("failed to write {}: {e}", path.display());
        Error::from(
            Problem::new(number::USAGE, Exit::Usage, what)
                .fix("name a file that does not exist, in a folder that you may write to"),
        )
    };
    let file = File::create_new(path).map_err(failed)?;
    let mut gzip = GzEncoder::new(file, Compression::default());
    gzip.write_all(document.to_string().as_bytes()).map_err(failed)?;
    gzip.finish().and_then(|file| file.sync_all()).map_err(failed)?;
    Ok(told)
}

/// Stand-ins for names: the same one for the same name in the whole bundle.
#[derive(Debug, Default)]
struct Names(BTreeMap<String, String>);

impl Names {
    fn stand_in(&mut self, name: &str) -> String {
        let next = self.0.len() + 1;
        self.0.entry(name.to_owned()).or_insert_with(|| format!("name-{next}")).clone()
    }
}

/// An object without what may be secret; with stand-ins for names where they are asked for.
fn cleaned(value: &Value, mut names: Option<&mut Names>) -> Value {
    match value {
        Value::Object(map) => map
            .iter()
            .filter(|(key, _)| !DROPPED.contains(&key.as_str()))
            .map(|(key, value)| {
                let is_name = NAMES.contains(&key.as_str());
                let value = match (value, names.as_deref_mut()) {
                    (Value::String(text), Some(names)) if is_name => names.stand_in(text).into(),
                    // Annotations hold anything, names among it.
                    (_, Some(_)) if key == "annotations" || key == "message" => Value::Null,
                    (value, names) => cleaned(value, names),
                };
                (key.clone(), value)
            })
            .collect(),
        Value::Array(list) => {
            list.iter().map(|value| cleaned(value, names.as_deref_mut())).collect()
        }
        other => other.clone(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_may_be_secret_stays_out() {
        let pod = json!({"metadata": {"name": "train", "managedFields": []}, "spec": {"containers": [
            {"name": "main", "image": "corp/secret", "env": [{"name": "TOKEN", "value": "s3cret"}], "args": ["--password=x"]}]}});
        let plain = cleaned(&pod, None).to_string();
        assert!(
            !plain.contains("s3cret") && !plain.contains("password") && plain.contains("train")
        );
        let mut names = Names::default();
        let redacted = cleaned(&pod, Some(&mut names)).to_string();
        assert!(
            !redacted.contains("train")
                && !redacted.contains("corp")
                && redacted.contains("name-1"),
            "{redacted}"
        );
    }
}
