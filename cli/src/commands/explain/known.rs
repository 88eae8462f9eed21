//! All that is read to explain a workload: what its user may read, the rest is told as not known.

use jiff::Timestamp;
use serde_json::{Value, json};

use crate::cluster::json::text;
use crate::cluster::queue::Queues;
use crate::cluster::{Call, Cluster, Resource, Select, kinds, names};
use crate::print::error::Error;
use crate::print::time;
use crate::workload::history::{self, Eviction};
use crate::workload::position::{Line, line};
use crate::workload::{Phase, Workload, find};

/// A Lease that was not renewed for so long is nobody's.
const LEASE_AGE_MAX_SECONDS: i64 = 60;

/// All that is known of a workload.
#[derive(Debug)]
pub(super) struct Known {
    pub(super) workload: Workload,
    pub(super) eviction: Option<Eviction>,
    /// All queues, where they may be read.
    pub(super) queues: Option<Queues>,
    /// Says who waits in its queue, where it waits and that may be read.
    pub(super) line: Option<Line>,
    /// Tells whether that may be read, here at least.
    pub(super) is_line_read: bool,
    /// The scheduler that its pods name, where it is another one.
    pub(super) other_scheduler: Option<String>,
    /// Seconds since the scheduler renewed its Lease, where that is long ago.
    pub(super) silent_seconds: Option<i64>,
}

impl Known {
    /// Reads what a name means, and what belongs to it.
    ///
    /// # Errors
    /// As [`find`]; what may not be read beside the workload is left out.
    pub(super) async fn read(
        cluster: &Cluster,
        namespace: Option<&str>,
        name: &str,
    ) -> Result<Self, Error> {
        let place =
            namespace.map_or_else(|| "any namespace".to_owned(), |ns| format!("namespace {ns}"));
        let workload = find(cluster, namespace, name).await?.one(name, &place)?.clone();
        let phase = workload.phase();
        let (events, queues, line, other_scheduler, silent_seconds) = futures::join!(
            async {
                if workload.may_be_evicted() {
                    history::evictions(cluster, Some(&workload.namespace)).await
                } else {
                    Ok(Vec::new())
                }
            },
            async { crate::cluster::queue::readable(cluster).await.ok().flatten() },
            async { if phase.is_queued() { line(cluster, &workload).await } else { Ok(None) } },
            async {
                if phase == Phase::Waiting {
                    other_scheduler(cluster, &workload).await
                } else {
                    None
                }
            },
            async { if is_unsaid(&workload) { silent_seconds(cluster).await } else { None } },
        );
        let events = events.unwrap_or_default();
        let eviction = history::last_of(&workload, &events);
        let mut workload = workload;
        let matters = phase.is_queued() || phase == Phase::Failed;
        workload.set_eviction(eviction.clone().filter(|_| matters));
        let is_line_read = line.is_ok();
        let line = line.ok().flatten();
        Ok(Self { workload, eviction, queues, line, is_line_read, other_scheduler, silent_seconds })
    }

    /// The workload as `list` has it, with its place.
    pub(super) fn data(&self) -> Value {
        let mut data = json!(self.workload.to_row());
        if let Some(line) = &self.line {
            data["position"] = json!(line.place);
            data["waitingInQueue"] = json!(line.of);
            data["ahead"] = line.ahead.iter().map(|one| json!(one)).collect();
        }
        data
    }
}

/// Tells whether the scheduler has said nothing of work that waits.
fn is_unsaid(workload: &Workload) -> bool {
    let state = workload.state();
    state.phase == Phase::Pending
        && matches!(state.reason.as_deref(), Some("NotTried" | "NoPodGroup"))
}

/// The scheduler that pods of a workload name which are not ours.
async fn other_scheduler(cluster: &Cluster, workload: &Workload) -> Option<String> {
    let kind = kinds::find(&workload.resource.api_version(), &workload.resource.kind)?;
    if kind.pod_label.is_empty() {
        return None;
    }
    let resource = names::pods();
    let call = Call::new("list", &resource).namespace(Some(&workload.namespace));
    let labels = format!("{}={}", kind.pod_label, workload.name);
    let pods = cluster.list(&call, &Select { labels: &labels, fields: "" }).await.ok()??;
    let others = pods.iter().map(|pod| text(&pod["spec"]["schedulerName"]));
    others.filter(|name| *name != names::SCHEDULER).map(str::to_owned).next()
}

/// Seconds since the scheduler's Lease was renewed, where that is too long ago.
async fn silent_seconds(cluster: &Cluster) -> Option<i64> {
    let resource = Resource::new("coordination.k8s.io/v1", "Lease", "leases");
    let home = cluster.home().await;
    let call = Call::new("get", &resource).namespace(Some(&home)).name(names::SCHEDULER);
    let lease = cluster.get(&call).await.ok()??;
    let renewed = time::of(&lease["spec"]["renewTime"])?;
    let age = Timestamp::now().as_second() - renewed.as_second();
    (age > LEASE_AGE_MAX_SECONDS).then_some(age)
}
