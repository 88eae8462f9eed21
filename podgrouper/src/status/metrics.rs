//! Gauges of queues, with KAI's names and labels (`docs/contract.md` 9.1).

use std::collections::{BTreeMap, HashMap};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use kai_api::mig;
use kai_api::quantity::Quantity;
use prometheus::core::{Collector, Desc};
use prometheus::proto::{Gauge, LabelPair, Metric, MetricFamily, MetricType};

use crate::args::selector;
use crate::object::Object;

use super::devices::is_gpu_class;
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

/// The series of all queues as of the last pass; a queue that is gone has none. Clones are one and the same.
#[derive(Debug, Clone)]
pub(crate) struct QueueMetrics(Arc<Shared>);

#[derive(Debug)]
struct Shared {
    /// As they were registered, in the order of [`GAUGES`].
    descriptions: Vec<Desc>,
    told: Mutex<Told>,
}

/// Series of queues, and the names under which they are told.
#[derive(Debug)]
struct Told {
    /// In the order of [`GAUGES`].
    names: Vec<String>,
    extra: Vec<ExtraLabel>,
    /// By the queue's name.
    rows: BTreeMap<String, Row>,
    /// True from a change of names on until all queues are asked for again.
    is_renamed: bool,
}

#[derive(Debug)]
struct Row {
    labels: Vec<LabelPair>,
    values: [f64; 7],
}

/// Labels that each series has.
const LABELS: [&str; 3] = ["queue_name", "queue_metadata_name", "queue_display_name"];

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
    /// Describes the series; their names begin with the namespace.
    ///
    /// # Errors
    /// The namespace begins no name of a metric, or an extra label has a name that no label can have or that is taken.
    pub(crate) fn new(namespace: &str, extra: Vec<ExtraLabel>) -> Result<Self, prometheus::Error> {
        let descriptions = describe(namespace, &extra)?;
        let told = Mutex::new(Told::new(names(&descriptions), extra));
        Ok(Self(Arc::new(Shared { descriptions, told })))
    }

    /// Tells all under other names and with other labels from the next pass on; nothing until then.
    ///
    /// # Errors
    /// As for [`Self::new`]; names and labels stay as they were.
    pub(crate) fn rename(
        &self,
        namespace: &str,
        extra: Vec<ExtraLabel>,
    ) -> Result<(), prometheus::Error> {
        let names = names(&describe(namespace, &extra)?);
        *self.told() = Told { is_renamed: true, ..Told::new(names, extra) };
        Ok(())
    }

    /// Tells whether names changed since the last call: all queues are to be told again.
    pub(crate) fn take_renamed(&self) -> bool {
        std::mem::take(&mut self.told().is_renamed)
    }

    /// Replaces the series of a queue.
    pub(crate) fn put(&self, queue: &Object, allocated: &Totals) {
        let mut told = self.told();
        let row = told.row(queue, allocated);
        told.rows.insert(queue.name().to_owned(), row);
    }

    /// Takes out the series of a queue that is gone.
    pub(crate) fn remove(&self, queue: &str) {
        self.told().rows.remove(queue);
    }

    fn told(&self) -> MutexGuard<'_, Told> {
        self.0.told.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Describes the gauges, in their order.
fn describe(namespace: &str, extra: &[ExtraLabel]) -> Result<Vec<Desc>, prometheus::Error> {
    let labels = LABELS.into_iter().chain(extra.iter().map(|label| label.metric.as_str()));
    let labels: Vec<String> = labels.map(str::to_owned).collect();
    let one = |(name, help): &(&str, &str)| {
        let name = format!("{namespace}_{name}");
        Desc::new(name, (*help).to_owned(), labels.clone(), HashMap::new())
    };
    GAUGES.iter().map(one).collect()
}

fn names(descriptions: &[Desc]) -> Vec<String> {
    descriptions.iter().map(|description| description.fq_name.clone()).collect()
}

impl Told {
    fn new(names: Vec<String>, extra: Vec<ExtraLabel>) -> Self {
        Self { names, extra, rows: BTreeMap::new(), is_renamed: false }
    }

