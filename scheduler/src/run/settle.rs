//! Describes what became of writes, told to the engine and to users.

use kai_engine::{Delta, PodId};
use tokio::sync::mpsc;

use super::{
    Run,
    outcome::{bound, not_bound},
};
use crate::{
    actuate::{Outcome, Task},
    names::Names,
};

impl Run {
    /// Tells the engine and the users what became of a write.
    pub(super) fn settle(&mut self, outcome: Outcome, tasks: &mpsc::UnboundedSender<Vec<Task>>) {
        let steady = self.steady();
        let names = &mut self.ingest.context.names;
        let is_same = |pod: u32, uid: &str, names: &Names| names.pods.find(uid) == Some(pod);
        match outcome {
            Outcome::Bound(pod, uid, node) => {
                if !is_same(pod, &uid, names) {
                    return;
                }
                self.sharing.bound(pod);
                self.ingest.context.touched.extend(names.pods[pod].group);
                if let Some(group) = names.pods[pod].group {
                    self.bind_failures.remove(&group);
                }
                self.ingest.context.deltas.push(Delta::Bound(PodId::new(pod)));
                let _ = tasks.send(bound(pod, &node, names, &self.dispatch));
            }
            Outcome::BindFailed { pod, uid, node, reason, volumes } => {
                self.ingest.take_back_volumes(pod, &volumes);
                let names = &mut self.ingest.context.names;
                if !is_same(pod, &uid, names) {
                    return;
                }
                self.sharing.not_bound(pod);
                self.ingest.context.deltas.push(Delta::BindFailed(PodId::new(pod)));
                self.ingest.not_placed(pod);
                let names = &mut self.ingest.context.names;
                let _ = tasks.send(not_bound(pod, &node, &reason, names, &self.dispatch));
                if let Some(group) = names.pods[pod].group {
                    self.hold(group);
                }
            }
            Outcome::Evicted(pod, uid) => {
                if is_same(pod, &uid, names) {
                    let row = &names.pods[pod];
                    let group = row.group.map_or("no group", |group| names.group_name(group).1);
                    tracing::info!("evicted {}/{} of {group}", row.namespace, row.name);
                    self.evict_failures.remove(&pod);
                    self.ingest.context.deltas.push(Delta::Evicted(PodId::new(pod)));
                }
            }
            Outcome::EvictFailed(pod, uid, reason) => {
                if is_same(pod, &uid, names) {
                    self.not_evicted(pod, uid, &reason);
                }
            }
            Outcome::Group { group, uid, settled, version } => {
                if names.groups.row(group).is_some_and(|row| row.uid == uid) {
                    self.writes.end(group, settled, version);
                    if settled {
                        self.report.succeeded(group);
                        self.ingest.context.touched.push(group);
                    } else {
                        self.report.failed(group, steady);
                    }
                }
            }
            Outcome::Pod(pod, uid, settled) => {
                if is_same(pod, &uid, names) && !settled {
                    names.pods[pod].edit(|extras| extras.said = None);
                    if let Some(group) = names.pods[pod].group {
                        self.report.failed(group, steady);
                    }
                }
            }
            Outcome::Shared(outcome) => self.sharing.ended(outcome, steady),
            Outcome::Lost => {}
        }
    }
}
