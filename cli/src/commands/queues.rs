//! `kubectl kai queues`: the tree with what each queue may use and uses, and changes to it.

mod bounds;
mod edit;
mod halt;
mod hits;
mod how;
mod relocate;
pub(crate) mod row;
pub(crate) mod share;
mod step;
mod tree;

use std::collections::{BTreeMap, BTreeSet};

use clap::Subcommand;
use kai_api::names::node;
use kai_api::names::resource::SHARED_GPU_MEMORY;
use kai_api::shared_gpu::device_memory_mib;
use serde_json::Value;

use crate::cluster::gpu::{self, Total};
use crate::cluster::json::text;
use crate::cluster::queue::{Queue, Queues, not_installed};
use crate::cluster::{Call, Cluster, Resource, Select, names};
use crate::commands::list::groups;
use crate::commands::show::{Find, show};
use crate::context::Context;
use crate::print::error::{Error, Exit, Problem};
use crate::print::flags::{ListFlags, WatchFlags};
use crate::print::format::Format;
use crate::print::output::clean;
use crate::print::report::Report;
use crate::workload::{Workload, load_readable};

/// Flags of `queues`.
#[derive(Debug, clap::Args)]
#[command(args_conflicts_with_subcommands = true)]
pub struct Args {
    #[command(subcommand)]
    action: Option<Action>,
    /// Only these queues and those below them
    #[arg(value_name = "NAME")]
    names: Vec<String>,
    /// A flat list with all amounts, no tree
    #[arg(long)]
    flat: bool,
    #[command(flatten)]
    list: ListFlags,
    #[command(flatten)]
    watch: WatchFlags,
    /// Counts what runs and works fair shares out, also where only some queues are asked for.
    #[arg(skip)]
    is_counted: bool,
}

#[derive(Debug, Subcommand)]
enum Action {
    /// Create a queue
    Create(edit::Create),
    /// Change quota, limit, weight or priority of a queue
    Set(edit::Set),
    /// Delete queues without children and without work
    Delete(edit::Delete),
    /// Let nothing new start in queues; what runs goes on
    #[command(after_help = halt::HOLD_HELP)]
    Hold(halt::Halt),
    /// Let held queues go on
    Release(halt::Halt),
    /// Put a queue below another one
    Move(relocate::Move),
}

/// Holds what runs and waits in one queue, those below it included.
#[derive(Clone, Debug, Default)]
pub(crate) struct Use {
    /// GPUs of pods that have a node.
    pub(crate) used: Total,
    /// GPUs of pods that wait for one.
    pub(crate) pending: Total,
    /// `PodGroups` with a pod on a node.
    pub(crate) running: usize,
    /// `PodGroups` with a pod that waits for a node, whatever it asks for, and pods that wait without any; of queues whose
    /// status alone was read it is not known.
    pub(crate) waiting: usize,
}

impl Use {
    /// Tells whether work waits.
    fn has_waiting(&self) -> bool {
        self.waiting > 0 || !self.pending.is_zero()
    }

    /// Says what becomes of the work that a queue has itself once others are below it; none where it has none.
    fn with_queues_below(&self) -> Option<&'static str> {
        match (self.running > 0, self.has_waiting()) {
            (true, false) => Some("runs work itself; as a parent it takes no new work"),
            (true, true) => Some(
                "runs work itself, and some waits in it; as a parent it takes no new work, and what waits never starts",
            ),
            (false, true) => Some("has work that waits in it; as a parent it never starts that"),
            (false, false) => None,
        }
    }

    /// Warns of that.
    fn warn_of_queues_below(&self, queue: &str, context: &mut Context) {
        if let Some(what) = self.with_queues_below() {
            context.out.warn(&format!("{} {what}", clean(queue)));
        }
    }
}

