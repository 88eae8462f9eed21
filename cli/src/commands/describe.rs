//! `kubectl kai describe`: one workload on one screen.

use serde_json::Value;

use crate::cluster::json::text;
use crate::cluster::queue::Queues;
use crate::cluster::{Call, Cluster, Resource, Select, gpu};
use crate::context::Context;
use crate::print::error::{Error, Exit};
use crate::print::format::Format;
use crate::print::output::{Style, clean};
use crate::print::table::{Cell, Column, render};
use crate::print::{duration, time, yaml};
use crate::workload::devices::{self, Depth, OnDevice};
use crate::workload::{Workload, bind_failure, is_over, load};

/// Flags of `describe`.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// Name of the workload, kind/name, its `PodGroup` or one of its pods
    #[arg(value_name = "NAME")]
    name: String,
    /// How many events to show
    #[arg(long, default_value_t = 8, value_name = "N")]
    events: usize,
}

/// Runs `describe`.
pub(crate) async fn run(args: &Args, context: &mut Context) -> Result<Exit, Error> {
    let format = Format::read(context.globals.output.as_deref())?;
    let cluster = context.cluster().await?;
    let scope = context.scope(&cluster).map(str::to_owned);
    let (loaded, events) =
        futures::join!(load(&cluster, scope.as_deref()), events(&cluster, scope.as_deref()));
    let mut loaded = loaded?;
    loaded.find_positions(&cluster).await;
    let place =
        scope.as_deref().map_or_else(|| "any namespace".to_owned(), |ns| format!("namespace {ns}"));
    let mut workload = loaded.one(&args.name, &place)?.clone();
    devices::find(std::slice::from_mut(&mut workload), &cluster, Depth::Beside).await;
    let workload = &workload;
    match format {
        Format::Json => {
            return context.out.data(&format!("{:#}", workload.to_json())).map(|()| Exit::Ok);
        }
        Format::Yaml => {
            return context.out.raw(&yaml::print(&workload.to_json())).map(|()| Exit::Ok);
        }
        Format::JsonPath(template) => {
            return context.out.raw(&template.apply(&workload.to_json())).map(|()| Exit::Ok);
        }
        Format::Name => return context.out.data(&clean(&workload.label())).map(|()| Exit::Ok),
        Format::Table | Format::Wide => {}
    }
    // What is not known is left out; the workload itself is what was asked for.
    let queues = crate::cluster::queue::readable(&cluster).await.ok().flatten();
    let mut page = head(workload, queues.as_ref());
    page += &pods(workload);
    page += &shared_devices(workload);
    page += &objects(workload);
    match events {
        Ok(events) => page += &about(workload, &events, args.events),
        Err(reason) => page += &row("Events", &format!("not known: {reason}")),
    }
    page += &next(workload);
    context.out.raw(&page)?;
    Ok(Exit::Ok)
}

fn row(title: &str, text: &str) -> String {
    format!("{}  {text}\n", Style::Bold.paint(&format!("{title:<9}")))
}

