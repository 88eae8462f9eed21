//! Describes where pods may go: a domain of a topology, labels and taints of nodes, a node pool; and the account that they run as.

use kai_api::names::{annotation, label};
use serde_json::{Map, Value, json};

use super::values::pairs;
use crate::cluster::json::{ensure, text};
use crate::cluster::kinds::Shape;
use crate::cluster::manifest::Site;
use crate::cluster::{Call, Cluster, Resource, Select};
use crate::context::Context;
use crate::print::error::{Error, Exit, Problem, number};
use crate::print::output::clean;

/// Flags for where pods may go.
#[derive(Clone, Debug, Default, PartialEq, Eq, clap::Args)]
pub(crate) struct PlacementFlags {
    /// Level of a topology within one domain of which all pods stay, such as rack; rack:preferred where others will do; TOPOLOGY=LEVEL where several have it
    #[arg(long, value_name = "LEVEL[:preferred]", help_heading = "Where")]
    pub(super) topology: Option<String>,
    /// Label KEY=VALUE that nodes must have, repeatable
    #[arg(long, value_name = "KEY=VALUE", help_heading = "Where")]
    node_selector: Vec<String>,
    /// Taints of nodes that are tolerated, as typed.
    #[arg(
        long,
        value_name = "TAINT",
        help_heading = "Where",
        help = "Taint of nodes that is tolerated, KEY[=VALUE][:EFFECT], repeatable"
    )]
    toleration: Vec<String>,
    /// Node pool; the shard of the scheduler that serves it places the pods
    #[arg(long, value_name = "POOL", help_heading = "Where")]
    node_pool: Option<String>,
    /// Service account that the pods run as
    #[arg(long, value_name = "NAME", help_heading = "What")]
    service_account: Option<String>,
}

/// Says where pods may go.
#[derive(Clone, Debug, Default)]
pub(crate) struct Placement {
    topology: Option<Level>,
    node_selector: Vec<(String, String)>,
    tolerations: Vec<Value>,
    pub(super) node_pool: Option<String>,
    pub(super) service_account: Option<String>,
}

/// A level of a topology.
#[derive(Clone, Debug, PartialEq, Eq)]
#[expect(clippy::struct_field_names, reason = "the level of a topology, and the topology")]
struct Level {
    /// The topology; known once the cluster was asked.
    topology: Option<String>,
    level: String,
    is_preferred: bool,
}

/// Says what a taint does to pods that do not tolerate it.
const EFFECTS: [&str; 3] = ["NoSchedule", "PreferNoSchedule", "NoExecute"];

impl Placement {
    /// Reads the flags; all that is wrong with them.
    pub(super) fn read(flags: &PlacementFlags) -> (Self, Vec<Problem>) {
        let (mut read, mut problems) = (Self::default(), Vec::new());
        let mut keep = |result: Result<(), Problem>| problems.extend(result.err());
        if let Some(typed) = &flags.topology {
            keep(level(typed).map(|level| read.topology = Some(level)));
        }
        keep(pairs("--node-selector", &flags.node_selector).map(|all| read.node_selector = all));
        for (key, value) in read.node_selector.clone() {
            let typed = format!("--node-selector {key}={value}");
            keep(legal(&typed, &key, KEY).and_then(|()| legal(&typed, &value, VALUE)));
        }
        for typed in &flags.toleration {
            keep(toleration(typed).map(|one| read.tolerations.push(one)));
        }
        if let Some(pool) = &flags.node_pool {
            keep(legal(&format!("--node-pool {pool}"), pool, VALUE));
            read.node_pool = Some(pool.clone());
        }
        if let Some(account) = &flags.service_account {
            keep(legal(&format!("--service-account {account}"), account, ACCOUNT));
            read.service_account = Some(account.clone());
        }
        (read, problems)
    }