/// Holds what is known of what queues use and may use; absent where the user may not read it.
#[derive(Debug, Default)]
pub(crate) struct Told {
    pub(crate) uses: Option<BTreeMap<String, Use>>,
    /// Fair shares in thousandths of devices.
    pub(crate) shares: Option<BTreeMap<String, i64>>,
    /// Tells whether pods were not looked at: how many `PodGroups` run is not known.
    pub(crate) is_brief: bool,
}

pub(crate) use tree::bar;

/// Runs `queues`.
pub(crate) async fn run(mut args: Args, context: &mut Context) -> Result<Exit, Error> {
    match args.action.take() {
        Some(Action::Create(create)) => edit::create(create, context).await,
        Some(Action::Set(set)) => edit::set(set, context).await,
        Some(Action::Delete(delete)) => edit::delete(delete, context).await,
        Some(Action::Hold(hold)) => halt::hold(hold, context).await,
        Some(Action::Release(release)) => halt::release(release, context).await,
        Some(Action::Move(moved)) => relocate::relocate(moved, context).await,
        None => show(&args, &args.list, args.watch, context).await,
    }
}

/// Runs `top queues`: the same of one queue and those below it, or of all.
pub(crate) async fn top(
    queue: Option<String>,
    list: &ListFlags,
    watch: WatchFlags,
    context: &mut Context,
) -> Result<Exit, Error> {
    let args = Args {
        action: None,
        names: queue.into_iter().collect(),
        flat: false,
        list: list.clone(),
        watch,
        is_counted: true,
    };
    show(&args, list, watch, context).await
}

/// Reads all queues.
///
/// # Errors
/// The server cannot be asked, KAI is not installed, or queues may not be read.
pub(crate) async fn read(cluster: &Cluster) -> Result<Queues, Error> {
    let resource = names::queues();
    read_by(&Call::new("list", &resource), cluster).await
}

/// Reads all queues for a change of some of them, whose right is named too where reading is refused.
///
/// # Errors
/// As [`read`].
async fn read_to(verb: &'static str, cluster: &Cluster) -> Result<Queues, Error> {
    let resource = names::queues();
    read_by(&Call::new("list", &resource).then(verb), cluster).await
}

async fn read_by(call: &Call<'_>, cluster: &Cluster) -> Result<Queues, Error> {
    match cluster.list(call, &Select::default()).await {
        Ok(Some(objects)) => Ok(Queues::read(objects)),
        Ok(None) => Err(not_installed(cluster)),
        Err(failure) => Err(cluster.explain(call, &failure)),
    }
}

/// Reads all queues with what they use and may use; and says what of that could not be read.
///
/// # Errors
/// As [`read`].
pub(crate) async fn read_told(cluster: &Cluster) -> Result<(Queues, Told, Option<String>), Error> {
    Box::pin(told_with(cluster, uses(cluster))).await
}

/// Does the same where all work of the cluster was read: it is not read again.
///
/// # Errors
/// As [`read_told`].
pub(crate) async fn read_told_of(
    workloads: &[Workload],
    cluster: &Cluster,
) -> Result<(Queues, Told, Option<String>), Error> {
    let uses = async {
        let groups = workloads.iter().flat_map(|workload| &workload.groups);
        let pods = workloads.iter().flat_map(|workload| &workload.pods);
        let memory = Memory::of_nodes_of(pods.clone(), cluster).await;
        Ok(count(groups, pods, &memory))
    };
    Box::pin(told_with(cluster, uses)).await
}

async fn told_with(
    cluster: &Cluster,
    uses: impl Future<Output = Result<BTreeMap<String, Use>, String>>,
) -> Result<(Queues, Told, Option<String>), Error> {
    let (queues, uses, supply) = futures::join!(read(cluster), uses, share::supply(cluster));
    let queues = queues?;
    let (uses, warning) = match uses {
        Ok(uses) => (Some(rolled_up(&queues, uses)), None),
        Err(reason) => {
            let warning = format!("who uses what is not known: {}", clean(&reason));
            (from_status(&queues), Some(warning))
        }
    };
    let shares =
        uses.as_ref().zip(supply).map(|(uses, supply)| share::shares(&queues, uses, supply));
    Ok((queues, Told { uses, shares, is_brief: false }, warning))
}

