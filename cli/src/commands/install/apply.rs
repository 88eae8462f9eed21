//! Carries a plan out: group by group, server-side, and waits until what was applied works.

use std::fmt;
use std::time::{Duration, Instant};

use kai_api::names::label;
use serde_json::Value;
use tokio::time::sleep;

use super::manifest::{self, Component, Group, Item, Options};
use super::plan::{self, Entry, Place, Plan, State};
use crate::cluster::{Call, Cluster, Failure, Resource, Select};
use crate::print::error::{Error, Exit, Problem, number};
use crate::print::output::clean;

/// Sets how often something that is waited for is looked at.
const LOOK: Duration = Duration::from_millis(250);
/// Sets how long the server may take to serve a kind that was just defined.
const SERVED_WITHIN: Duration = Duration::from_secs(30);

/// Holds what was done with the objects of a group, or all of them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Outcome {
    /// Objects that were missing.
    pub created: usize,
    /// Objects that were different.
    pub changed: usize,
    /// Objects that were as they should be.
    pub unchanged: usize,
    /// Objects that were there and belong to the administrator.
    pub kept: usize,
}

impl Outcome {
    pub(super) fn of(states: impl Iterator<Item = State>) -> Self {
        let mut outcome = Self::default();
        for state in states {
            match state {
                State::Create => outcome.created += 1,
                State::Change => outcome.changed += 1,
                State::Unchanged => outcome.unchanged += 1,
                State::Kept => outcome.kept += 1,
            }
        }
        outcome
    }

    /// The same as an intention.
    pub(super) fn planned(self) -> String {
        self.text(["to create", "to change", "unchanged", "kept"])
    }

    fn text(self, words: [&str; 4]) -> String {
        let counts = [self.created, self.changed, self.unchanged, self.kept];
        let parts: Vec<String> = counts
            .into_iter()
            .zip(words)
            .filter(|(count, _)| *count > 0)
            .map(|(count, word)| format!("{count} {word}"))
            .collect();
        parts.join(", ")
    }
}

impl fmt::Display for Outcome {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text(["created", "changed", "unchanged", "kept"]))
    }
}

/// Says what has just been achieved.
#[derive(Clone, Debug)]
pub enum Step {
    /// A group is applied; its definitions are established.
    Applied {
        /// The group.
        group: Group,
        /// Holds what was done.
        outcome: Outcome,
        /// Says how long it took.
        elapsed: Duration,
    },
    /// A Deployment is ready.
    Ready {
        /// Its name.
        what: String,
        /// Says how long it took.
        elapsed: Duration,
    },
}

/// Installs into the cluster behind `client` without asking, and tells each step.
///
/// Applied twice, it changes nothing the second time; cut short, it can be run again.
///
/// # Errors
/// The first object that is refused, or what isn't ready in time; what was applied stays.
pub async fn apply(
    client: kube::Client,
    options: &Options,
    progress: &mut (dyn FnMut(&Step) + Send),
) -> Result<Outcome, Error> {
    let cluster = Cluster::given(client, &options.namespace);
    let items = manifest::items(options);
    ended(&cluster, &items, options.timeout, &mut |_| ()).await?;
    // Nobody looks at this plan, and nothing of somebody else goes before: a refusal is told as well when it comes.
    let plan = plan::make(&cluster, items, options, |_| Place::Guarded).await?;
    carry_out(&cluster, &plan, options, progress).await
}

/// Waits until namespaces and definitions that are being deleted are gone; ours can't be made before.
///
/// # Errors
/// They are not gone in time; says what keeps them.
pub(super) async fn ended(
    cluster: &Cluster,
    items: &[Item],
    timeout: Duration,
    progress: &mut (dyn FnMut(&str) + Send),
) -> Result<(), Error> {
    let deadline = Instant::now().checked_add(timeout);
    for item in items {
        if !matches!(item.group, Group::Namespaces | Group::Crds) {
            continue;
        }
        let call = plan::call(item, "get");
        loop {
            let live = cluster.get(&call).await.map_err(|e| cluster.explain(&call, &e))?;
            let Some(live) = live.filter(plan::is_ending) else { break };
            progress(&format!("waiting until {} is deleted", item.title()));
            if deadline.is_some_and(|deadline| Instant::now() > deadline) {
                return Err(still_there(item, &live));
            }
            sleep(LOOK).await;
        }
    }
    Ok(())
}

fn still_there(item: &Item, live: &Value) -> Error {
    let what = format!("{} is being deleted, and does not go in time", item.title());
    let problem = Problem::new(number::NOT_INSTALLED, Exit::NoScheduler, what);
    let conditions = live.pointer("/status/conditions").and_then(Value::as_array);
    // Conditions of a namespace say what is left in it, or what could not be deleted.
    let keeps = |condition: &&Value| {
        condition["status"] == "True"
            && condition["message"].as_str().is_some_and(|text| !text.is_empty())
    };
    let texts = conditions.into_iter().flatten().filter(keeps);
    let texts = texts.filter_map(|condition| condition["message"].as_str());
    let problem = texts.take(3).fold(problem, |problem, text| problem.line(clean(text)));
    problem
        .line("nothing was changed; run it again to go on")
        .fix(format!("kubectl get {} {} -o yaml", item.resource.in_rbac(), item.name()))
        .into()
}

