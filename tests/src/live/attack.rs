//! Moves of a user who has rights in one namespace only: a small language of moves, so that stories are told in it and
//! random sequences can be drawn.

use std::collections::BTreeMap;

use anyhow::{Context, Result, bail};
use kube::Client;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::{TENANT, object};

/// Sidecars of a pod that ask for instances, and the kinds that each of them names: no more than admission reads of a pod.
const SIDECARS: usize = 14;
const NAMES: usize = 150;

/// One move: what it creates comes before what it patches and resizes, and that before what it deletes. In every text `$n` is the number of the repetition.
#[derive(Deserialize, Serialize, Clone, Default, Debug)]
#[serde(rename_all = "kebab-case", deny_unknown_fields, default)]
pub struct Move {
    /// A whole object; it is put into the user's namespace, where it names none and its kind has them.
    pub create: Option<Value>,
    /// Merge patches, by `Kind/name`.
    pub patch: BTreeMap<String, Value>,
    /// Resources of the first container, by the name of a pod.
    pub resize: BTreeMap<String, Value>,
    /// `Kind/name` each.
    pub delete: Vec<String>,
    /// Kinds of which all objects in the user's namespace are deleted, as they are there at this moment.
    pub delete_all: Vec<String>,
    /// Number of times: a flood is a move with many.
    pub times: Option<usize>,
    /// An annotation of so many bytes, which nobody reads, in each object that is created or patched.
    pub junk_bytes: usize,
    /// So many sub-groups in the `PodGroup` that is created, each below the one before.
    pub chain: usize,
    /// So many sub-groups in the `PodGroup` that is created, beside each other, with what the one that it has says.
    pub fan: usize,
    /// So many resources of amount zero in the first container of the pod that is created.
    pub zeros: usize,
    /// So many tolerations, terms about nodes and terms about pods in the pod that is created, which keep it from no node.
    pub wishes: usize,
    /// So many init containers in the pod that is created, by turns with sidecars that ask for nothing, behind sidecars that ask
    /// for thousands of kinds of MIG instances.
    pub turns: usize,
    /// Part of what the API server answers where it refuses the move; empty: it does not.
    pub refused: String,
    /// The API server may refuse it as well as take it, for whatever reason: moves that were drawn do not know each other.
    pub by_chance: bool,
}

impl Move {
    /// Makes the move as the account of `client`.
    ///
    /// # Errors
    /// One that the API server refuses although `refused` is empty, or takes although it is not.
    pub async fn make(&self, client: &Client) -> Result<()> {
        for number in 0..self.times.unwrap_or(1) {
            let made = self.make_once(client, number).await;
            match (made, self.refused.is_empty()) {
                (Ok(()), true) => {}
                (Err(error), true) if self.by_chance && is_refusal(&error) => {}
                (Err(error), true) => return Err(error),
                (Ok(()), false) => bail!("{self:?} was not refused"),
                (Err(error), false) => {
                    let text = format!("{error:#}");
                    if !text.contains(&self.refused) {
                        bail!("refused with {text:?}, not {:?}", self.refused);
                    }
                }
            }
        }
        Ok(())
    }

    async fn make_once(&self, client: &Client, number: usize) -> Result<()> {
        if let Some(object) = &self.create {
            let mut object = numbered(object, number)?;
            if object["metadata"]["namespace"].is_null() && object::is_namespaced(&object)? {
                object["metadata"]["namespace"] = json!(TENANT);
            }
            self.stuff(&mut object);
            object::create(client, object).await?;
        }
        for (name, patch) in &self.patch {
            let mut patch = numbered(patch, number)?;
            self.stuff(&mut patch);
            object::patch(client, &owned(name, number)?, &patch).await?;
        }
        for (name, resources) in &self.resize {
            let name = owned(&format!("Pod/{name}"), number)?;
            object::resize(client, &name, &numbered(resources, number)?).await?;
        }
        for kind in &self.delete_all {
            object::delete_all(client, kind, TENANT).await?;
        }
        for name in &self.delete {
            object::delete(client, &owned(name, number)?).await?;
        }
        Ok(())
    }

