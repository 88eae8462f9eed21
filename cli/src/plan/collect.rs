//! Reads what belongs into a snapshot, page by page, with the user's own rights.

use std::collections::{BTreeMap, BTreeSet, HashSet};

use kai_scheduler::Args;
use kai_scheduler::snapshot::{ARRAYS, Array, Of, Part};
use serde_json::{Value, json};
use tokio::sync::mpsc;

use crate::cluster::json::text;
use crate::cluster::{Call, Cluster, Failure, Resource, Select};
use crate::print::error::{Error, Exit};
use crate::print::output::{Output, clean};

/// Pages of 500 objects between two signs of life where no moving line can be shown.
const PAGES_BETWEEN_SIGNS: usize = 20;
/// A list whose end cannot be reached before the server forgets it is begun again so often.
const RESTARTS_MAX: u32 = 5;

/// Holds what the API server serves.
#[derive(Debug)]
pub(crate) struct Served {
    /// By array, the best version of its group that is both served and understood.
    versions: BTreeMap<&'static str, &'static str>,
    /// Kubernetes' version and what it serves of these groups, as a snapshot says it.
    pub(crate) discovery: Value,
}

/// Asks what is served, of the groups that matter.
pub(crate) async fn served(cluster: &Cluster) -> Result<Served, Error> {
    let explain = |failure: &Failure| cluster.explain_any(failure);
    let server_version = cluster.read("/version").await.map_err(|failure| explain(&failure))?;
    let groups = cluster.groups().await.map_err(|failure| explain(&failure))?;
    let mut versions = BTreeMap::new();
    let mut paths = BTreeSet::new();
    for array in ARRAYS.iter() {
        let served = groups.iter().find(|(name, _)| name == array.group);
        let is_served = |version: &&&str| {
            array.group.is_empty()
                || served.is_some_and(|(_, served)| served.iter().any(|one| one == **version))
        };
        if let Some(version) = array.versions.iter().find(is_served) {
            versions.insert(array.key, *version);
            let root = if array.group.is_empty() { "/api" } else { "/apis" };
            paths.insert(format!("{root}/{}", Resource::api_version_of(array.group, version)));
        }
    }
    let mut resources = Vec::new();
    for path in paths {
        // What is served beside is asked for below, and told where it is not.
        if let Ok(list) = cluster.read(&path).await {
            resources.push(list);
        }
    }
    let discovery = json!({ "serverVersion": server_version, "resources": resources });
    Ok(Served { versions, discovery })
}

/// Holds what reads.
pub(crate) struct Collector<'c> {
    pub(crate) cluster: &'c Cluster,
    /// The command line of the scheduler whose view it is.
    pub(crate) args: &'c Args,
    pub(crate) served: &'c Served,
    /// Only this namespace, beside what is in none.
    pub(crate) namespace: Option<String>,
    pub(crate) parts: mpsc::Sender<Part>,
    /// Holds what could not be read, a sentence each.
    pub(crate) left_out: Vec<String>,
    /// Arrays that stay empty, since their kind is not served.
    pub(crate) not_served: Vec<&'static str>,
    /// Counts of what was read are not told.
    pub(crate) is_quiet: bool,
}

/// Holds what was not read.
#[derive(Debug)]
pub(crate) struct Collected {
    pub(crate) left_out: Vec<String>,
    pub(crate) not_served: Vec<&'static str>,
}

/// Says how a list ended.
enum Listed {
    Whole(usize),
    NotServed,
    Forbidden,
    /// Nobody takes objects any more: writing failed, which its end tells.
    Unwanted,
}

