//! The drill of `install --adopt`: every pod there is, grouped by KAI's rules and by ours, before anything is changed.
//!
//! ```text
//!  pods, owners -> group with Compat::KaiV017 -+
//!                -> group with Compat::Off ----+-> what differs, workload by workload
//! ```
//!
//! Only grouping has both rules. How the two schedulers decide is not tried: ours has no switch for KAI's.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use kai_api::names::SCHEDULER_NAME;
use kai_podgrouper::{Answer, Case, Compat, Desired, Facts, Object, Pod, Read, Settings, Stop};
use kai_podgrouper::{Write, group, kinds, merge};
use serde_json::{Map, Value, json};

use super::manifest::{self, Item, Options};
use crate::cluster::queue::count;
use crate::cluster::{Call, Cluster, Failure, Resource, Select};
use crate::print::error::Error;
use crate::print::output::clean;

/// A rule asks for a handful of facts; more than this is a loop.
const READS_MAX: usize = 1_000;
/// A chain of owners that is longer is a circle.
const OWNERS_MAX: usize = 32;
/// Begins the names of the roles that our podgrouper reads with: what it may not read ends its walk.
const ROLES: &str = "kai-podgrouper";

/// Holds what the drill found.
#[derive(Debug, Default)]
pub(super) struct Drill {
    pods: usize,
    workloads: BTreeSet<String>,
    /// Holds by workload what is otherwise.
    pub(super) differ: BTreeMap<String, BTreeSet<String>>,
    /// Says why it could not be held.
    missing: Option<String>,
}

impl Drill {
    /// Says in one line how it went.
    pub(super) fn summary(&self) -> String {
        if let Some(why) = &self.missing {
            return format!("not held: {why}");
        }
        let (pods, workloads) = (self.pods, self.workloads.len());
        let differ = match self.differ.len() {
            0 => "none differs".to_owned(),
            1 => "1 differs".to_owned(),
            more => format!("{more} differ"),
        };
        format!(
            "{} of {} grouped by KAI's rules and by ours: {differ}",
            count(pods, "pod"),
            count(workloads, "workload")
        )
    }

    /// Lists what is otherwise, for programs.
    pub(super) fn reported(&self) -> Value {
        let rows = self.differ.iter();
        let rows: Vec<_> = rows
            .map(|(workload, what)| json!({"workload": workload, "differences": what}))
            .collect();
        json!({"pods": self.pods, "workloads": self.workloads.len(), "differ": rows,
            "notHeld": self.missing})
    }
}

/// Groups every pod of the scheduler that is not finished by both rules; reads only.
pub(super) async fn hold(cluster: &Cluster) -> Result<Drill, Error> {
    let pods = Resource::new("v1", "Pod", "pods");
    let call = Call::new("list", &pods);
    let fields =
        format!("spec.schedulerName={SCHEDULER_NAME},status.phase!=Succeeded,status.phase!=Failed");
    let found = cluster.list(&call, &Select { labels: "", fields: &fields }).await;
    if found.as_ref().is_err_and(Failure::is_forbidden) {
        let missing = Some("you may not list the pods of all namespaces".to_owned());
        return Ok(Drill { missing, ..Drill::default() });
    }
    let found = found.map_err(|e| cluster.explain(&call, &e))?.unwrap_or_default();
    let mut drill = Drill { pods: found.len(), ..Drill::default() };
    let mut reader = Reader::new(cluster);
    for value in &found {
        let pod = Pod::from_value(value);
        let owners = reader.owners(&pod).await?;
        let own = pod.to_object();
        let top = owners.last().map_or(&own, |top| top);
        let workload = title(top, &pod);
        let [kai, ours] =
            [Compat::KaiV017, Compat::Off].map(|compat| Settings { compat, ..Settings::default() });
        let kai = reader.group(&pod, &owners, kai).await?;
        let ours = reader.group(&pod, &owners, ours).await?;
        let differences = compare(&pod, &kai, &ours);
        if !differences.is_empty() {
            drill.differ.entry(workload.clone()).or_default().extend(differences);
        }
        drill.workloads.insert(workload);
    }
    Ok(drill)
}

fn title(top: &Object, pod: &Pod) -> String {
    let kind = top.gvk().group_kind();
    let kind = if pod.owners.is_empty() { "Pod".to_owned() } else { kind };
    let text = format!("{} {}/{}", kind, pod.namespace, top.name());
    clean(&text).into_owned()
}

/// Reads owners and facts, each once.
struct Reader<'c> {
    cluster: &'c Cluster,
    /// Holds the groups and plurals that our podgrouper may read.
    rights: BTreeSet<(String, String)>,
    kinds: BTreeMap<String, Vec<Resource>>,
    owners: BTreeMap<String, Option<Arc<Object>>>,
    facts: Facts,
}

