//! Hands over what a plan decided: first what it changes, so that no bind waits while it is worked out what is to be said of
//! groups.

use kai_engine::{Change, GpuRequest, Plan, Timestamp};
use tokio::sync::mpsc;

use super::Run;
use crate::{actuate::Task, ingest::Ingest, names::Number, report::Context};

/// Newer numbers of reasons that stay are told once nothing was decided for so long, in milliseconds: in a busy cluster
/// they change with every cycle.
const NUMBERS_REST: i64 = 5_000;
/// So many groups are told them in a cycle.
const NUMBERS_MAX: usize = 32;

impl Run {
    /// Hands over what a plan changes, and then what is to be said of groups.
    pub(super) fn hand_over(
        &mut self,
        plan: &Plan,
        now: Timestamp,
        tasks: &mpsc::UnboundedSender<Vec<Task>>,
    ) {
        self.forget_groups();
        let changes = self.changes(plan, now);
        send(changes, tasks);
        self.look_at_groups(plan);
        let reports = self.reports(now);
        send(reports, tasks);
    }

    /// Gives binds, evictions and nominations, and what they need of shared GPUs.
    fn changes(&mut self, plan: &Plan, now: Timestamp) -> Vec<Task> {
        let steady = self.steady();
        for change in &plan.changes {
            if let Change::Place { pod, .. } = change {
                let gpus = self.cluster.gpu_request(*pod);
                self.ingest.placed(pod.number(), gpus.unwrap_or(&GpuRequest::None));
            }
        }
        let mut tasks = self.dispatch.tasks(&plan.changes, now, &mut self.ingest.context.names);
        self.ingest.grant_volumes(&mut tasks, &plan.changes, &self.cluster);
        let mut tasks = self.sharing.begin(tasks, &self.ingest.context.names);
        tasks.extend(self.sharing.settle(steady, &self.ingest.context.names));
        tasks.extend(self.give_up_binds());
        tasks
    }

    /// Has groups wait for their turn to be looked at of which there may be something to say since.
    fn look_at_groups(&mut self, plan: &Plan) {
        let steady = self.steady();
        let names = &self.ingest.context.names;
        let mut groups = std::mem::take(&mut self.ingest.context.touched);
        groups.extend(plan.changes.iter().filter_map(|change| match change {
            Change::Evict { pod, .. } => names.pods[pod.number()].group,
            Change::Place { .. } | Change::Nominate { .. } => None,
        }));
        groups.extend(plan.verdicts.iter().map(|verdict| verdict.group.number()));
        groups.extend(plan.explained.iter().map(|group| group.number()));
        groups.extend(self.report.due(steady));
        groups.extend(self.renumbered(plan, steady));
        groups.sort_unstable();
        groups.dedup();
        let Ingest { context, groups: objects, .. } = &self.ingest;
        for group in groups {
            // Nothing is kept of those that are not there.
            if objects.object(group).is_some() {
                self.report.wait(group, context.names.group_name(group).0);
            }
        }
    }

    /// Gives what there is to say of the groups whose turn it is.
    fn reports(&mut self, now: Timestamp) -> Vec<Task> {
        let steady = self.steady();
        let Ingest { context, groups: objects, .. } = &mut self.ingest;
        let mut context = Context {
            cluster: &self.cluster,
            objects,
            names: &mut context.names,
            writes: &mut self.writes,
            dispatch: &self.dispatch,
            now,
            steady,
        };
        let groups = self.report.in_turn();
        groups.into_iter().flat_map(|group| self.report.tasks(group, &mut context)).collect()
    }

    /// Lists groups whose reason stays and has other numbers than they were told, while nothing is decided.
    fn renumbered(&mut self, plan: &Plan, steady: i64) -> impl Iterator<Item = u32> + use<> {
        if !plan.changes.is_empty() {
            self.decided = steady;
        }
        let rests = steady >= self.decided.saturating_add(NUMBERS_REST);
        let groups = if rests { self.cluster.renumber(NUMBERS_MAX) } else { Vec::new() };
        groups.into_iter().map(Number::number)
    }
}

/// Hands tasks over, where there are any.
fn send(tasks: Vec<Task>, to: &mpsc::UnboundedSender<Vec<Task>>) {
    if !tasks.is_empty() {
        // Without a receiver the process is ending.
        let _ = to.send(tasks);
    }
}