impl Collector<'_> {
    /// Reads everything and hands it on.
    pub(crate) async fn collect(mut self, out: &mut Output) -> Result<Collected, Error> {
        let args = self.args;
        for array in ARRAYS.iter().filter(|array| array.is_wanted(args)) {
            if self.parts.send(Part::Array(array)).await.is_err() {
                break;
            }
            self.array(array, out).await?;
        }
        for what in &self.left_out {
            // A writer that is gone tells why itself.
            let _ = self.parts.send(Part::LeftOut(what.clone())).await;
        }
        Ok(Collected { left_out: self.left_out, not_served: self.not_served })
    }

    async fn array(&mut self, array: &'static Array, out: &mut Output) -> Result<(), Error> {
        let Some(version) = self.served.versions.get(array.key) else {
            self.not_served.push(array.key);
            return Ok(());
        };
        let api_version = Resource::api_version_of(array.group, version);
        let resource = Resource::new(&api_version, array.of.name(), array.plural);
        let resource = if array.is_namespaced { resource } else { resource.cluster_wide() };
        let only = self.namespace.clone().filter(|_| array.is_namespaced);
        let mut listed = self.list(array, &resource, only.as_deref(), out).await?;
        let mut within = only;
        if let (Listed::Forbidden, None, true) = (&listed, &within, array.is_namespaced) {
            let own = self.cluster.namespace.clone();
            listed = self.list(array, &resource, Some(&own), out).await?;
            within = Some(own);
        }
        match (listed, within) {
            (Listed::Whole(count), within) => {
                if !self.is_quiet {
                    out.talk(&format!("{}: {count}", array.key));
                }
                if let Some(namespace) = within {
                    let namespace = clean(&namespace).into_owned();
                    self.left_out
                        .push(format!("{}: only those of namespace {namespace}", array.key));
                }
            }
            (Listed::Forbidden, _) => {
                self.left_out.push(format!("{}: you may not list them", array.key));
            }
            (Listed::NotServed, _) => self.not_served.push(array.key),
            (Listed::Unwanted, _) => return Err(Error::Quiet(Exit::Failure)),
        }
        Ok(())
    }

    /// Reads a list to its end. Where the server has forgotten how to go on it begins again, and what came already is
    /// passed over: nothing is written twice, and nothing that was there all the time is missing.
    async fn list(
        &self,
        array: &'static Array,
        resource: &Resource,
        namespace: Option<&str>,
        out: &mut Output,
    ) -> Result<Listed, Error> {
        let call = Call::new("list", resource).namespace(namespace);
        let (labels, fields) = (self.labels(array), fields(array));
        let select = Select { labels: &labels, fields };
        let mut seen: HashSet<Box<str>> = HashSet::new();
        let mut next = String::new();
        let mut restarts = 0;
        for page in 1.. {
            let mut body = match self.cluster.page(&call, &select, &next, array.is_named_only).await
            {
                Ok(body) => body,
                Err(failure) if failure.is_forbidden() => return Ok(Listed::Forbidden),
                Err(failure) if failure.code() == Some(404) => return Ok(Listed::NotServed),
                Err(failure)
                    if failure.code() == Some(410)
                        && !next.is_empty()
                        && restarts < RESTARTS_MAX =>
                {
                    restarts += 1;
                    next.clear();
                    continue;
                }
                Err(failure) => return Err(self.cluster.explain(&call, &failure)),
            };
            if let Some(Value::Array(items)) = body.get_mut("items").map(Value::take) {
                for item in items {
                    if seen.insert(Box::from(text(&item["metadata"]["uid"])))
                        && self.parts.send(Part::Object(item)).await.is_err()
                    {
                        return Ok(Listed::Unwanted);
                    }
                }
            }
            match body.pointer("/metadata/continue").and_then(Value::as_str) {
                Some(token) if !token.is_empty() => token.clone_into(&mut next),
                Some(_) | None => break,
            }
            let so_far = format!("{}: {} so far", array.key, seen.len());
            out.wait_for(&so_far);
            if !self.is_quiet && page % PAGES_BETWEEN_SIGNS == 0 && !out.talks_to_terminal() {
                out.talk(&so_far);
            }
        }
        Ok(Listed::Whole(seen.len()))
    }

    /// The node pool, where objects belong to one.
    fn labels(&self, array: &Array) -> String {
        let (key, value) = (&self.args.nodepool_label_key, &self.args.partition_label_value);
        match (array.is_of_pool && !key.is_empty(), &**value) {
            (false, _) => String::new(),
            (true, "") => format!("!{key}"),
            (true, value) => format!("{key}={value}"),
        }
    }
}

/// Pods that failed mean nothing to the scheduler, which does not list them either.
fn fields(array: &Array) -> &'static str {
    match array.of {
        Of::Kind(kai_scheduler::ingest::Kind::Pod) => "status.phase!=Failed",
        Of::Kind(_) | Of::BindRequests => "",
    }
}