impl<'c> Reader<'c> {
    fn new(cluster: &'c Cluster) -> Self {
        let items = manifest::items(&Options::default());
        let is_role =
            |item: &&Item| item.resource.kind == "ClusterRole" && item.name().starts_with(ROLES);
        let texts = |value: &Value| -> Vec<String> {
            let all = value.as_array().map(Vec::as_slice).unwrap_or_default();
            all.iter().filter_map(Value::as_str).map(str::to_owned).collect()
        };
        let mut rights = BTreeSet::new();
        for role in items.iter().filter(is_role) {
            for rule in role.object["rules"].as_array().into_iter().flatten() {
                for group in texts(&rule["apiGroups"]) {
                    let plurals = texts(&rule["resources"]).into_iter();
                    rights.extend(plurals.map(|plural| (group.clone(), plural)));
                }
            }
        }
        let (kinds, owners) = (BTreeMap::new(), BTreeMap::new());
        Self { cluster, rights, kinds, owners, facts: Facts::default() }
    }

    /// Says where the API serves a kind; `None` where it does not.
    async fn resource(&mut self, api_version: &str, kind: &str) -> Result<Option<Resource>, Error> {
        if !self.kinds.contains_key(api_version) {
            let root = if api_version.contains('/') { "apis" } else { "api" };
            let list = match self.cluster.read(&format!("/{root}/{api_version}")).await {
                Ok(list) => list,
                Err(Failure::Refused(refusal)) if refusal.code == 404 => Value::Null,
                Err(failure) => return Err(self.cluster.explain_any(&failure)),
            };
            let rows = list["resources"].as_array().map(Vec::as_slice).unwrap_or_default();
            let whole = rows
                .iter()
                .filter(|row| row["name"].as_str().is_some_and(|name| !name.contains('/')));
            let known = whole.filter_map(|row| Resource::discovered(api_version, row)).collect();
            self.kinds.insert(api_version.to_owned(), known);
        }
        let mut known = self.kinds.get(api_version).into_iter().flatten();
        Ok(known.find(|resource| resource.kind == kind).cloned())
    }

    fn may_read(&self, resource: &Resource) -> bool {
        self.rights.contains(&(resource.group.clone(), resource.plural.clone()))
    }

    /// Walks from a pod up its owners as the podgrouper does, the nearest first: to the last that it may read.
    async fn owners(&mut self, pod: &Pod) -> Result<Vec<Arc<Object>>, Error> {
        let mut owners = Vec::new();
        let mut next = pod.owners.first().cloned();
        while let Some(owner) = next.take() {
            if owners.len() == OWNERS_MAX {
                break;
            }
            let uid = owner.uid.clone();
            if !self.owners.contains_key(&uid) {
                let (api_version, kind) = (owner.api_version.as_str(), owner.kind.as_str());
                let found = match self.resource(api_version, kind).await? {
                    Some(resource) if self.may_read(&resource) => {
                        let namespace = resource.namespaced.then_some(&*pod.namespace);
                        self.get(&resource, namespace, &owner.name).await?
                    }
                    _ => None,
                };
                let found = found.filter(|object| object.uid() == uid);
                self.owners.insert(uid.clone(), found);
            }
            let Some(Some(object)) = self.owners.get(&uid) else { break };
            owners.push(object.clone());
            next = object.owners().first().cloned();
        }
        Ok(owners)
    }

    async fn get(
        &self,
        resource: &Resource,
        namespace: Option<&str>,
        name: &str,
    ) -> Result<Option<Arc<Object>>, Error> {
        let call = Call::new("get", resource).namespace(namespace).name(name);
        let found = self.cluster.get(&call).await;
        if found.as_ref().is_err_and(Failure::is_forbidden) {
            return Ok(None);
        }
        let found = found.map_err(|e| self.cluster.explain(&call, &e))?;
        Ok(found.map(|object| Arc::new(Object::new(object))))
    }

    /// Asks the podgrouper's rule for a pod: the group that it wants, or why there is none.
    async fn group(
        &mut self,
        pod: &Pod,
        owners: &[Arc<Object>],
        settings: Settings,
    ) -> Result<Result<Desired, String>, Error> {
        let own = pod.to_object();
        let top = owners.last().map_or(&own, |top| top);
        for _ in 0..READS_MAX {
            let table = kinds::TABLE;
            let case = Case { pod, top, owners, table, settings: &settings, facts: &self.facts };
            match group(&case) {
                Ok(desired) => return Ok(Ok(desired)),
                Err(Stop::Need(read)) => {
                    let read = *read;
                    let answer = self.answer(&read).await?;
                    self.facts.add(read, answer);
                }
                Err(Stop::Bad(why) | Stop::Early(why)) => return Ok(Err(why)),
            }
        }
        Ok(Err("its rule reads without end".to_owned()))
    }

