//! Runs a case as `tests/oracle/README.md` section 3 says, on a fresh engine in every round.

use std::collections::{BTreeMap, BTreeSet};

use kai_engine::{Change, GPU_MILLI, GpuRequest, Grant, Place, Plan, PodState, Timestamp};
use kai_sim::world::World;

use super::{
    case::{self, Assertion, Case, Kind},
    devices,
    judge::{self, Outcome, Room, Seen},
    room, setup, zones,
};

/// Every difference between what the engine does and what `case` expects.
///
/// # Errors
///
/// Names what the file says and no world can be.
pub fn run(case: &Case) -> anyhow::Result<Vec<String>> {
    let mut world = setup::world(case)?;
    match case.procedure.kind {
        Kind::OneShot => {
            let plan = world.plan();
            let mut differences = books(&world);
            differences.extend(judge::differences(case, &outcome(case, &world, Some(&plan))));
            Ok(differences)
        }
        Kind::Rounds => Ok(rounds(case, world)),
        Kind::Admission => Ok(admission(case, &world)),
    }
}

/// Tells whether tasks may be considered at all, given their claims.
fn admission(case: &Case, world: &World) -> Vec<String> {
    let judged = case.expect.assertions.iter().filter_map(|assertion| {
        let Assertion::TaskAdmission { task, admitted } = assertion else { return None };
        let Some(pod) = world.names.find_pod(task) else {
            return Some(format!("there is no task {task}"));
        };
        let ours = world.cluster.admission(pod);
        (ours.is_ok() != *admitted)
            .then(|| format!("{task}: admission says {ours:?}, expected admitted: {admitted}"))
    });
    judged.collect()
}

fn rounds(case: &Case, mut world: World) -> Vec<String> {
    let mut last = Outcome::default();
    for _ in 0..case.procedure.rounds_before_check {
        let plan = world.plan();
        let differences = books(&world);
        if !differences.is_empty() {
            return differences;
        }
        write_back(case, &mut world, &plan);
        last = outcome(case, &world, None);
        count(&mut last, &plan);
        let differences = judge::calls(case, &last);
        if !differences.is_empty() {
            return differences;
        }
    }
    let differences = judge::differences(case, &last);
    if !differences.is_empty() {
        return differences;
    }
    for round in 1..=case.procedure.rounds_after_check {
        let plan = world.plan();
        let differences = judge::differences(case, &outcome(case, &world, Some(&plan)));
        if !differences.is_empty() {
            return differences
                .into_iter()
                .map(|text| format!("{round} rounds later: {text}"))
                .collect();
        }
        write_back(case, &mut world, &plan);
    }
    Vec::new()
}

fn books(world: &World) -> Vec<String> {
    world.cluster.check().into_iter().map(|finding| format!("wrong books: {finding}")).collect()
}

/// Writes what the API would hold when all of `plan` is done and controllers have made evicted pods again.
fn write_back(case: &Case, world: &mut World, plan: &Plan) {
    let stay: BTreeSet<&str> = case
        .jobs
        .iter()
        .filter(|job| job.keep_terminating_across_rounds)
        .flat_map(|job| &job.tasks)
        .map(|task| task.name.as_str())
        .collect();
    for change in &plan.changes {
        match change {
            Change::Place { pod, node, devices, reserved, .. } => {
                if let Some(facts) = world.facts.pods.get_mut(pod) {
                    let (devices, reserved) = (devices.clone(), reserved.clone());
                    facts.state = PodState::Running(Place { node: *node, devices, reserved });
                }
            }
            Change::Evict { pod, .. } => {
                if let Some(facts) = world.facts.pods.get_mut(pod)
                    && let Some(place) = facts.state.place().cloned()
                {
                    facts.state = PodState::Releasing(place);
                }
            }
            Change::Nominate { .. } => {}
        }
    }
    devices::write_back(world, plan);
    for task in case.jobs.iter().flat_map(|job| &job.tasks).filter(|task| task.state == "binding") {
        let pod = world.names.find_pod(&task.name);
        let facts = pod.and_then(|pod| world.facts.pods.get_mut(&pod));
        if let Some(facts) = facts
            && let PodState::Bound(place) = &facts.state
        {
            facts.state = PodState::Running(place.clone());
        }
    }
    let mut started = BTreeSet::new();
    for (pod, facts) in &mut world.facts.pods {
        facts.nominated = None;
        match &facts.state {
            PodState::Releasing(_) if !stay.contains(world.names.of_pod(*pod)) => {
                facts.state = PodState::Pending;
            }
            PodState::Bound(_) | PodState::Running(_) => {
                if let kai_engine::Owner::Group(group) = facts.owner {
                    started.insert(group);
                }
            }
            PodState::Releasing(_)
            | PodState::Lingering(_)
            | PodState::Stuck(_)
            | PodState::Pending
            | PodState::Gated
            | PodState::Succeeded
            | PodState::Failed => {}
        }
    }
    let now = world.now.0;
    for (group, facts) in &mut world.facts.groups {
        facts.last_start =
            started.contains(group).then_some(Timestamp(now - setup::STARTED_AGO_MS));
    }
    *world = world.restarted();
}

fn count(outcome: &mut Outcome, plan: &Plan) {
    for change in &plan.changes {
        match change {
            Change::Place { .. } => outcome.binds += 1,
            Change::Nominate { .. } => outcome.nominations += 1,
            Change::Evict { .. } => outcome.evictions += 1,
        }
    }
}

