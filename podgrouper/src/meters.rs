//! Measures what the controllers did, by the names of controller-runtime's metrics, which dashboards of KAI have.
//!
//! `pod` has a queue of keys, whose figures are whole. `PodGroup`s and queues are brought up to date in rounds over all
//! that changed, so that a round counts once; shards and the Config are looked at one by one.

use std::time::Duration;

use kai_daemon::metrics::{Described, Register};
use kai_daemon::requests;
use prometheus::{
    HistogramOpts, HistogramVec, IntCounterVec, IntGaugeVec, Opts, exponential_buckets,
    process_collector::ProcessCollector,
};

use crate::status::{ExtraLabel, QueueMetrics};

/// The controller of pods, and its queue.
const POD: &str = "pod";
/// Bounds of the buckets of what reconciling takes, in seconds, as controller-runtime has them.
const BUCKETS: [f64; 12] = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 15.0, 60.0];

/// Says how a round ended, in the words of the label `result`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Ended {
    /// All is as it should be.
    Well,
    /// It came too early, and comes again.
    Early,
    /// It failed, and is tried again.
    Badly,
}

/// Holds the metrics; what is cloned counts together.
#[derive(Clone, Debug)]
pub(crate) struct Meters {
    rounds: IntCounterVec,
    errors: IntCounterVec,
    seconds: HistogramVec,
    active: IntGaugeVec,
    depth: IntGaugeVec,
    adds: IntCounterVec,
    waited: HistogramVec,
    worked: HistogramVec,
    retries: IntCounterVec,
}

impl Meters {
    /// Metrics that are served with the others.
    pub(crate) fn new(register: &Register) -> Result<Self, prometheus::Error> {
        let of = &["controller"][..];
        let of_queue = &["controller", "name"][..];
        let counters = |name: &str, help: &str, labels: &[&str]| {
            let made = IntCounterVec::new(Opts::new(name, help), labels)?;
            register.add(made.clone()).map(|()| made)
        };
        let gauges = |name: &str, help: &str, labels: &[&str]| {
            let made = IntGaugeVec::new(Opts::new(name, help), labels)?;
            register.add(made.clone()).map(|()| made)
        };
        let histograms = |name: &str, help: &str, buckets: Vec<f64>, labels: &[&str]| {
            let made = HistogramVec::new(HistogramOpts::new(name, help).buckets(buckets), labels)?;
            register.add(made.clone()).map(|()| made)
        };
        let fine = exponential_buckets(1e-8, 10.0, 12)?;
        Ok(Self {
            rounds: counters(
                "controller_runtime_reconcile_total",
                "Rounds by how they ended",
                &["controller", "result"],
            )?,
            errors: counters(
                "controller_runtime_reconcile_errors_total",
                "Rounds that failed",
                of,
            )?,
            seconds: histograms(
                "controller_runtime_reconcile_time_seconds",
                "Length of a round",
                BUCKETS.to_vec(),
                of,
            )?,
            active: gauges("controller_runtime_active_workers", "Workers in a round", of)?,
            depth: gauges("workqueue_depth", "Keys that wait for a worker", of_queue)?,
            adds: counters("workqueue_adds_total", "Keys that began to wait", of_queue)?,
            waited: histograms(
                "workqueue_queue_duration_seconds",
                "From a key's wait to its round",
                fine.clone(),
                of_queue,
            )?,
            worked: histograms(
                "workqueue_work_duration_seconds",
                "Length of a key's round",
                fine,
                of_queue,
            )?,
            retries: counters(
                "workqueue_retries_total",
                "Keys that wait after a failure",
                of_queue,
            )?,
        })
    }

    /// A round of a controller without a queue ended.
    pub(crate) fn ended(&self, controller: &str, how: Ended, took: Duration) {
        let result = match how {
            Ended::Well => "success",
            Ended::Early => "requeue_after",
            Ended::Badly => "error",
        };
        self.rounds.with_label_values(&[controller, result]).inc();
        if how == Ended::Badly {
            self.errors.with_label_values(&[controller]).inc();
        }
        self.seconds.with_label_values(&[controller]).observe(took.as_secs_f64());
    }

    /// A key began to wait; so many do now.
    pub(crate) fn added(&self, depth: usize) {
        self.adds.with_label_values(&[POD, POD]).inc();
        self.waits(depth);
    }

    /// A worker took a key that had waited so long; so many wait still.
    pub(crate) fn taken(&self, waited: Duration, depth: usize) {
        self.waited.with_label_values(&[POD, POD]).observe(waited.as_secs_f64());
        self.active.with_label_values(&[POD]).inc();
        self.waits(depth);
    }

    /// A worker ended a key's round.
    pub(crate) fn worked(&self, how: Ended, took: Duration) {
        self.worked.with_label_values(&[POD, POD]).observe(took.as_secs_f64());
        self.active.with_label_values(&[POD]).dec();
        self.ended(POD, how, took);
        if how != Ended::Well {
            self.retries.with_label_values(&[POD, POD]).inc();
        }
    }

    fn waits(&self, depth: usize) {
        self.depth.with_label_values(&[POD, POD]).set(i64::try_from(depth).unwrap_or(i64::MAX));
    }
}

/// Holds what the controllers measure.
#[derive(Clone)]
pub(crate) struct Measured {
    pub(crate) queues: QueueMetrics,
    pub(crate) meters: Meters,
}

impl Measured {
    /// Serves all of it.
    pub(crate) fn new(
        prefix: &str,
        extra: Vec<ExtraLabel>,
        register: &Register,
    ) -> Result<Self, prometheus::Error> {
        let queues = QueueMetrics::new(prefix, extra)?;
        register.add(queues.clone())?;
        let meters = Meters::new(register)?;
        register.add(ProcessCollector::for_self())?;
        requests::register(register)?;
        Ok(Self { queues, meters })
    }
}

/// Says what each metric of the podgrouper is.
///
/// # Errors
/// The prefix begins no name of a metric.
pub fn described(prefix: &str) -> Result<Vec<Described>, prometheus::Error> {
    let register = Register::default();
    Measured::new(prefix, Vec::new(), &register)?;
    crate::admission::measure(prefix, &register)?;
    Ok(register.described())
}
