//! From a bound pod to one whose containers run, or to the reason why they do not.

use std::collections::BTreeMap;

use jiff::{SignedDuration, Timestamp};

use super::{Entry, Kubelet, Stage, Step, reserves, resize};
use crate::nodes::environment::{
    self, Environment, Found, VISIBLE_DEVICES, Waiting, files, missing_devices, missing_volume,
    resolve, sources, visible,
};
use crate::nodes::ledger::Misfit;
use crate::nodes::pod::{Container, Pod, given, requests};
use crate::nodes::status::{Facts, rejected, running, waiting};

/// Time after which containers that could not start are tried again; a kubelet's own back-off begins with more.
const RETRY: SignedDuration = SignedDuration::from_secs(1);

/// Sights of the containers of a pod.
#[derive(Debug, Default)]
pub(super) struct Seen {
    /// Per container, its variables.
    pub(super) environments: Vec<(String, Environment)>,
    /// Per container, the files that it mounts, where there are any.
    pub(super) files: Vec<(String, BTreeMap<String, String>)>,
    /// The devices that one of them sees.
    pub(super) devices: Vec<String>,
}

impl Seen {
    fn mount(&mut self, pod: &Pod, container: &Container, found: &Found) {
        let files = files(&pod.spec, container, found);
        if !files.is_empty() {
            self.files.push((container.name.clone(), files));
        }
    }
}

impl Kubelet {
    /// Takes a pod in, if there is room, and starts its containers, if there is all that they need.
    pub(super) fn admit(&mut self, uid: &str, now: Timestamp) -> Step {
        if let Some(misfit) = self.take_in(uid) {
            let entry = self.entry(uid);
            entry.pending = Some((Stage::Ended, entry.facts.clone()));
            return Step::Write(rejected(&entry.pod, now, &misfit.reason, &misfit.message));
        }
        let lacks_image = self.faults_of(uid).lacks_image;
        let entry = self.entry(uid);
        if lacks_image && reserves(&entry.pod) {
            let image = entry.pod.spec.containers.first().map_or("", |first| first.image.as_str());
            let message = format!("Back-off pulling image {image:?}");
            let waiting = Waiting { container: String::new(), reason: "ImagePullBackOff", message };
            return self.hold(uid, waiting, now);
        }
        let wanted = sources(&entry.pod);
        if !wanted.is_empty() && entry.found.is_none() {
            return Step::Fetch(wanted);
        }
        let found = entry.found.take().unwrap_or_default();
        let seen = match self.look(uid, &found) {
            Ok(seen) => seen,
            Err(waiting) => return self.hold(uid, waiting, now),
        };
        let entry = self.entry(uid);
        entry.seen = Some(seen);
        entry.waiting = None;
        let facts = Facts { started: now, ..entry.facts.clone() };
        let patch = running(&entry.pod, &facts);
        entry.pending = Some((Stage::Running, facts));
        Step::Write(patch)
    }

    /// Gives a pod what it asks for; says why not.
    fn take_in(&mut self, uid: &str) -> Option<Misfit> {
        let faults = self.faults_of(uid).clone();
        let entry = self.entries.get_mut(uid).expect("the caller found it");
        if entry.admitted {
            return None;
        }
        if faults.rejects || (faults.rejects_reservations && reserves(&entry.pod)) {
            return Some(Misfit {
                reason: "UnexpectedAdmissionError".to_owned(),
                message:
                    "Allocate failed due to a simulated fault of this node, which is unexpected"
                        .to_owned(),
            });
        }
        let node = &entry.pod.spec.node_name;
        let ledger = self.nodes.get_mut(node).expect("entries are on known nodes");
        let request = requests(&entry.pod.spec);
        if let Err(misfit) = ledger.fits(&request) {
            return Some(misfit);
        }
        ledger.take(uid, request, &[]);
        entry.facts.devices = ledger.held(uid);
        entry.facts.given = resize::asked(&entry.pod.spec);
        entry.admitted = true;
        None
    }

    /// Says once why the containers do not start, and tries again later.
    pub(super) fn hold(&mut self, uid: &str, why: Waiting, now: Timestamp) -> Step {
        let entry = self.entry(uid);
        if entry.waiting.as_ref() == Some(&why) {
            return Step::Wait(now.saturating_add(RETRY).unwrap_or(Timestamp::MAX));
        }
        let phase = if entry.stage == Stage::Running { "Running" } else { "Pending" };
        let patch = waiting(&entry.pod, &entry.facts, phase, &why);
        entry.waiting = Some(why);
        entry.pending = Some((entry.stage, entry.facts.clone()));
        Step::Write(patch)
    }