/// Reads all queues with what their own status says of their use: one request, however much work there is. Where no status
/// says anything, or work asks for memory of GPUs, all that uses them is read: a status says how much memory is asked for,
/// and not how much of that waits.
///
/// # Errors
/// As [`read`].
async fn read_brief(cluster: &Cluster) -> Result<(Queues, Told, Option<String>), Error> {
    let queues = read(cluster).await?;
    match from_status(&queues).filter(|_| !asks_for_memory(&queues)) {
        Some(uses) => Ok((queues, Told { uses: Some(uses), shares: None, is_brief: true }, None)),
        None => read_told(cluster).await,
    }
}

/// Tells whether work of some queue asks for memory of GPUs.
fn asks_for_memory(queues: &Queues) -> bool {
    let asked = |queue: &Queue| {
        !matches!(text(&queue.object["status"]["requested"][SHARED_GPU_MEMORY]), "" | "0")
    };
    queues.0.values().any(asked)
}

impl Find for Args {
    async fn find(&self, context: &mut Context, format: &Format) -> Result<Report, Error> {
        let cluster = context.cluster().await?;
        let is_brief = !self.is_counted && !self.names.is_empty() && *format == Format::Table;
        let read = if is_brief { read_brief(&cluster).await } else { read_told(&cluster).await };
        let (queues, told, warning) = match read {
            Err(error) if error.exit() == Exit::Forbidden && format.is_table() => {
                return of_own_work(&cluster, error).await;
            }
            told => told?,
        };
        let is_unknown = |name: &&String| !queues.0.contains_key(*name);
        Error::all(self.names.iter().filter(is_unknown).map(|n| unknown(&queues, n)).collect())?;
        if queues.0.is_empty() && format.is_table() {
            context
                .out
                .talk("there are no queues yet: kubectl kai queues create NAME --gpu-quota N");
        }
        let is_flat =
            self.flat || self.list.sheet.sort_by.is_some() || !matches!(format, Format::Table);
        let mut report = if is_flat {
            let is_meant = |queue: &&str| {
                self.names.is_empty() || self.names.iter().any(|root| queues.is_below(queue, root))
            };
            let below: Vec<&str> = queues.0.keys().map(String::as_str).filter(is_meant).collect();
            tree::flat(&queues, &below, &told, &context.out)
        } else {
            tree::tree(&queues, &self.names, &told, &context.out)
        };
        report.warnings.extend(warning);
        Ok(report)
    }
}

/// Shows what work of the own namespace holds and waits for, by queue, where queues may not be read.
///
/// # Errors
/// Why they may not, where the user has nothing there, or may not read that either.
async fn of_own_work(cluster: &Cluster, refused: Error) -> Result<Report, Error> {
    let own = cluster.namespace.as_str();
    let loaded = match load_readable(cluster, Some(own)).await {
        Ok(loaded) if !loaded.workloads.is_empty() => loaded,
        Ok(_) | Err(_) => return Err(refused),
    };
    let mut report = groups::report(groups::By::Queue, &loaded.workloads);
    report.warnings.push(format!(
        "you may not list queues: shown is what work of namespace {} holds and waits for",
        clean(own)
    ));
    report.warnings.push("quotas and shares of a queue, as the scheduler told work that waits in it: kubectl kai explain queue/NAME".to_owned());
    report.warnings.extend(loaded.unread.sentences("counted"));
    report.exit = loaded.unread.exit_of_failures();
    Ok(report)
}

