//! Fair share and use of queues as gauges. Source: docs/contract.md 9.2.

use std::collections::BTreeSet;

use kai_engine::{Charge, Cluster, QueueId, QueueLane};
use prometheus::GaugeVec;
use tokio::time::{Duration, Instant};

use crate::names::Names;

/// The labels by which a queue is told.
pub(super) const LABELS: [&str; 3] = ["queue_name", "queue_metadata_name", "queue_display_name"];
/// The six metrics, shares first, then use; each in the order of [`amounts`].
pub(super) const NAMES: [&str; 6] = [
    "queue_fair_share_cpu_cores",
    "queue_fair_share_memory_gb",
    "queue_fair_share_gpu",
    "queue_cpu_usage",
    "queue_memory_usage",
    "queue_gpu_usage",
];
/// They are scraped every few seconds; telling them costs a walk over all queues.
const PAUSE: Duration = Duration::from_secs(1);

/// Holds what was told of which queue.
#[derive(Debug)]
pub struct QueueGauges {
    gauges: [GaugeVec; 6],
    told: BTreeSet<[String; 3]>,
    at: Option<Instant>,
}

impl QueueGauges {
    /// Nothing told yet.
    pub fn new(gauges: [GaugeVec; 6]) -> Self {
        Self { gauges, told: BTreeSet::new(), at: None }
    }

    /// Tells every queue's share and use, at most once a second. Series of queues that are gone vanish.
    ///
    /// # Cost
    /// In the number of queues.
    pub fn tell(&mut self, cluster: &Cluster, names: &Names) {
        let now = Instant::now();
        if self.at.is_some_and(|at| now < at + PAUSE) {
            return;
        }
        self.at = Some(now);
        let mut gone = std::mem::take(&mut self.told);
        for (number, row) in names.queues.iter().filter(|(_, row)| row.presence.is_there) {
            let name = String::from(&**names.queues.key(number));
            let shown = String::from(names.queue_name(number));
            let labels = [shown, name, String::from(&*row.display_name)];
            let values = labels.each_ref().map(String::as_str);
            let state = cluster.queue_state(QueueId::new(number));
            let numbers = amounts(state.fair_share).into_iter().chain(amounts(state.allocated));
            for (gauge, number) in self.gauges.iter().zip(numbers) {
                gauge.with_label_values(&values).set(number);
            }
            gone.remove(&labels);
            self.told.insert(labels);
        }
        for labels in gone {
            for gauge in &self.gauges {
                // One that was never set has no series, which is what is wanted.
                let _ = gauge.remove_label_values(&labels.each_ref().map(String::as_str));
            }
        }
    }
}

/// Cores, gigabytes, devices.
fn amounts(charge: Charge) -> [f64; 3] {
    let units = [(QueueLane::Cpu, 1e3), (QueueLane::Memory, 1e9), (QueueLane::Gpu, 1e3)];
    units.map(|(lane, unit)| {
        #[expect(clippy::cast_precision_loss, reason = "a gauge is a float")]
        let amount = charge[lane] as f64;
        amount / unit
    })
}

#[cfg(test)]
mod tests {
    use kai_engine::{Config, Timestamp};
    use serde_json::json;

    use super::*;
    use crate::{
        Args,
        ingest::{Ingest, Kind, Rules},
        serve::metrics::Metrics,
    };

