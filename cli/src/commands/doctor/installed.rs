//! Checks of what `install` puts into a cluster.

use std::collections::{BTreeMap, BTreeSet};

use crate::cluster::queue::count;
use kai_api::names::{component, label, priority_class, value};
use serde_json::Value;

use super::facts::{Facts, Source, condition, each, label as label_of, place};
use super::finding::{Level, Unread, Verdict};
use crate::cluster::json::text;
use crate::commands::install::is_name_of_kai;
use crate::commands::install::manifest::{self, Group, Options};

/// So many restarts of a daemon are more than an upgrade and a drain make.
const RESTARTS_MAX: u64 = 3;

/// Definitions of our kinds are there, established, and those of this program.
pub(super) fn definitions(facts: &Facts) -> Result<Verdict, Unread> {
    let live = facts.list(Source::Definitions)?;
    let items = manifest::items(&Options::default());
    let wanted: Vec<&Value> =
        items.iter().filter(|item| item.group == Group::Crds).map(|item| &item.object).collect();
    let (mut wrong, mut other) = (Vec::new(), Vec::new());
    for definition in &wanted {
        let name = text(&definition["metadata"]["name"]);
        match live.iter().find(|found| found["metadata"]["name"] == name) {
            None => wrong.push(format!("{name} is missing")),
            Some(found) if condition(found, "Established") != "True" => {
                wrong.push(format!("{name} is not established"));
            }
            Some(found) if !serves(found, definition) => {
                other.push(format!(
                    "{name} has not all versions and fields that this program knows"
                ));
            }
            Some(_) => {}
        }
    }
    let level = if wrong.is_empty() { Level::Warning } else { Level::Error };
    wrong.extend(other);
    let bad = |count: usize| {
        format!("definitions that are not as this program knows them: {count} of {}", wanted.len())
    };
    Ok(Verdict::of(wrong, level, bad, format!("{} of {} are there", wanted.len(), wanted.len()))
        .fix(facts.install("")))
}

/// Tells whether a definition serves every version, and in it every field of `spec` and `status`, of another.
fn serves(live: &Value, wanted: &Value) -> bool {
    each(wanted, "/spec/versions").all(|version| {
        let found = each(live, "/spec/versions").find(|found| found["name"] == version["name"]);
        found.is_some_and(|found| {
            ["spec", "status"].iter().all(|part| {
                let path = format!("/schema/openAPIV3Schema/properties/{part}/properties");
                let fields = |of: &Value| -> BTreeSet<String> {
                    let map = of.pointer(&path).and_then(Value::as_object);
                    map.into_iter().flatten().map(|(key, _)| key.clone()).collect()
                };
                fields(version).is_subset(&fields(found))
            })
        })
    })
}

/// Priority classes that submissions name are there.
pub(super) fn priority_classes(facts: &Facts) -> Result<Verdict, Unread> {
    let live = facts.list(Source::PriorityClasses)?;
    let wrong = priority_class::ALL.iter().filter_map(|(name, value)| {
        match live.iter().find(|class| class["metadata"]["name"] == *name) {
            None => Some(format!("{name} is missing")),
            Some(class) if class["value"] != *value => {
                Some(format!("{name} is {}, and {value} as KAI has it", class["value"]))
            }
            Some(_) => None,
        }
    });
    let bad =
        |count: usize| format!("priority classes that are not as submissions expect them: {count}");
    Ok(Verdict::of(wrong.collect(), Level::Warning, bad, "all 4 are there").fix(facts.install("")))
}

/// Policies that hold while the daemons are down, and what has the API server refuse by them.
pub(super) fn policies(facts: &Facts) -> Result<Verdict, Unread> {
    let live = facts.list(Source::Policies)?;
    let bindings = facts.list(Source::PolicyBindings)?;
    let items = manifest::items(&Options::default());
    let wanted = items.iter().filter(|item| item.object["kind"] == "ValidatingAdmissionPolicy");
    let names: Vec<&str> = wanted.map(|item| text(&item.object["metadata"]["name"])).collect();
    let is_bound = |name: &str| {
        bindings.iter().any(|binding| {
            binding["spec"]["policyName"] == name
                && each(binding, "/spec/validationActions").any(|action| action == "Deny")
        })
    };
    let fault = |name: &&str| {
        if !live.iter().any(|found| found["metadata"]["name"] == **name) {
            return Some(format!("{name} is missing"));
        }
        (!is_bound(name)).then(|| {
            format!("{name} is not bound: no ValidatingAdmissionPolicyBinding has the API server deny by it")
        })
    };
    let wrong: Vec<String> = names.iter().filter_map(fault).collect();
    let bad = |count: usize| {
        format!(
            "admission policies that are missing or not bound (what they refuse is accepted): {count} of {}",
            names.len()
        )
    };
    let good = format!("{} are there and bound", names.len());
    Ok(Verdict::of(wrong, Level::Warning, bad, good).fix(facts.install("")))
}

