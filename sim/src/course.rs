//! The course that a cluster takes from now on: cycle after cycle in virtual time, decided by the engine on its own books.
//!
//! ```text
//!   Cluster ──► plan ──► binds and evictions are carried out ──► plan ──► ... rest ──► the next end or delay ──► ...
//! ```
//!
//! Unlike a [`World`](crate::world::World) it keeps no facts beside the engine's: it begins with the cluster of a live
//! scheduler as well as with that of a scenario, and costs memory for that cluster alone.

use std::collections::{BTreeMap, BTreeSet};

use kai_engine::{
    Change, Claim, ClaimId, Cluster, Config, Delta, DeviceId, GpuRequest, GroupId, Millis, NodeId,
    Owner, Place, Plan, Pod, PodId, PodState, Shape, Stage, Timestamp, ids::Id as _, plan,
};

/// Time that carrying out a plan takes.
const CYCLE: Millis = 1000;

/// Cycles in which a cluster has to come to rest: a few moves follow from the first, and searches may take some turns.
const SETTLE_MAX: u32 = 64;

/// Knowledge of the time to come beside the cluster's books. Several courses may ask it at the same time.
pub trait Future: Sync {
    /// Says for how long a group runs in all, one that has run for `ran` already; none where no end is known.
    fn run_time(&self, group: GroupId, ran: Millis) -> Option<Millis>;

    /// Tells whether a pod that is evicted is made again, as those of a controller are.
    fn is_made_again(&self, pod: PodId, group: GroupId) -> bool;
}

/// A group that runs, or begins to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Run {
    /// The beginning.
    begun: Timestamp,
    /// The end, where one is known.
    end: Option<Timestamp>,
}

/// A cluster on its way.
pub struct Course<'f> {
    /// The engine's state.
    pub cluster: Cluster,
    /// The time.
    pub now: Timestamp,
    /// Cycles that were decided so far.
    pub cycles: u64,
    config: Config,
    future: &'f dyn Future,
    runs: BTreeMap<GroupId, Run>,
    ends: BTreeSet<(Timestamp, GroupId)>,
    /// Pods that hold a shared GPU, and those that reserve it.
    sharers: BTreeMap<(NodeId, DeviceId), Sharers>,
    /// Pods that were told to leave before, and are gone after the first cycle.
    leaving: Vec<PodId>,
    /// The number that no pod has.
    free_pod: usize,
}

/// The pods of a shared GPU.
#[derive(Clone, Debug, Default)]
struct Sharers {
    users: BTreeSet<PodId>,
    reservation: Option<PodId>,
}

impl std::fmt::Debug for Course<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Course")
            .field("now", &self.now)
            .field("runs", &self.runs)
            .finish_non_exhaustive()
    }
}

impl<'f> Course<'f> {
    /// Begins with a cluster at a time. Groups that run end as `future` says.
    ///
    /// # Cost
    /// In the number of pods.
    pub fn new(cluster: Cluster, config: Config, now: Timestamp, future: &'f dyn Future) -> Self {
        let mut course = Self {
            cluster,
            now,
            cycles: 0,
            config,
            future,
            runs: BTreeMap::new(),
            ends: BTreeSet::new(),
            sharers: BTreeMap::new(),
            leaving: Vec::new(),
            free_pod: 0,
        };
        course.read();
        course
    }

    /// Reads which groups run, and who shares GPUs.
    fn read(&mut self) {
        let pods: Vec<(PodId, Owner)> = self.cluster.pods().collect();
        self.free_pod = pods.last().map_or(0, |(pod, _)| pod.row() + 1);
        for (pod, owner) in pods {
            self.note_share(pod, owner);
            let is_ours = group_of(owner).is_some();
            self.leaving.extend((is_ours && self.cluster.is_leaving(pod)).then_some(pod));
        }
        let groups: Vec<GroupId> = self.cluster.groups().map(|(group, _)| group).collect();
        for group in groups {
            if self.is_running(group) {
                let begun = self.cluster.last_start(group).unwrap_or(self.now);
                self.begin(group, begun);
            }
        }
    }

    /// Tells whether pods of a group hold a place and stay, as many as it needs.
    pub fn is_running(&self, group: GroupId) -> bool {
        self.cluster.runs(group)
    }

