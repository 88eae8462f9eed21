//! Writes down in the cluster what `install --adopt` takes over from KAI, so that `install release` can give it back.
//!
//! It is a `ConfigMap` beside the daemons: titles to be read, and the objects as they were, compressed. A seal says that
//! nobody else wrote it: see `seal.rs`.

pub(super) mod seal;

use std::io::{self, Read as _, Write as _};

use base64::{Engine as _, prelude::BASE64_STANDARD};
use flate2::{Compression, read::GzDecoder, write::GzEncoder};
use kai_api::names::{label, value};
use serde_json::{Value, json};

use super::kai_v017::{self, Installation};
use super::known::Known;
use super::manifest::{self, Component, Group, Item, Options};
use super::plan::{self, Entry, Plan, Present, State};
use super::status::first;
use crate::cluster::{Call, Cluster, Resource};
use crate::print::error::{Error, Exit, Problem, number};
use crate::print::output::clean;

/// Names the `ConfigMap`.
pub(super) const NAME: &str = "kai-adopted";
const OBJECTS: &str = "objects.json.gz";
/// Bounds what is read of the objects, unpacked.
const BYTES_MAX: u64 = 64 << 20;
/// Fields that the API server fills in, and would refuse in a new object.
const OF_SERVER: [&str; 6] =
    ["uid", "resourceVersion", "generation", "creationTimestamp", "selfLink", "deletionTimestamp"];

/// Says what became of an object of KAI.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Fate {
    /// Its fields were taken over.
    Changed,
    /// KAI's settings no longer own it; else it is as it was.
    Disowned,
    /// It is gone.
    Removed,
}

impl Fate {
    const ALL: [(Self, &str); 3] =
        [(Self::Changed, "changed"), (Self::Disowned, "disowned"), (Self::Removed, "removed")];

    fn word(self) -> &'static str {
        Self::ALL.iter().find(|(fate, _)| *fate == self).map_or("", |(_, word)| word)
    }
}

/// An object as it was, and what became of it.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Was {
    pub(super) item: Item,
    pub(super) fate: Fate,
}

impl Was {
    fn new(object: &Value, fate: Fate) -> Option<Self> {
        let mut object = object.clone();
        let metadata = object["metadata"].as_object_mut()?;
        metadata.retain(|field, _| !OF_SERVER.contains(&field.as_str()));
        if let Some(fields) = object.as_object_mut() {
            fields.remove("status");
        }
        let resource = manifest::resource(&object)?;
        Some(Self { item: Item { group: Group::Daemons, object, resource }, fate })
    }

    fn is(&self, item: &Item) -> bool {
        self.item.resource == item.resource
            && self.item.namespace() == item.namespace()
            && self.item.name() == item.name()
    }

    /// Tells whether KAI has such an object, and it can have had this fate; `ours` may have been KAI's before.
    fn is_of_kai(&self, known: &Known, ours: &[Item]) -> bool {
        let item = &self.item;
        match self.fate {
            Fate::Removed => known.is_made_by_kai(&item.resource, item.namespace(), item.name()),
            // The definitions stay as they are.
            Fate::Changed => ours.iter().any(|one| one.group != Group::Crds && self.is(one)),
            // Nothing but its owners is ever written, and only where it is.
            Fate::Disowned => ours.iter().any(|one| one.resource == item.resource),
        }
    }

    /// Gives the place in the order in which objects are given back: rights first, questions of the API server last.
    fn rank(&self) -> (Fate, u8, String, Option<String>) {
        let kind = match self.item.resource.kind.as_str() {
            "Deployment" if self.item.name() == "kai-operator" => 1,
            "Deployment" => 2,
            _ if self.is_webhook() => 3,
            _ => 0,
        };
        (self.fate, kind, self.item.title(), self.item.namespace().map(str::to_owned))
    }