/// A queue that does not exist, or a word that was meant as a command.
fn unknown(queues: &Queues, name: &str) -> Problem {
    const COMMANDS: [&str; 6] = ["create", "set", "delete", "hold", "release", "move"];
    let problem = queues.unknown(name);
    let near = |command: &&str| strsim::damerau_levenshtein(command, name) <= name.len() / 3;
    let verbs = ["describe", "get", "list", "show"];
    match (COMMANDS.into_iter().find(near), verbs.contains(&name)) {
        (Some(command), _) => problem.line(format!("or the command {command}?")),
        (None, true) => problem.line(format!("nor is {name} a command: {}", COMMANDS.join(", "))),
        (None, false) => problem,
    }
}

/// Says what the pods of each queue use, by the queue that their `PodGroup` names: two requests for the whole cluster.
pub(crate) async fn uses(cluster: &Cluster) -> Result<BTreeMap<String, Use>, String> {
    let (groups, pods) = (names::pod_groups(), names::pods());
    let fields = format!("spec.schedulerName={}", names::SCHEDULER);
    let (groups, pods) = futures::join!(
        async { cluster.outline(&Call::new("list", &groups), &Select::default()).await },
        async {
            let select = Select { fields: &fields, labels: "" };
            cluster.outline(&Call::new("list", &pods), &select).await
        },
    );
    let groups = groups.map_err(|e| e.to_string())?.unwrap_or_default();
    let pods = pods.map_err(|e| e.to_string())?.unwrap_or_default();
    let memory = Memory::of_nodes_of(pods.iter(), cluster).await;
    Ok(count(groups.iter(), pods.iter(), &memory))
}

/// Memory of one device of each node, MiB: by it shares of memory become parts of devices.
#[derive(Debug, Default)]
struct Memory(BTreeMap<String, u64>);

impl Memory {
    /// Reads it where any of the pods asks for memory of a device.
    async fn of_nodes_of(mut pods: impl Iterator<Item = &Value>, cluster: &Cluster) -> Self {
        if pods.any(|pod| Total::of_pod(pod).memory_mib > 0) {
            Self::read(cluster).await
        } else {
            Self::default()
        }
    }

    /// Reads it; nothing is known where the user may not.
    async fn read(cluster: &Cluster) -> Self {
        let nodes = Resource::new("v1", "Node", "nodes").cluster_wide();
        let select = Select { labels: node::GPU_MEMORY, fields: "" };
        let found = cluster.list(&Call::new("list", &nodes), &select).await;
        Self::of(&found.ok().flatten().unwrap_or_default())
    }

    fn of(nodes: &[Value]) -> Self {
        let memory = nodes.iter().filter_map(|node| {
            let meta = &node["metadata"];
            let mib = device_memory_mib(text(&meta["labels"][node::GPU_MEMORY]))?.into();
            Some((text(&meta["name"]).to_owned(), mib))
        });
        Self(memory.collect())
    }

    /// Of the devices of a node; before there is a node, of the smallest device.
    fn on(&self, node: &str) -> Option<u64> {
        if node.is_empty() { self.0.values().min().copied() } else { self.0.get(node).copied() }
    }
}

fn count<'v>(
    groups: impl Iterator<Item = &'v Value> + Clone,
    pods: impl Iterator<Item = &'v Value>,
    memory: &Memory,
) -> BTreeMap<String, Use> {
    let queue_of: BTreeMap<(&str, &str), &str> = groups
        .clone()
        .map(|g| {
            (
                (text(&g["metadata"]["namespace"]), text(&g["metadata"]["name"])),
                text(&g["spec"]["queue"]),
            )
        })
        .collect();
    let mut uses: BTreeMap<String, Use> = BTreeMap::new();
    for group in groups {
        let amounts = &group["status"]["resourcesStatus"];
        let used = gpu::claimed_milli(&amounts["allocated"]);
        let asked = gpu::claimed_milli(&amounts["requested"]).max(used);
        if asked > 0 {
            let one = uses.entry(text(&group["spec"]["queue"]).to_owned()).or_default();
            one.used.milli = one.used.milli.saturating_add(used);
            one.pending.milli = one.pending.milli.saturating_add(asked - used);
        }
    }
    let (mut running, mut waiting) = (BTreeSet::new(), BTreeSet::new());
    for pod in pods {
        if matches!(text(&pod["status"]["phase"]), "Succeeded" | "Failed") {
            continue;
        }
        let meta = &pod["metadata"];
        let group = (text(&meta["namespace"]), text(&meta["annotations"][names::POD_GROUP]));
        let label = text(&meta["labels"][names::QUEUE]);
        let queue = queue_of.get(&group).copied().unwrap_or(label);
        let one = uses.entry(queue.to_owned()).or_default();
        let node = text(&pod["spec"]["nodeName"]);
        let total = Total::of_pod_on(pod, memory.on(node));
        if node.is_empty() {
            one.pending.add(&total, 1);
            let alone = if group.1.is_empty() { text(&meta["name"]) } else { "" };
            if waiting.insert((group, alone)) {
                one.waiting += 1;
            }
        } else {
            one.used.add(&total, 1);
            if running.insert(group) {
                one.running += 1;
            }
        }
    }
    uses
}