    /// Works out what the containers see, if all of them can start.
    fn look(&self, uid: &str, found: &Found) -> Result<Seen, Waiting> {
        let entry = &self.entries[uid];
        let missing = missing_devices(&entry.pod, found);
        if let Some(waiting) = missing.or_else(|| missing_volume(&entry.pod, found)) {
            return Err(waiting);
        }
        let mut seen = Seen::default();
        for (container, devices) in given(&entry.pod.spec, &entry.facts.devices) {
            let environment = resolve(&entry.pod, container, found, devices)?;
            let fault = |message: String| Waiting {
                container: container.name.clone(),
                reason: "RunContainerError",
                message,
            };
            seen.devices.extend(self.open(uid, container, &environment).map_err(fault)?);
            seen.mount(&entry.pod, container, found);
            seen.environments.push((container.name.clone(), environment));
        }
        Ok(seen)
    }

    /// The devices that a container's runtime opens for it. Besides those that the device plugin gave to the pod itself
    /// they have to be held by a GPU reservation pod: else somebody sees a device that another one has.
    fn open(
        &self,
        uid: &str,
        container: &Container,
        environment: &Environment,
    ) -> Result<Vec<String>, String> {
        let ledger = &self.nodes[&self.entries[uid].pod.spec.node_name];
        let unknown = |device: &str| {
            format!(
                "failed to create containerd task: nvidia-container-cli: device error: {device}: unknown device"
            )
        };
        let devices = visible(environment, &ledger.devices).map_err(|entry| unknown(&entry))?;
        if environment::value(environment, VISIBLE_DEVICES) == Some("all") {
            return Ok(devices);
        }
        for device in &devices {
            if ledger.is_lost(device) {
                return Err(unknown(device));
            }
            let holder = ledger.holder(device);
            let is_reserved = holder
                .and_then(|holder| self.entries.get(holder))
                .is_some_and(|holder| reserves(&holder.pod));
            if holder != Some(uid) && !is_reserved {
                return Err(format!(
                    "container {} would see the device {device}, which no GPU reservation pod holds on this node",
                    container.name
                ));
            }
        }
        Ok(devices)
    }

    /// Works out what the containers of a pod see that ran before this kubelet started; `None`: read this first.
    pub(super) fn recall(&mut self, uid: &str) -> Option<Step> {
        let entry = self.entry(uid);
        if entry.seen.is_some() {
            return None;
        }
        let wanted = sources(&entry.pod);
        if !wanted.is_empty() && entry.found.is_none() {
            return Some(Step::Fetch(wanted));
        }
        let found = entry.found.take().unwrap_or_default();
        let ledger = &self.nodes[&self.entries[uid].pod.spec.node_name];
        let entry = &self.entries[uid];
        let mut seen = Seen::default();
        for (container, devices) in given(&entry.pod.spec, &entry.facts.devices) {
            // What went away since the containers started does not stop them.
            let environment = resolve(&entry.pod, container, &found, devices).unwrap_or_default();
            seen.devices.extend(visible(&environment, &ledger.devices).unwrap_or_default());
            seen.mount(&entry.pod, container, &found);
            seen.environments.push((container.name.clone(), environment));
        }
        self.entry(uid).seen = Some(seen);
        None
    }

    /// The first device that a container of the pod sees and that is gone.
    pub(super) fn lost_device(&self, uid: &str) -> Option<&str> {
        let entry = &self.entries[uid];
        // The reservation program only waits: it does not notice.
        let seen = entry.seen.as_ref().filter(|_| !reserves(&entry.pod))?;
        let ledger = &self.nodes[&entry.pod.spec.node_name];
        seen.devices.iter().find(|device| ledger.is_lost(device)).map(String::as_str)
    }

    /// The pod's entry, which the caller has found.
    fn entry(&mut self, uid: &str) -> &mut Entry {
        self.entries.get_mut(uid).expect("the caller found it")
    }
}

/// The devices that a pod's status, or its own word as a reservation, says it was given.
pub(super) fn remembered(pod: &Pod) -> Vec<String> {
    let reported = pod.metadata.annotations.as_ref().and_then(|all| all.get(super::DEVICE));
    let statuses = pod.status.iter().flat_map(|status| &status.container_statuses);
    let resources = statuses
        .filter_map(|status| status["allocatedResourcesStatus"].as_array())
        .flatten()
        .filter_map(|resource| resource["resources"].as_array())
        .flatten();
    let named = resources.filter_map(|one| one["resourceID"].as_str()).map(str::to_owned);
    named.chain(reported.cloned()).collect()
}
