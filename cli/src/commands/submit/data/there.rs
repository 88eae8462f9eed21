//! Asks the cluster whether what the flags name exists, before anything is created, with the rights of the user.

use std::collections::BTreeMap;

use futures::future::join_all;
use serde_json::Value;

use super::Data;
use super::env::Source;
use super::mount::Volume;
use crate::cluster::json::text;
use crate::cluster::{Call, Cluster, Failure, Resource, Select, manifest};
use crate::commands::submit::Document;
use crate::print::error::{Error, Exit, Problem, number};
use crate::print::output::clean;

/// Kinds of objects that flags name, in the order in which they are told.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Kind {
    Claim,
    Secret,
    PullSecret,
    ConfigMap,
    StorageClass,
    ServiceAccount,
}

/// An object that has to be there.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Reference {
    kind: Kind,
    name: String,
    namespace: String,
}

/// Holds what was found out.
#[derive(Debug, Default)]
pub(in crate::commands::submit) struct Found {
    pub(in crate::commands::submit) problems: Vec<Problem>,
    pub(in crate::commands::submit) warnings: Vec<String>,
    /// The server could not be asked.
    pub(in crate::commands::submit) error: Option<Error>,
}

/// More names than one reads.
const NAMES: usize = 6;

/// Looks for everything that the flags name, in the namespaces of the workloads; one request each.
pub(in crate::commands::submit) async fn check(
    data: &Data,
    documents: &[Document],
    cluster: &Cluster,
) -> Found {
    let references = references(data, documents, cluster);
    let looks = join_all(references.iter().map(|reference| look(reference, cluster))).await;
    let mut found = Found::default();
    let mut assumed: BTreeMap<(&str, &str), Vec<&str>> = BTreeMap::new();
    for (reference, look) in references.iter().zip(looks) {
        match look {
            Ok(Some(object)) if reference.kind == Kind::Claim => found.claim(&object, documents),
            Ok(Some(_)) => {}
            Ok(None) => found.problems.push(missing(reference, cluster).await),
            Err(failure) if failure.is_forbidden() => {
                let place = (reference.kind.plural(), reference.namespace.as_str());
                assumed.entry(place).or_default().push(&reference.name);
            }
            Err(failure) => {
                let resource = reference.kind.resource();
                let call = Call::new("get", &resource).name(&reference.name);
                found.error = Some(cluster.explain(&call, &failure));
            }
        }
    }
    for ((plural, namespace), names) in assumed {
        let are = if names.len() == 1 { "is" } else { "are" };
        found.warnings.push(format!(
            "you may not read {plural} in {namespace}, so {} {are} taken to be there",
            names.join(", ")
        ));
    }
    found
}

/// The objects that the flags name and no document brings along, each once.
fn references(data: &Data, documents: &[Document], cluster: &Cluster) -> Vec<Reference> {
    let mut names: Vec<(Kind, &str)> = Vec::new();
    let of_source = |source: &Source| match source {
        Source::Secret(_) => Kind::Secret,
        Source::ConfigMap(_) => Kind::ConfigMap,
    };
    names.extend(data.env_from.iter().map(|source| (of_source(source), source.name())));
    names.extend(data.code_secret.iter().map(|name| (Kind::Secret, name.as_str())));
    names.extend(data.service_account.iter().map(|name| (Kind::ServiceAccount, name.as_str())));
    names.extend(data.pull_secrets.iter().map(|name| (Kind::PullSecret, name.as_str())));
    for mount in &data.mounts {
        match &mount.volume {
            Volume::Claim(claim) => names.push((Kind::Claim, claim)),
            Volume::Files(source) => names.push((of_source(source), source.name())),
            Volume::New { class: Some(class), .. } => names.push((Kind::StorageClass, class)),
            Volume::New { .. } | Volume::Host(_) | Volume::Empty(_) | Volume::Memory(_) => {}
        }
    }
    let brought = |kind: Kind, name: &str| {
        documents.iter().any(|d| d.kind() == kind.resource().kind && d.name() == name)
    };
    let mut references = Vec::new();
    for document in documents.iter().filter(|document| document.is_workload) {
        let namespace = document.namespace(cluster).unwrap_or_default();
        for (kind, name) in names.iter().filter(|(kind, name)| !brought(*kind, name)) {
            let name = (*name).to_owned();
            references.push(Reference { kind: *kind, name, namespace: namespace.to_owned() });
        }
    }
    references.sort();
    references.dedup();
    references
}

async fn look(reference: &Reference, cluster: &Cluster) -> Result<Option<Value>, Failure> {
    let resource = reference.kind.resource();
    let call =
        Call::new("get", &resource).namespace(Some(&reference.namespace)).name(&reference.name);
    match reference.kind {
        Kind::Claim => cluster.get(&call).await,
        // Their values are not needed, so they are not sent.
        Kind::Secret
        | Kind::ConfigMap
        | Kind::StorageClass
        | Kind::PullSecret
        | Kind::ServiceAccount => cluster.metadata(&call).await,
    }
}