/// Adds what each queue uses to those above it.
pub(crate) fn rolled_up(queues: &Queues, own: BTreeMap<String, Use>) -> BTreeMap<String, Use> {
    let mut all: BTreeMap<String, Use> = BTreeMap::new();
    for (name, used) in own {
        let mut at = Some(name.as_str());
        for _ in 0..=queues.0.len() {
            let Some(name) = at else { break };
            let sum = all.entry(name.to_owned()).or_default();
            sum.used.add(&used.used, 1);
            sum.pending.add(&used.pending, 1);
            sum.running += used.running;
            sum.waiting += used.waiting;
            at = queues.0.get(name).and_then(|queue| queue.parent.as_deref());
        }
    }
    all
}

/// Says what the queues' own status says, where pods may not be read.
pub(crate) fn from_status(queues: &Queues) -> Option<BTreeMap<String, Use>> {
    let one = |queue: &Queue| {
        let status = &queue.object["status"];
        // One that says something, and nothing of GPUs, has none.
        status.as_object().filter(|status| !status.is_empty())?;
        let used = gpu::status_milli(&status["allocated"]).unwrap_or(0);
        let asked = gpu::status_milli(&status["requested"]).unwrap_or(used);
        let total = |milli| Total { milli, ..Total::default() };
        let pending = total(asked.saturating_sub(used));
        Some(Use { used: total(used), pending, ..Use::default() })
    };
    let known: BTreeMap<String, Use> =
        queues.0.values().filter_map(|queue| Some((queue.name.clone(), one(queue)?))).collect();
    (!known.is_empty()).then_some(known)
}

#[cfg(test)]
mod tests {
    use http::{Request, Response};
    use kube::client::Body;
    use serde_json::json;

    use super::*;
    use crate::print::error::number;

    /// Work of a kind that cannot be listed would seem to be nowhere.
    #[tokio::test]
    async fn kinds_that_could_not_be_counted_are_told() {
        let service = tower::service_fn(|request: Request<Body>| async move {
            let pod = json!({"metadata": {"namespace": "ml", "name": "p", "uid": "u",
                "labels": {"kai.scheduler/queue": "q"}},
                "spec": {"schedulerName": "kai-scheduler"}, "status": {"phase": "Pending"}});
            let path = request.uri().path();
            let (code, body): (u16, Value) = if path.ends_with("/jobs") {
                (500, json!({"kind": "Status", "code": 500, "message": "it fails"}))
            } else {
                let items = if path.ends_with("/pods") { vec![pod] } else { Vec::new() };
                (200, json!({"metadata": {"resourceVersion": "1"}, "items": items, "groups": []}))
            };
            let body = Body::from(body.to_string().into_bytes());
            Ok::<_, kube::Error>(Response::builder().status(code).body(body).expect("a code"))
        });
        let cluster = Cluster::given(kube::Client::new(service, "ml"), "ml");
        let refused = Problem::new(number::FORBIDDEN, Exit::Forbidden, "you may not list queues");
        let report = of_own_work(&cluster, refused.into()).await.expect("there is a pod");
        let told = "not counted, jobs.batch cannot be listed: it fails";
        assert_eq!(report.warnings.last().map(String::as_str), Some(told));
        assert_eq!(report.exit, Exit::Failure);
    }

