//! Describes what the view shows, as plain data: put together from what was read, and cleaned of what a terminal would
//! obey. Pure.

use std::collections::{BTreeMap, HashMap};

use jiff::Timestamp;

use crate::cluster::gpu;
use crate::cluster::json::text;
use crate::cluster::queue::{Amount, Queue as QueueObject, Queues};
use crate::commands::queues::{Told, share};
use crate::commands::top::nodes::{Device, Holder as Holding, Node as Read, State};
use crate::print::output::{Style, clean};
use crate::workload::{Workload, pods_shown};

/// A cluster as it is drawn.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(in crate::commands::top) struct Picture {
    /// Names the context, or the server.
    pub(super) place: String,
    /// The one namespace whose workloads are listed; all where there is none.
    pub(super) namespace: Option<String>,
    pub(super) nodes: Vec<Node>,
    pub(super) queues: Vec<Queue>,
    pub(super) works: Vec<Work>,
    /// Holds what could not be read, a sentence each.
    pub(super) notes: Vec<String>,
}

/// A node and its devices.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Node {
    pub(super) name: String,
    pub(super) product: String,
    pub(super) cells: Vec<Cell>,
    /// Says how much is held of how many devices: `2.5/8`.
    pub(super) held: String,
    pub(super) held_milli: u64,
    pub(super) usable: u64,
    pub(super) free: Option<usize>,
    /// Cordoned, not ready, taints, devices that are lost.
    pub(super) marks: String,
}

/// Says how a device looks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Look {
    /// One pod has it.
    Whole,
    /// Pods share it: so many tenths are held.
    Shared(u8),
    Free,
    /// Nobody who was read holds it; others may.
    Unknown,
    /// Something is wrong with it.
    Bad,
    /// So many MIG devices of those that there are.
    Slices,
}

/// A device.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Cell {
    pub(super) look: Look,
    pub(super) holders: Vec<Holder>,
    /// Holds what is wrong with it, or how many slices of it are held.
    pub(super) note: String,
}

/// A pod on a device.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Holder {
    /// `namespace/pod`, with what it has of a device that it shares.
    pub(super) name: String,
    /// The workload that it is of, by its place in the list.
    pub(super) work: Option<usize>,
}

/// A queue.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Queue {
    pub(super) name: String,
    /// The number of queues above it.
    pub(super) depth: usize,
    pub(super) used_milli: u64,
    /// None where it is unlimited.
    pub(super) quota_milli: Option<u64>,
    /// None where it is unlimited.
    pub(super) limit_milli: Option<u64>,
    pub(super) used: String,
    pub(super) share: String,
    pub(super) pending: String,
    pub(super) note: String,
}

/// A workload.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Work {
    pub(super) namespace: String,
    pub(super) name: String,
    /// The kind in lower case.
    pub(super) kind: String,
    pub(super) queue: String,
    pub(super) user: String,
    /// `Pending (NoCapacity)`.
    pub(super) status: String,
    pub(super) style: Style,
    /// True while it waits for nodes.
    pub(super) waits: bool,
    pub(super) ready: String,
    pub(super) gpu: String,
    pub(super) gpu_milli: u64,
    pub(super) held_milli: u64,
    pub(super) place: Option<usize>,
    pub(super) created: Option<Timestamp>,
    pub(super) nodes: Vec<String>,
    /// Says why it waits, and who evicted it.
    pub(super) why: String,
    pub(super) code: String,
}

impl Work {
    /// Names it among all of them.
    pub(super) fn key(&self) -> String {
        format!("{}/{}/{}", self.namespace, self.kind, self.name)
    }
}

/// Holds what was read of a cluster.
#[derive(Debug)]
pub(super) struct Parts<'p> {
    pub(super) place: &'p str,
    /// Only workloads of this namespace are listed.
    pub(super) namespace: Option<&'p str>,
    pub(super) nodes: &'p [Read],
    pub(super) queues: &'p Queues,
    pub(super) told: &'p Told,
    pub(super) works: &'p [Workload],
    pub(super) notes: Vec<String>,
}

