//! Accounts of queues: what each says that it asks for and has is the sum of its pods and those below it (S12).

use std::{collections::BTreeMap, time::Duration};

use k8s_openapi::{
    api::core::v1::{Container, Pod},
    apimachinery::pkg::api::resource::Quantity as Text,
};
use kai_api::{
    names::{annotation, resource},
    quantity::Quantity,
};
use kube::ResourceExt;
use serde_json::Value;
use tokio::time::Instant;

use super::{
    mixed,
    recent::Moment,
    shown::{Groups, Life, Shown},
};

/// Resources that pods ask for here.
const RESOURCES: [&str; 3] = [resource::CPU, resource::NVIDIA_GPU, resource::SHARED_GPU_MEMORY];
/// Fields of a queue's status with sums.
const FIELDS: [&str; 3] = ["requested", "allocated", "allocatedNonPreemptible"];
/// Statuses follow within a second where nothing goes wrong. All changes all the time, but not so that a sum is never said.
const BEHIND_MAX: Duration = Duration::from_mins(5);
/// More queues above each other are a circle.
const DEPTH_MAX: usize = 8;

/// Thousandths of each of [`RESOURCES`].
type Amounts = [i64; RESOURCES.len()];
/// Amounts of each of [`FIELDS`].
type Sums = [Amounts; FIELDS.len()];

/// All queues, and what counts for them.
#[derive(Debug, Default)]
pub(super) struct Accounts {
    queues: BTreeMap<String, Account>,
    /// Pods that wait or run, by UID.
    pods: BTreeMap<String, Counted>,
}

/// A queue.
#[derive(Debug, Default)]
struct Account {
    parent: Option<String>,
    sums: Sums,
    /// Thousandths of GPUs that may be lost where memory becomes a part of a GPU.
    lost_max: i64,
    says: Sums,
    /// Since when it says something else than what is.
    behind: Option<Instant>,
}

/// A pod that counts for a queue.
#[derive(Debug, PartialEq, Eq)]
struct Counted {
    group: String,
    /// The queue of its group, and whether it is never evicted; none where the group is not there yet.
    of: Option<(String, bool)>,
    requested: Amounts,
    allocated: Amounts,
    /// Thousandths of GPUs of it that may be lost.
    lost_max: i64,
}

impl Accounts {
    /// Takes a queue in.
    pub(super) fn queue(&mut self, name: &str, queue: &Value, groups: &Groups) {
        let parent = queue["spec"]["parentQueue"].as_str().filter(|parent| !parent.is_empty());
        let is_new = !self.queues.contains_key(name);
        let account = self.queues.entry(name.to_owned()).or_default();
        account.says = FIELDS.map(|field| {
            let amounts = &queue["status"][field];
            RESOURCES.map(|resource| amounts[resource].as_str().map_or(0, milli))
        });
        let has_moved = account.parent.as_deref() != parent;
        account.parent = parent.map(str::to_owned);
        if is_new || has_moved {
            self.recount(groups);
        }
    }

    /// Notes that a queue is gone.
    pub(super) fn queue_gone(&mut self, name: &str) {
        self.queues.remove(name);
    }

    /// Takes in that a group came or went.
    pub(super) fn group(&mut self, name: &str, groups: &Groups) {
        let of = groups.get(name).map(|group| (group.queue.clone(), group.is_protected));
        let mut is_of_it = false;
        for pod in self.pods.values_mut().filter(|pod| pod.group == name) {
            is_of_it = true;
            if pod.of.is_none() {
                pod.of.clone_from(&of);
            }
        }
        if is_of_it {
            self.recount(groups);
        }
    }