    #[test]
    fn work_of_its_own_is_told_before_a_queue_becomes_a_parent() {
        for (running, pending, expect) in [
            (0, 0, None),
            (1, 0, Some("runs work itself;")),
            (0, 1000, Some("has work that waits in it;")),
            (1, 1000, Some("runs work itself, and some waits in it;")),
        ] {
            let pending = Total { milli: pending, ..Total::default() };
            let said = Use { pending, running, ..Use::default() }.with_queues_below();
            let begin = said.and_then(|said| said.split_inclusive(';').next());
            assert_eq!(begin, expect);
        }
    }

    #[test]
    fn work_that_waits_without_gpus_waits() {
        let pod = |name: &str, group: Option<&str>| {
            json!({"metadata": {"namespace": "a", "name": name, "labels": {"kai.scheduler/queue": "q"},
                "annotations": {(names::POD_GROUP): group}}, "spec": {}})
        };
        let pods = [pod("a-0", Some("a")), pod("a-1", Some("a")), pod("b", None), pod("c", None)];
        let known = count([].iter(), pods.iter(), &Memory::default());
        assert!(known["q"].pending.is_zero() && known["q"].has_waiting());
        assert_eq!((known["q"].running, known["q"].waiting), (0, 3));
    }

    #[test]
    fn a_status_says_what_is_used_and_what_waits() {
        for (status, expect) in [
            (json!(null), None),
            (json!({}), None),
            (json!({"requested": {"nvidia.com/gpu": "3"}}), Some((0, 3000))),
            (
                json!({"allocated": {"nvidia.com/gpu": "2"}, "requested": {"nvidia.com/gpu": "3"}}),
                Some((2000, 1000)),
            ),
            (json!({"allocated": {"cpu": "2"}}), Some((0, 0))),
        ] {
            let queue = json!({"metadata": {"name": "q"}, "spec": {}, "status": status});
            let known = from_status(&Queues::read(vec![queue]));
            let told = known.and_then(|known| known.get("q").cloned());
            let told = told.map(|one| (one.used.milli, one.pending.milli));
            assert_eq!(told, expect, "{status}");
        }
    }

    #[test]
    fn shares_count_as_parts_of_devices() {
        let node = json!({"metadata": {"name": "n", "labels": {"nvidia.com/gpu.memory": "81559"}}});
        let pod = |annotations: Value, node: &str| {
            json!({"metadata": {"namespace": "a", "labels": {"kai.scheduler/queue": "q"},
                "annotations": annotations}, "spec": {"nodeName": node}})
        };
        let half = json!({"gpu-fraction": "5e-1", "gpu-fraction-num-devices": "2"});
        let memory = json!({"gpu-memory": "8192"});
        let pods =
            [pod(half.clone(), "n"), pod(memory.clone(), "n"), pod(memory, ""), pod(half, "")];
        let known = count([].iter(), pods.iter(), &Memory::of(&[node]));
        assert_eq!(
            (known["q"].used.to_string(), known["q"].pending.to_string()),
            ("1.11".into(), "1.11".into())
        );
        let group = json!({"spec": {"queue": "q"}, "status": {"resourcesStatus":
            {"allocated": {"gpu.amd.com": "2"}, "requested": {"gpu.amd.com": "3"}}}});
        let claims = count([group].iter(), [].iter(), &Memory::default());
        assert_eq!((claims["q"].used.milli, claims["q"].pending.milli), (2000, 1000));
        let unknown = count([].iter(), pods.iter(), &Memory::default());
        assert_eq!(unknown["q"].used.to_string(), "1+8Gi");
    }
}