    fn row(&self, queue: &Object, allocated: &Totals) -> Row {
        let spec = &queue.value()["spec"];
        let quota = |name: &str, factor: f64| {
            let quota = spec["resources"][name]["quota"].as_f64().unwrap_or(0.0);
            if quota < 0.0 { quota } else { quota * factor }
        };
        let amount = |name: &str| number(allocated.get(name).unwrap_or_default());
        let gpus = allocated.iter().map(|(name, amount)| gpus_of(name, amount));
        let gpus = gpus.fold(0.0, |sum, gpus: f64| sum + gpus);
        let display = spec["displayName"].as_str().unwrap_or_default();
        let fixed = LABELS.into_iter().zip([queue.name(), queue.name(), display]);
        let extra = self.extra.iter().map(|extra| {
            (extra.metric.as_str(), queue.label(&extra.queue).unwrap_or(&extra.default))
        });
        let labels = fixed.chain(extra).map(|(name, value)| pair(name, value)).collect();
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

/// The GPUs in an amount of a resource; instances of MIG count with their slices, as they do in the queue's quota.
fn gpus_of(name: &str, amount: Quantity) -> f64 {
    match mig::gpus(name) {
        Some(gpus) => f64::from(gpus) * number(amount),
        None if is_gpu(name) => number(amount),
        None => 0.0,
    }
}

/// Tells whether a resource is a device: every vendor's, and the device classes of claims.
pub(super) fn is_gpu(name: &str) -> bool {
    name.ends_with("/gpu") || (!name.contains('/') && is_gpu_class(name))
}

#[expect(clippy::cast_precision_loss, reason = "gauges are floats")]
fn number(amount: Quantity) -> f64 {
    amount.nano() as f64 / 1e9
}

fn pair(name: &str, value: &str) -> LabelPair {
    let mut pair = LabelPair::default();
    pair.set_name(name.to_owned());
    pair.set_value(value.to_owned());
    pair
}

impl Collector for QueueMetrics {
    fn desc(&self) -> Vec<&Desc> {
        self.0.descriptions.iter().collect()
    }

    fn collect(&self) -> Vec<MetricFamily> {
        let told = self.told();
        let family = |(at, (name, (_, help))): (usize, (&String, (&str, &str)))| {
            let series = |row: &Row| {
                let mut gauge = Gauge::default();
                gauge.set_value(row.values[at]);
                let mut metric = Metric::from_label(row.labels.clone());
                metric.set_gauge(gauge);
                metric
            };
            let mut family = MetricFamily::default();
            family.set_name(name.clone());
            family.set_help(help.to_owned());
            family.set_field_type(MetricType::GAUGE);
            family.set_metric(told.rows.values().map(series).collect());
            family
        };
        told.names.iter().zip(GAUGES).enumerate().map(family).collect()
    }
}

#[cfg(test)]
mod tests {
    use prometheus::{Encoder as _, Registry, TextEncoder};
    use serde_json::json;

    use super::*;

    /// Monitoring of KAI reads these names, labels and units.
    #[test]
    fn queues_are_told_with_the_names_of_kai() {
        let metrics =
            QueueMetrics::new("kai", parse_labels("priority=queue_priority", "priority=low"))
                .expect("names");
        let registry = Registry::new();
        registry.register(Box::new(metrics.clone())).expect("names");
        let queue = |name: &str, labels| {
            Object::new(json!({
                "metadata": {"name": name, "labels": labels},
                "spec": {
                    "displayName": format!("Team \"{name}\""),
                    "resources": {
                        "gpu": {"quota": 2.5}, "cpu": {"quota": 1500}, "memory": {"quota": -1},
                    },
                },
            }))
        };
        let text = || {
            let mut text = Vec::new();
            TextEncoder::new().encode(&registry.gather(), &mut text).expect("text");
            String::from_utf8(text).expect("text")
        };
        assert_eq!(text(), "", "no queue, no series");
        let [one, other] = [queue("b", json!({})), queue("a", json!({"priority": "high"}))];
        let nothing = Totals::default();
        metrics.put(&one, &nothing);
        metrics.put(&other, &nothing);
        let text = text();
        let quota: Vec<&str> =
            text.lines().filter(|line| line.contains("queue_quota_cpu_cores")).collect();
        assert_eq!(
            quota,
            [
                "# HELP kai_queue_quota_cpu_cores Cores that the queue deserves; -1 is unlimited",
                "# TYPE kai_queue_quota_cpu_cores gauge",
                "kai_queue_quota_cpu_cores{queue_name=\"a\",queue_metadata_name=\"a\",\
                 queue_display_name=\"Team \\\"a\\\"\",queue_priority=\"high\"} 1.5",
                "kai_queue_quota_cpu_cores{queue_name=\"b\",queue_metadata_name=\"b\",\
                 queue_display_name=\"Team \\\"b\\\"\",queue_priority=\"low\"} 1.5",
            ]
        );
        for (name, value) in [
            ("queue_info", "1"),
            ("queue_deserved_gpus", "2.5"),
            ("queue_quota_memory_bytes", "-1"),
            ("queue_allocated_gpus", "0"),
            ("queue_allocated_cpu_cores", "0"),
            ("queue_allocated_memory_bytes", "0"),
        ] {
            let lines = text.lines().filter(|line| line.starts_with(&format!("kai_{name}{{")));
            let values: Vec<&str> = lines.filter_map(|line| line.rsplit(' ').next()).collect();
            assert_eq!(values, [value, value], "{name}");
        }
    }

    #[test]
    fn what_a_queue_has_is_told_by_kind_and_gpus_of_all_kinds_together() {
        let metrics = QueueMetrics::new("kai", Vec::new()).expect("names");
        let queue = Object::new(json!({"metadata": {"name": "a"}, "spec": {}}));
        let allocated = Totals::from_value(&json!({
            "cpu": "1500m", "memory": "3k", "nvidia.com/gpu": "2500m", "amd.com/gpu": "1",
            "gpu.nvidia.com": "4", "example.com/gpu-memory": "80", "shared-GPU-class": "1",
            "nvidia.com/mig-3g.40gb": "2",
        }));
        // A class of devices is a name without a slash, and a resource is one with it.
        let values = metrics.told().row(&queue, &allocated).values.map(|value| value.to_string());
        assert_eq!(values, ["1", "0", "0", "0", "14.5", "1.5", "3000"]);
    }

    #[test]
    fn names_and_labels_change_with_the_config() {
        let metrics = QueueMetrics::new("kai", Vec::new()).expect("names");
        let registry = Registry::new();
        registry.register(Box::new(metrics.clone())).expect("names");
        let queue = json!({"metadata": {"name": "a", "labels": {"team": "x"}}, "spec": {}});
        let queue = Object::new(queue);
        let check = |expect: &str| {
            metrics.put(&queue, &Totals::default());
            let mut text = Vec::new();
            TextEncoder::new().encode(&registry.gather(), &mut text).expect("text");
            let text = String::from_utf8(text).expect("text");
            assert!(text.contains(expect), "{expect}: {text}");
        };
        let fixed = "queue_name=\"a\",queue_metadata_name=\"a\",queue_display_name=\"\"";
        check(&format!("\nkai_queue_info{{{fixed}}} 1\n"));
        metrics.rename("own", parse_labels("team=team", "")).expect("names");
        check(&format!("\nown_queue_info{{{fixed},team=\"x\"}} 1\n"));
        assert!(metrics.rename("2own", Vec::new()).is_err());
        check(&format!("\nown_queue_info{{{fixed},team=\"x\"}} 1\n"));
    }

    #[test]
    fn names_that_no_series_can_have_are_refused() {
        let check = |namespace: &str, labels: &str, expect: &str| {
            let error = QueueMetrics::new(namespace, parse_labels(labels, "")).expect_err(expect);
            assert!(error.to_string().contains(expect), "{error}");
        };
        check("2kai", "", "'2kai_queue_info' is not a valid metric name");
        check("kai", "team=my-team", "'my-team' is not a valid label name");
        check("kai", "team=queue_name", "duplicate variable label name queue_name");
    }

    #[test]
    fn what_a_queue_deserves_is_told_in_devices_cores_and_bytes() {
        let metrics = QueueMetrics::new("kai", Vec::new()).expect("names");
        let told = |quotas: [f64; 3]| {
            let [gpu, cpu, memory] = quotas.map(|quota| json!({"quota": quota}));
            let resources = json!({"gpu": gpu, "cpu": cpu, "memory": memory});
            let queue = json!({"metadata": {"name": "a"}, "spec": {"resources": resources}});
            let values = metrics.told().row(&Object::new(queue), &Totals::default()).values;
            values.map(|value| value.to_string())[1..4].to_vec()
        };
        assert_eq!(told([0.5, 250.0, 2.5]), ["0.5", "0.25", "2500000"]);
        assert_eq!(told([-1.0, -1.0, -1.0]), ["-1", "-1", "-1"]);
    }
}