    /// Takes a pod in: it counts until it has ended or is gone. Source: docs/contract.md 5.1.
    pub(super) fn pod(&mut self, shown: &Shown<'_>, groups: &Groups) {
        if matches!(shown.life, Life::Gone | Life::Succeeded) {
            if self.pods.remove(&shown.uid).is_some() {
                self.recount(groups);
            }
            return;
        }
        let Some(group) = &shown.group else { return };
        let of = groups.get(group).map(|group| (group.queue.clone(), group.is_protected));
        let before = self.pods.get(&shown.uid);
        let of = before.and_then(|before| before.of.clone()).or(of);
        let (requested, own, lost_max) = amounts(shown.pod);
        let allocated = if is_allocated(shown.pod) { own } else { Amounts::default() };
        let counted = Counted { group: group.clone(), of, requested, allocated, lost_max };
        if before != Some(&counted) {
            self.pods.insert(shown.uid.clone(), counted);
            self.recount(groups);
        }
    }

    /// Says which queues have said something else than what is for too long, while nothing went wrong.
    pub(super) fn pass(&mut self, at: Moment) -> Vec<String> {
        let mut found = Vec::new();
        for (name, account) in &mut self.queues {
            if account.is_right() {
                account.behind = None;
                continue;
            }
            let since = *account.behind.get_or_insert(at.now);
            let since = at.calm.map(|calm| calm.max(since));
            if since.is_some_and(|since| at.now.duration_since(since) >= BEHIND_MAX) {
                account.behind = None;
                found.extend(account.wrong(name));
            }
        }
        found
    }

    /// Says which queues say something else than what is.
    pub(super) fn at_rest(&self) -> Vec<String> {
        self.queues.iter().flat_map(|(name, account)| account.wrong(name)).collect()
    }

    /// Sums up: few pods, and only when one of them comes, gets its place or goes. A group without its object asks for what it
    /// has.
    fn recount(&mut self, groups: &Groups) {
        for account in self.queues.values_mut() {
            (account.sums, account.lost_max) = (Sums::default(), 0);
        }
        for pod in self.pods.values() {
            let Some((queue, is_protected)) = &pod.of else { continue };
            let is_there = groups.contains_key(&pod.group);
            let requested = if is_there { pod.requested } else { pod.allocated };
            let kept = if *is_protected { pod.allocated } else { Amounts::default() };
            for name in path(&self.queues, queue) {
                let Some(account) = self.queues.get_mut(&name) else { continue };
                for (sums, amounts) in account.sums.iter_mut().zip([requested, pod.allocated, kept])
                {
                    for (sum, amount) in sums.iter_mut().zip(amounts) {
                        *sum += amount;
                    }
                }
                account.lost_max += pod.lost_max;
            }
        }
    }
}

/// A queue and those above it, as far as they are there.
fn path(queues: &BTreeMap<String, Account>, queue: &str) -> Vec<String> {
    let above = |name: &String| queues.get(name)?.parent.clone();
    std::iter::successors(Some(queue.to_owned()), above).take(DEPTH_MAX).collect()
}

impl Account {
    /// Tells whether it says what is.
    fn is_right(&self) -> bool {
        let is_right = |(says, sums): (&Amounts, &Amounts)| {
            says.iter().zip(sums).all(|(says, sum)| self.is_one(*says, *sum))
        };
        self.says.iter().zip(&self.sums).all(is_right)
    }

    /// Tells whether what it says is a sum, but for what may be lost of it.
    fn is_one(&self, says: i64, sum: i64) -> bool {
        (0..=self.lost_max).contains(&(sum - says))
    }

    /// Says what of its sums is otherwise.
    fn wrong(&self, name: &str) -> Vec<String> {
        let mut wrong = Vec::new();
        for (field, (says, sums)) in FIELDS.iter().zip(self.says.iter().zip(&self.sums)) {
            for (resource, (says, sum)) in RESOURCES.iter().zip(says.iter().zip(sums)) {
                if !self.is_one(*says, *sum) {
                    wrong.push(format!(
                        "{name} says {says} milli of {resource} in {field}, and its pods make {sum}"
                    ));
                }
            }
        }
        wrong
    }
}

/// Tells whether a pod runs or is scheduled.
fn is_allocated(pod: &Pod) -> bool {
    let status = pod.status.as_ref();
    let mut conditions = status.iter().flat_map(|status| status.conditions.iter().flatten());
    status.and_then(|status| status.phase.as_deref()) == Some("Running")
        || conditions.any(|one| one.type_ == "PodScheduled" && one.status == "True")
}