impl Found {
    /// A claim that only one node, or one pod, can use at a time.
    fn claim(&mut self, claim: &Value, documents: &[Document]) {
        let name = clean(text(&claim["metadata"]["name"]));
        let modes = claim["spec"]["accessModes"].as_array();
        let modes: Vec<&str> = modes.into_iter().flatten().map(text).collect();
        let workloads = documents.iter().filter(|document| document.is_workload);
        let pods: u64 = workloads.map(|document| manifest::demand(&document.object).0).sum();
        if text(&claim["status"]["phase"]) == "Lost" {
            self.warnings
                .push(format!("claim {name} has lost its volume, so its pods cannot start"));
        }
        if pods < 2 || modes.is_empty() {
            return;
        }
        if modes.iter().all(|mode| *mode == "ReadWriteOncePod") {
            let what =
                format!("claim \"{name}\" is for one pod (ReadWriteOncePod), and there are {pods}");
            self.problems.push(
                Problem::new(number::UNSUPPORTED, Exit::Refused, what)
                    .fix("a claim with the mode ReadWriteMany, or one worker"),
            );
        } else if modes.iter().all(|mode| mode.starts_with("ReadWriteOnce")) {
            self.warnings.push(format!(
                "claim {name} can be used on one node only (ReadWriteOnce), so all {pods} pods have to fit on one"
            ));
        }
    }
}

async fn missing(reference: &Reference, cluster: &Cluster) -> Problem {
    let Reference { kind, name, namespace } = reference;
    let place = if kind.resource().namespaced {
        format!(" in namespace {namespace}")
    } else {
        String::new()
    };
    let what = format!("{} \"{name}\" does not exist{place}", kind.word());
    let problem = Problem::new(number::DATA_NOT_FOUND, Exit::NotFound, what);
    let there = there(reference, cluster).await;
    let near = there.iter().filter(|other| strsim::damerau_levenshtein(other, name) <= 2).min();
    let problem = match near {
        Some(near) => problem.line(format!("did you mean \"{}\"?", clean(near))),
        None if there.is_empty() => problem,
        None => {
            let more = if there.len() > NAMES { ", ..." } else { "" };
            let shown: Vec<_> = there.iter().take(NAMES).map(|name| clean(name)).collect();
            problem.line(format!("there is: {}{more}", shown.join(", ")))
        }
    };
    problem.fix(match kind {
        Kind::Claim => "a volume of each pod's own: -m new://100Gi:/PATH".to_owned(),
        Kind::Secret => format!(
            "kubectl create secret generic {name} -n {namespace} --from-literal=KEY=VALUE"
        ),
        Kind::PullSecret => format!(
            "kubectl create secret docker-registry {name} -n {namespace} --docker-server=REGISTRY --docker-username=USER"
        ),
        Kind::ConfigMap => {
            format!("kubectl create configmap {name} -n {namespace} --from-file=FILE")
        }
        Kind::ServiceAccount => format!("kubectl create serviceaccount {name} -n {namespace}"),
        Kind::StorageClass => "leave the class out to get the default: -m new://100Gi:/PATH".to_owned(),
    })
}

/// The names of what is there instead; empty where they cannot be read.
async fn there(reference: &Reference, cluster: &Cluster) -> Vec<String> {
    let resource = reference.kind.resource();
    let call = Call::new("list", &resource).namespace(Some(&reference.namespace));
    let page = cluster.page(&call, &Select::default(), "", true).await.unwrap_or_default();
    let items = page["items"].as_array().into_iter().flatten();
    items.map(|item| text(&item["metadata"]["name"]).to_owned()).collect()
}

impl Kind {
    fn resource(self) -> Resource {
        match self {
            Self::Claim => Resource::new("v1", "PersistentVolumeClaim", "persistentvolumeclaims"),
            Self::Secret | Self::PullSecret => Resource::new("v1", "Secret", "secrets"),
            Self::ConfigMap => Resource::new("v1", "ConfigMap", "configmaps"),
            Self::ServiceAccount => Resource::new("v1", "ServiceAccount", "serviceaccounts"),
            Self::StorageClass => {
                Resource::new("storage.k8s.io/v1", "StorageClass", "storageclasses").cluster_wide()
            }
        }
    }

    fn plural(self) -> &'static str {
        match self {
            Self::Claim => "claims",
            Self::Secret | Self::PullSecret => "secrets",
            Self::ConfigMap => "config maps",
            Self::ServiceAccount => "service accounts",
            Self::StorageClass => "storage classes",
        }
    }

    fn word(self) -> &'static str {
        match self {
            Self::Claim => "claim",
            Self::Secret => "secret",
            Self::PullSecret => "pull secret",
            Self::ConfigMap => "config map",
            Self::ServiceAccount => "service account",
            Self::StorageClass => "storage class",
        }
    }
}