/// Deployments of the daemons have the replicas that they want.
pub(super) fn daemons(facts: &Facts) -> Result<Verdict, Unread> {
    let ours = ours(facts)?;
    if ours.is_empty() {
        return Ok(Verdict::ok(
            "no Deployment of ours: the daemons run elsewhere, or not at all (see leaders)",
        ));
    }
    let wrong = ours.iter().filter_map(|deployment| {
        let wanted = deployment["spec"]["replicas"].as_u64().unwrap_or(1);
        let ready = deployment["status"]["availableReplicas"].as_u64().unwrap_or(0);
        (ready < wanted)
            .then(|| format!("{}: {ready} of {wanted} replicas are available", place(deployment)))
    });
    let bad = |count: usize| format!("Deployments that lack replicas: {count} of {}", ours.len());
    Ok(Verdict::of(
        wrong.collect(),
        Level::Error,
        bad,
        format!("{} Deployments have all replicas", ours.len()),
    )
    .fix(format!("{}   (it gives the reason)", facts.install(" status"))))
}

/// Deployments of ours in the namespace of the daemons.
pub(super) fn ours(facts: &Facts) -> Result<Vec<&Value>, Unread> {
    let all = facts.list(Source::Deployments)?.iter();
    Ok(all.filter(|found| label_of(found, label::PART_OF) == value::PRODUCT).collect())
}

/// Pods of the daemons keep running.
pub(super) fn restarts(facts: &Facts) -> Result<Verdict, Unread> {
    let pods = facts.list(Source::DaemonPods)?;
    let restless = |pod: &Value| {
        let status = each(pod, "/status/containerStatuses")
            .max_by_key(|one| one["restartCount"].as_u64())?;
        let count = status["restartCount"].as_u64().unwrap_or(0);
        let last = &status["lastState"]["terminated"];
        let waiting = text(&status["state"]["waiting"]["reason"]);
        (count > RESTARTS_MAX || waiting == "CrashLoopBackOff").then(|| {
            format!(
                "{} restarted {count} times, the last time for {} (exit {})",
                place(pod),
                text(&last["reason"]),
                last["exitCode"]
            )
        })
    };
    let wrong: Vec<String> = pods.iter().filter_map(restless).collect();
    let bad =
        |count: usize| format!("pods in namespace {} that keep restarting: {count}", facts.system);
    let fix = wrong.first().map_or_else(String::new, |first| {
        let pod = first.split(' ').next().unwrap_or_default();
        let name = pod.rsplit('/').next().unwrap_or_default();
        format!(
            "kubectl logs -n {} {name} --previous   (OOMKilled: raise its memory limit)",
            facts.system
        )
    });
    Ok(Verdict::of(
        wrong,
        Level::Error,
        bad,
        format!("{} in namespace {}", count(pods.len(), "pod"), facts.system),
    )
    .fix(fix))
}

/// All daemons and this program are of one version.
pub(super) fn versions(facts: &Facts) -> Result<Verdict, Unread> {
    let mine = env!("CARGO_PKG_VERSION");
    // An image says nothing: it may be named by its digest, or by a tag of somebody's own.
    let version = |deployment: &&Value| label_of(deployment, label::VERSION).to_owned();
    let wrong: Vec<String> = ours(facts)?
        .into_iter()
        .filter(|deployment| version(deployment) != mine)
        .map(|deployment| match version(&deployment).as_str() {
            "" => format!("{} does not say its version", place(deployment)),
            other => format!("{} is of version {other}, kubectl kai is {mine}", place(deployment)),
        })
        .collect();
    let bad = |count: usize| format!("Deployments of another version than this program: {count}");
    Ok(Verdict::of(
        wrong,
        Level::Warning,
        bad,
        format!("kubectl kai is {mine}, and so is what it installed"),
    )
    .fix(format!("{}   (or take the program of the cluster's version)", facts.install(""))))
}