/// Amounts that a pod asks for, and those that it has once it has its place: memory of a GPU is a part of its node's by then,
/// of which a thousandth may be lost.
fn amounts(pod: &Pod) -> (Amounts, Amounts, i64) {
    let of = |container: &Container, resource: &str| {
        let resources = container.resources.as_ref()?;
        let listed = |list: Option<&BTreeMap<String, Text>>| list?.get(resource).cloned();
        let amount = listed(resources.requests.as_ref());
        amount.or_else(|| listed(resources.limits.as_ref())).map(|text| milli(&text.0))
    };
    let mut requested = RESOURCES.map(|resource| {
        let containers = pod.spec.iter().flat_map(|spec| &spec.containers);
        containers.filter_map(|container| of(container, resource)).sum::<i64>()
    });
    let mut allocated = requested;
    let devices = mixed::devices_of(pod.annotations());
    let share = 10 * mixed::hundredths_of(pod.annotations()).unwrap_or_default() * devices;
    allocated[1] += share;
    let Some(mib) = pod.annotations().get(annotation::GPU_MEMORY) else {
        requested[1] += share;
        return (requested, allocated, 0);
    };
    requested[2] += milli(mib) * devices;
    (requested, allocated, devices)
}

fn milli(text: &str) -> i64 {
    Quantity::parse(text).and_then(|amount| amount.milli()).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use kai_sandbox::server::Change;
    use serde_json::json;

    use super::*;
    use crate::simulation::shown::Group;

    /// Two queues, `top` and `leaf` below it, say what they are to; a group of `leaf`, which is never evicted, has pods.
    fn check(pods: &[Value], requested: &str, allocated: &str, expect: &[&str]) {
        let queue = "leaf".to_owned();
        let group = Group { queue, is_protected: true, ..Group::default() };
        let groups = Groups::from([("d/g".to_owned(), group)]);
        let mut accounts = Accounts::default();
        let status = json!({"requested": {"nvidia.com/gpu": requested},
            "allocated": {"nvidia.com/gpu": allocated},
            "allocatedNonPreemptible": {"nvidia.com/gpu": allocated}});
        for (name, parent) in [("leaf", "top"), ("top", "")] {
            let queue = json!({"spec": {"parentQueue": parent}, "status": status});
            accounts.queue(name, &queue, &groups);
        }
        for pod in pods {
            let pod: Pod = serde_json::from_value(pod.clone()).expect("it is a pod");
            accounts.pod(&Shown::of(&pod, Change::Modified), &groups);
        }
        assert_eq!(accounts.at_rest(), expect, "{pods:?}");
        let start = Instant::now();
        let mut pass = |second: u64| {
            let now = start + Duration::from_secs(second);
            accounts.pass(Moment { now, since: now, calm: Some(start) })
        };
        assert_eq!(pass(0), [""; 0]);
        assert_eq!(pass(299), [""; 0]);
        assert_eq!(pass(301), expect, "{pods:?}");
    }

    fn pod(name: &str, phase: &str, share: &str) -> Value {
        json!({
            "metadata": {"name": name, "uid": name, "namespace": "d",
                "annotations": {"pod-group-name": "g", "gpu-fraction": share}},
            "spec": {"containers": [
                {"name": "main", "resources": {"requests": {"nvidia.com/gpu": "2"}}},
            ]},
            "status": {"phase": phase},
        })
    }

    #[test]
    fn a_queue_says_what_its_pods_ask_for_and_have() {
        check(&[], "0", "0", &[]);
        let pods = [pod("a", "Pending", ""), pod("b", "Running", "0.25"), pod("c", "Failed", "")];
        check(&pods, "4250m", "2250m", &[]);
        let expect = [
            "leaf says 3000 milli of nvidia.com/gpu in requested, and its pods make 4250",
            "top says 3000 milli of nvidia.com/gpu in requested, and its pods make 4250",
        ];
        check(&pods, "3", "2250m", &expect);
    }
}