    /// Says since when a group runs; none where it does not.
    pub fn runs_since(&self, group: GroupId) -> Option<Timestamp> {
        self.runs.get(&group).map(|run| run.begun)
    }

    fn begin(&mut self, group: GroupId, begun: Timestamp) {
        let ran = (self.now.0 - begun.0).max(0);
        let run_time = self.future.run_time(group, ran);
        let end = run_time
            .map(|run_time| Timestamp(begun.0.saturating_add(run_time).max(self.now.0 + CYCLE)));
        self.ends.extend(end.map(|end| (end, group)));
        self.runs.insert(group, Run { begun, end });
    }

    fn stop(&mut self, group: GroupId) {
        if let Some(Run { end: Some(end), .. }) = self.runs.remove(&group) {
            self.ends.remove(&(end, group));
        }
    }

    /// Decides one cycle and carries it out: what was bound runs, what was evicted has left.
    pub fn cycle(&mut self) -> Plan {
        let plan = plan(&mut self.cluster, &self.config, self.now);
        self.cycles += 1;
        self.now.0 += CYCLE;
        let mut groups = BTreeSet::new();
        for change in &plan.changes {
            match change {
                Change::Place { pod, .. } => {
                    self.cluster.apply(Delta::Bound(*pod));
                    let owner = self.owner(*pod);
                    self.note_share(*pod, owner);
                    groups.extend(group_of(owner));
                }
                Change::Evict { pod, .. } => groups.extend(self.evict(*pod)),
                Change::Nominate { .. } => {}
            }
        }
        for pod in std::mem::take(&mut self.leaving) {
            self.remove(pod);
        }
        self.keep_reservations();
        self.renew_budgets();
        for group in groups {
            match (self.is_running(group), self.runs.contains_key(&group)) {
                (true, false) => self.begin(group, self.now),
                (false, true) => self.stop(group),
                (true, true) | (false, false) => {}
            }
        }
        plan
    }

    /// Decides until nothing changes any more; the plans in which something did, each with the time when it was made.
    pub fn settle(&mut self) -> Vec<(Timestamp, Plan)> {
        let mut plans = Vec::new();
        for _ in 0..SETTLE_MAX {
            let at = self.now;
            let plan = self.cycle();
            let is_at_rest = plan.changes.is_empty();
            // A search that ran out of steps goes on at once.
            let goes_on = self.cluster.wake().is_some_and(|wake| wake <= self.now);
            if !is_at_rest {
                plans.push((at, plan));
            } else if !goes_on {
                break;
            }
        }
        plans
    }

    /// Lets time pass until something ends or a delay is over, at most until `horizon`; tells whether there was anything.
    pub fn pass(&mut self, horizon: Timestamp) -> bool {
        let end = self.ends.first().map(|(at, _)| *at);
        let wake = self.cluster.wake().filter(|wake| *wake > self.now);
        let Some(next) = end.into_iter().chain(wake).min().filter(|next| *next <= horizon) else {
            return false;
        };
        self.now = self.now.max(next);
        while let Some((at, group)) = self.ends.first().copied().filter(|(at, _)| *at <= self.now) {
            self.ends.remove(&(at, group));
            self.end(group);
        }
        true
    }

    /// Ends a group: its pods are gone, and so is it.
    pub fn end(&mut self, group: GroupId) {
        self.stop(group);
        let pods: Vec<PodId> = self.cluster.pods_of(group).collect();
        for pod in pods {
            self.remove(pod);
        }
        self.cluster.apply(Delta::GroupGone(group));
        self.keep_reservations();
    }

    /// Takes the pods of groups off a node, as a drain does: those of controllers wait again. The pods that were taken off.
    pub fn drain(&mut self, node: NodeId) -> Vec<PodId> {
        let pods = self.cluster.pods().map(|(pod, _)| pod);
        let mut pods: Vec<PodId> =
            pods.filter(|pod| self.cluster.node_of(*pod) == Some(node)).collect();
        pods.retain(|pod| {
            let group = self.evict(*pod);
            if let Some(group) = group.filter(|group| !self.is_running(*group)) {
                self.stop(group);
            }
            group.is_some()
        });
        self.keep_reservations();
        pods
    }

    /// Lets as many pods be disrupted as before: those that left are there again, or are no more.
    fn renew_budgets(&mut self) {
        let budgets: Vec<_> =
            self.cluster.budgets().map(|(id, facts)| (id, facts.clone())).collect();
        for (id, facts) in budgets {
            self.cluster.apply(Delta::Budget(id, Box::new(facts)));
        }
    }