fn head(workload: &Workload, queues: Option<&Queues>) -> String {
    let state = workload.state();
    let age =
        workload.age().map_or_else(String::new, |age| format!(" · {} ago", duration::short(age)));
    let mut page = format!(
        "{}  {} ({}) · {}{age}\n",
        Style::Bold.paint(&clean(&workload.name)),
        clean(&workload.resource.kind),
        clean(&workload.resource.api_version()),
        clean(&workload.namespace),
    );
    page += &row("Status", &state.phase.style().paint(&clean(&state.show())));
    if let Some(message) = &state.message {
        for line in message.lines().filter(|line| !line.trim().is_empty()) {
            page += &row("", &clean(line.trim()));
        }
    }
    for line in workload.explanation() {
        page += &row("", &clean(line));
    }
    // A bind that failed explains what the condition says since.
    if let Some(failure) = bind_failure(workload.pods.iter().filter(|pod| !is_over(pod))) {
        let message = text(&failure["message"]);
        if state.message.as_deref() != Some(message) {
            page += &row("", &clean(message));
        }
    }
    let queue = &workload.queue;
    let line = match queues {
        Some(queues) => match queues.0.get(queue) {
            Some(found) => {
                let limit = match found.gpu.limit.milli() {
                    None => String::new(),
                    Some(limit) => format!(" · limit {}", gpu::devices(limit)),
                };
                let quota = match found.gpu.quota.milli() {
                    None => "unlimited".to_owned(),
                    Some(quota) => gpu::devices(quota),
                };
                format!("{} · quota {quota} GPU{limit}", queues.path(queue))
            }
            None => format!("{} · does not exist: kubectl kai queues", clean(queue)),
        },
        None => clean(queue).into_owned(),
    };
    let position = workload
        .position
        .map_or_else(String::new, |at| format!(" · position {} of {}", at.place, at.of));
    page += &row("Queue", &(line + &position));
    page += &row("Asks", &asks(workload));
    page
}

fn asks(workload: &Workload) -> String {
    let (ready, wanted) = workload.ready();
    let gpus = workload.gpus();
    let gpus = if gpus.is_zero() { "no GPU".to_owned() } else { format!("{gpus} GPU") };
    let mut line = format!("{gpus} · {ready} of {wanted} pods ready");
    if let [group] = workload.groups.as_slice() {
        let spec = &group["spec"];
        if let Some(min) = spec["minMember"].as_u64() {
            line += &format!(" · gang min {min}");
        }
        if let Some(sub) = spec["subGroups"].as_array().filter(|all| !all.is_empty()) {
            let each: Vec<String> = sub
                .iter()
                .map(|s| {
                    format!("{} {}", clean(text(&s["name"])), s["minMember"].as_u64().unwrap_or(0))
                })
                .collect();
            line += &format!(" · sub-groups {}", each.join(", "));
        }
        let class = text(&spec["priorityClassName"]);
        if !class.is_empty() {
            line += &format!(" · priority {}", clean(class));
        }
        let preemptibility = text(&spec["preemptibility"]);
        if !preemptibility.is_empty() {
            line += &format!(" · {}", clean(preemptibility));
        }
    }
    line
}

/// More pods than anybody reads.
const PODS_SHOWN: usize = 32;

fn pods(workload: &Workload) -> String {
    if workload.pods.is_empty() {
        return row("Pods", "none yet");
    }
    let columns = ["POD", "STATUS", "NODE", "GPU", "RESTARTS"].map(Column::new);
    let rows: Vec<Vec<Cell>> = workload
        .pods
        .iter()
        .take(PODS_SHOWN)
        .map(|pod| {
            let restarts: u64 = pod["status"]["containerStatuses"]
                .as_array()
                .map_or(0, |all| all.iter().filter_map(|c| c["restartCount"].as_u64()).sum());
            let node = text(&pod["spec"]["nodeName"]);
            vec![
                text(&pod["metadata"]["name"]).into(),
                pod_status(pod).into(),
                if node.is_empty() { "-" } else { node }.into(),
                gpu::ask(pod).into(),
                restarts.to_string().into(),
            ]
        })
        .collect();
    let table = render(&columns, &rows, usize::MAX, true);
    let mut page = String::new();
    for (i, line) in table.lines().enumerate() {
        page += &row(if i == 0 { "Pods" } else { "" }, line);
    }
    if workload.pods.len() > PODS_SHOWN {
        page +=
            &row("", &format!("and {} more: kubectl get pods", workload.pods.len() - PODS_SHOWN));
    }
    page
}

