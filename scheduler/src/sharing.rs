//! Shared GPUs: which reservation pod holds which device, who uses it, and what has to be written so that both agree.
//!
//! The device plugin gives whole GPUs only. For each shared one a reservation pod asks for a GPU, learns which one it got
//! and writes that on itself; pods that share it are told the device by config maps. This is the only place that decides
//! about reservation pods, and it decides from what was told: no clock, no I/O.
//!
//! ```text
//!  plan ─► begin ──► binds whose devices are known ──────────────► Bind
//!             │                                                      ▲
//!             └─► binds that wait ─► Reserve ─► reservation pod ─► device is told: all of a gang go on
//!                                        └─► refused, failed, silent ─► all of a gang go back, the node is set aside
//!  last user gone ─► Unreserve          reservation gone ─► Unprotected: its users are ended
//!  labels on a pod that nobody binds ─► Strip
//!  two reservations of one group, after a restart ─► Ask: which of the two its users were told
//! ```
//!
//! Binds of one pod group that were decided together go on together: a gang of parts of GPUs is all or nothing also where
//! one device never answers.
//!
//! # Source
//! docs/contract.md 4.5 to 4.9, and 10.1 D3 to D11 for what is done otherwise than by KAI.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::Arc,
};

use kai_engine::{Delta, NodeId};

use crate::{
    actuate::{
        Ask, Bind, Place, Reserve, ShareTask, Strip, Task, Template, Unprotected, Unreserve,
    },
    names::Names,
    settings::SharingArgs,
};

pub mod cdi;
mod device;
pub(crate) mod image;
mod outcome;
mod set_aside;
mod sweep;
mod told;
mod waiting;

pub use device::Reservation;
use device::{Device, Next};
use set_aside::SetAside;
use sweep::Sweep;
pub use told::{Standing, Told};
use waiting::Waiting;

/// A write that failed is tried again after so long, in milliseconds.
const RETRY_MS: i64 = 2_000;
/// A device of a node that is not known is looked at again after so long, in milliseconds.
const STRANGE_MS: i64 = 10_000;

/// Holds what is known of shared GPUs, and what is under way.
#[derive(Debug, Default)]
pub struct Sharing {
    /// Says how reservation pods are made.
    template: Arc<Template>,
    /// A reservation pod that says nothing for so long has failed; milliseconds.
    patience_ms: i64,
    /// Devices by the number of their group.
    devices: BTreeMap<u32, Device>,
    /// Pods that have to do with shared GPUs, by number.
    pods: BTreeMap<u32, Sharer>,
    /// The group of each reservation pod, both by number.
    reservations: BTreeMap<u32, u32>,
    /// Binds that wait for devices.
    waiting: Vec<Waiting>,
    /// Nodes on which no device is opened for a while.
    set_aside: BTreeMap<u32, SetAside>,
    /// Devices to look at.
    due: BTreeSet<u32>,
    /// Devices and pods to look at again, each at the earliest time that was asked for: once, however often it changes.
    later: BTreeMap<Again, i64>,
    /// Holds what the engine has to be told.
    deltas: Vec<Delta>,
    /// Binds that came to nothing, of one pod group each.
    failed: Vec<Vec<Failed>>,
    /// Says how far the search for reservation pods is that failed while nobody looked.
    sweep: Sweep,
}

/// Says what to look at again.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
enum Again {
    Device(u32),
    Pod(u32),
}

/// A pod that has to do with shared GPUs.
#[derive(Debug, Default)]
struct Sharer {
    /// It has labels of shared GPUs.
    is_labelled: bool,
    /// Groups of devices that count it among their users or binds.
    held: BTreeSet<u32>,
    /// Says how far it is.
    stage: Stage,
    /// Its labels are being removed.
    is_stripping: bool,
}

/// Says how far a pod is with its share.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
enum Stage {
    /// It has no node, and nobody binds it.
    #[default]
    Loose,
    /// Its bind waits, or is under way.
    Binding,
    /// It has its node, as far as is known.
    Placed,
}

/// A bind that came to nothing before it was tried.
#[derive(Debug)]
pub struct Failed {
    /// The bind.
    pub bind: Bind,
    /// Says why.
    pub reason: String,
    /// The cause is the node's, which is set aside: the pod need not wait before it is placed elsewhere.
    pub is_of_node: bool,
}