    /// Finds the group of a pod, where it is of one.
    pub fn group_of(&self, pod: PodId) -> Option<GroupId> {
        group_of(self.owner(pod))
    }

    fn owner(&self, pod: PodId) -> Owner {
        self.cluster.pod_waiting(pod).map_or(Owner::Foreign, |facts| facts.owner)
    }

    /// Takes a pod away, and makes it again where its controller does; its group.
    fn evict(&mut self, pod: PodId) -> Option<GroupId> {
        let mut facts = self.cluster.pod_waiting(pod)?;
        let group = group_of(facts.owner)?;
        self.remove(pod);
        facts.claims.retain(|claim| self.cluster.claim(*claim).is_some());
        if self.future.is_made_again(pod, group) {
            self.cluster.apply(Delta::Pod(pod, Box::new(facts)));
        }
        Some(group)
    }

    fn remove(&mut self, pod: PodId) {
        let claims = self.cluster.pod_waiting(pod).map_or_else(Vec::new, |facts| facts.claims);
        if let Some(place) = self.cluster.place_of(pod) {
            for device in &place.devices {
                if let Some(sharers) = self.sharers.get_mut(&(place.node, *device)) {
                    sharers.users.remove(&pod);
                }
            }
        }
        self.cluster.apply(Delta::PodGone(pod));
        for claim in claims {
            self.give_back(claim);
        }
    }

    /// Takes the devices of a claim back once none of its pods has a place; one that was made for extended resources is
    /// gone with its pod, and a volume stays where it is.
    fn give_back(&mut self, claim: ClaimId) {
        let Some(facts) = self.cluster.claim(claim).filter(|facts| !facts.volume) else { return };
        if facts.synthetic {
            self.cluster.apply(Delta::ClaimGone(claim));
        } else if self.cluster.is_claim_idle(claim) {
            let facts = Claim { allocation: None, consumers: 0, ..facts.clone() };
            self.cluster.apply(Delta::Claim(claim, Box::new(facts)));
        }
    }

    fn note_share(&mut self, pod: PodId, owner: Owner) {
        let Some(place) = self.cluster.place_of(pod) else { return };
        if self.cluster.stage(pod) == Stage::Ended {
            return;
        }
        for device in &place.devices {
            let sharers = self.sharers.entry((place.node, *device)).or_default();
            if owner == Owner::Reservation {
                sharers.reservation = Some(pod);
            } else {
                sharers.users.insert(pod);
            }
        }
    }

    /// Each shared GPU that somebody uses has a reservation pod, and no other has one.
    fn keep_reservations(&mut self) {
        let idle: Vec<(NodeId, DeviceId)> = self
            .sharers
            .iter()
            .filter(|(_, sharers)| sharers.users.is_empty() || sharers.reservation.is_none())
            .map(|(at, _)| *at)
            .collect();
        for at in idle {
            let Some(sharers) = self.sharers.get(&at).cloned() else { continue };
            match (sharers.users.is_empty(), sharers.reservation) {
                (true, reservation) => {
                    self.sharers.remove(&at);
                    if let Some(pod) = reservation {
                        self.cluster.apply(Delta::PodGone(pod));
                    }
                }
                (false, None) => self.reserve(at.0, at.1),
                (false, Some(_)) => {}
            }
        }
    }

    fn reserve(&mut self, node: NodeId, device: DeviceId) {
        let pod = PodId::of_row(self.free_pod);
        self.free_pod += 1;
        let place = Place { node, devices: [device].into(), reserved: None };
        let facts = Pod {
            owner: Owner::Reservation,
            shape: Shape { gpu: GpuRequest::Whole(1), ..Shape::default() },
            state: PodState::Running(place),
            created: self.now,
            ..Pod::default()
        };
        self.cluster.apply(Delta::Pod(pod, Box::new(facts)));
        if let Some(sharers) = self.sharers.get_mut(&(node, device)) {
            sharers.reservation = Some(pod);
        }
    }
}

fn group_of(owner: Owner) -> Option<GroupId> {
    match owner {
        Owner::Group(group) => Some(group),
        Owner::Foreign | Owner::Reservation => None,
    }
}