/// What shares of devices the pods have, with whom, and what does not protect them.
fn shared_devices(workload: &Workload) -> String {
    let mut page = String::new();
    for on in workload.devices.iter().take(PODS_SHOWN) {
        let title = if page.is_empty() { "Devices" } else { "" };
        page += &row(title, &clean(&device_line(on)));
        if let Some(group) = &on.group {
            page += &row("", &clean(&format!("  group {group}{}", company(on))));
        }
    }
    if workload.devices.len() > PODS_SHOWN {
        let more = workload.devices.len() - PODS_SHOWN;
        page += &row("", &format!("and {more} more: kubectl kai describe -o json"));
    }
    let live = workload.pods.iter().filter(|pod| !is_over(pod));
    if live.clone().any(devices::is_memory_unlimited) {
        let note = "nothing keeps a process to its share of the device's memory: one that takes more takes it from \
            its neighbours";
        page += &row("Note", note);
    }
    page
}

fn device_line(on: &OnDevice) -> String {
    format!("{}: {} of {}", on.pod, on.share, on.place())
}

/// Who else is on the device, as far as it could be seen.
fn company(on: &OnDevice) -> String {
    match (on.beside.as_slice(), on.is_beside_known) {
        ([], true) => String::from(", alone on it"),
        ([], false) => String::from(", others not readable"),
        (others, true) => format!(", beside {}", others.join(", ")),
        (others, false) => {
            format!(", beside {} and others, not readable", others.join(", "))
        }
    }
}

fn pod_status(pod: &Value) -> String {
    let waiting = pod["status"]["containerStatuses"].as_array().and_then(|all| {
        all.iter().map(|c| text(&c["state"]["waiting"]["reason"])).find(|reason| !reason.is_empty())
    });
    match (text(&pod["status"]["phase"]), waiting) {
        _ if pod["metadata"]["deletionTimestamp"].is_string() => "Terminating".to_owned(),
        ("Pending", _) if !text(&pod["spec"]["nodeName"]).is_empty() => {
            waiting.unwrap_or("Starting").to_owned()
        }
        (phase, Some(reason)) if phase != "Succeeded" && phase != "Failed" => reason.to_owned(),
        ("", _) => "Pending".to_owned(),
        (phase, _) => phase.to_owned(),
    }
}

fn objects(workload: &Workload) -> String {
    let groups: Vec<String> = workload
        .groups
        .iter()
        .take(4)
        .map(|group| format!("podgroup/{}", clean(text(&group["metadata"]["name"]))))
        .collect();
    let groups = if groups.is_empty() { "no PodGroup yet".to_owned() } else { groups.join(", ") };
    let pods = crate::cluster::queue::count(workload.pods.len(), "pod");
    row("Objects", &format!("{} - {groups} - {pods}", clean(&workload.label())))
}

async fn events(cluster: &Cluster, namespace: Option<&str>) -> Result<Vec<Value>, String> {
    let resource = Resource::new("v1", "Event", "events");
    let call = Call::new("list", &resource).namespace(namespace);
    match cluster.list(&call, &Select::default()).await {
        Ok(events) => Ok(events.unwrap_or_default()),
        Err(failure) => Err(failure.to_string()),
    }
}

/// The newest events about the workload's own objects, the newest last.
fn about(workload: &Workload, events: &[Value], most: usize) -> String {
    let uids: Vec<&str> = std::iter::once(workload.uid.as_str())
        .chain(
            workload
                .groups
                .iter()
                .chain(&workload.pods)
                .map(|object| text(&object["metadata"]["uid"])),
        )
        .collect();
    let when = |event: &Value| {
        ["lastTimestamp", "eventTime", "firstTimestamp"]
            .iter()
            .find_map(|key| time::of(&event[*key]))
            .or_else(|| time::of(&event["series"]["lastObservedTime"]))
            .or_else(|| time::of(&event["metadata"]["creationTimestamp"]))
    };
    let mut mine: Vec<_> = events
        .iter()
        .filter(|event| uids.contains(&text(&event["involvedObject"]["uid"])))
        .map(|event| (when(event), event))
        .collect();
    // Events of one moment come in the same order each time.
    mine.sort_by_key(|(when, event)| (*when, text(&event["reason"])));
    let skip = mine.len().saturating_sub(most);
    if mine.is_empty() {
        return row("Events", "none");
    }
    let now = jiff::Timestamp::now().as_second();
    let mut page = String::new();
    for (i, (when, event)) in mine.into_iter().skip(skip).enumerate() {
        let age = when.map_or_else(String::new, |when| duration::short(now - when.as_second()));
        let count =
            event["count"].as_u64().or_else(|| event["series"]["count"].as_u64()).unwrap_or(1);
        let times = if count > 1 { format!(" (x{count})") } else { String::new() };
        let object = &event["involvedObject"];
        let message = text(&event["message"]).replace('\n', " ");
        let line = format!(
            "{age:>6}  {}/{}  {}{times}  {}",
            text(&object["kind"]).to_lowercase(),
            text(&object["name"]),
            text(&event["reason"]),
            message.trim()
        );
        page += &row(if i == 0 { "Events" } else { "" }, &clean(&line));
    }
    page
}