impl Sharing {
    /// Nothing known yet.
    ///
    /// `image` is that of reservation pods where the command line names none.
    pub fn new(args: &crate::Args, image: Option<Box<str>>) -> Self {
        let sharing = &args.sharing;
        let mut template =
            template(sharing, &args.resource_reservation_app_label, &args.scheduler_name);
        template.image = template.image.or(image);
        Self { template: Arc::new(template), patience_ms: sharing.patience_ms(), ..Self::default() }
    }

    /// Takes the tasks of a plan: binds whose shared devices are known go on at once, others wait, with all of their
    /// group; what has to be written for them comes with [`Sharing::settle`].
    ///
    /// # Cost
    /// In the binds that share GPUs, and the tasks where there are any.
    pub fn begin(&mut self, tasks: Vec<Task>, names: &Names) -> Vec<Task> {
        let shares = |task: &Task| matches!(task, Task::Bind(bind) if bind.share.is_some());
        if !tasks.iter().any(shares) {
            return tasks;
        }
        let mut held: BTreeMap<u32, Waiting> = BTreeMap::new();
        for task in &tasks {
            let Task::Bind(bind) = task else { continue };
            let Some(share) = &bind.share else { continue };
            self.enlist(bind, &share.devices, names);
            let unknown = share.devices.iter().filter(|device| !self.is_ready(**device));
            let unknown: BTreeSet<u32> = unknown.copied().collect();
            let (false, Some(group)) = (unknown.is_empty(), names.pods[bind.pod].group) else {
                continue;
            };
            held.entry(group).or_default().devices.extend(unknown);
        }
        let mut going = Vec::with_capacity(tasks.len());
        for task in tasks {
            match task {
                Task::Bind(bind) => {
                    let group = names.pods[bind.pod].group;
                    match group.and_then(|group| held.get_mut(&group)) {
                        Some(waiting) => {
                            // One that is ready now may be lost until the others are.
                            waiting
                                .devices
                                .extend(bind.share.iter().flat_map(|share| &share.devices));
                            waiting.binds.push(bind);
                        }
                        None => going.push(Task::Bind(self.with_devices(bind))),
                    }
                }
                other @ (Task::Evict(_)
                | Task::Group(_)
                | Task::Pod(_)
                | Task::Event(_)
                | Task::Share(_)) => going.push(other),
            }
        }
        self.waiting.extend(held.into_values());
        going
    }

    /// Notes that a bind takes a share of devices.
    fn enlist(&mut self, bind: &Bind, devices: &[u32], names: &Names) {
        let pod = self.pods.entry(bind.pod).or_default();
        pod.stage = Stage::Binding;
        pod.held.extend(devices);
        for device in devices {
            let node = names.nodes.find(&bind.node);
            let known = self.devices.entry(*device).or_default();
            known.node = node.or(known.node);
            known.binds.insert(bind.pod);
            self.due.insert(*device);
        }
    }

    fn is_ready(&self, device: u32) -> bool {
        self.devices.get(&device).is_some_and(|device| device.uuid().is_some())
    }

    /// The bind with the devices that its pod is told.
    fn with_devices(&mut self, mut bind: Bind) -> Bind {
        let Some(share) = &mut bind.share else { return bind };
        share.uuids.clear();
        for device in &share.devices {
            let Some(known) = self.devices.get_mut(device) else { continue };
            let Some(uuid) = known.uuid().map(Box::<str>::from) else { continue };
            known.given = Some(uuid.clone());
            known.told.insert(bind.pod);
            share.uuids.push(uuid);
        }
        bind
    }

    /// A pod was bound, as its bind's outcome says: until the watch shows otherwise it uses its devices.
    pub fn bound(&mut self, pod: u32) {
        self.end_bind(pod, Stage::Placed);
    }

    /// A pod was not bound: what was written for it goes.
    pub fn not_bound(&mut self, pod: u32) {
        self.end_bind(pod, Stage::Loose);
    }

    fn end_bind(&mut self, pod: u32, stage: Stage) {
        let Some(sharer) = self.pods.get_mut(&pod) else { return };
        if sharer.stage == Stage::Placed {
            return;
        }
        sharer.stage = stage;
        for device in &sharer.held {
            if let Some(known) = self.devices.get_mut(device)
                && known.end_bind(pod)
            {
                if stage == Stage::Placed {
                    known.users.entry(pod).or_insert(false);
                }
                self.due.insert(*device);
            }
        }
        self.settle_pod_later(pod, 0);
    }

