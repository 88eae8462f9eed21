//! Candidates that only the cluster, the kubeconfig or a folder knows: asked with little patience, kept for seconds.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use serde_json::{Value, json};

use crate::cluster::json::text;
use crate::cluster::queue::count;
use crate::cluster::{Call, Cluster, Resource, Select, names as known};
use crate::commands::short::{LAST, LATEST};
use crate::context::Context;
use crate::globals::Globals;
use crate::print::output::clean;
use crate::workload::Workload;

/// Sets how long a shell waits for names before it shows none.
const BUDGET: Duration = Duration::from_millis(300);
/// Sets how long names are good for: a user types several words in this time.
const FRESH: Duration = Duration::from_secs(5);

/// Says what is asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum What {
    /// Queues that run work.
    Queues,
    /// Those, and the queues above them.
    AllQueues,
    Workloads,
    Namespaces,
    Nodes,
    GpuModels,
    PriorityClasses,
    TopologyLevels,
    /// Ranks of the workload that stands among the words.
    Ranks,
    /// Contexts of the kubeconfig.
    Contexts,
    /// Clusters of the kubeconfig.
    Clusters,
    /// Users of the kubeconfig.
    Users,
    /// Templates of the settings' folders.
    Templates,
}

impl What {
    pub(super) const ALL: [Self; 13] = [
        Self::Queues,
        Self::AllQueues,
        Self::Workloads,
        Self::Namespaces,
        Self::Nodes,
        Self::GpuModels,
        Self::PriorityClasses,
        Self::TopologyLevels,
        Self::Ranks,
        Self::Contexts,
        Self::Clusters,
        Self::Users,
        Self::Templates,
    ];

    /// Stands among the candidates for names that are not known yet.
    pub(super) const fn mark(self) -> &'static str {
        match self {
            Self::Queues => "\u{1}queues",
            Self::AllQueues => "\u{1}all-queues",
            Self::Workloads => "\u{1}workloads",
            Self::Namespaces => "\u{1}namespaces",
            Self::Nodes => "\u{1}nodes",
            Self::GpuModels => "\u{1}gpu-models",
            Self::PriorityClasses => "\u{1}priority-classes",
            Self::TopologyLevels => "\u{1}topology-levels",
            Self::Ranks => "\u{1}ranks",
            Self::Contexts => "\u{1}contexts",
            Self::Clusters => "\u{1}clusters",
            Self::Users => "\u{1}users",
            Self::Templates => "\u{1}templates",
        }
    }
}

/// A question: whose names, how they begin, and the words of the command line.
pub(super) struct Asked<'a> {
    pub(super) what: What,
    pub(super) typed: &'a str,
    pub(super) words: &'a [OsString],
}

/// Names with a description each, those that begin with what is typed; none when nobody answers in time.
pub(super) async fn names(
    asked: &Asked<'_>,
    globals: Globals,
    context: &mut Context,
) -> Vec<String> {
    // They need no cluster, and who asks for names wants those alone.
    if asked.what == What::Workloads && asked.typed.starts_with('@') {
        let words = [(LATEST, "your newest"), (LAST, "submitted last from here")];
        let lines = words.iter().filter(|(word, _)| word.starts_with(asked.typed));
        return lines.map(|(word, about)| format!("{word}\t{about}")).collect();
    }
    let cache = folder(&globals, context);
    if context.adopt(globals).is_err() {
        return Vec::new();
    }
    let all = match asked.what {
        What::Contexts | What::Clusters | What::Users => Cluster::known(
            asked.what.mark().trim_start_matches('\u{1}'),
            &context.globals,
            &context.env,
        ),
        _ => {
            let found = tokio::time::timeout(BUDGET, of_cluster(asked, cache, context)).await;
            found.unwrap_or_default()
        }
    };
    all.into_iter().filter(|line| line.starts_with(asked.typed) && is_word(line)).collect()
}

/// Tells whether the candidate of a line is a word to every shell: kubectl's scripts put it on the command line as it is.
fn is_word(line: &str) -> bool {
    let word = line.split('\t').next().unwrap_or_default();
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "._/:@=+-".contains(c);
    !word.is_empty() && !word.starts_with('-') && word.chars().all(is_plain)
}