    async fn answer(&mut self, read: &Read) -> Result<Answer, Error> {
        let (Read::Get { api_version, kind, namespace, .. }
        | Read::List { api_version, kind, namespace, .. }) = read;
        let Some(resource) = self.resource(api_version, kind).await? else {
            return Ok(Answer::Unserved);
        };
        if !self.may_read(&resource) {
            return Ok(Answer::Failed(format!("the podgrouper may not read {}", resource.plural)));
        }
        let namespace = Some(namespace.as_str()).filter(|name| !name.is_empty());
        match read {
            Read::Get { name, .. } => {
                let found = self.get(&resource, namespace, name).await?;
                Ok(found.map_or(Answer::Absent, Answer::Found))
            }
            Read::List { prefix, labels, .. } => {
                let call = Call::new("list", &resource).namespace(namespace);
                let labels: Vec<_> =
                    labels.iter().map(|(key, value)| format!("{key}={value}")).collect();
                let labels = labels.join(",");
                let found = self.cluster.list(&call, &Select { labels: &labels, fields: "" }).await;
                if found.as_ref().is_err_and(Failure::is_forbidden) {
                    return Ok(Answer::Failed(format!("you may not list {}", resource.plural)));
                }
                let found = found.map_err(|e| self.cluster.explain(&call, &e))?.unwrap_or_default();
                let is_meant = |object: &Value| {
                    object["metadata"]["name"].as_str().is_some_and(|name| name.starts_with(prefix))
                };
                let found = found.into_iter().filter(is_meant).map(|mut object| {
                    object["apiVersion"] = json!(api_version);
                    object["kind"] = json!(kind);
                    Arc::new(Object::new(object))
                });
                Ok(Answer::List(found.collect()))
            }
        }
    }
}

/// Says what is otherwise for a pod: its group, the fields of that, its place in it.
fn compare(
    pod: &Pod,
    kai: &Result<Desired, String>,
    ours: &Result<Desired, String>,
) -> Vec<String> {
    let (kai, ours) = match (kai, ours) {
        (Ok(kai), Ok(ours)) => (kai, ours),
        (Err(_), Err(_)) => return Vec::new(),
        (Err(why), Ok(ours)) => {
            return vec![format!("KAI makes no PodGroup ({}), here {}", clean(why), ours.name)];
        }
        (Ok(kai), Err(why)) => {
            return vec![format!("KAI makes {}, here no PodGroup ({})", kai.name, clean(why))];
        }
    };
    let mut differences = Vec::new();
    if kai.name != ours.name {
        differences.push(format!("PodGroup {} in KAI, here {}", kai.name, ours.name));
    }
    let (theirs, own) = (spec(kai), spec(ours));
    let keys: BTreeSet<_> = theirs.keys().chain(own.keys()).collect();
    for key in keys {
        let (theirs, own) = (theirs.get(key), own.get(key));
        if theirs != own {
            differences.push(format!("{key} {} in KAI, here {}", value(theirs), value(own)));
        }
    }
    let place = |desired: &Desired| {
        let place = desired.subgroup_of(&pod.namespace, &pod.name).unwrap_or("none");
        place.to_owned()
    };
    let (theirs, own) = (place(kai), place(ours));
    if theirs != own {
        let name = clean(&pod.name);
        differences.push(format!("sub-group of {name} {theirs} in KAI, here {own}"));
    }
    differences
}

/// The spec of a group that is made anew.
fn spec(desired: &Desired) -> Map<String, Value> {
    match merge(desired, None, &Settings::default()) {
        Write::Create(mut made) => match made["spec"].take() {
            Value::Object(spec) => spec,
            _ => Map::new(),
        },
        Write::Nothing | Write::Patch(_) => Map::new(),
    }
}

/// A field in words: a list of sub-groups by their names and minima.
fn value(value: Option<&Value>) -> String {
    let text = match value {
        None => "none".to_owned(),
        Some(Value::String(text)) => text.clone(),
        Some(Value::Array(rows)) => {
            let minimum = |row: &Value| {
                [&row["minMember"], &row["minSubGroup"]].iter().find_map(|min| min.as_i64())
            };
            let row = |row: &Value| {
                let name = row["name"].as_str().unwrap_or_default();
                minimum(row).map_or_else(|| name.to_owned(), |min| format!("{name}:{min}"))
            };
            rows.iter().map(row).collect::<Vec<_>>().join(" ")
        }
        Some(other) => other.to_string(),
    };
    clean(&text).into_owned()
}
