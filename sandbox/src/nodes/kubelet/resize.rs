//! Containers that are to have more or less CPU and memory while they run.

use std::collections::BTreeMap;

use jiff::{SignedDuration, Timestamp};

use super::{Entry, Kubelet, Step};
use crate::nodes::pod::{Pod, PodSpec, requests};
use crate::nodes::status::{self, Facts};

/// Time after which a resize that has to wait for room is tried again.
const RETRY: SignedDuration = SignedDuration::from_secs(1);

/// Requests by container, as a kubelet has given them.
pub(in crate::nodes) type Given = BTreeMap<String, BTreeMap<String, String>>;

impl Kubelet {
    /// Gives the containers of a pod what they ask for by now, or says once why not.
    ///
    /// # Source
    /// KEP-1287: one that no empty node could have is `Infeasible`, one that others leave no room for is `Deferred`.
    pub(super) fn resize(&mut self, uid: &str, now: Timestamp) -> Option<Step> {
        let entry = self.entries.get_mut(uid)?;
        let wanted = asked(&entry.pod.spec);
        if wanted == entry.facts.given {
            entry.facts.refused.as_ref()?;
            let facts = Facts { refused: None, ..entry.facts.clone() };
            return Some(tell(entry, facts, now));
        }
        let ledger = self.nodes.get_mut(&entry.pod.spec.node_name)?;
        let facts = match ledger.resize(uid, &requests(&entry.pod.spec)) {
            Ok(()) => Facts { given: wanted, refused: None, ..entry.facts.clone() },
            Err(misfit) if entry.facts.refused.as_ref() == Some(&misfit) => return None,
            Err(misfit) => Facts { refused: Some(misfit), ..entry.facts.clone() },
        };
        Some(tell(entry, facts, now))
    }

    /// Asks again soon for a pod whose resize waits for room, whatever else it waits for.
    pub(super) fn sooner(&self, uid: &str, step: Step, now: Timestamp) -> Step {
        let refused = self.entries.get(uid).and_then(|entry| entry.facts.refused.as_ref());
        if refused.is_none_or(|misfit| misfit.reason != "Deferred") {
            return step;
        }
        let again = now.saturating_add(RETRY).unwrap_or(Timestamp::MAX);
        match step {
            Step::Rest => Step::Wait(again),
            Step::Wait(at) => Step::Wait(at.min(again)),
            other @ (Step::Fetch(_) | Step::Write(_) | Step::Annotate(_) | Step::Remove) => other,
        }
    }
}

fn tell(entry: &mut Entry, facts: Facts, now: Timestamp) -> Step {
    let patch = status::resized(&entry.pod, &facts, now);
    entry.pending = Some((entry.stage, facts));
    Step::Write(patch)
}

/// Lists what the containers of a pod ask for.
pub(super) fn asked(spec: &PodSpec) -> Given {
    let all = spec.init_containers.iter().chain(&spec.containers);
    all.map(|one| (one.name.clone(), one.resources.requests.clone())).collect()
}

/// Reads what the containers of a pod that runs were given, as its status says it.
pub(super) fn remembered(pod: &Pod) -> Given {
    let mut given = asked(&pod.spec);
    for status in pod.status.iter().flat_map(|status| &status.container_statuses) {
        let requests = serde_json::from_value(status["resources"]["requests"].clone());
        let own = status["name"].as_str().and_then(|name| given.get_mut(name));
        if let (Some(own), Ok(requests)) = (own, requests) {
            *own = requests;
        }
    }
    given
}

/// Sums what a pod takes of its node with what its containers were given.
pub(super) fn held(spec: &PodSpec, given: &Given) -> BTreeMap<String, i64> {
    let mut spec = spec.clone();
    for container in spec.init_containers.iter_mut().chain(&mut spec.containers) {
        if let Some(requests) = given.get(&container.name) {
            container.resources.requests.clone_from(requests);
        }
    }
    requests(&spec)
}
