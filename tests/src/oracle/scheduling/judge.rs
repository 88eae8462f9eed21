//! Compares what a round led to with what a case expects. See `tests/oracle/README.md` for what counts.

use std::collections::{BTreeMap, BTreeSet};

use super::{
    case::{Assertion, Case, Expectation, Job},
    renaming::{self, Renaming},
};

/// Outcome of a round.
#[derive(Clone, Debug, Default)]
pub struct Outcome {
    /// Per task.
    pub tasks: BTreeMap<String, Seen>,
    /// Per node.
    pub nodes: BTreeMap<String, Room>,
    /// Number of pods that were placed on free room.
    pub binds: usize,
    /// Number of pods that were told to leave.
    pub evictions: usize,
    /// Number of pods that were placed on room that is not free yet.
    pub nominations: usize,
}

/// One task after a round.
#[derive(Clone, Debug, Default)]
pub struct Seen {
    /// In the words of the cases.
    pub status: String,
    /// The node where it is, or was when it was told to leave.
    pub node: Option<String>,
    /// Thousandths of GPUs it was given.
    pub gpus_milli: i64,
    /// Time for which it has run.
    pub started_seconds_ago: Option<i64>,
    /// Zones it was placed on.
    pub zones: BTreeSet<i64>,
}

/// Room that a node has left.
#[derive(Clone, Debug, Default)]
pub struct Room {
    /// Thousandths of GPUs nobody holds.
    pub gpus_idle_milli: i64,
    /// Thousandths of GPUs that will be given back.
    pub gpus_terminating_milli: i64,
    /// Amounts that are left per zone and resource.
    pub zones: BTreeMap<String, BTreeMap<String, i64>>,
}

/// Every difference between `outcome` and what `case` expects; none when some renaming of equal nodes makes all of it true.
pub fn differences(case: &Case, outcome: &Outcome) -> Vec<String> {
    let mut differences = calls(case, outcome);
    let judge = |renaming: &Renaming| {
        let mut found = jobs(case, outcome, renaming);
        found.extend(nodes(case, outcome, renaming));
        found.extend(assertions(case, outcome, renaming));
        found
    };
    if renaming::find(case, |renaming| judge(renaming).is_empty()).is_none() {
        differences.extend(judge(&Renaming::default()));
    }
    differences
}

/// Lists what a round did more often than it may: upper bounds only, which hold for every round.
pub fn calls(case: &Case, outcome: &Outcome) -> Vec<String> {
    let calls = case.expect.max_calls_per_round;
    let rows = [
        ("binds", outcome.binds, calls.binds),
        ("evictions", outcome.evictions, calls.evictions),
        ("nominations", outcome.nominations, calls.nominations),
    ];
    rows.into_iter()
        .filter_map(|(what, ours, most)| Some((what, ours, most?)))
        .filter(|(_, ours, most)| ours > most)
        .map(|(what, ours, most)| format!("{ours} {what} in a round, at most {most} are allowed"))
        .collect()
}

fn jobs(case: &Case, outcome: &Outcome, renaming: &Renaming) -> Vec<String> {
    let mut differences = Vec::new();
    let round = Round { case, outcome, renaming };
    for (name, expect) in &case.expect.jobs {
        let Some(job) = case.jobs.iter().find(|job| job.name == *name) else { continue };
        for task in &job.tasks {
            differences.extend(round.task_differs(&task.name, name, expect));
        }
        differences.extend(whole_job_differs(case, job, expect, outcome));
    }
    let mut among_equals: BTreeMap<&str, Vec<(&str, &Expectation)>> = BTreeMap::new();
    for (name, expect) in &case.expect.tasks {
        match case.jobs.iter().find(|job| job.tasks.iter().any(|task| task.name == *name)) {
            Some(job) if has_equal_tasks(case, &job.name) => {
                among_equals.entry(&job.name).or_default().push((name, expect));
            }
            Some(_) => {
                differences.extend(round.task_differs(name, name, expect));
            }
            None => {}
        }
    }
    for (job, expected) in among_equals {
        let exact =
            expected.iter().all(|(name, expect)| round.task_differs(name, name, expect).is_empty());
        if !exact {
            differences.extend(counts_differ(job, &expected, outcome));
        }
    }
    differences
}