    /// As people read it: `clusterrole.rbac.authorization.k8s.io/a`, and the namespace.
    fn title(&self) -> String {
        let namespace = self.item.namespace().map(|name| format!(" in {name}")).unwrap_or_default();
        format!("{}{namespace}", self.item.title())
    }

    /// Tells whether it is a question that the API server is to ask.
    pub(super) fn is_webhook(&self) -> bool {
        self.item.resource.group == "admissionregistration.k8s.io"
    }
}

/// All that was taken over.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Record {
    pub(super) all: Vec<Was>,
}

impl Record {
    /// Describes what a switch is about to remove and to change.
    pub(super) async fn of(
        cluster: &Cluster,
        kai: &Installation,
        plan: &Plan,
    ) -> Result<Self, Error> {
        let mut record = Self::default();
        // Definitions stay as they are: they hold all that KAI's hold.
        let is_changed =
            |entry: &&Entry| entry.state == State::Change && entry.item.group != Group::Crds;
        for entry in plan.entries.iter().filter(is_changed) {
            if let Some(before) = &entry.before {
                record.add(
                    &whole(cluster, &plan::call(&entry.item, "get"), before).await?,
                    Fate::Changed,
                );
            }
        }
        for found in kai.removed() {
            record.add(&whole(cluster, &found.call("get"), &found.object).await?, Fate::Removed);
        }
        kai.disowned().iter().for_each(|found| record.add(&found.object, Fate::Disowned));
        Ok(record)
    }

    /// Lists what KAI v0.17 does not install.
    async fn strange(&self, cluster: &Cluster, namespace: &str) -> Result<Vec<String>, Error> {
        let known = Known::read(cluster, namespace).await?;
        let ours = ours(namespace);
        let strange = self.all.iter().filter(|was| !was.is_of_kai(&known, &ours));
        Ok(strange.map(Was::title).collect())
    }

    fn add(&mut self, object: &Value, fate: Fate) {
        if let Some(was) = Was::new(object, fate)
            && !self.has(&was.item)
        {
            self.all.push(was);
        }
    }

    /// Tells whether an object was taken over.
    fn has(&self, item: &Item) -> bool {
        self.all.iter().any(|was| was.is(item))
    }

    /// Tells whether an object of ours has the place of one that is changed back, and so is not removed.
    pub(super) fn keeps(&self, item: &Item) -> bool {
        self.all.iter().any(|was| was.fate != Fate::Removed && was.is(item))
    }

    /// Adds what an earlier run has written down: it had come to a part of this when it was interrupted.
    fn join(mut self, earlier: Self) -> Self {
        for was in earlier.all {
            let Some(known) = self.all.iter_mut().find(|known| known.is(&was.item)) else {
                self.all.push(was);
                continue;
            };
            // The earlier run may have taken the owners away, and nothing else yet.
            if kai_v017::owners(&known.item.object).next().is_none() {
                let owners = &was.item.object["metadata"]["ownerReferences"];
                if !owners.is_null() {
                    known.item.object["metadata"]["ownerReferences"] = owners.clone();
                }
            }
        }
        self.all.sort_by_cached_key(Was::rank);
        self
    }

    fn packed(&self) -> io::Result<String> {
        let rows = self.all.iter();
        let rows: Vec<_> =
            rows.map(|was| json!({"was": was.fate.word(), "object": was.item.object})).collect();
        let mut gzip = GzEncoder::new(Vec::new(), Compression::best());
        gzip.write_all(Value::from(rows).to_string().as_bytes())?;
        gzip.finish().map(|bytes| BASE64_STANDARD.encode(bytes))
    }

    /// Reads what `packed` has written; `None` where it is something else.
    fn unpacked(text: &str) -> Option<Self> {
        let bytes = BASE64_STANDARD.decode(text).ok()?;
        let mut json = String::new();
        GzDecoder::new(bytes.as_slice()).take(BYTES_MAX).read_to_string(&mut json).ok()?;
        let rows: Vec<Value> = serde_json::from_str(&json).ok()?;
        let read = |row: &Value| {
            let (fate, _) = Fate::ALL.iter().find(|(_, word)| row["was"] == *word)?;
            Was::new(&row["object"], *fate)
        };
        let mut all: Vec<Was> = rows.iter().map(read).collect::<Option<_>>()?;
        all.sort_by_cached_key(Was::rank);
        Some(Self { all })
    }
}