    /// Works out what has to be written now.
    ///
    /// # Cost
    /// In the devices that something was told of, those that wait, and what is due.
    pub fn settle(&mut self, now: i64, names: &Names) -> Vec<Task> {
        let mut tasks = Vec::new();
        tasks.extend(self.sweep.next(&self.template));
        let mut over = Vec::new();
        self.later.retain(|again, at| {
            let is_over = *at <= now;
            if is_over {
                over.push(*again);
            }
            !is_over
        });
        for again in over {
            match again {
                Again::Device(device) => {
                    self.due.insert(device);
                }
                Again::Pod(pod) => tasks.extend(self.settle_pod(pod, names).map(Task::Share)),
            }
        }
        self.end_set_asides(now);
        self.lose_nodes(names);
        // A device that fails frees others, which are looked at in the same call.
        while let Some(device) = self.due.pop_first() {
            tasks.extend(self.settle_device(device, now, names).map(Task::Share));
        }
        tasks.extend(self.go_on());
        tasks
    }

    fn settle_device(&mut self, number: u32, now: i64, names: &Names) -> Option<ShareTask> {
        let patience_ms = self.patience_ms;
        let device = self.devices.get_mut(&number)?;
        let next = device.next(now, patience_ms);
        let group = Arc::clone(names.devices.key(number));
        let is_there = |node: &u32| names.nodes.row(*node).is_some_and(|row| row.presence.is_there);
        let Some(node) = device.node.filter(is_there) else {
            // Of another node pool, or of a node that is gone: whose pods go with it.
            if device.is_idle() {
                self.devices.remove(&number);
            } else {
                self.again(Again::Device(number), now.saturating_add(STRANGE_MS));
            }
            return None;
        };
        let place = Place { group, node: Box::from(&**names.nodes.key(node)) };
        let template = Arc::clone(&self.template);
        let task = match next {
            Next::Nothing => {
                if device.is_idle() {
                    self.devices.remove(&number);
                }
                return None;
            }
            Next::Wait(at) => {
                self.again(Again::Device(number), at);
                return None;
            }
            // It is looked at again when the list is there.
            Next::Reserve if !self.sweep.is_listed() => return None,
            Next::Reserve => {
                let first = *device.binds.first()?;
                let row = names.pods.row(first)?;
                let for_pod = (Box::from(&*row.namespace), row.name.clone());
                ShareTask::Reserve(Reserve { device: number, place, for_pod, template })
            }
            Next::Ask { among } => ShareTask::Ask(Ask { device: number, place, among, template }),
            Next::Unreserve { has_failed } => {
                ShareTask::Unreserve(Unreserve { device: number, place, has_failed, template })
            }
            Next::Unprotected => {
                let given = device.given.clone();
                ShareTask::Unprotected(Unprotected { device: number, place, given, template })
            }
        };
        device.is_writing = true;
        Some(task)
    }

    /// Lets binds go on whose devices are all known.
    fn go_on(&mut self) -> Vec<Task> {
        let waiting = std::mem::take(&mut self.waiting);
        let (ready, waiting): (Vec<_>, Vec<_>) = waiting
            .into_iter()
            .partition(|one| one.devices.iter().all(|device| self.is_ready(*device)));
        self.waiting = waiting;
        let binds: Vec<Bind> = ready.into_iter().flat_map(|one| one.binds).collect();
        binds.into_iter().map(|bind| Task::Bind(self.with_devices(bind))).collect()
    }

    /// Looks at a pod again at some time: what was written for a bind that came to nothing is removed.
    fn settle_pod_later(&mut self, pod: u32, at: i64) {
        self.again(Again::Pod(pod), at);
    }

    /// Looks at something again at some time, or before.
    fn again(&mut self, what: Again, at: i64) {
        let known = self.later.entry(what).or_insert(at);
        *known = at.min(*known);
    }

    fn settle_pod(&mut self, number: u32, names: &Names) -> Option<ShareTask> {
        let pod = self.pods.get_mut(&number)?;
        if pod.stage != Stage::Loose || pod.is_stripping {
            return None;
        }
        if !pod.is_labelled {
            self.pods.remove(&number);
            return None;
        }
        let row = names.pods.row(number)?;
        let group = row.group.and_then(|group| names.groups.row(group));
        if !group.is_some_and(|group| group.presence.is_there) {
            // Of another node pool, or of none: whoever schedules it writes its labels anew.
            return None;
        }
        pod.is_stripping = true;
        Some(ShareTask::Strip(Strip {
            pod: number,
            uid: Box::from(&**names.pods.key(number)),
            namespace: Box::from(&*row.namespace),
            name: row.name.clone(),
            labels: row.gpu_labels.clone(),
            maps: row.maps.as_deref().cloned(),
        }))
    }

