//! Describes what comes first: how the workload stands and why, its queue, and what it asks for.

use crate::cluster::gpu;
use crate::cluster::json::text;
use crate::cluster::queue::Queues;
use crate::print::duration;
use crate::print::output::{Style, clean};
use crate::print::page::Page;
use crate::workload::history::Eviction;
use crate::workload::{Phase, Workload, bind_failure, is_over, pods_shown, reason};

/// Adds the first rows; `never` is why it cannot start on this cluster.
pub(super) fn add(
    page: &mut Page,
    workload: &Workload,
    queues: Option<&Queues>,
    never: Option<&str>,
    eviction: Option<&Eviction>,
) {
    let age =
        workload.age().map_or_else(String::new, |age| format!(" · {} ago", duration::short(age)));
    page.text += &format!(
        "{}  {} ({}) · {}{age}\n",
        Style::Bold.paint(&clean(&workload.name)),
        clean(&workload.resource.kind),
        clean(&workload.resource.api_version()),
        clean(&workload.namespace),
    );
    status(page, workload, never, eviction);
    let position = workload
        .position
        .map_or_else(String::new, |at| format!(" · position {} of {}", at.place, at.of));
    page.row("Queue", &(queue(workload, queues) + &position));
    page.row("Asks", &asks(workload));
}

/// The state, and all that is known of why it is that one.
fn status(page: &mut Page, workload: &Workload, never: Option<&str>, eviction: Option<&Eviction>) {
    let state = workload.state();
    let waits = state.phase.is_queued();
    let shown = match eviction {
        Some(_) if waits => format!("{}, evicted", state.show()),
        Some(_) | None => state.show(),
    };
    page.styled("Status", &shown, state.phase.style());
    if let Some(eviction) = eviction.filter(|_| waits || state.phase == Phase::Failed) {
        page.row("", &eviction.sentence());
    }
    if let Some(why) = never {
        page.styled("", &format!("cannot start on this cluster: {why}"), Style::Bad);
    }
    let held = workload.gpus_held();
    if state.phase.is_over() && !held.is_zero() {
        page.styled(
            "",
            &format!("has ended, and its pods still hold {}", held.words()),
            Style::Warn,
        );
    }
    if let Some(message) = &state.message {
        for line in message.lines().filter(|line| !line.trim().is_empty()) {
            page.row("", line.trim());
        }
    }
    if let Some(code) =
        state.code.as_deref().or_else(|| reason::number(state.reason.as_deref())).filter(|_| waits)
    {
        page.row("", &format!("{code} · what would help: kubectl kai explain {}", workload.name));
    }
    // A bind that failed explains what the condition says since.
    if let Some(failure) = bind_failure(workload.pods.iter().filter(|pod| !is_over(pod))) {
        let message = text(&failure["message"]);
        if state.message.as_deref() != Some(message) {
            page.row("", message);
        }
    }
}

fn queue(workload: &Workload, queues: Option<&Queues>) -> String {
    let name = &workload.queue;
    let Some(queues) = queues else { return name.clone() };
    let Some(queue) = queues.0.get(name) else {
        return format!("{name} · does not exist: kubectl kai queues");
    };
    let limit = match queue.gpu.limit.milli() {
        None => String::new(),
        Some(limit) => format!(" · limit {}", gpu::devices(limit)),
    };
    let quota = queue.gpu.quota.words();
    let held = queues.held(name).map_or_else(String::new, |held| {
        if held.name == *name {
            " · held".to_owned()
        } else {
            format!(" · held with {}", held.name)
        }
    });
    format!("{} · quota {quota} GPU{limit}{held}", queues.path(name))
}

/// Says how far an array has come.
fn tasks(workload: &Workload, ready: usize, tasks: usize) -> String {
    let status = workload.object.as_ref().map(|object| &object["status"]);
    let failed = status.map_or("", |status| text(&status["failedIndexes"]));
    let failed = if failed.is_empty() { String::new() } else { format!(", failed: {failed}") };
    format!("{ready} of {tasks} tasks run or are done{failed}; {} at once", workload.at_once())
}

fn asks(workload: &Workload) -> String {
    let (ready, wanted) = workload.ready();
    let gpus = workload.gpus();
    let gpus = gpus.words();
    let mut line = match workload.tasks() {
        Some(_) => format!("{gpus} · {}", tasks(workload, ready, wanted)),
        None => format!("{gpus} · {ready} of {} pods ready", pods_shown(wanted)),
    };
    if let [group] = workload.groups.as_slice() {
        let spec = &group["spec"];
        if let Some(min) = spec["minMember"].as_u64() {
            line += &format!(" · gang min {min}");
        }
        if let Some(sub) = spec["subGroups"].as_array().filter(|all| !all.is_empty()) {
            let each = sub.iter().map(|sub| {
                format!("{} {}", text(&sub["name"]), sub["minMember"].as_u64().unwrap_or(0))
            });
            line += &format!(" · sub-groups {}", each.collect::<Vec<_>>().join(", "));
        }
        let class = text(&spec["priorityClassName"]);
        if !class.is_empty() {
            line += &format!(" · priority {class}");
        }
        let preemptibility = text(&spec["preemptibility"]);
        if !preemptibility.is_empty() {
            line += &format!(" · {preemptibility}");
        }
    }
    line
}