/// Lists what is ours, parts that are asked for included.
fn ours(namespace: &str) -> Vec<Item> {
    let mut options = Options { namespace: namespace.to_owned(), ..Options::default() };
    options.components.extend(Component::OPTIONAL);
    manifest::items(&options)
}

/// Reads an object anew, and whose its fields are; what was read of it before if it went meanwhile.
async fn whole(cluster: &Cluster, call: &Call<'_>, before: &Value) -> Result<Value, Error> {
    let live = cluster.whole(call).await.map_err(|e| cluster.explain(call, &e))?;
    Ok(live.unwrap_or_else(|| before.clone()))
}

fn resource() -> Resource {
    Resource::new("v1", "ConfigMap", "configmaps")
}

/// Holds what a switch has written down.
#[derive(Default)]
pub(super) struct Kept {
    pub(super) record: Record,
    /// The record as it is in the cluster.
    packed: String,
}

/// Reads what was taken over from KAI; `None` where nothing was.
///
/// # Errors
/// It cannot be read, or somebody else wrote it.
pub(super) async fn read(cluster: &Cluster, namespace: &str) -> Result<Option<Kept>, Error> {
    let resource = resource();
    let call = Call::new("get", &resource).namespace(Some(namespace)).name(NAME);
    let live = cluster.get(&call).await.map_err(|e| cluster.explain(&call, &e))?;
    let Some(live) = live else { return Ok(None) };
    let packed = live["binaryData"][OBJECTS].as_str().unwrap_or_default().to_owned();
    // Who may write config maps here may have written it, so nothing of it is read before.
    if !seal::read(cluster).await?.is_some_and(|seal| seal.fits(&packed)) {
        let line = format!("its checksum is not in clusterrole/{NAME}, where --adopt writes it");
        return Err(foreign(namespace, line));
    }
    let Some(record) = Record::unpacked(&packed) else {
        let line = format!("{OBJECTS} in it holds the objects of KAI that were taken over");
        return Err(foreign(namespace, line));
    };
    let strange = record.strange(cluster, namespace).await?;
    if !strange.is_empty() {
        let line = format!("KAI v0.17 installs no {}", clean(&first(&strange)));
        return Err(foreign(namespace, line));
    }
    Ok(Some(Kept { record, packed }))
}

/// Says that a record is not what a switch has written.
fn foreign(namespace: &str, line: String) -> Error {
    let namespace = clean(namespace);
    let what = format!("configmap/{NAME} in namespace {namespace} is not what --adopt wrote");
    let problem = Problem::new(number::FILE, Exit::Conflict, what);
    problem
        .line(line)
        .line("nothing of it is used: it would be created with your rights")
        .fix(format!("kubectl get configmap {NAME} -n {namespace} -o yaml   (and who wrote it; delete it if nobody needs it)"))
        .into()
}