    /// Says when something is due although nothing changes, in milliseconds.
    pub fn wake(&self) -> Option<i64> {
        let again = self.later.values().copied();
        let aside = self.set_aside.values().filter_map(SetAside::until);
        again.chain(aside).min()
    }

    /// Takes what the engine has to be told since this was asked last.
    pub fn take_deltas(&mut self) -> Vec<Delta> {
        std::mem::take(&mut self.deltas)
    }

    /// Binds that came to nothing since this was asked last. Those of a group are kept back while a reservation pod may
    /// have been made for one of them that the watch has not shown: the engine would give the GPU that it holds to others.
    pub fn take_failed(&mut self) -> Vec<Failed> {
        let failed = std::mem::take(&mut self.failed);
        let has_unseen = |one: &Failed| {
            let devices = one.bind.share.iter().flat_map(|share| &share.devices);
            devices.filter_map(|device| self.devices.get(device)).any(Device::has_unseen)
        };
        let (kept, settled) = failed.into_iter().partition(|all| all.iter().any(has_unseen));
        self.failed = kept;
        let settled: Vec<Vec<Failed>> = settled;
        settled.into_iter().flatten().collect()
    }

    /// A device cannot be had: the binds that wait for it go back, each with its group.
    fn fail(&mut self, device: u32, reason: &str, is_of_node: bool) {
        self.fail_those(reason, is_of_node, |one| one.devices.contains(&device));
    }

    /// Binds that wait go back, each with its group.
    fn fail_those(&mut self, reason: &str, is_of_node: bool, fails: impl Fn(&Waiting) -> bool) {
        let waiting = std::mem::take(&mut self.waiting);
        let (failed, waiting): (Vec<_>, Vec<_>) = waiting.into_iter().partition(fails);
        self.waiting = waiting;
        for Waiting { binds, .. } in failed {
            for bind in &binds {
                self.not_bound(bind.pod);
            }
            let failed = |bind| Failed { bind, reason: String::from(reason), is_of_node };
            self.failed.push(binds.into_iter().map(failed).collect());
        }
    }

    /// Binds that wait on a node that is gone go back.
    fn lose_nodes(&mut self, names: &Names) {
        let mut lost = Vec::new();
        for device in self.waiting.iter().flat_map(|one| &one.devices) {
            let node = self.devices.get(device).and_then(|device| device.node);
            let is_there = node.and_then(|node| names.nodes.row(node));
            if !is_there.is_some_and(|row| row.presence.is_there) {
                lost.push(*device);
            }
        }
        for device in lost {
            self.fail(device, "its node is gone", true);
        }
    }

    /// Says that a node opens no device for a while, and until when.
    fn set_aside(&mut self, node: u32, now: i64, reason: &str) {
        let aside = self.set_aside.entry(node).or_default();
        aside.begin(now, reason);
        self.deltas.push(Delta::SetAside(NodeId::new(node), SetAside::ALL));
    }

    fn reopened(node: u32) -> Delta {
        Delta::SetAside(NodeId::new(node), 0)
    }

    fn end_set_asides(&mut self, now: i64) {
        for (node, aside) in &mut self.set_aside {
            if aside.end(now) {
                self.deltas.push(Self::reopened(*node));
            }
        }
    }
}

/// Says how reservation pods are made by the scheduler of this name, in its own namespace.
fn template(args: &SharingArgs, app: &str, scheduler_name: &str) -> Template {
    let text = |text: &str| (!text.is_empty()).then(|| Box::from(text));
    Template {
        namespace: Box::from(&*args.resource_reservation_namespace),
        app: Box::from(app),
        scheduler_name: Box::from(scheduler_name),
        service_account: Box::from(&*args.resource_reservation_service_account),
        image: text(&args.resource_reservation_pod_image),
        runtime_class: text(&args.runtime_class_name),
        resources: args.resource_reservation_pod_resources.clone().filter(|one| !one.is_null()),
        pod_security: args
            .resource_reservation_pod_security_context
            .clone()
            .filter(|one| !one.is_null()),
        container_security: args
            .resource_reservation_container_security_context
            .clone()
            .filter(|one| !one.is_null()),
        is_fake: args.fake_gpu_nodes,
    }
}

#[cfg(test)]
mod tests;
