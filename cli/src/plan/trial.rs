//! A copy of the cluster that is let run until it is at rest, and further until work has started.

use std::collections::{BTreeMap, BTreeSet};

use kai_engine::{Change, Cluster as Engine, Config, Eviction, GroupId, NodeId, PodId, Timestamp};
use kai_sim::course::{Course, Future};
use kai_sim::forecast::Outset;

use super::situation::Effects;

/// A pod that has to leave.
#[derive(Clone, Debug)]
pub(super) struct Evicted {
    pub(super) node: NodeId,
    /// None where its node is drained.
    pub(super) reason: Option<Eviction>,
}

/// A cluster at rest.
pub(super) struct Trial<'f> {
    pub(super) course: Course<'f>,
    /// Pods that had to leave on the way; each as it did first.
    pub(super) evicted: BTreeMap<PodId, Evicted>,
    /// Groups for which room was kept until others had left.
    pub(super) promised: BTreeSet<GroupId>,
    /// Groups that run by now and did not in the beginning.
    pub(super) started: BTreeSet<GroupId>,
}

impl<'f> Trial<'f> {
    /// Lets a cluster come to rest after effects.
    pub(super) fn settle(
        engine: Engine,
        config: &Config,
        now: Timestamp,
        future: &'f dyn Future,
        effects: &Effects,
    ) -> Self {
        let mut course = Course::new(engine, config.clone(), now, future);
        let (mut evicted, mut promised) = (BTreeMap::new(), BTreeSet::new());
        let ran: BTreeSet<GroupId> = running(&course);
        for group in &effects.ended {
            course.end(*group);
        }
        for node in &effects.drained {
            for pod in course.drain(*node) {
                evicted.insert(pod, Evicted { node: *node, reason: None });
            }
        }
        for (_, plan) in course.settle() {
            for change in plan.changes {
                match change {
                    Change::Evict { pod, node, reason } => {
                        evicted.entry(pod).or_insert(Evicted { node, reason: Some(reason) });
                    }
                    Change::Nominate { pod, .. } => promised.extend(course.group_of(pod)),
                    Change::Place { .. } => {}
                }
            }
        }
        let started = running(&course).difference(&ran).copied().collect();
        Self { course, evicted, promised, started }
    }

    /// Tells whether some work does not run.
    pub(super) fn waits(&self) -> bool {
        self.course.cluster.groups().any(|(group, _)| !self.course.is_running(group))
    }

    /// The cluster at rest, from which time passes.
    pub(super) fn outset<'t>(&'t self, config: &'t Config) -> Outset<'t> {
        Outset { cluster: &self.course.cluster, config, now: self.course.now }
    }
}

/// The groups that run.
fn running(course: &Course<'_>) -> BTreeSet<GroupId> {
    let groups: Vec<GroupId> = course.cluster.groups().map(|(group, _)| group).collect();
    groups.into_iter().filter(|group| course.is_running(*group)).collect()
}

/// Tells whether a group would start if nobody else were there.
pub(super) fn starts_alone(
    trial: &Trial<'_>,
    config: &Config,
    future: &dyn Future,
    group: GroupId,
) -> bool {
    let mut course =
        Course::new(trial.course.cluster.clone(), config.clone(), trial.course.now, future);
    let others: Vec<GroupId> = course.cluster.groups().map(|(other, _)| other).collect();
    for other in others.into_iter().filter(|other| *other != group) {
        course.end(other);
    }
    course.settle();
    if let Some(wake) = course.cluster.wake() {
        course.pass(wake);
        course.settle();
    }
    course.is_running(group)
}