pub(super) async fn carry_out(
    cluster: &Cluster,
    plan: &Plan,
    options: &Options,
    progress: &mut (dyn FnMut(&Step) + Send),
) -> Result<Outcome, Error> {
    let mut done = 0;
    for group in Group::ALL {
        let began = Instant::now();
        let entries: Vec<&Entry> = plan.of(group).collect();
        if entries.is_empty() {
            continue;
        }
        for entry in &entries {
            if matches!(entry.state, State::Create | State::Change) {
                let mut options = options.clone();
                options.force_conflicts |= entry.has_new_flags || !entry.managers.is_empty();
                put(cluster, &entry.item, &options)
                    .await
                    .map_err(|e| unfinished(e, done, &entry.item))?;
                done += 1;
            }
        }
        if group == Group::Crds {
            for entry in &entries {
                established(cluster, &entry.item).await?;
            }
        }
        let outcome = Outcome::of(entries.iter().map(|entry| entry.state));
        progress(&Step::Applied { group, outcome, elapsed: began.elapsed() });
    }
    if options.wait {
        let is_deployment = |entry: &&Entry| entry.item.resource.kind == "Deployment";
        let deadline = Instant::now().checked_add(options.timeout);
        for entry in plan.of(Group::Daemons).filter(is_deployment) {
            let began = Instant::now();
            ready(cluster, &entry.item, deadline).await?;
            let what = entry.item.name().to_owned();
            progress(&Step::Ready { what, elapsed: began.elapsed() });
        }
    }
    Ok(Outcome::of(plan.entries.iter().map(|entry| entry.state)))
}

/// Applies one object; a kind that was just defined may be unknown for a moment.
async fn put(cluster: &Cluster, item: &Item, options: &Options) -> Result<(), Error> {
    let deadline = Instant::now() + SERVED_WITHIN;
    loop {
        match plan::put(cluster, item, options, false).await {
            Ok(_) => return Ok(()),
            Err(Failure::Refused(refusal))
                if refusal.code == 404
                    && item.group == Group::Defaults
                    && Instant::now() < deadline =>
            {
                sleep(LOOK).await;
            }
            Err(failure) => return Err(plan::refused(cluster, item, None, &failure)),
        }
    }
}

/// Checks that the kinds of Prometheus' operator are served, where objects of them are to be made.
///
/// # Errors
/// They are not.
pub(super) async fn can_monitor(cluster: &Cluster, options: &Options) -> Result<(), Error> {
    if !options.components.contains(&Component::Monitoring) {
        return Ok(());
    }
    match cluster.read("/apis/monitoring.coreos.com/v1").await {
        Ok(_) => Ok(()),
        Err(Failure::Refused(refusal)) if refusal.code == 404 => {
            let what = "this cluster does not know the kinds of Prometheus' operator";
            Err(Problem::new(number::KIND_NOT_SERVED, Exit::NotFound, what)
                .line("monitoring is a PodMonitor and a PrometheusRule, which that operator reads")
                .line("without it: have Prometheus scrape pods with the label app.kubernetes.io/part-of=kai-scheduler")
                .fix("install Prometheus' operator, then this again")
                .into())
        }
        Err(failure) => Err(cluster.explain_any(&failure)),
    }
}

/// Says how far it came.
fn unfinished(error: Error, done: usize, item: &Item) -> Error {
    match error {
        Error::Problems(mut problems) => {
            if let Some(problem) = problems.first_mut() {
                problem.lines.push(format!(
                    "at {}; what was applied before stays ({done}), run it again to go on",
                    item.title()
                ));
            }
            Error::Problems(problems)
        }
        quiet @ Error::Quiet(_) => quiet,
    }
}

/// Waits until the server serves a kind.
async fn established(cluster: &Cluster, item: &Item) -> Result<(), Error> {
    let call = plan::call(item, "get");
    let deadline = Instant::now() + SERVED_WITHIN;
    loop {
        let live = cluster.get(&call).await.map_err(|e| cluster.explain(&call, &e))?;
        let live = live.unwrap_or_default();
        if condition(&live, "Established").is_some_and(|found| found["status"] == "True") {
            return Ok(());
        }
        if Instant::now() > deadline {
            let why = condition(&live, "NamesAccepted")
                .map_or("it has no condition", |found| found["message"].as_str().unwrap_or("-"));
            let what = format!("the API server does not establish {}", item.name());
            return Err(Problem::new(number::NOT_INSTALLED, Exit::NoScheduler, what)
                .line(clean(why))
                .fix(format!("kubectl describe crd {}", item.name()))
                .into());
        }
        sleep(LOOK).await;
    }
}

/// The condition of a type.
pub(super) fn condition<'a>(object: &'a Value, kind: &str) -> Option<&'a Value> {
    let conditions = object.pointer("/status/conditions")?.as_array()?;
    conditions.iter().find(|condition| condition["type"] == kind)
}

