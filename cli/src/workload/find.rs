//! Reads one workload by its name: what it consists of, and nothing else of its namespace.

use std::collections::BTreeSet;

use futures::future::{join, join_all};
use serde_json::Value;

use super::assembly::assemble;
use super::load::{self, Loaded, load_readable};
use super::owner::{self, controller, maker, top_owner};
use crate::cluster::json::text;
use crate::cluster::kinds::{self, KINDS, Kind};
use crate::cluster::{Call, Cluster, Failure, Resource, Select, names};
use crate::print::error::Error;
use crate::workload::Workload;

/// Owners above each other that are followed.
const OWNERS_MAX: usize = 6;
/// `PodGroups` that are read one by one; more are read as a list.
const GROUPS_MAX: usize = 8;

/// An object of a known kind.
type Found = (&'static Kind, Resource, Value);

/// Reads what a name means: of a namespace the workload alone, of all namespaces everything.
///
/// A name that no workload of a known kind has, nor any pod or `PodGroup`, is looked for among all workloads, so that the
/// error can tell what there is.
///
/// # Errors
/// As [`load_readable`].
pub(crate) async fn find(
    cluster: &Cluster,
    namespace: Option<&str>,
    word: &str,
) -> Result<Loaded, Error> {
    if let Some(namespace) = namespace.filter(|_| !word.contains('*')) {
        let finder = Finder { cluster, namespace };
        match finder.read(word).await {
            Ok(Some(loaded)) => return Ok(loaded),
            // What cannot be read by name may be there in a list, and one kind that fails hides no other.
            Ok(None) | Err(Failure::Refused(_)) => {}
            Err(failure) => return Err(cluster.explain_any(&failure)),
        }
    }
    load_readable(cluster, namespace).await
}

struct Finder<'c> {
    cluster: &'c Cluster,
    namespace: &'c str,
}

