//! The workload that was last submitted from this machine to each cluster: what `@last` means. A file of the user's
//! state keeps it.

use std::collections::BTreeMap;
use std::path::PathBuf;

use serde_json::{Map, Value, json};

use crate::cluster::Cluster;
use crate::cluster::json::text;
use crate::context::Context;
use crate::settings::edit;

/// Clusters that are remembered; whoever makes new ones all day needs no more.
const CLUSTERS_MAX: usize = 64;

/// Holds which workload was submitted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Last {
    pub(crate) namespace: String,
    pub(crate) api_version: String,
    pub(crate) kind: String,
    pub(crate) name: String,
    pub(crate) uid: String,
}

impl Last {
    /// Reads which one an object is that the server has just stored.
    fn of(object: &Value, namespace: &str) -> Self {
        let own = |value: &Value| text(value).to_owned();
        Self {
            namespace: namespace.to_owned(),
            api_version: own(&object["apiVersion"]),
            kind: own(&object["kind"]),
            name: own(&object["metadata"]["name"]),
            uid: own(&object["metadata"]["uid"]),
        }
    }

    fn to_json(&self) -> Value {
        json!({"namespace": self.namespace, "apiVersion": self.api_version, "kind": self.kind,
            "name": self.name, "uid": self.uid})
    }

    /// Reads one of the file; none where it is not whole.
    fn read(value: &Value) -> Option<Self> {
        let part = |key: &str| Some(value[key].as_str()?.to_owned());
        Some(Self {
            namespace: part("namespace")?,
            api_version: part("apiVersion")?,
            kind: part("kind")?,
            name: part("name")?,
            uid: part("uid")?,
        })
    }
}

/// Keeps a workload that was submitted. A file that cannot be written costs `@last`, and nothing else.
pub(crate) fn remember(object: &Value, namespace: &str, cluster: &Cluster, context: &Context) {
    let Some(file) = file(&context.env) else { return };
    let mut all = read(&file);
    let server = &cluster.place.server;
    all.shift_remove(server);
    all.insert(server.clone(), Last::of(object, namespace).to_json());
    while all.len() > CLUSTERS_MAX {
        let Some(oldest) = all.keys().next().cloned() else { break };
        all.shift_remove(&oldest);
    }
    let written = edit::write(&file, &format!("{:#}\n", Value::Object(all)), edit::PRIVATE);
    if let Err(error) = written {
        tracing::debug!(file = %file.display(), %error, "the last workload is not kept");
    }
}

/// The workload that was last submitted from here to a cluster; none where nothing tells.
pub(crate) fn recall(cluster: &Cluster, context: &Context) -> Option<Last> {
    let all = read(&file(&context.env)?);
    Last::read(all.get(&cluster.place.server)?)
}

/// The file, whether or not it is there.
fn file(env: &BTreeMap<String, String>) -> Option<PathBuf> {
    let set = |name: &str| env.get(name).filter(|v| !v.is_empty()).map(PathBuf::from);
    let root = set("XDG_STATE_HOME").or_else(|| Some(set("HOME")?.join(".local/state")))?;
    Some(root.join("kai/last.json"))
}

/// Reads what the file holds; nothing where it is not there or not ours.
fn read(file: &std::path::Path) -> Map<String, Value> {
    let text = std::fs::read_to_string(file).unwrap_or_default();
    serde_json::from_str(&text).unwrap_or_default()
}