    /// The flags that say something of pods.
    pub(super) fn asks_of_pods(&self) -> [(bool, &'static str); 3] {
        [
            (!self.node_selector.is_empty(), "--node-selector"),
            (!self.tolerations.is_empty(), "--toleration"),
            (self.service_account.is_some(), "--service-account"),
        ]
    }

    /// Says on the metadata of a workload in which domain its pods stay.
    ///
    /// # Source
    /// docs/grouping.md 6.8
    pub(super) fn annotate(&self, object: &mut Value, meta: &str) {
        let Some(Level { topology: Some(topology), level, is_preferred }) = &self.topology else {
            return;
        };
        let annotations = ensure(object, &format!("{meta}/annotations"));
        let places = [annotation::TOPOLOGY_REQUIRED, annotation::TOPOLOGY_PREFERRED];
        for place in places {
            annotations.shift_remove(place);
        }
        annotations.insert(annotation::TOPOLOGY.into(), json!(topology));
        annotations.insert(places[usize::from(*is_preferred)].into(), json!(level));
    }

    /// Puts the rest into a pod template.
    pub(super) fn inject(&self, object: &mut Value, site: &Site) {
        // A step of a workflow has what the workflow says unless it says that itself.
        let is_step = site.shape == Shape::Argo && !site.containers.is_empty();
        let spec = ensure(object, &site.spec);
        let takes = |spec: &Map<String, Value>, field: &str| !is_step || spec.contains_key(field);
        if !self.node_selector.is_empty() && takes(spec, "nodeSelector") {
            let selector = spec.entry("nodeSelector").or_insert_with(|| json!({}));
            for (key, value) in &self.node_selector {
                selector[key.as_str()] = json!(value);
            }
        }
        if !self.tolerations.is_empty() && takes(spec, "tolerations") {
            let all = spec.entry("tolerations").or_insert_with(|| json!([]));
            if let Some(all) = all.as_array_mut() {
                all.retain(|one| !self.tolerations.contains(one));
                all.extend(self.tolerations.iter().cloned());
            }
        }
        let account = match site.shape {
            Shape::Spark => "serviceAccount",
            _ => "serviceAccountName",
        };
        if let Some(name) = self.service_account.as_ref().filter(|_| takes(spec, account)) {
            spec.insert(account.into(), json!(name));
        }
    }
}

fn level(typed: &str) -> Result<Level, Problem> {
    let (rest, mode) = typed.rsplit_once(':').unwrap_or((typed, "required"));
    let (topology, level) = match rest.split_once('=') {
        Some((topology, level)) => (Some(topology.to_owned()), level),
        None => (None, rest),
    };
    let is_empty = level.is_empty() || topology.as_deref() == Some("");
    if is_empty || !matches!(mode, "required" | "preferred") {
        let what = format!("--topology {typed} is no level of a topology");
        return Err(Problem::new(number::VALUE, Exit::Usage, what).fix(
            "--topology rack  (all pods in one)   or   --topology rack:preferred  (where that can be)",
        ));
    }
    Ok(Level { topology, level: level.to_owned(), is_preferred: mode == "preferred" })
}

fn toleration(typed: &str) -> Result<Value, Problem> {
    let wrong = |what: String| {
        Problem::new(number::VALUE, Exit::Usage, what)
            .fix("--toleration KEY   or   --toleration KEY=VALUE:NoSchedule")
    };
    let (rest, effect) = match typed.rsplit_once(':') {
        Some((rest, effect)) => (rest, Some(effect)),
        None => (typed, None),
    };
    if let Some(effect) = effect.filter(|effect| !EFFECTS.contains(effect)) {
        let what = format!("--toleration {typed}: \"{effect}\" is no effect of a taint");
        return Err(wrong(what).line(format!("one of {}", EFFECTS.join(", "))));
    }
    let (key, value) = match rest.split_once('=') {
        Some((key, value)) => (key, Some(value)),
        None => (rest, None),
    };
    let flag = format!("--toleration {typed}");
    legal(&flag, key, KEY)?;
    legal(&flag, value.unwrap_or_default(), VALUE)?;
    let mut toleration = match value {
        Some(value) => json!({ "key": key, "operator": "Equal", "value": value }),
        None => json!({ "key": key, "operator": "Exists" }),
    };
    if let Some(effect) = effect {
        toleration["effect"] = json!(effect);
    }
    Ok(toleration)
}

const KEY: &str = "the key of a label";
const VALUE: &str = "the value of a label";
const ACCOUNT: &str = "the name of a service account";

/// Checks the key or the value of a label, which taints and names of accounts share.
fn legal(typed: &str, part: &str, is: &str) -> Result<(), Problem> {
    let (prefix, name) = part.rsplit_once('/').filter(|_| is == KEY).unwrap_or(("x", part));
    let ends = |c: char| c.is_ascii_alphanumeric();
    let inner = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.');
    let is_legal =
        |text: &str| text.chars().all(inner) && text.starts_with(ends) && text.ends_with(ends);
    if (is_legal(prefix) && is_legal(name) && name.len() <= 63) || (is == VALUE && part.is_empty())
    {
        return Ok(());
    }
    let what = format!("{typed}: \"{part}\" cannot be {is}");
    Err(Problem::new(number::VALUE, Exit::Usage, what)
        .fix("letters, digits, -, _ and . between letters or digits, 63 at most"))
}

/// Asks the cluster which topology has the level, and whether the node pool is served.
///
/// # Errors
/// None has it, several have, or nothing places the pool.
pub(super) async fn resolve(
    placement: &mut Placement,
    is_offline: bool,
    context: &mut Context,
) -> Result<(), Error> {
    if is_offline {
        return match &placement.topology {
            Some(Level { topology: None, level, .. }) => {
                let what = format!(
                    "--dry-run=client asks no cluster, and only it tells which topology has the level {level}"
                );
                Err(Problem::new(number::VALUE, Exit::Usage, what)
                    .fix(format!("--topology TOPOLOGY={level}   or   --dry-run=server"))
                    .into())
            }
            Some(_) | None => Ok(()),
        };
    }
    if let Some(level) = placement.topology.clone() {
        let cluster = context.cluster().await?;
        placement.topology = Some(found(&level, &topologies(&cluster).await?)?);
    }
    if let Some(pool) = placement.node_pool.clone() {
        let cluster = context.cluster().await?;
        check_pool(&pool, &cluster).await?;
    }
    Ok(())
}

/// Names of topologies, each with its levels: label and other name.
type Topologies = Vec<(String, Vec<(String, String)>)>;

/// The names of topologies, each with the labels and other names of its levels.
async fn topologies(cluster: &Cluster) -> Result<Topologies, Error> {
    let resource = Resource::new("kai.scheduler/v1alpha1", "Topology", "topologies").cluster_wide();
    let call = Call::new("list", &resource);
    let all = cluster.list(&call, &Select::default()).await;
    let all = all.map_err(|failure| cluster.explain(&call, &failure))?.unwrap_or_default();
    let of = |topology: &Value| {
        let levels = topology["spec"]["levels"].as_array().into_iter().flatten();
        let levels = levels
            .map(|level| (text(&level["nodeLabel"]).to_owned(), text(&level["alias"]).to_owned()));
        (text(&topology["metadata"]["name"]).to_owned(), levels.collect())
    };
    Ok(all.iter().map(of).collect())
}

/// The level as its topology calls it: by label, by other name, or by the end of its label.
fn found(typed: &Level, all: &[(String, Vec<(String, String)>)]) -> Result<Level, Problem> {
    let is_it = |(label, alias): &&(String, String)| {
        let end = label.rsplit('/').next().unwrap_or(label);
        [label.as_str(), alias.as_str(), end].contains(&typed.level.as_str())
    };
    let wanted = |name: &String| typed.topology.as_ref().is_none_or(|typed| typed == name);
    let hits: Vec<(&String, &String)> = all
        .iter()
        .filter(|(name, _)| wanted(name))
        .filter_map(|(name, levels)| levels.iter().find(is_it).map(|(label, _)| (name, label)))
        .collect();
    let flag = match &typed.topology {
        Some(topology) => format!("{topology}={}", typed.level),
        None => typed.level.clone(),
    };
    match hits[..] {
        [(topology, label)] => {
            Ok(Level { topology: Some(topology.clone()), level: label.clone(), ..*typed })
        }
        [] => {
            let what = format!("no topology has the level {flag}");
            let problem = Problem::new(number::VALUE, Exit::NotFound, what);
            if all.is_empty() {
                return Err(problem
                    .line("the cluster has no topology")
                    .fix("leave --topology out, or (admin) create a Topology: kubectl explain topology.spec"));
            }
            let there = |(name, levels): &(String, Vec<(String, String)>)| {
                let names = levels.iter().map(|(label, alias)| {
                    clean(if alias.is_empty() { label } else { alias }).into_owned()
                });
                format!("{}: {}", clean(name), names.collect::<Vec<_>>().join(", "))
            };
            Err(problem
                .line(format!("there is {}", all.iter().map(there).collect::<Vec<_>>().join("; ")))
                .fix("--topology with one of these levels"))
        }
        _ => {
            let names: Vec<_> = hits.iter().map(|(name, _)| clean(name)).collect();
            let what = format!("several topologies have the level {flag}: {}", names.join(", "));
            Err(Problem::new(number::VALUE, Exit::Usage, what)
                .fix(format!("--topology {}={}", names[0], typed.level)))
        }
    }
}

/// Checks that a shard serves the pool; who may not look is believed.
async fn check_pool(pool: &str, cluster: &Cluster) -> Result<(), Error> {
    let resource =
        Resource::new("kai.scheduler/v1", "SchedulingShard", "schedulingshards").cluster_wide();
    let call = Call::new("list", &resource);
    let Ok(Some(shards)) = cluster.list(&call, &Select::default()).await else { return Ok(()) };
    let served: Vec<&str> = shards
        .iter()
        .map(|shard| text(&shard["spec"]["partitionLabelValue"]))
        .filter(|value| !value.is_empty())
        .collect();
    if served.contains(&pool) {
        return Ok(());
    }
    let what = format!("no shard of the scheduler serves the node pool \"{pool}\"");
    let problem = Problem::new(number::VALUE, Exit::NotFound, what).line("it would wait for ever");
    if served.is_empty() {
        return Err(problem
            .line("this cluster has no node pools")
            .fix("leave --node-pool out")
            .into());
    }
    let served: Vec<_> = served.iter().map(|value| clean(value)).collect();
    Err(problem.fix(format!("--node-pool with one of {}", served.join(", "))).into())
}

/// The label of a node pool on a workload and its pods.
pub(super) const NODE_POOL: &str = label::NODE_POOL;

#[cfg(test)]
mod tests {
    use super::*;