/// Waits until all replicas of a Deployment are of this version and available.
pub(super) async fn ready(
    cluster: &Cluster,
    item: &Item,
    deadline: Option<Instant>,
) -> Result<(), Error> {
    let call = plan::call(item, "get");
    loop {
        let is_over = deadline.is_some_and(|deadline| Instant::now() > deadline);
        let live = match cluster.get(&call).await {
            // All is applied: a request that is lost on the way says nothing of the daemons.
            Err(failure) if failure.may_pass() && !is_over => {
                sleep(LOOK).await;
                continue;
            }
            answer => answer.map_err(|e| cluster.explain(&call, &e))?.unwrap_or_default(),
        };
        if Replicas::of(&live).is_ready {
            return Ok(());
        }
        if is_over {
            let what = format!("{} is not ready in time", item.name());
            let mut problem = Problem::new(number::NOT_INSTALLED, Exit::NoScheduler, what);
            for line in reasons(cluster, &item.object).await {
                problem = problem.line(line);
            }
            let namespace = item.namespace().unwrap_or_default();
            return Err(problem
                .fix(format!("kubectl describe pods -n {namespace} -l app={}", item.name()))
                .into());
        }
        sleep(LOOK).await;
    }
}

/// Says how many replicas of a Deployment there are.
#[derive(Clone, Copy, Debug)]
pub(super) struct Replicas {
    pub(super) wanted: i64,
    pub(super) available: i64,
    /// All are of this version and available.
    pub(super) is_ready: bool,
}

impl Replicas {
    pub(super) fn of(deployment: &Value) -> Self {
        let number = |path: &str| deployment.pointer(path).and_then(Value::as_i64).unwrap_or(0);
        let wanted = deployment.pointer("/spec/replicas").and_then(Value::as_i64).unwrap_or(1);
        let available = number("/status/availableReplicas");
        let is_seen = number("/status/observedGeneration") >= number("/metadata/generation");
        let updated = number("/status/updatedReplicas");
        let total = number("/status/replicas");
        let is_ready =
            is_seen && updated == wanted && available >= wanted && total == wanted && wanted > 0;
        Self { wanted, available, is_ready }
    }
}

/// Says why the pods of a Deployment don't run, in at most three lines.
pub(super) async fn reasons(cluster: &Cluster, deployment: &Value) -> Vec<String> {
    let text = |field: &str| deployment["metadata"][field].as_str();
    let pods = Resource::new("v1", "Pod", "pods");
    let call = Call::new("list", &pods).namespace(text("namespace"));
    let labels = format!("{}={}", label::APP, text("name").unwrap_or_default());
    let found = cluster.list(&call, &Select { labels: &labels, fields: "" }).await;
    let found = found.unwrap_or_default().unwrap_or_default();
    if found.is_empty() {
        return vec!["it has no pods: look at the events of its ReplicaSet".to_owned()];
    }
    found.iter().filter_map(reason).take(3).collect()
}

fn reason(pod: &Value) -> Option<String> {
    let name = clean(pod["metadata"]["name"].as_str().unwrap_or_default()).into_owned();
    let statuses = pod.pointer("/status/containerStatuses").and_then(Value::as_array);
    for status in statuses.into_iter().flatten() {
        if let Some(waiting) = status.pointer("/state/waiting") {
            let why = waiting["reason"].as_str().unwrap_or("waiting");
            let text = waiting["message"].as_str().unwrap_or_default();
            let text: String = text.chars().take(120).collect();
            return Some(format!("{name}: {} {}", clean(why), clean(&text)).trim_end().to_owned());
        }
    }
    let unscheduled = condition(pod, "PodScheduled").filter(|found| found["status"] == "False");
    if let Some(unscheduled) = unscheduled {
        let text = unscheduled["message"].as_str().unwrap_or("not scheduled");
        return Some(format!("{name}: {}", clean(text)));
    }
    let is_ready = condition(pod, "Ready").is_some_and(|found| found["status"] == "True");
    (!is_ready).then(|| {
        let phase = pod.pointer("/status/phase").and_then(Value::as_str).unwrap_or("Unknown");
        format!("{name}: {}, not ready", clean(phase))
    })
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    /// The status of a Deployment is that of the version before until its controller has looked at the new one.
    #[test]
    fn a_deployment_is_ready_once_all_replicas_of_its_newest_version_are_available() {
        for (observed, updated, available, total, expect) in [
            (2, 1, 1, 1, true),
            (1, 1, 1, 1, false),
            (2, 0, 1, 1, false),
            (2, 1, 0, 1, false),
            (2, 1, 1, 2, false),
        ] {
            let status = json!({"observedGeneration": observed, "updatedReplicas": updated,
                "availableReplicas": available, "replicas": total});
            let deployment =
                json!({"metadata": {"generation": 2}, "spec": {"replicas": 1}, "status": status});
            assert_eq!(Replicas::of(&deployment).is_ready, expect, "{status}");
        }
    }
}