/// The state of the world, under `plan` where one is given.
fn outcome(case: &Case, world: &World, plan: Option<&Plan>) -> Outcome {
    let mut outcome = Outcome::default();
    let mut on_zones = zones::of_pods(world, plan);
    for (pod, facts) in &world.facts.pods {
        let place = facts.state.place();
        let seen = Seen {
            status: status(&facts.state).to_owned(),
            node: place.map(|place| world.names.of_node(place.node).to_owned()),
            gpus_milli: place.map_or(0, |place| held(world, &facts.shape.gpu, place)),
            started_seconds_ago: started(world, facts.owner),
            zones: on_zones.remove(world.names.of_pod(*pod)).unwrap_or_default(),
        };
        outcome.tasks.insert(world.names.of_pod(*pod).to_owned(), seen);
    }
    for task in case.jobs.iter().flat_map(|job| &job.tasks) {
        let Some(seen) = outcome.tasks.get_mut(&task.name) else { continue };
        match task.state.as_str() {
            // In rounds a nomination that is not made again is forgotten.
            "nominated" if case.procedure.kind == Kind::OneShot => {
                "nominated".clone_into(&mut seen.status);
                seen.node = Some(task.node.clone());
                seen.gpus_milli = nominated_milli(world, task);
            }
            // To the engine these are one: its node is decided, and it does not run.
            "allocated" | "binding" if seen.status == "bound" => {
                task.state.clone_into(&mut seen.status);
            }
            // What has ended holds nothing, but the case says where it ran.
            "succeeded" | "failed" => seen.node = Some(task.node.clone()),
            _ => {}
        }
    }
    for change in plan.iter().flat_map(|plan| &plan.changes) {
        overlay(world, change, &mut outcome.tasks);
    }
    if let Some(plan) = plan {
        count(&mut outcome, plan);
    }
    for node in &case.nodes {
        let room = room::of(world, node, plan);
        let zones = zones::left(world, node, plan);
        outcome.nodes.insert(node.name.clone(), Room { zones, ..room });
    }
    outcome
}

fn overlay(world: &World, change: &Change, tasks: &mut BTreeMap<String, Seen>) {
    let (pod, status, node) = match change {
        Change::Place { pod, node, .. } => (pod, "binding", node),
        Change::Nominate { pod, node, .. } => (pod, "nominated", node),
        Change::Evict { pod, node, .. } => (pod, "terminating", node),
    };
    let Some(seen) = tasks.get_mut(world.names.of_pod(*pod)) else { return };
    // A relocated victim is evicted and nominated, in whichever order.
    if status == "terminating" && seen.status == "nominated" {
        return;
    }
    status.clone_into(&mut seen.status);
    seen.node = Some(world.names.of_node(*node).to_owned());
    let Some(facts) = world.facts.pods.get(pod) else { return };
    let there = || held(world, &facts.shape.gpu, &Place::on(*node));
    seen.gpus_milli = match change {
        Change::Place { grant: Grant::Regular { count }, .. } => i64::from(*count) * GPU_MILLI,
        Change::Place { grant: Grant::Fraction { devices, portion_milli, .. }, .. } => {
            i64::from(*devices) * i64::from(*portion_milli)
        }
        Change::Place { grant: Grant::Mig, .. } | Change::Nominate { .. } => there(),
        Change::Evict { .. } => seen.gpus_milli,
    };
}

fn status(state: &PodState) -> &'static str {
    match state {
        PodState::Gated => "gated",
        PodState::Pending => "pending",
        PodState::Bound(_) => "bound",
        PodState::Running(_) => "running",
        PodState::Releasing(_) => "terminating",
        // KAI knows one kind of pod whose room is not counted on.
        PodState::Lingering(_) | PodState::Stuck(_) => "stuck-terminating",
        PodState::Succeeded => "succeeded",
        PodState::Failed => "failed",
    }
}

/// Thousandths of GPUs that a pod with this request holds at `place`.
fn held(world: &World, gpu: &GpuRequest, place: &Place) -> i64 {
    match gpu {
        GpuRequest::None => 0,
        GpuRequest::Whole(count) => i64::from(*count) * GPU_MILLI,
        GpuRequest::Fraction { micro, devices } => i64::from(*micro / 1000) * i64::from(*devices),
        GpuRequest::Memory { mib, devices } => {
            let node = world.facts.nodes.get(&place.node);
            let memory = node.map_or(100, |node| node.gpus.memory_mib).max(1);
            // Rounded up to hundredths of a device, as the contract's receivedGPU is.
            i64::from((*mib * 100).div_ceil(memory)) * 10 * i64::from(*devices)
        }
        GpuRequest::Mig(instances) | GpuRequest::LegacyMig(instances) => {
            instances.iter().map(|(_, count)| i64::from(*count) * GPU_MILLI).sum()
        }
    }
}

/// Sums what a task holds that the case has nominated.
fn nominated_milli(world: &World, task: &case::Task) -> i64 {
    let pod = world.names.find_pod(&task.name);
    let facts = pod.and_then(|pod| world.facts.pods.get(&pod));
    let place = facts.and_then(|facts| facts.nominated).map(Place::on);
    facts.zip(place).map_or(0, |(facts, place)| held(world, &facts.shape.gpu, &place))
}

fn started(world: &World, owner: kai_engine::Owner) -> Option<i64> {
    let kai_engine::Owner::Group(group) = owner else { return None };
    let at = world.facts.groups.get(&group)?.last_start?;
    Some((world.now.0 - at.0) / 1000)
}