    fn stuff(&self, object: &mut Value) {
        if self.junk_bytes > 0 {
            object["metadata"]["annotations"]["junk"] = json!("x".repeat(self.junk_bytes));
        }
        if self.chain > 0 {
            object["spec"]["subGroups"] = (0..self.chain).map(|at| self.link(at)).collect();
        }
        if self.fan > 0 {
            let like = object.pointer_mut("/spec/subGroups/0").map_or(json!({}), Value::take);
            let part = |at| {
                let mut part = like.clone();
                part["name"] = json!(format!("s{at}"));
                part["minMember"] = json!(1);
                part
            };
            object["spec"]["subGroups"] = (0..self.fan).map(part).collect();
        }
        for at in 0..self.zeros {
            let container = &mut object["spec"]["containers"][0];
            container["resources"]["limits"][format!("example.com/r{at}")] = json!("0");
        }
        if self.wishes > 0 {
            self.wish(&mut object["spec"]);
        }
        if self.turns > 0 {
            object["spec"]["initContainers"] = self.by_turns();
        }
    }
}

impl Move {
    fn wish(&self, spec: &mut Value) {
        let each = |one: fn(usize) -> Value| (0..self.wishes).map(one).collect::<Value>();
        spec["tolerations"] = each(|at| json!({"key": format!("t{at}"), "operator": "Exists"}));
        let nodes = each(|at| {
            let unlike = ["a", "b", "c", "d"].map(
                |key| json!({"key": format!("{key}{at}"), "operator": "NotIn", "values": ["x"]}),
            );
            json!({ "matchExpressions": unlike })
        });
        let pods = each(|at| {
            let selector = json!({"matchLabels": {"app": format!("nobody-{at}")}});
            json!({"topologyKey": "kubernetes.io/hostname", "labelSelector": selector})
        });
        spec["affinity"] = json!({
            "nodeAffinity": {
                "requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": nodes},
            },
            "podAntiAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": pods},
        });
    }

    fn by_turns(&self) -> Value {
        let named = |at: usize| {
            let name = |number: usize| (format!("nvidia.com/mig-{at}-{number}"), json!("1"));
            sidecar(&format!("named-{at}"), &Value::Object((0..NAMES).map(name).collect()))
        };
        let turn = |at: usize| {
            let requests = json!({"requests": {"cpu": "1m"}});
            let first = json!({
                "name": format!("first-{at}"), "image": "busybox", "resources": requests,
            });
            [first, sidecar(&format!("then-{at}"), &json!({}))]
        };
        (0..SIDECARS).map(named).chain((0..self.turns).flat_map(turn)).collect()
    }

    fn link(&self, at: usize) -> Value {
        let mut link = json!({"name": format!("s{at}")});
        if at > 0 {
            link["parent"] = json!(format!("s{}", at - 1));
        }
        if at + 1 == self.chain {
            link["minMember"] = json!(1);
        }
        link
    }
}

/// An init container that goes on beside the others.
fn sidecar(name: &str, limits: &Value) -> Value {
    json!({
        "name": name,
        "image": "busybox",
        "restartPolicy": "Always",
        "resources": {"limits": limits},
    })
}

/// The API server understood, and does not do it.
fn is_refusal(error: &anyhow::Error) -> bool {
    let answer = error.chain().find_map(|cause| cause.downcast_ref::<kube::Error>());
    matches!(answer, Some(kube::Error::Api(status)) if (400..500).contains(&status.code))
}

fn numbered(value: &Value, number: usize) -> Result<Value> {
    let text = value.to_string().replace("$n", &number.to_string());
    serde_json::from_str(&text).context("a number makes no text another form")
}

/// `Kind/namespace/name` of `Kind/name`.
fn owned(name: &str, number: usize) -> Result<String> {
    let (kind, name) = name.split_once('/').context("an object is named Kind/name")?;
    Ok(format!("{kind}/{TENANT}/{}", name.replace("$n", &number.to_string())))
}