impl Picture {
    /// Puts a picture together.
    pub(super) fn of(parts: Parts<'_>) -> Self {
        let Parts { place, namespace, nodes, queues, told, works, notes } = parts;
        let is_listed = |work: &&Workload| {
            !work.phase().is_over() && namespace.is_none_or(|only| work.namespace == only)
        };
        let listed: Vec<&Workload> = works.iter().filter(is_listed).collect();
        let owners = owners(&listed);
        Self {
            place: own(place),
            namespace: namespace.map(own),
            nodes: nodes.iter().map(|read| node(read, &owners)).collect(),
            queues: tree(queues, told),
            works: listed.iter().map(|one| work(one)).collect(),
            notes: notes.iter().map(|note| own(note)).collect(),
        }
    }

    /// Says how many devices are held, how many there are, and how many nobody is on.
    pub(super) fn devices(&self) -> String {
        let held = gpu::sum(self.nodes.iter().map(|node| node.held_milli));
        let usable = gpu::sum(self.nodes.iter().map(|node| node.usable));
        let free = gpu::sum_known(self.nodes.iter().map(|node| u64::try_from(node.free?).ok()));
        let free = free.map_or_else(|| "?".to_owned(), |free| free.to_string());
        format!("{}/{usable} GPUs held, {free} free", gpu::devices(held))
    }

    /// Says how many workloads wait, and how many there are beside.
    pub(super) fn counts(&self) -> String {
        let waiting = self.works.iter().filter(|work| work.waits).count();
        format!("{waiting} waiting, {} placed", self.works.len() - waiting)
    }
}

fn own(text: &str) -> String {
    clean(text).into_owned()
}

/// The places of workloads in their list, by namespace and name of their pods.
type Owners = HashMap<(String, String), usize>;

fn owners(works: &[&Workload]) -> Owners {
    let of_work = |(at, work): (usize, &&Workload)| {
        let pods = work.pods.iter().map(|pod| text(&pod["metadata"]["name"]).to_owned());
        let namespace = work.namespace.clone();
        pods.map(move |pod| ((namespace.clone(), pod), at)).collect::<Vec<_>>()
    };
    works.iter().enumerate().flat_map(of_work).collect()
}

fn node(read: &Read, owners: &Owners) -> Node {
    let mut cells: Vec<Cell> = read.devices.iter().map(|one| device(one, owners)).collect();
    cells.extend(read.slices.iter().map(|slices| Cell {
        look: Look::Slices,
        holders: slices.holders.iter().map(|one| holder(one, true, owners)).collect(),
        note: own(&format!("mig {}: {} held", slices.profile, slices.summary())),
    }));
    let held = read.held_milli.map_or_else(|| "?".to_owned(), gpu::devices);
    let usable = read.usable.map_or_else(|| "?".to_owned(), |usable| usable.to_string());
    let mut marks = read.marks.clone();
    if read.lost > 0 {
        marks.push(format!("{} of its GPUs lost", read.lost));
    }
    Node {
        name: own(&read.name),
        product: own(read.product.as_deref().unwrap_or_default()),
        held: format!("{held}/{usable}"),
        held_milli: read.held_milli.unwrap_or(0),
        usable: read.usable.unwrap_or(0),
        free: read.free,
        marks: own(&marks.join(", ")),
        cells,
    }
}

fn device(read: &Device, owners: &Owners) -> Cell {
    let is_shared = read.state == State::Shared;
    let tenths = || {
        let seen = gpu::sum(read.holders.iter().filter_map(|one| one.milli));
        let held = read.held_milli().unwrap_or(seen);
        u8::try_from(held.div_ceil(100).min(10)).unwrap_or(10)
    };
    let look = match read.state {
        _ if read.problem.is_some() => Look::Bad,
        State::Whole => Look::Whole,
        State::Shared => Look::Shared(tenths()),
        State::Free => Look::Free,
        State::Unknown => Look::Unknown,
    };
    Cell {
        look,
        holders: read.holders.iter().map(|one| holder(one, is_shared, owners)).collect(),
        note: own(read.problem.as_deref().unwrap_or_default()),
    }
}

fn holder(read: &Holding, is_share_told: bool, owners: &Owners) -> Holder {
    let share = if is_share_told { format!(" {}", read.share) } else { String::new() };
    Holder {
        name: own(&format!("{}/{}{share}", read.namespace, read.pod)),
        work: owners.get(&(read.namespace.clone(), read.pod.clone())).copied(),
    }
}

