//! Says in which queue work waits, and what it asks for.

use std::collections::{BTreeMap, BTreeSet};

use futures::future::join_all;
use serde_json::{Map, Value};

use super::document::Document;
use crate::cluster::gpu::{Total, claimed_milli};
use crate::cluster::json::text;
use crate::cluster::queue::count;
use crate::cluster::{Call, Cluster, Resource, manifest, names};
use crate::context::Context;
use crate::print::output::clean;

/// The group of claims.
const CLAIMS: &str = "resource.k8s.io";
/// More workloads than are told one by one.
const TOLD: usize = 4;

/// Sums what is asked for together.
#[derive(Default)]
struct Asked {
    pods: u64,
    gpus: Total,
    /// Devices of claims that are no GPUs to a queue, by class.
    others: BTreeMap<String, u64>,
}

impl Asked {
    /// Counts what a workload asks for, with the claims that are among the documents.
    fn of(workload: &Document, documents: &[&Document]) -> Self {
        let (pods, mut gpus) = workload.demand();
        let mut others = claimed(workload, documents);
        let amounts = others.iter().map(|(class, count)| (class.clone(), (*count).into()));
        let claimed = claimed_milli(&Value::Object(amounts.collect::<Map<_, _>>()));
        gpus.milli = gpus.milli.saturating_add(claimed);
        others.retain(|class, _| claimed_milli(&serde_json::json!({ class: 1 })) == 0);
        Self { pods, gpus, others }
    }

    fn add(&mut self, other: &Self) {
        self.pods += other.pods;
        self.gpus.add(&other.gpus, 1);
        for (class, count) in &other.others {
            *self.others.entry(class.clone()).or_default() += count;
        }
    }

    /// The pods, or for an array its tasks first; then the devices.
    fn words(&self, tasks: Option<u64>) -> String {
        let pods = count(usize::try_from(self.pods).unwrap_or(0), "pod");
        let mut parts = vec![
            tasks.map_or_else(|| pods.clone(), |tasks| format!("{tasks} tasks, {pods} at once")),
        ];
        if !self.gpus.is_zero() {
            parts.push(self.gpus.words());
        }
        parts.extend(self.others.iter().map(|(class, n)| format!("{n} of class {}", clean(class))));
        parts.join(" · ")
    }
}

/// Says in which queue each workload waits, and what it asks for.
pub(super) async fn say(documents: &[Document], cluster: Option<&Cluster>, context: &mut Context) {
    let workloads: Vec<&Document> = documents.iter().filter(|d| d.is_workload).collect();
    let there = match cluster {
        Some(cluster) => there(&workloads, documents, cluster).await,
        None => Vec::new(),
    };
    let all: Vec<&Document> = documents.iter().chain(&there).collect();
    let mut queues: BTreeMap<String, (usize, Asked)> = BTreeMap::new();
    for document in &workloads {
        let asked = Asked::of(document, &all);
        let queue = clean(text(&document.object["metadata"]["labels"][names::QUEUE])).into_owned();
        if workloads.len() <= TOLD {
            let place = cluster.and_then(|cluster| document.namespace(cluster));
            let place = place.map_or_else(String::new, |place| format!(" · namespace {place}"));
            let asks = asked.words(manifest::tasks(&document.object));
            context.out.talk(&format!("  queue {queue} · {asks}{place}"));
        }
        let one = queues.entry(queue).or_default();
        one.0 += 1;
        one.1.add(&asked);
    }
    for (queue, (n, asked)) in queues.iter().filter(|_| workloads.len() > TOLD) {
        let n = count(*n, "workload");
        context.out.talk(&format!("  {n} in queue {queue} · {}", asked.words(None)));
    }
}

/// Reads the claims, and templates of claims, that workloads name and that are not among the documents; without those that
/// this user may not read.
async fn there(
    workloads: &[&Document],
    documents: &[Document],
    cluster: &Cluster,
) -> Vec<Document> {
    let mut wanted = BTreeSet::new();
    for workload in workloads {
        let namespace = workload.namespace(cluster).unwrap_or_default();
        for Named { kind, name, .. } in named(workload.templates()) {
            if !documents.iter().any(|one| one.kind() == kind && one.name() == name) {
                wanted.insert((namespace.to_owned(), kind, name));
            }
        }
    }
    if wanted.is_empty() {
        return Vec::new();
    }
    let groups = cluster.groups().await.unwrap_or_default();
    let Some((group, versions)) = groups.into_iter().find(|(group, _)| group == CLAIMS) else {
        return Vec::new();
    };
    let version = format!("{group}/{}", versions.first().map_or("v1", String::as_str));
    let each = wanted.into_iter().map(|(namespace, kind, name)| {
        let resource = Resource::new(&version, kind, &format!("{}s", kind.to_lowercase()));
        async move {
            let call = Call::new("get", &resource).namespace(Some(&namespace)).name(&name);
            let mut object = cluster.get(&call).await.ok().flatten()?;
            object["kind"] = kind.into();
            Some(Document::new(object, "the cluster"))
        }
    });
    join_all(each).await.into_iter().flatten().collect()
}

/// A claim, or a template of claims, that pods name.
struct Named {
    kind: &'static str,
    name: String,
    /// The pods of the template that names it.
    pods: u64,
}

/// Lists the claims, and templates of claims, that the pods of a workload name.
fn named(object: &Value) -> Vec<Named> {
    let mut all = Vec::new();
    for site in manifest::sites(object).iter().filter(|site| site.makes_pods()) {
        let list = object.pointer(&format!("{}/resourceClaims", site.spec));
        for entry in list.and_then(Value::as_array).into_iter().flatten() {
            let template = text(&entry["resourceClaimTemplateName"]);
            let (kind, name) = if template.is_empty() {
                ("ResourceClaim", text(&entry["resourceClaimName"]))
            } else {
                ("ResourceClaimTemplate", template)
            };
            all.push(Named { kind, name: name.to_owned(), pods: site.replicas });
        }
    }
    all
}

/// Devices that the pods of a workload claim, by class: of templates for each pod, of claims once.
fn claimed(workload: &Document, documents: &[&Document]) -> BTreeMap<String, u64> {
    let mut sum: BTreeMap<String, u64> = BTreeMap::new();
    let mut shared = BTreeSet::new();
    for Named { kind, name, pods } in named(workload.templates()) {
        let is_shared = kind == "ResourceClaim";
        let times = if is_shared { u64::from(shared.insert(name.clone())) } else { pods };
        for (class, count) in devices_of(documents, kind, &name) {
            let one = sum.entry(class.to_owned()).or_default();
            *one = one.saturating_add(count.saturating_mul(times));
        }
    }
    sum.retain(|_, count| *count > 0);
    sum
}

/// The classes and counts of a claim, or of a template of claims, that is among the documents.
fn devices_of<'a>(
    documents: &'a [&'a Document],
    kind: &'a str,
    name: &'a str,
) -> impl Iterator<Item = (&'a str, u64)> {
    let found = documents.iter().find(|one| one.kind() == kind && one.name() == name);
    let spec = found.map(|one| &one.object["spec"]);
    let spec = spec.map(|spec| if kind == "ResourceClaim" { spec } else { &spec["spec"] });
    let requests = spec.and_then(|spec| spec["devices"]["requests"].as_array());
    requests.into_iter().flatten().map(|request| {
        // Version v1beta1 has it in the request itself.
        let one = if request["exactly"].is_object() { &request["exactly"] } else { request };
        (text(&one["deviceClassName"]), one["count"].as_u64().unwrap_or(1))
    })
}