/// Names of the cluster, or of the file where they were put seconds ago.
async fn of_cluster(
    asked: &Asked<'_>,
    cache: Option<PathBuf>,
    context: &mut Context,
) -> Vec<String> {
    if asked.what == What::Templates {
        let (all, _) = crate::commands::submit::library::all(context).await;
        return all.iter().map(|one| clean(&one.name).into_owned()).collect();
    }
    // Ranks are of one workload, whose name is part of the question.
    let about = if asked.what == What::Ranks { workload_of(asked.words) } else { String::new() };
    // The kubeconfig alone says which file it is: a client that is not needed takes longer to make.
    let place = context.place();
    let file = cache.zip(place).map(|(folder, (server, namespace))| {
        folder.join(file_name(asked.what, &about, &server, &namespace))
    });
    if let Some(all) = file.as_deref().and_then(fresh) {
        return all;
    }
    let Ok(cluster) = context.cluster().await else { return Vec::new() };
    let Some(all) = ask(asked.what, &about, &cluster).await else { return Vec::new() };
    if let Some(file) = &file {
        keep(file, &all);
    }
    all
}

/// Asks the cluster; `None` when it does not say.
async fn ask(what: What, about: &str, cluster: &Cluster) -> Option<Vec<String>> {
    Some(match what {
        What::Queues | What::AllQueues => return queues(what == What::AllQueues, cluster).await,
        What::Workloads => workloads(cluster).await?.iter().map(line).collect(),
        What::Ranks => {
            let all = workloads(cluster).await?;
            let workload = all.iter().find(|workload| workload.is_called(about))?;
            crate::commands::logs::rank_lines(workload)
        }
        What::Namespaces => {
            let namespaces = Resource::new("v1", "Namespace", "namespaces").cluster_wide();
            objects(&namespaces, cluster).await?.iter().map(name).collect()
        }
        What::Nodes => objects(&nodes(), cluster).await?.iter().map(node_line).collect(),
        What::GpuModels => models(&objects(&nodes(), cluster).await?),
        What::PriorityClasses => {
            let classes = Resource::new("scheduling.k8s.io/v1", "PriorityClass", "priorityclasses");
            let found = objects(&classes.cluster_wide(), cluster).await?;
            let own = found.iter().filter(|class| !name(class).starts_with("system-"));
            own.map(|class| format!("{}\t{}", name(class), class["value"])).collect()
        }
        What::TopologyLevels => {
            let topologies =
                Resource::new("kai.scheduler/v1alpha1", "Topology", "topologies").cluster_wide();
            levels(&objects(&topologies, cluster).await?)
        }
        What::Contexts | What::Clusters | What::Users | What::Templates => Vec::new(),
    })
}

async fn objects(resource: &Resource, cluster: &Cluster) -> Option<Vec<Value>> {
    cluster.list(&Call::new("list", resource), &Select::default()).await.ok()?
}

fn nodes() -> Resource {
    Resource::new("v1", "Node", "nodes").cluster_wide()
}

fn name(object: &Value) -> String {
    clean(text(&object["metadata"]["name"])).into_owned()
}

async fn queues(all: bool, cluster: &Cluster) -> Option<Vec<String>> {
    // What their status says is soon read, however much work there is.
    let queues = crate::commands::queues::read(cluster).await.ok()?;
    let uses = crate::commands::queues::from_status(&queues).unwrap_or_default();
    let shown = queues.0.values().filter(|queue| all || queue.children.is_empty());
    let line = |queue: &crate::cluster::queue::Queue| {
        let used = uses.get(&queue.name).map_or_else(|| "0".to_owned(), |u| u.used.to_string());
        format!("{}\t{used}/{} GPU", clean(&queue.name), queue.gpu.quota.words())
    };
    Some(shown.map(line).collect())
}

async fn workloads(cluster: &Cluster) -> Option<Vec<Workload>> {
    let loaded = crate::workload::load_readable(cluster, Some(&cluster.namespace)).await.ok()?;
    Some(loaded.workloads)
}

fn line(workload: &Workload) -> String {
    let kind = workload.resource.kind.to_lowercase();
    format!("{}\t{kind} {}", clean(&workload.name), clean(&workload.state().show()))
}

fn gpus(node: &Value) -> u64 {
    text(&node["status"]["allocatable"][known::GPU]).parse().unwrap_or(0)
}

fn node_line(node: &Value) -> String {
    let product = text(&node["metadata"]["labels"][known::GPU_PRODUCT]);
    format!("{}\t{} {}", name(node), gpus(node), clean(product))
}

/// The models of GPUs with how many there are of each.
fn models(nodes: &[Value]) -> Vec<String> {
    let mut models: BTreeMap<&str, u64> = BTreeMap::new();
    for node in nodes {
        let product = text(&node["metadata"]["labels"][known::GPU_PRODUCT]);
        if !product.is_empty() {
            *models.entry(product).or_default() += gpus(node);
        }
    }
    let line = |(model, gpus): (&str, u64)| {
        let gpus = usize::try_from(gpus).unwrap_or(usize::MAX);
        format!("{}\t{}", clean(model), count(gpus, "GPU"))
    };
    models.into_iter().map(line).collect()
}