fn has_equal_tasks(case: &Case, job: &str) -> bool {
    case.classification
        .ties
        .iter()
        .any(|tie| tie.kind == "task-among-equals-of-one-job" && tie.job == job)
}

/// Tasks of one job that are equal may change places: only how many there are in each status counts.
fn counts_differ(
    job: &str,
    expected: &[(&str, &Expectation)],
    outcome: &Outcome,
) -> Option<String> {
    let mut want: BTreeMap<&str, usize> = BTreeMap::new();
    let mut have: BTreeMap<&str, usize> = BTreeMap::new();
    for (name, expect) in expected {
        *want.entry(expect.status.as_deref().unwrap_or("")).or_default() += 1;
        *have.entry(outcome.tasks.get(*name).map_or("", |seen| &seen.status)).or_default() += 1;
    }
    (want != have).then(|| format!("tasks of {job}: {have:?}, expected {want:?}"))
}

/// A round of a case, with names for nodes that are alike.
struct Round<'a> {
    case: &'a Case,
    outcome: &'a Outcome,
    renaming: &'a Renaming,
}

impl Round<'_> {
    /// Compares a task with what is expected of it; `key` is the name that the expectation has.
    fn task_differs(&self, task: &str, key: &str, expect: &Expectation) -> Vec<String> {
        let Some(seen) = self.outcome.tasks.get(task) else {
            return vec![format!("{task} is gone")];
        };
        let mut differences = Vec::new();
        if let Some(status) = &expect.status
            && *status != seen.status
        {
            differences.push(format!("{task} is {}, expected {status}", seen.status));
        }
        let choices = &self.case.classification.node_choice;
        let artefact = choices.get(key).is_some_and(|choice| choice == "artefact");
        if let (Some(node), false) = (&expect.node, artefact) {
            let ours = seen.node.as_deref().unwrap_or("no node");
            if self.renaming.node(node) != ours {
                differences.push(format!("{task} is on {ours}, expected {node}"));
            }
        }
        if let (Some(least), Some(started)) =
            (expect.started_at_least_seconds_ago, seen.started_seconds_ago)
            && started < least
        {
            differences.push(format!("{task} started {started} s ago, expected at least {least}"));
        }
        differences
    }
}

fn whole_job_differs(
    case: &Case,
    job: &Job,
    expect: &Expectation,
    outcome: &Outcome,
) -> Vec<String> {
    let seen: Vec<&Seen> =
        job.tasks.iter().filter_map(|task| outcome.tasks.get(&task.name)).collect();
    let mut differences = Vec::new();
    if let Some(gpus) = expect.gpus_accepted {
        let ours: i64 = seen.iter().map(|seen| seen.gpus_milli).sum();
        let want = crate::oracle::bound::milli(gpus);
        if ours != want {
            differences
                .push(format!("{} has {ours} thousandths of GPUs, expected {want}", job.name));
        }
    }
    if let Some(zones) = &expect.numa_zones {
        let ours: BTreeSet<i64> = seen.iter().flat_map(|seen| seen.zones.iter().copied()).collect();
        let want: BTreeSet<i64> = zones.iter().copied().collect();
        let equal_zones = case.nodes.iter().filter_map(|node| node.numa.as_ref()).all(|numa| {
            numa.zones.windows(2).all(|pair| {
                pair[0].allocatable == pair[1].allocatable && pair[0].available == pair[1].available
            })
        });
        if ours != want && !(equal_zones && ours.len() == want.len()) {
            differences.push(format!("{} is on zones {ours:?}, expected {want:?}", job.name));
        }
    }
    differences
}

fn nodes(case: &Case, outcome: &Outcome, renaming: &Renaming) -> Vec<String> {
    let mut differences = Vec::new();
    for (name, expect) in &case.expect.nodes {
        let ours = outcome.nodes.get(renaming.node(name)).cloned().unwrap_or_default();
        let rows = [
            ("idle", ours.gpus_idle_milli, expect.gpus_idle),
            ("terminating", ours.gpus_terminating_milli, expect.gpus_terminating),
        ];
        for (what, have, want) in rows {
            let Some(want) = want else { continue };
            if have != crate::oracle::bound::milli(want) {
                differences.push(format!(
                    "{name} has {have} thousandths of GPUs {what}, expected {want} GPUs"
                ));
            }
        }
        for (zone, left) in expect.numa_zones_available.iter().flatten() {
            let have = ours.zones.get(zone);
            if have != Some(left) {
                differences
                    .push(format!("zone {zone} of {name} has {have:?} left, expected {left:?}"));
            }
        }
    }
    differences
}