fn next(workload: &Workload) -> String {
    let state = workload.state();
    let name = clean(&workload.name);
    let namespace = clean(&workload.namespace);
    let first = if state.phase.is_queued() {
        format!("kubectl kai queues {}", clean(&workload.queue))
    } else {
        format!("kubectl kai logs -n {namespace} {name}")
    };
    row("Next", &format!("{first} · kubectl kai delete -n {namespace} {name}"))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::workload::devices::{Seen, of_pod, reservations};

    fn pod(name: &str, annotations: &Value) -> Value {
        let (namespace, name) = name.split_once('/').expect("namespace/name");
        json!({
            "metadata": {"namespace": namespace, "name": name, "uid": name, "annotations": annotations,
                "labels": {"app": "kai-resource-reservation", "runai-gpu-group": "g"}},
            "spec": {"nodeName": "node-1", "containers": [{"name": "c"}]},
            "status": {"phase": "Running"},
        })
    }

    const NOTE: &str = "Note       nothing keeps a process to its share of the device's memory: one that takes more \
        takes it from its neighbours";

    /// What is said about the devices of `default/ana` among these pods.
    fn check(ana: &Value, around: &[Value], is_complete: bool, expect: &[&str]) {
        let ana = pod("default/ana", ana);
        let around = around.to_vec();
        let reservations = is_complete.then(|| reservations(&around));
        let seen = Seen { reservations, around, is_complete, ..Seen::default() };
        let mut workload = Workload::of_pod(&ana);
        workload.pods.push(ana.clone());
        workload.devices = of_pod(&ana, &seen);
        let page = shared_devices(&workload);
        let page = anstream::adapter::strip_str(&page).to_string();
        assert_eq!(page.lines().collect::<Vec<_>>(), expect);
    }

    #[test]
    fn a_sharer_is_told_its_device_its_share_and_its_company() {
        let half = json!({"gpu-fraction": "0.5"});
        let held =
            pod("kai-resource-reservation/r", &json!({"run.ai/reserve_for_gpu_index": "GPU-1a2b"}));
        let ben = pod("default/ben", &half);
        check(
            &half,
            &[held.clone(), ben.clone()],
            true,
            &[
                "Devices    ana: 0.5 of GPU-1a2b on node-1",
                "             group g, beside default/ben 0.5",
                NOTE,
            ],
        );
        let mps = json!({"gpu-memory": "8192", "mps": "true"});
        check(
            &mps,
            &[held],
            true,
            &[
                "Devices    ana: 8Gi of GPU-1a2b on node-1",
                "             group g, alone on it",
                NOTE,
            ],
        );
        check(
            &half,
            &[],
            false,
            &[
                "Devices    ana: 0.5 of a GPU on node-1, device not readable",
                "             group g, others not readable",
                NOTE,
            ],
        );
        check(
            &half,
            &[ben],
            false,
            &[
                "Devices    ana: 0.5 of a GPU on node-1, device not readable",
                "             group g, beside default/ben 0.5 and others, not readable",
                NOTE,
            ],
        );
    }
}