    #[tokio::test(start_paused = true)]
    async fn series_of_a_queue_that_is_gone_vanish() {
        let args = Args::from_command_line(["kai-scheduler".into()]).expect("no flags are valid");
        let mut ingest = Ingest::new(Rules::new(&args));
        let (mut cluster, metrics) = (Cluster::default(), Metrics::new("kai"));
        let mut gauges = QueueGauges::new(metrics.queues.clone());
        let queue = |name: &str| json!({ "metadata": { "name": name }, "spec": {} }).to_string();
        for name in ["stays", "goes"] {
            ingest.applied(Kind::Queue, queue(name).as_bytes()).expect("it can be read");
        }
        let mut told = |ingest: &mut Ingest| {
            for delta in std::mem::take(&mut ingest.context.deltas) {
                cluster.apply(delta);
            }
            gauges.tell(&cluster, &ingest.context.names);
            let text = metrics.text("kai-scheduler", true).expect("names and labels fit");
            let text = String::from_utf8(text).expect("metrics are text");
            ["stays", "goes"].map(|name| text.contains(&format!("queue_name=\"{name}\"")))
        };
        assert_eq!(told(&mut ingest), [true, true]);
        ingest.deleted(Kind::Queue, queue("goes").as_bytes()).expect("it can be read");
        tokio::time::advance(PAUSE).await;
        assert_eq!(told(&mut ingest), [true, false]);
    }

    #[test]
    fn shares_and_use_are_told_in_cores_gigabytes_and_devices() {
        let args = Args::from_command_line(["kai-scheduler".into()]).expect("no flags are valid");
        let mut ingest = Ingest::new(Rules::new(&args));
        let amounts = json!({"cpu": "16", "memory": "64G", "nvidia.com/gpu": "3", "pods": "9"});
        let share = |quota: i64| json!({"quota": quota, "limit": -1});
        let quota = json!({"cpu": share(4000), "memory": share(8000), "gpu": share(3)});
        let asks = json!({"cpu": "1500m", "memory": "2G", "nvidia.com/gpu": "2"});
        let pod = |name: &str, node: &str| {
            json!({
                "metadata": {"namespace": "ml", "name": name, "uid": name,
                    "annotations": {"pod-group-name": name}},
                "spec": {"schedulerName": "kai-scheduler", "nodeName": node,
                    "containers": [{"name": "main", "resources": {"requests": asks, "limits": asks}}]},
            })
        };
        let group = |name: &str| {
            json!({"metadata": {"namespace": "ml", "name": name, "uid": name},
                "spec": {"queue": "team", "minMember": 1}})
        };
        let parent = json!({"metadata": {"name": "all"}, "spec": {"resources": quota}});
        let spec = json!({"parentQueue": "all", "displayName": "A", "resources": quota});
        for (kind, object) in [
            (Kind::Node, json!({"metadata": {"name": "n"}, "status": {"allocatable": amounts}})),
            (Kind::Queue, parent),
            (Kind::Queue, json!({"metadata": {"name": "team"}, "spec": spec})),
            (Kind::PodGroup, group("runs")),
            (Kind::PodGroup, group("waits")),
            (Kind::Pod, pod("runs", "n")),
            (Kind::Pod, pod("waits", "")),
        ] {
            ingest.applied(kind, object.to_string().as_bytes()).expect("it can be read");
        }
        let mut cluster = Cluster::default();
        for delta in std::mem::take(&mut ingest.context.deltas) {
            cluster.apply(delta);
        }
        // The one that waits finds no room, but is asked for.
        kai_engine::plan(&mut cluster, &Config::default(), Timestamp(0));
        let metrics = Metrics::new("kai");
        QueueGauges::new(metrics.queues.clone()).tell(&cluster, &ingest.context.names);
        let text = metrics.text("kai-scheduler", true).expect("names and labels fit");
        let text = String::from_utf8(text).expect("metrics are text");
        let labels = "{queue_display_name=\"A\",queue_metadata_name=\"team\",queue_name=\"A\"}";
        for (name, value) in [
            ("queue_fair_share_cpu_cores", "3"),
            ("queue_fair_share_memory_gb", "4"),
            ("queue_fair_share_gpu", "3"),
            ("queue_cpu_usage", "1.5"),
            ("queue_memory_usage", "2"),
            ("queue_gpu_usage", "2"),
        ] {
            let line = format!("kai_{name}{labels} {value}");
            assert!(text.lines().any(|one| one == line), "{line} is not in\n{text}");
        }
    }
}