/// The queues, those below one after it.
fn tree(queues: &Queues, told: &Told) -> Vec<Queue> {
    let is_root = |queue: &&QueueObject| {
        queue.parent.as_ref().is_none_or(|parent| !queues.0.contains_key(parent))
    };
    let mut rows = Vec::new();
    let mut next: Vec<(&QueueObject, usize)> =
        queues.0.values().filter(is_root).map(|queue| (queue, 0)).collect();
    next.reverse();
    while let Some((queue, depth)) = next.pop() {
        rows.push(row(queue, depth, queues, told));
        let below = queue.children.iter().rev().filter_map(|child| queues.0.get(child));
        next.extend(below.map(|child| (child, depth + 1)));
    }
    rows
}

fn row(queue: &QueueObject, depth: usize, queues: &Queues, told: &Told) -> Queue {
    let known = told.uses.as_ref();
    let used = known.map(|uses| uses.get(&queue.name).cloned().unwrap_or_default());
    let unknown = || "?".to_owned();
    let held = used.as_ref().map_or_else(unknown, |used| used.used.to_string());
    let share = told.shares.as_ref().and_then(|shares| shares.get(&queue.name));
    let note = match queues.held(&queue.name) {
        Some(_) => "held",
        None if queue.gpu.limit == Amount::Milli(0) => "limit 0",
        None => "",
    };
    Queue {
        name: own(&queue.name),
        depth,
        used_milli: used.as_ref().map_or(0, |used| used.used.milli),
        quota_milli: queue.gpu.quota.milli(),
        limit_milli: queue.gpu.limit.milli(),
        used: held,
        share: share.map_or_else(|| "-".to_owned(), |milli| share::show(*milli)),
        pending: used.as_ref().map_or_else(unknown, |used| used.pending.to_string()),
        note: note.to_owned(),
    }
}

fn work(read: &Workload) -> Work {
    let state = read.state();
    let gpus = read.gpus();
    let (ready, wanted) = read.ready();
    let mut why = state.message.clone().unwrap_or_default().replace('\n', " ");
    if let Some(eviction) = read.eviction() {
        let told = eviction.status();
        why = if why.is_empty() { told } else { format!("{told}; {why}") };
    }
    Work {
        namespace: own(&read.namespace),
        name: own(&read.name),
        kind: own(&read.resource.kind.to_lowercase()),
        queue: own(&read.queue),
        user: own(read.user().unwrap_or_default()),
        status: own(&state.show()),
        style: state.phase.style(),
        waits: state.phase.is_queued(),
        ready: format!("{ready}/{}", pods_shown(wanted)),
        gpu: if gpus.is_zero() { "-".to_owned() } else { gpus.to_string() },
        gpu_milli: gpus.milli,
        held_milli: read.gpus_held().milli,
        place: read.position.map(|position| position.place),
        created: read.created,
        nodes: read.nodes().into_iter().map(own).collect(),
        why: own(&why),
        code: state.code.clone().unwrap_or_default(),
    }
}

/// Letters that stand for workloads on the map; a workload keeps its own while it holds devices.
#[derive(Clone, Debug, Default)]
pub(super) struct Letters(BTreeMap<String, char>);

impl Letters {
    /// Gives letters to those that hold devices and have none yet, the largest first.
    pub(super) fn give(&mut self, works: &[Work]) {
        let holds = |work: &&Work| work.held_milli > 0;
        let mut holding: Vec<(&Work, String)> =
            works.iter().filter(holds).map(|work| (work, work.key())).collect();
        holding.sort_by(|(a, a_key), (b, b_key)| (b.held_milli, a_key).cmp(&(a.held_milli, b_key)));
        let names: std::collections::HashSet<&str> =
            holding.iter().map(|(_, key)| key.as_str()).collect();
        self.0.retain(|key, _| names.contains(key.as_str()));
        let taken: Vec<char> = self.0.values().copied().collect();
        let mut free = ('a'..='z').chain('A'..='Z').filter(|letter| !taken.contains(letter));
        for (_, key) in holding {
            if self.0.contains_key(&key) {
                continue;
            }
            let Some(letter) = free.next() else { break };
            self.0.insert(key, letter);
        }
    }

    /// The letter of a workload.
    pub(super) fn of(&self, work: &Work) -> Option<char> {
        self.0.get(&work.key()).copied()
    }
}