impl Finder<'_> {
    /// The workloads of a name; none where this way does not find any.
    async fn read(&self, word: &str) -> Result<Option<Loaded>, Failure> {
        let (kind, name) = word.split_once('/').map_or(("", word), |(kind, name)| (kind, name));
        let objects = self.objects(kind, name).await?;
        let mut tops: Vec<Found> = Vec::new();
        for object in objects {
            let Some(top) = self.top(object).await? else { return Ok(None) };
            let uid = &top.2["metadata"]["uid"];
            if !tops.iter().any(|known| known.2["metadata"]["uid"] == *uid) {
                tops.push(top);
            }
        }
        // Objects that are nobody's queue are no workloads, unless nothing else has the name.
        if tops.iter().any(|(_, _, object)| is_queued(object)) {
            tops.retain(|(_, _, object)| is_queued(object));
        }
        let (mut groups, mut pods) = (Vec::new(), Vec::new());
        for (kind, _, object) in &tops {
            let Some(own) = self.pods(kind, object).await? else { return Ok(None) };
            groups.extend(self.groups(object, &own).await?);
            pods.extend(own);
        }
        let tops: Vec<Found> = tops.into_iter().filter(|(kind, ..)| kind.name != "Pod").collect();
        let mut workloads = assemble(tops, groups, pods);
        load::mark_held(&mut workloads, self.cluster).await;
        let is_it = |workload: &Workload| workload.is_called(word);
        let found = workloads.iter().any(is_it);
        Ok(found.then(|| Loaded { workloads, ..Loaded::default() }))
    }

    /// The objects that have a name, of a kind or of any that is known.
    async fn objects(&self, kind: &str, name: &str) -> Result<Vec<Found>, Failure> {
        let named = kinds::named(kind);
        let is_group = matches!(kind, "podgroup" | "podgroups" | "podgroup.scheduling.run.ai");
        let served = self.served(named.filter(|_| !kind.is_empty())).await?;
        let wanted = served.into_iter().filter(|_| !is_group);
        let each = join_all(wanted.map(|(kind, resource)| async move {
            let object = self.get(&resource, name).await;
            (kind, resource, object)
        }));
        let group = async {
            let group = if kind.is_empty() || is_group {
                self.get(&names::pod_groups(), name).await?
            } else {
                None
            };
            match group {
                Some(group) => self.owner_of_group(&group).await,
                None => Ok(None),
            }
        };
        let (each, group) = join(each, group).await;
        let mut found: Vec<Found> = group?.into_iter().collect();
        let mut failed = None;
        for (kind, resource, object) in each {
            match object {
                Ok(Some(object)) => found.push((kind, resource, object)),
                Ok(None) => {}
                // Other kinds may be read.
                Err(failure) if failure.is_forbidden() => {}
                Err(failure) => failed = Some(failure),
            }
        }
        match failed {
            Some(failure) if found.is_empty() => Err(failure),
            Some(_) | None => Ok(found),
        }
    }

    /// The kinds to ask for, in a version that is served.
    async fn served(
        &self,
        only: Option<&'static Kind>,
    ) -> Result<Vec<(&'static Kind, Resource)>, Failure> {
        let is_builtin = |kind: &Kind| matches!(kind.group, "" | "batch" | "apps");
        let is_wanted = |kind: &&'static Kind| {
            only.is_none_or(|only| std::ptr::eq(only, *kind))
                && !matches!(kind.name, "ReplicaSet" | "TrainingRuntime")
        };
        let groups = match only {
            Some(kind) if is_builtin(kind) => Vec::new(),
            Some(_) | None => self.cluster.groups().await?,
        };
        let each = KINDS.iter().filter(is_wanted).filter_map(|kind| {
            if is_builtin(kind) {
                return Some((kind, kind.best()));
            }
            let (_, served) = groups.iter().find(|(group, _)| group == kind.group)?;
            let version = kind.versions.iter().find(|one| served.iter().any(|v| v == *one))?;
            Some((kind, kind.resource(version)))
        });
        Ok(each.collect())
    }

    /// Reads an object; what lists leave out, its kind, is filled in.
    async fn get(&self, resource: &Resource, name: &str) -> Result<Option<Value>, Failure> {
        let call = Call::new("get", resource).namespace(Some(self.namespace)).name(name);
        let mut object = self.cluster.get(&call).await?;
        if let Some(object) = &mut object {
            object["apiVersion"] = resource.api_version().into();
            object["kind"] = resource.kind.clone().into();
        }
        Ok(object)
    }

    /// The object that an owner reference names; none where it is of no known kind or not there.
    async fn owner(&self, owner: &Value) -> Result<Option<Found>, Failure> {
        let (version, kind) = (text(&owner["apiVersion"]), text(&owner["kind"]));
        let Some(known) = kinds::find(version, kind) else { return Ok(None) };
        let resource = Resource::new(version, kind, known.plural);
        let object = self.get(&resource, text(&owner["name"])).await?;
        Ok(object.map(|object| (known, resource, object)))
    }

    /// Returns what a `PodGroup` was made for.
    async fn owner_of_group(&self, group: &Value) -> Result<Option<Found>, Failure> {
        let top = top_owner(group);
        let of = |key: &str| top.get(key).cloned().unwrap_or_default();
        let version = Resource::api_version_of(&of("group"), &of("version"));
        let top =
            serde_json::json!({"apiVersion": version, "kind": of("kind"), "name": of("name")});
        match self.owner(&top).await? {
            Some(found) => Ok(Some(found)),
            None => self.owner(owner::first(group)).await,
        }
    }

    /// Returns what made what made the object; runs of recurring ones stand for themselves. None where a maker is not known.
    async fn top(&self, object: Found) -> Result<Option<Found>, Failure> {
        let mut at = object;
        for _ in 0..OWNERS_MAX {
            if maker(&at.2).is_none() {
                return Ok(Some(at));
            }
            let Some(owner) = controller(&at.2) else { return Ok(Some(at)) };
            match self.owner(owner).await? {
                Some(above) => at = above,
                None => return Ok(None),
            }
        }
        Ok(None)
    }

    /// The pods of an object that KAI schedules; none where nothing tells them from others.
    async fn pods(&self, kind: &Kind, object: &Value) -> Result<Option<Vec<Value>>, Failure> {
        let name = text(&object["metadata"]["name"]);
        if kind.name == "Pod" {
            return Ok(Some(vec![object.clone()]));
        }
        let labels = if let Some(labels) = ray_clusters(object) {
            labels
        } else if kind.pod_label.is_empty() {
            let Some(labels) = selector(object) else { return Ok(None) };
            labels
        } else {
            format!("{}={name}", kind.pod_label)
        };
        let resource = names::pods();
        let call = Call::new("list", &resource).namespace(Some(self.namespace));
        let ours = format!("spec.schedulerName={}", names::SCHEDULER);
        let pods = self.cluster.list(&call, &Select { labels: &labels, fields: &ours }).await?;
        Ok(Some(pods.unwrap_or_default()))
    }

    /// The `PodGroups` of an object: those that its pods name, and the one that it gets before there are any.
    async fn groups(&self, object: &Value, pods: &[Value]) -> Result<Vec<Value>, Failure> {
        let meta = &object["metadata"];
        let mut wanted: BTreeSet<String> = pods
            .iter()
            .map(|pod| text(&pod["metadata"]["annotations"][names::POD_GROUP]).to_owned())
            .filter(|name| !name.is_empty())
            .collect();
        let resource = names::pod_groups();
        if wanted.len() > GROUPS_MAX {
            let call = Call::new("list", &resource).namespace(Some(self.namespace));
            let mut all = self.cluster.list(&call, &Select::default()).await?.unwrap_or_default();
            all.retain(|group| wanted.contains(text(&group["metadata"]["name"])));
            return Ok(all);
        }
        if wanted.is_empty() {
            wanted.insert(format!("pg-{}-{}", text(&meta["name"]), text(&meta["uid"])));
        }
        let each = wanted.iter().map(|name| self.get(&resource, name));
        let groups: Result<Vec<Option<Value>>, Failure> =
            join_all(each).await.into_iter().collect();
        Ok(groups?.into_iter().flatten().collect())
    }
}

fn is_queued(object: &Value) -> bool {
    !super::queue_label(object).is_empty()
}

/// The selector of the pods of Ray clusters that an object has made: they name the cluster, and not what it was made for.
fn ray_clusters(object: &Value) -> Option<String> {
    let status = &object["status"];
    let services = [&status["activeServiceStatus"], &status["pendingServiceStatus"]];
    let names = std::iter::once(status).chain(services).map(|of| text(&of["rayClusterName"]));
    let names: Vec<&str> = names.filter(|name| !name.is_empty()).collect();
    (!names.is_empty()).then(|| format!("ray.io/cluster in ({})", names.join(",")))
}

/// The selector of an object that has one, as the API server reads it.
fn selector(object: &Value) -> Option<String> {
    let labels = object["spec"]["selector"]["matchLabels"].as_object()?;
    let each = labels.iter().map(|(key, value)| format!("{key}={}", text(value)));
    Some(each.collect::<Vec<_>>().join(",")).filter(|all| !all.is_empty())
}