    fn check_toleration(typed: &str, expect: &str) {
        let said = match toleration(typed) {
            Ok(value) => value.to_string(),
            Err(problem) => problem.what,
        };
        assert_eq!(said, expect);
    }

    #[test]
    fn a_taint_is_tolerated_as_kubectl_writes_it() {
        check_toleration("gpu", r#"{"key":"gpu","operator":"Exists"}"#);
        check_toleration(
            "example.com/gpu=a:NoSchedule",
            r#"{"key":"example.com/gpu","operator":"Equal","value":"a","effect":"NoSchedule"}"#,
        );
        check_toleration("gpu:Never", r#"--toleration gpu:Never: "Never" is no effect of a taint"#);
        check_toleration("=a", r#"--toleration =a: "" cannot be the key of a label"#);
    }

    fn check_level(typed: &str, expect: Result<(&str, &str, bool), &str>) {
        let levels = |all: &[(&str, &str)]| {
            all.iter().map(|(label, alias)| ((*label).to_owned(), (*alias).to_owned())).collect()
        };
        let all = [
            ("net".to_owned(), levels(&[("topology.kubernetes.io/zone", ""), ("x.io/rack", "r")])),
            ("power".to_owned(), levels(&[("y.io/rack", "")])),
        ];
        let said = level(typed).and_then(|level| found(&level, &all));
        match (said, expect) {
            (Ok(level), Ok((topology, name, is_preferred))) => assert_eq!(
                level,
                Level { topology: Some(topology.into()), level: name.into(), is_preferred }
            ),
            (Err(problem), Err(expect)) => assert_eq!(problem.what, expect),
            (said, _) => panic!("{typed}: {said:?}"),
        }
    }

    #[test]
    fn a_level_is_found_by_label_name_or_end() {
        check_level("zone", Ok(("net", "topology.kubernetes.io/zone", false)));
        check_level("r:preferred", Ok(("net", "x.io/rack", true)));
        check_level("y.io/rack", Ok(("power", "y.io/rack", false)));
        check_level("power=rack", Ok(("power", "y.io/rack", false)));
        check_level("rack", Err("several topologies have the level rack: net, power"));
        check_level("room", Err("no topology has the level room"));
        check_level("rack:maybe", Err("--topology rack:maybe is no level of a topology"));
    }
}