fn assertions(case: &Case, outcome: &Outcome, renaming: &Renaming) -> Vec<String> {
    case.expect
        .assertions
        .iter()
        .filter_map(|assertion| assertion_differs(case, assertion, outcome, renaming))
        .collect()
}

fn assertion_differs(
    case: &Case,
    assertion: &Assertion,
    outcome: &Outcome,
    renaming: &Renaming,
) -> Option<String> {
    let tasks_of = |job: &str| {
        case.jobs.iter().find(|other| other.name == job).map_or(&[][..], |job| &job.tasks)
    };
    let nodes_of = |job: &str, pod_set: &str| -> BTreeSet<String> {
        tasks_of(job)
            .iter()
            .filter(|task| task.pod_set == pod_set)
            .map(|task| {
                outcome.tasks.get(&task.name).and_then(|seen| seen.node.clone()).unwrap_or_default()
            })
            .collect()
    };
    let label_of = |node: &str, label: &str| {
        case.nodes
            .iter()
            .find(|other| other.name == node)
            .and_then(|node| node.labels.get(label))
            .cloned()
            .unwrap_or_default()
    };
    let domains_of = |job: &str, pod_set: &str, label: &str| -> BTreeSet<String> {
        nodes_of(job, pod_set).iter().map(|node| label_of(node, label)).collect()
    };
    match assertion {
        Assertion::TaskCount { job, status, op, value } => {
            let have = tasks_of(job)
                .iter()
                .filter(|task| {
                    outcome.tasks.get(&task.name).is_some_and(|seen| seen.status == *status)
                })
                .count();
            (!holds(have, op, *value))
                .then(|| format!("{have} tasks of {job} are {status}, expected {op} {value}"))
        }
        Assertion::TaskStatus { task, status } => {
            let have = outcome.tasks.get(task).map_or("gone", |seen| &seen.status);
            (have != status).then(|| format!("{task} is {have}, expected {status}"))
        }
        // The admission runner judges these itself.
        Assertion::TaskAdmission { .. } => None,
        Assertion::PodSetDomain { job, pod_set, label, domain, .. } => {
            let have = domains_of(job, pod_set, label);
            let want = BTreeSet::from([renaming.value(label, domain).to_owned()]);
            (have != want)
                .then(|| format!("{pod_set} of {job} is in {label} {have:?}, expected {want:?}"))
        }
        Assertion::PodSetNodes { job, pod_set, nodes } => {
            let have = nodes_of(job, pod_set);
            let want: BTreeSet<String> =
                nodes.iter().map(|node| renaming.node(node).to_owned()).collect();
            (have != want).then(|| format!("{pod_set} of {job} is on {have:?}, expected {want:?}"))
        }
        Assertion::PodSetsInDistinctSingleDomains { job, pod_sets, label, domains } => {
            let want: BTreeSet<String> =
                domains.iter().map(|domain| renaming.value(label, domain).to_owned()).collect();
            let have: Vec<BTreeSet<String>> =
                pod_sets.iter().map(|set| domains_of(job, set, label)).collect();
            let single = have.iter().all(|domains| domains.len() == 1);
            let all: BTreeSet<String> = have.iter().flatten().cloned().collect();
            let fine = single && all.len() == pod_sets.len() && all.is_subset(&want);
            (!fine).then(|| {
                format!(
                    "{pod_sets:?} of {job} are in {label} {have:?}, expected one each of {want:?}"
                )
            })
        }
    }
}

fn holds(have: usize, op: &str, value: usize) -> bool {
    match op {
        "==" => have == value,
        "!=" => have != value,
        "<=" => have <= value,
        ">=" => have >= value,
        "<" => have < value,
        ">" => have > value,
        _ => false,
    }
}