/// Writes down what a switch is about to remove and to change, before it does.
pub(super) async fn keep(
    cluster: &Cluster,
    record: Record,
    plan: &Plan,
    options: &Options,
) -> Result<(), Error> {
    let strange = record.strange(cluster, &options.namespace).await?;
    if !strange.is_empty() {
        let what = "what runs is not KAI v0.17, and could not be given back; nothing was changed";
        return Err(Problem::new(number::EXISTS, Exit::Conflict, what)
            .line(format!("KAI v0.17 installs no {}", clean(&first(&strange))))
            .fix("remove it, or take it from kai-operator: its label app.kubernetes.io/managed-by, its owner kai-config")
            .into());
    }
    let earlier = read(cluster, &options.namespace).await?;
    let before = earlier.as_ref().map(|kept| kept.packed.clone());
    let earlier = earlier.map(|kept| kept.record).unwrap_or_default();
    let record = record.join(earlier.clone());
    if record == earlier {
        return Ok(());
    }
    let packed = record.packed().map_err(|error| {
        let what = "failed to write down what is taken over; nothing was changed";
        Problem::new(number::OTHER, Exit::Failure, what).line(error.to_string())
    })?;
    // Either may be there when this is interrupted.
    let sealed: Vec<&str> = before.as_deref().into_iter().chain([packed.as_str()]).collect();
    let seal = seal::read(cluster).await?;
    if !seal.is_some_and(|seal| sealed.iter().all(|packed| seal.fits(packed))) {
        put(cluster, &seal::item(&sealed), options).await?;
    }
    let titles = record.all.iter().map(|was| format!("{} {}\n", was.fate.word(), was.title()));
    let map = json!({
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "metadata": {
            "name": NAME,
            "namespace": options.namespace,
            "labels": { label::MANAGED_BY: value::INSTALLER, label::PART_OF: value::PRODUCT },
            "annotations": { "kubernetes.io/description":
                "What kubectl kai install --adopt has taken over from KAI; kubectl kai install release gives it back." },
        },
        "data": { "objects": titles.collect::<String>() },
        "binaryData": { OBJECTS: packed },
    });
    // Where KAI lived elsewhere, our namespace is not there yet.
    let home = plan.of(Group::Namespaces).find(|entry| entry.item.name() == options.namespace);
    if let Some(home) = home.filter(|home| home.state == State::Create) {
        put(cluster, &home.item, options).await?;
    }
    put(cluster, &Item::new(Group::Rbac, map), options).await
}

async fn put(cluster: &Cluster, item: &Item, options: &Options) -> Result<(), Error> {
    let done = plan::put(cluster, item, options, false).await;
    done.map(drop).map_err(|failure| plan::refused(cluster, item, None, &failure))
}

/// Tells whether an object is the record of a switch, or its seal.
pub(super) fn is_part(item: &Item) -> bool {
    item.name() == NAME && matches!(item.resource.kind.as_str(), "ConfigMap" | "ClusterRole")
}