/// No second scheduler answers to the same name.
pub(super) fn one_scheduler(facts: &Facts) -> Result<Verdict, Unread> {
    let kai: Vec<String> = facts
        .list(Source::Deployments)?
        .iter()
        .filter(|found| {
            let managed = label_of(found, label::MANAGED_BY) == value::KAI_OPERATOR;
            let name = text(&found["metadata"]["name"]);
            (managed && is_name_of_kai(name)) || name == "kai-operator"
        })
        .map(place)
        .collect();
    let is_ours_too = ours(facts)?.iter().any(|found| {
        let component = label_of(found, label::COMPONENT);
        component == component::SCHEDULER && label_of(found, label::MANAGED_BY) == value::INSTALLER
    });
    if kai.is_empty() {
        return Ok(Verdict::ok("no other scheduler of this name is installed"));
    }
    if is_ours_too {
        return Ok(Verdict::error(
            "KAI v0.17 and this scheduler are both installed: each undoes what the other binds",
        )
        .shown_by(kai)
        .fix(format!(
            "{} --adopt   (takes KAI's daemons away; queues, PodGroups and pods stay)",
            facts.install("")
        )));
    }
    Ok(Verdict::warning("the scheduler is KAI v0.17's own; some answers of this program need ours")
        .shown_by(kai)
        .fix(format!("{} --adopt", facts.install(""))))
}

/// Every node is in the partition of one shard.
pub(super) fn shards(facts: &Facts) -> Result<Verdict, Unread> {
    let shards = facts.list(Source::Shards)?;
    let mut seen: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    for shard in shards {
        seen.entry(text(&shard["spec"]["partitionLabelValue"]))
            .or_default()
            .push(text(&shard["metadata"]["name"]));
    }
    let mut wrong: Vec<String> = seen
        .iter()
        .filter(|(_, names)| names.len() > 1)
        .map(|(value, names)| {
            format!("shards {} have one partition, {value:?}", names.join(" and "))
        })
        .collect();
    let outside = |node: &&Value| {
        let pool = label_of(node, label::NODE_POOL);
        !shards.is_empty() && !seen.contains_key(pool)
    };
    wrong.extend(facts.list(Source::Nodes)?.iter().filter(outside).map(|node| {
        format!(
            "node {} has {}={:?}, which is no shard's",
            place(node),
            label::NODE_POOL,
            label_of(node, label::NODE_POOL)
        )
    }));
    let bad = |count: usize| {
        format!(
            "faults in the partition of nodes (what is outside gets no work, what is shared is given twice): {count}"
        )
    };
    let good = if shards.is_empty() {
        "one shard has all nodes".to_owned()
    } else {
        format!("every node is in the partition of a shard ({})", shards.len())
    };
    Ok(Verdict::of(wrong, Level::Warning, bad, good)
        .fix("kubectl get schedulingshards; kubectl label node NODE kai.scheduler/node-pool=VALUE"))
}

/// Metrics are scraped by somebody.
pub(super) fn monitors(facts: &Facts) -> Result<Verdict, Unread> {
    let (services, pods) = (facts.kind(Source::ServiceMonitors)?, facts.kind(Source::PodMonitors)?);
    let (None, None) = (services, pods) else {
        let all = services.unwrap_or_default().iter().chain(pods.unwrap_or_default());
        let ours = all.filter(|monitor| {
            let meta = &monitor["metadata"];
            text(&meta["namespace"]) == facts.system
                || each(monitor, "/spec/namespaceSelector/matchNames")
                    .any(|name| *name == *facts.system)
        });
        let names: Vec<String> = ours.map(place).collect();
        if names.is_empty() {
            return Ok(Verdict::warning(format!("Prometheus' operator is here, and no monitor selects namespace {}: nobody sees the scheduler stop", facts.system))
                .fix(format!("make a ServiceMonitor for the services of namespace {} (port http-metrics of kai-scheduler-default, metrics of kai-podgrouper)", facts.system)));
        }
        return Ok(Verdict::ok(format!("scraped by {}", names.join(", "))));
    };
    Ok(Verdict::ok("no Prometheus operator here; pods say prometheus.io/scrape themselves"))
}
