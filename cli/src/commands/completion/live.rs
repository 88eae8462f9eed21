//! Candidates that only the cluster knows: queues and workloads, asked with little patience and kept for seconds.

use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use serde_json::{Value, json};

use crate::cluster::Cluster;
use crate::context::Context;
use crate::globals::Globals;
use crate::print::output::clean;

/// How long a shell waits for names before it shows none.
const BUDGET: Duration = Duration::from_millis(300);
/// How long names are good for: a user types several words in this time.
const FRESH: Duration = Duration::from_secs(5);

/// What is asked of the cluster.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum What {
    /// Queues that run work.
    Queues,
    /// Those, and the queues above them.
    AllQueues,
    Workloads,
}

impl What {
    /// Stands among the candidates for names that are not known yet.
    pub(super) const fn mark(self) -> &'static str {
        match self {
            Self::Queues => "\u{1}queues",
            Self::AllQueues => "\u{1}all-queues",
            Self::Workloads => "\u{1}workloads",
        }
    }
}

/// Names with a description each, those that begin with a text; none when the cluster does not answer in time.
pub(super) async fn names(
    what: What,
    prefix: &str,
    globals: Globals,
    context: &mut Context,
) -> Vec<String> {
    let cache = folder(&globals, context);
    if context.adopt(globals).is_err() {
        return Vec::new();
    }
    let Ok(cluster) = context.cluster().await else { return Vec::new() };
    let file = cache.map(|folder| folder.join(file_name(what, &cluster)));
    let all = if let Some(all) = file.as_deref().and_then(fresh) {
        all
    } else {
        let Ok(all) = tokio::time::timeout(BUDGET, ask(what, &cluster)).await else {
            return Vec::new();
        };
        if let Some(file) = &file {
            keep(file, &all);
        }
        all
    };
    all.into_iter().filter(|line| line.starts_with(prefix)).collect()
}

async fn ask(what: What, cluster: &Cluster) -> Vec<String> {
    match what {
        What::Queues | What::AllQueues => {
            let (queues, uses) = futures::join!(
                crate::commands::queues::read(cluster),
                crate::commands::queues::uses(cluster)
            );
            let Ok(queues) = queues else { return Vec::new() };
            let uses = uses.unwrap_or_default();
            let all = what == What::AllQueues;
            let leaves = queues.0.values().filter(|queue| all || queue.children.is_empty());
            leaves
                .map(|queue| {
                    let used = uses
                        .get(&queue.name)
                        .map_or_else(|| "0".to_owned(), |u| u.used.to_string());
                    format!("{}\t{used}/{} GPU", clean(&queue.name), queue.gpu.quota.show())
                })
                .collect()
        }
        What::Workloads => {
            let loaded =
                crate::workload::load(cluster, Some(&cluster.namespace)).await.unwrap_or_default();
            loaded
                .workloads
                .iter()
                .map(|w| {
                    format!(
                        "{}\t{} {}",
                        clean(&w.name),
                        w.resource.kind.to_lowercase(),
                        clean(&w.state().show())
                    )
                })
                .collect()
        }
    }
}

fn folder(globals: &Globals, context: &Context) -> Option<PathBuf> {
    let set = |name: &str| context.env.get(name).filter(|v| !v.is_empty()).map(PathBuf::from);
    let own = globals.cache_dir.as_ref().map(PathBuf::from);
    own.or_else(|| {
        Some(set("XDG_CACHE_HOME").or_else(|| Some(set("HOME")?.join(".cache")))?.join("kai"))
    })
}

/// One file for each cluster and namespace.
fn file_name(what: What, cluster: &Cluster) -> String {
    let place = format!("{}-{}", cluster.place.server, cluster.namespace);
    let safe: String =
        place.chars().map(|c| if c.is_ascii_alphanumeric() { c } else { '-' }).collect();
    let what = match what {
        What::Queues => "queues",
        What::AllQueues => "all-queues",
        What::Workloads => "workloads",
    };
    format!("{what}-{safe}.json")
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