/// Finds the record of a switch and its seal, the seal first: both were made by us.
pub(super) async fn parts(cluster: &Cluster, namespace: &str) -> Result<Vec<Present>, Error> {
    let map = json!({"apiVersion": "v1", "kind": "ConfigMap",
        "metadata": {"name": NAME, "namespace": namespace}});
    let mut parts = Vec::new();
    for item in [seal::item(&[]), Item::new(Group::Rbac, map)] {
        let call = plan::call(&item, "get");
        let live = cluster.get(&call).await.map_err(|e| cluster.explain(&call, &e))?;
        let live = live.filter(|live| plan::is_ours(live) && !plan::is_ending(live));
        parts.extend(live.map(|live| {
            let uid = live["metadata"]["uid"].as_str().unwrap_or_default().to_owned();
            Present { item, uid }
        }));
    }
    Ok(parts)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn object(name: &str, owners: &Value) -> Value {
        json!({"apiVersion": "v1", "kind": "Service", "status": {"loadBalancer": {}},
            "metadata": {"name": name, "namespace": "n", "uid": "1", "resourceVersion": "7",
                "ownerReferences": owners},
            "spec": {"ports": [{"port": 1}]}})
    }

    fn record(object: &Value, fate: Fate) -> Record {
        Record { all: vec![Was::new(object, fate).expect("a known kind")] }
    }

    #[test]
    fn it_is_read_as_it_was_written() {
        let record = record(&object("a", &json!([{"kind": "Config"}])), Fate::Removed);
        let read = Record::unpacked(&record.packed().expect("memory takes it")).expect("ours");
        let [was] = read.all.as_slice() else { panic!("{read:?}") };
        assert_eq!(was.fate, Fate::Removed);
        assert_eq!(was.item.object, record.all.first().expect("one").item.object);
        let metadata = &was.item.object["metadata"];
        assert!(metadata["uid"].is_null() && metadata["resourceVersion"].is_null(), "{metadata}");
        assert!(was.item.object["status"].is_null());
        let strange = BASE64_STANDARD.encode(b"[{\"was\": \"eaten\"}]");
        for text in ["", "x", strange.as_str()] {
            assert!(Record::unpacked(text).is_none(), "{text}");
        }
    }

    /// The first run was cut when it had taken the owners away.
    #[test]
    fn what_an_earlier_run_saw_is_kept() {
        let owned = object("a", &json!([{"kind": "Config"}]));
        let gone = object("b", &Value::Null);
        let earlier = Record {
            all: [record(&owned, Fate::Changed).all, record(&gone, Fate::Removed).all].concat(),
        };
        let joined = record(&object("a", &Value::Null), Fate::Changed).join(earlier);
        let [first, second] = joined.all.as_slice() else { panic!("{joined:?}") };
        assert_eq!(kai_v017::owners(&first.item.object).count(), 1);
        assert_eq!(second.item.name(), "b");
    }

    /// Reads `REMOVED apps/v1 Deployment NAMESPACE/NAME`.
    fn was(line: &str) -> Was {
        let words: Vec<&str> = line.split(' ').collect();
        let [fate, version, kind, place] = words.as_slice() else { panic!("{line}") };
        let (namespace, name) = place.split_once('/').unwrap_or(("", place));
        let mut object = json!({"apiVersion": version, "kind": kind, "metadata": {"name": name}});
        if !namespace.is_empty() {
            object["metadata"]["namespace"] = json!(namespace);
        }
        let fate = Fate::ALL.iter().find(|(_, word)| word == fate).expect("a fate").0;
        Was::new(&object, fate).expect("a kind in the table")
    }

    #[test]
    fn only_what_kai_installs_is_known() {
        let config = json!({"spec": {"namespace": "theirs", "global": {"schedulerName": "mine"}}});
        let known = Known::new("here", &config);
        let ours = ours("here");
        for (line, is_known) in [
            ("removed apps/v1 Deployment theirs/kai-operator", true),
            ("removed apps/v1 Deployment here/mine-pool-a", true),
            ("removed apps/v1 Deployment here/kai-scheduler-default", false),
            ("removed apps/v1 Deployment kube-system/binder", false),
            ("removed apps/v1 Deployment here/miner", false),
            ("changed apps/v1 Deployment here/binder", false),
            ("removed apps/v2 Deployment here/binder", false),
            ("removed discovery.k8s.io/v1 EndpointSlice here/mine-a-leader", true),
            ("removed v1 Secret here/binder", false),
            (
                "removed admissionregistration.k8s.io/v1 MutatingWebhookConfiguration mutating-kai-admission",
                true,
            ),
            ("removed admissionregistration.k8s.io/v1 MutatingWebhookConfiguration mine", false),
            ("changed rbac.authorization.k8s.io/v1 ClusterRole kai-scheduler", true),
            ("removed rbac.authorization.k8s.io/v1 ClusterRole kai-scheduler", false),
            ("changed rbac.authorization.k8s.io/v1 ClusterRole admin", false),
            ("changed rbac.authorization.k8s.io/v1 ClusterRoleBinding evil", false),
            ("removed rbac.authorization.k8s.io/v1 ClusterRoleBinding evil", false),
            ("disowned rbac.authorization.k8s.io/v1 ClusterRole admin", true),
            ("disowned v1 ServiceAccount kube-system/any", true),
            ("changed v1 ServiceAccount kube-system/kai-scheduler", false),
        ] {
            assert_eq!(was(line).is_of_kai(&known, &ours), is_known, "{line}");
        }
    }
}