/// The levels of all topologies, by the label of each, with the topology.
fn levels(topologies: &[Value]) -> Vec<String> {
    let level = |topology: &Value| {
        let levels = topology["spec"]["levels"].as_array().cloned().unwrap_or_default();
        let own = name(topology);
        levels.into_iter().map(move |level| format!("{}\t{own}", clean(text(&level["nodeLabel"]))))
    };
    topologies.iter().flat_map(level).collect()
}

/// The name that stands behind the command: the first word that is no flag and no flag's value.
fn workload_of(words: &[OsString]) -> String {
    let words: Vec<_> = words.iter().map(|word| word.to_string_lossy()).collect();
    let mut rest = words.iter().skip(1).take(words.len().saturating_sub(2));
    while let Some(word) = rest.next() {
        if !word.starts_with('-') {
            return word.clone().into_owned();
        }
        let takes =
            ["-n", "--namespace", "--context", "--kubeconfig", "--rank", "-c", "--container"];
        if takes.contains(&&**word) {
            rest.next();
        }
    }
    String::new()
}

fn folder(globals: &Globals, context: &Context) -> Option<PathBuf> {
    let set = |name: &str| context.env.get(name).filter(|v| !v.is_empty()).map(PathBuf::from);
    let own = globals.cache_dir.as_ref().map(PathBuf::from);
    own.or_else(|| {
        Some(set("XDG_CACHE_HOME").or_else(|| Some(set("HOME")?.join(".cache")))?.join("kai"))
    })
}

/// One file for each cluster, namespace, and thing that is asked about.
fn file_name(what: What, about: &str, server: &str, namespace: &str) -> String {
    let place = format!("{server}-{namespace}-{about}");
    let safe: String =
        place.chars().map(|c| if c.is_ascii_alphanumeric() { c } else { '-' }).collect();
    format!("{}-{safe}.json", what.mark().trim_start_matches('\u{1}'))
}

fn fresh(file: &Path) -> Option<Vec<String>> {
    let written = file.metadata().ok()?.modified().ok()?;
    if SystemTime::now().duration_since(written).ok()? > FRESH {
        return None;
    }
    let text = std::fs::read_to_string(file).ok()?;
    let lines: Value = serde_json::from_str(&text).ok()?;
    Some(lines.as_array()?.iter().filter_map(|line| Some(line.as_str()?.to_owned())).collect())
}

fn keep(file: &Path, lines: &[String]) {
    // A full disk or a folder that cannot be written costs a request next time, nothing else.
    let _ = file
        .parent()
        .map_or(Ok(()), std::fs::create_dir_all)
        .and_then(|()| std::fs::write(file, json!(lines).to_string()));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_workload_whose_ranks_are_asked_for_is_found_among_the_words() {
        for (line, expect) in [
            ("logs train --rank w", "train"),
            ("logs -n team train --rank w", "train"),
            ("logs -f train --rank=w", "train"),
            ("logs --rank w", ""),
        ] {
            let words: Vec<OsString> = line.split(' ').map(OsString::from).collect();
            assert_eq!(workload_of(&words), expect, "{line}");
        }
    }

    #[test]
    fn what_a_shell_would_run_is_no_candidate() {
        for (line, expect) in [
            ("train\tjob Running", true),
            ("arn:aws:eks:eu-1:1:cluster/a_b\t", true),
            ("@latest\tyour newest", true),
            ("$(touch${IFS}/tmp/pwned)\tfoo Running", false),
            ("a;b", false),
            ("a b\tc", false),
            ("-A\tfoo", false),
            ("\tfoo", false),
        ] {
            assert_eq!(is_word(line), expect, "{line}");
        }
    }

    #[test]
    fn models_and_levels_are_told_with_what_there_is() {
        let node = |product: &str, gpus: &str| {
            json!({"metadata": {"name": "n", "labels": {"nvidia.com/gpu.product": product}},
                "status": {"allocatable": {"nvidia.com/gpu": gpus}}})
        };
        let nodes = [node("H100", "8"), node("H100", "8"), node("L4", "1"), node("", "0")];
        assert_eq!(models(&nodes), ["H100\t16 GPUs", "L4\t1 GPU"]);
        let topology = json!({"metadata": {"name": "dc"},
            "spec": {"levels": [{"nodeLabel": "zone"}, {"nodeLabel": "rack"}]}});
        assert_eq!(levels(&[topology]), ["zone\tdc", "rack\tdc"]);
    }
}
