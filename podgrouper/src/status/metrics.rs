//! Gauges of queues, with KAI's names and labels (`docs/contract.md` 9.1).

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

use kai_api::quantity::Quantity;
use prometheus_client::collector::Collector;
use prometheus_client::encoding::{DescriptorEncoder, EncodeMetric};
use prometheus_client::metrics::gauge::ConstGauge;
use prometheus_client::metrics::{MetricType, TypedMetric};

use crate::args::selector;
use crate::object::Object;

use super::totals::Totals;

/// Bytes in the unit that queues state memory in.
const MEGABYTE: f64 = 1_000_000.0;

/// Labels of a series beyond the fixed ones: metric label, queue label, value without it.
#[derive(Debug, Clone)]
pub(crate) struct ExtraLabel {
    metric: String,
    queue: String,
    default: String,
}

/// Reads `queue-label=metric-label,...` and `queue-label=default,...`.
pub(crate) fn parse_labels(labels: &str, defaults: &str) -> Vec<ExtraLabel> {
    let defaults: BTreeMap<String, String> = selector(defaults).into_iter().collect();
    let row = |(queue, metric): (String, String)| {
        let default = defaults.get(&queue).cloned().unwrap_or_default();
        ExtraLabel { metric, queue, default }
    };
    selector(labels).into_iter().map(row).collect()
}

/// The series of all queues as of the last pass; a queue that is gone has none.
#[derive(Debug)]
pub(crate) struct QueueMetrics {
    namespace: String,
    extra: Vec<ExtraLabel>,
    rows: Mutex<Vec<Row>>,
}

#[derive(Debug, Clone)]
struct Row {
    labels: Vec<(String, String)>,
    values: [f64; 7],
}

/// Names and help of the gauges, in the order of a row's values.
const GAUGES: [(&str, &str); 7] = [
    ("queue_info", "Queues"),
    ("queue_deserved_gpus", "Devices that the queue deserves; -1 is unlimited"),
    ("queue_quota_cpu_cores", "Cores that the queue deserves; -1 is unlimited"),
    ("queue_quota_memory_bytes", "Memory that the queue deserves; -1 is unlimited"),
    ("queue_allocated_gpus", "Devices that the queue and those below it have"),
    ("queue_allocated_cpu_cores", "Cores that the queue and those below it have"),
    ("queue_allocated_memory_bytes", "Memory that the queue and those below it have"),
];

impl QueueMetrics {
    pub(crate) fn new(namespace: &str, extra: Vec<ExtraLabel>) -> Self {
        Self { namespace: namespace.to_owned(), extra, rows: Mutex::default() }
    }

    /// Replaces all series.
    pub(crate) fn set<'a>(&self, queues: impl Iterator<Item = (&'a Arc<Object>, &'a Totals)>) {
        let rows = queues.map(|(queue, allocated)| self.row(queue, allocated)).collect();
        *self.rows.lock().unwrap_or_else(PoisonError::into_inner) = rows;
    }

    fn row(&self, queue: &Object, allocated: &Totals) -> Row {
        let spec = &queue.value()["spec"];
        let quota = |name: &str, factor: f64| {
            let quota = spec["resources"][name]["quota"].as_f64().unwrap_or(0.0);
            if quota < 0.0 { quota } else { quota * factor }
        };
        let amount = |name: &str| number(allocated.get(name).unwrap_or_default());
        let gpus = allocated.iter().filter(|(name, _)| is_gpu(name));
        let gpus = gpus.fold(0.0, |sum, (_, amount)| sum + number(amount));
        let display = spec["displayName"].as_str().unwrap_or_default();
        let mut labels = vec![
            ("queue_name".to_owned(), queue.name().to_owned()),
            ("queue_metadata_name".to_owned(), queue.name().to_owned()),
            ("queue_display_name".to_owned(), display.to_owned()),
        ];
        for extra in &self.extra {
            let value = queue.label(&extra.queue).unwrap_or(&extra.default);
            labels.push((extra.metric.clone(), value.to_owned()));
        }
        let values = [
            1.0,
            quota("gpu", 1.0),
            quota("cpu", 0.001),
            quota("memory", MEGABYTE),
            (gpus * 10_000.0).round() / 10_000.0,
            amount("cpu"),
            amount("memory"),
        ];
        Row { labels, values }
    }
}

/// Whether a resource is a device: every vendor's, and the device classes of claims.
fn is_gpu(name: &str) -> bool {
    name.ends_with("/gpu") || (!name.contains('/') && name.to_ascii_lowercase().contains("gpu"))
}

#[expect(clippy::cast_precision_loss, reason = "gauges are floats")]
fn number(amount: Quantity) -> f64 {
    amount.nano() as f64 / 1e9
}

impl Collector for QueueMetrics {
    fn encode(&self, mut encoder: DescriptorEncoder<'_>) -> Result<(), std::fmt::Error> {
        let rows = self.rows.lock().unwrap_or_else(PoisonError::into_inner).clone();
        for (at, (name, help)) in GAUGES.iter().enumerate() {
            let name = format!("{}_{name}", self.namespace);
            let kind: MetricType = ConstGauge::<f64>::TYPE;
            let mut metric = encoder.encode_descriptor(&name, help, None, kind)?;
            for row in &rows {
                let series = metric.encode_family(&row.labels)?;
                ConstGauge::new(row.values[at]).encode(series)?;
            }
        }
        Ok(())
    }
}
