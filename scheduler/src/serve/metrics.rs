//! Metrics, with KAI's names and labels. Source: docs/contract.md 9.2.

use std::time::Duration;

use kai_daemon::metrics::{Described, Register};
use kai_engine::{Action, Steps};
use prometheus::{
    Encoder, Gauge, GaugeVec, Histogram, HistogramOpts, IntCounter, IntCounterVec, IntGaugeVec,
    Opts, TextEncoder, exponential_buckets, process_collector::ProcessCollector,
};

mod evicted;
mod queues;

pub use evicted::Evicted;
pub use queues::QueueGauges;

/// All metrics of one scheduler; cheap to clone.
#[derive(Clone, Debug)]
pub struct Metrics {
    register: Register,
    /// Holds what a standby tells, too.
    process: Register,
    /// 1 while this process leads, 0 while it stands by.
    leads: IntGaugeVec,
    /// Length of the last cycle, from the first delta to the last decision.
    pub cycle: Gauge,
    /// Length of taking in what changed, in the last cycle.
    pub open: Gauge,
    /// Length of handing over what was decided, in the last cycle.
    pub close: Gauge,
    /// From the decision to the answer of the API server.
    pub bind: Histogram,
    /// From a pod's creation to the decision.
    pub task: Histogram,
    /// Length of a query for past use.
    pub usage_query: Histogram,
    /// Holds what each action did.
    actions: ActionMetrics,
    /// Pods evicted.
    pub evicted: Evicted,
    /// Fair shares and usage of queues: cores, gigabytes, devices.
    pub queues: [GaugeVec; 6],
    /// Binds of shares of GPUs whose limit of memory is not known.
    pub unlimited: IntCounter,
    /// Findings of the engine's own check.
    pub findings: IntCounter,
    /// Objects that could not be read.
    pub undecodable: IntCounterVec,
    /// Writes by what they wrote and how they ended.
    pub writes: IntCounterVec,
    /// Seconds since the quietest watch heard from the server.
    pub watch_age: Gauge,
}

impl Metrics {
    /// Metrics under a prefix.
    ///
    /// # Panics
    /// Where two metrics have one name, which the first start shows.
    pub fn new(namespace: &str) -> Self {
        let register = Register::default();
        let make = Maker { register: &register, namespace };
        let (process, leads) = own();
        Self {
            process,
            leads,
            cycle: make.gauge("e2e_scheduling_latency_milliseconds", "Length of the last cycle"),
            open: make.gauge("open_session_latency_milliseconds", "Length of taking changes in"),
            close: make.gauge("close_session_latency_milliseconds", "Length of handing plans over"),
            bind: make.histogram("task_bind_latency_milliseconds", "Length of a bind"),
            task: make.histogram(
                "task_scheduling_latency_milliseconds",
                "From a pod's creation to its placement",
            ),
            usage_query: make.histogram(
                "usage_query_latency_milliseconds",
                "Length of a query for what queues used in the past",
            ),
            actions: ActionMetrics::new(&make),
            evicted: Evicted::new(make.counters(
                "pod_group_evicted_pods_total",
                "Pods evicted",
                &evicted::LABELS,
            )),
            queues: queues::NAMES.map(|name| make.gauges(name, "Of a queue", &queues::LABELS)),
            unlimited: make.counter(
                "shares_without_memory_limit_total",
                "Binds of shares of GPUs whose limit of memory is not known",
            ),
            findings: make.counter("engine_check_findings_total", "Findings of the self-check"),
            undecodable: make.counters(
                "undecodable_objects_total",
                "Objects that could not be read",
                &["kind"],
            ),
            writes: make.counters("api_writes_total", "Writes to the API", &["what", "result"]),
            watch_age: make.gauge("watch_age_seconds", "Since the quietest watch heard anything"),
            register,
        }
    }

    /// Counts what an action did in a cycle, and how long it took.
    pub fn acted(&self, action: Action, steps: &Steps, duration: Duration) {
        self.actions.acted(action, steps, duration);
    }

    /// Says what each is.
    pub fn described(&self) -> Vec<Described> {
        [self.register.described(), self.process.described()].concat()
    }

    /// All of them in Prometheus' text format, where this process leads by the Lease of this name. A standby decides
    /// nothing, so it tells of its process alone: sums over both are the leader's.
    ///
    /// # Errors
    /// One of them cannot be written in it.
    pub fn text(&self, lease: &str, leads: bool) -> Result<Vec<u8>, prometheus::Error> {
        self.leads.with_label_values(&[lease]).set(i64::from(leads));
        let mut families = self.process.gather();
        if leads {
            families.extend(self.register.gather());
        }
        let mut text = Vec::new();
        TextEncoder::new().encode(&families, &mut text)?;
        Ok(text)
    }
}

/// Makes the metrics of the process: whether it leads, under the name that controllers have for it.
fn own() -> (Register, IntGaugeVec) {
    let process = Register::default();
    let options = Opts::new("leader_election_master_status", "1 for the leader, 0 for a standby");
    let leads = IntGaugeVec::new(options, &["name"]).expect("names and labels are valid");
    process.add(leads.clone()).expect("names differ");
    process.add(ProcessCollector::for_self()).expect("names differ");
    kai_daemon::requests::register(&process).expect("names differ");
    (process, leads)
}

/// Holds what each action did.
///
/// A search here is one of counted steps, so KAI's budgets in seconds and its generators have no series; see
/// DESIGN.md.
#[derive(Clone, Debug)]
struct ActionMetrics {
    latency: GaugeVec,
    acted_on: IntCounterVec,
    scheduled: IntCounterVec,
    simulated: IntCounterVec,
    filtered: IntCounterVec,
    searches: IntCounterVec,
    spent: IntCounterVec,
    preemptions: IntCounter,
}

impl ActionMetrics {
    fn new(make: &Maker<'_>) -> Self {
        let counters = |name, help| make.counters(name, help, &["action"]);
        Self {
            latency: make.gauges(
                "action_scheduling_latency_milliseconds",
                "Length of the action in the last cycle",
                &["action"],
            ),
            acted_on: counters("podgroups_acted_on_by_action", "Pod groups tried"),
            scheduled: counters("podgroups_scheduled_by_action", "Pod groups let in"),
            simulated: counters("scenarios_simulation_by_action", "Sets of victims tried"),
            filtered: counters(
                "scenarios_filtered_by_action",
                "Sets of victims that counting refused; all sets of a search at once are one",
            ),
            searches: make.counters(
                "scenario_search_jobs_total",
                "Searches for victims by how they ended",
                &["action", "result", "reduced_budget"],
            ),
            spent: counters(
                "scenario_search_action_budget_exhausted_total",
                "Cycles whose steps ran out in the action",
            ),
            preemptions: make.counter("total_preemption_attempts", "Groups that preempted others"),
        }
    }

    fn acted(&self, action: Action, steps: &Steps, duration: Duration) {
        let labels = [action_name(action)];
        self.latency.with_label_values(&labels).set(milliseconds(duration));
        self.acted_on.with_label_values(&labels).inc_by(steps.groups);
        self.scheduled.with_label_values(&labels).inc_by(steps.solved);
        if matches!(action, Action::Allocate | Action::Stale) {
            return;
        }
        self.simulated.with_label_values(&labels).inc_by(steps.scenarios);
        self.filtered.with_label_values(&labels).inc_by(steps.filtered);
        let spent = u64::from(steps.spent);
        self.spent.with_label_values(&labels).inc_by(spent);
        let failed = steps.groups.saturating_sub(steps.solved + spent);
        let results = [
            ("solved", steps.solved),
            ("generators_exhausted", failed),
            ("deadline_exhausted", spent),
        ];
        for (result, count) in results {
            self.searches.with_label_values(&[labels[0], result, "false"]).inc_by(count);
        }
        if action == Action::Preempt {
            self.preemptions.inc_by(steps.solved);
        }
    }
}

/// An action as metrics and annotations name it.
pub fn action_name(action: Action) -> &'static str {
    match action {
        Action::Allocate => "allocate",
        Action::Consolidate => "consolidation",
        Action::Reclaim => "reclaim",
        Action::Preempt => "preempt",
        Action::Stale => "stalegangeviction",
    }
}

/// A duration as metrics count it.
pub fn milliseconds(duration: Duration) -> f64 {
    duration.as_secs_f64() * 1000.0
}

struct Maker<'a> {
    register: &'a Register,
    namespace: &'a str,
}

impl Maker<'_> {
    fn options(&self, name: &str, help: &str) -> Opts {
        Opts::new(name, help).namespace(self.namespace)
    }

    fn gauge(&self, name: &str, help: &str) -> Gauge {
        self.register(Gauge::with_opts(self.options(name, help)))
    }

    fn counter(&self, name: &str, help: &str) -> IntCounter {
        self.register(IntCounter::with_opts(self.options(name, help)))
    }

    fn gauges(&self, name: &str, help: &str, labels: &[&str]) -> GaugeVec {
        self.register(GaugeVec::new(self.options(name, help), labels))
    }

    fn counters(&self, name: &str, help: &str, labels: &[&str]) -> IntCounterVec {
        self.register(IntCounterVec::new(self.options(name, help), labels))
    }

    fn histogram(&self, name: &str, help: &str) -> Histogram {
        let buckets = exponential_buckets(5.0, 2.0, 10).expect("the numbers are valid");
        let options = HistogramOpts::from(self.options(name, help)).buckets(buckets);
        self.register(Histogram::with_opts(options))
    }

    fn register<M>(&self, metric: prometheus::Result<M>) -> M
    where
        M: prometheus::core::Collector + Clone + 'static,
    {
        let metric = metric.expect("names and labels are valid");
        self.register.add(metric.clone()).expect("names differ");
        metric
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn searches_are_counted_under_the_peers_names() {
        let metrics = Metrics::new("kai");
        let (groups, solved, scenarios, filtered) = (3, 1, 4, 5);
        let steps = Steps { groups, solved, scenarios, filtered, spent: true, ..Steps::default() };
        metrics.acted(Action::Preempt, &steps, Duration::from_millis(2));
        // They let groups in by other means.
        for other in [Action::Consolidate, Action::Reclaim, Action::Allocate] {
            metrics.acted(other, &steps, Duration::from_millis(3));
        }
        let text = |leads| {
            let text = metrics.text("kai-scheduler", leads).expect("names and labels fit");
            String::from_utf8(text).expect("metrics are text")
        };
        let standby = text(false);
        assert!(!standby.contains("kai_"), "a standby decides nothing:\n{standby}");
        assert!(standby.contains("leader_election_master_status{name=\"kai-scheduler\"} 0"));
        assert!(standby.contains("process_resident_memory_bytes"), "{standby}");
        let text = text(true);
        let searches = |result: &str, count: u64| {
            format!(
                "kai_scenario_search_jobs_total{{action=\"preempt\",reduced_budget=\"false\",result=\"{result}\"}} {count}"
            )
        };
        for line in [
            &*searches("solved", 1),
            &searches("generators_exhausted", 1),
            &searches("deadline_exhausted", 1),
            "kai_scenario_search_action_budget_exhausted_total{action=\"preempt\"} 1",
            "kai_action_scheduling_latency_milliseconds{action=\"preempt\"} 2",
            "kai_podgroups_acted_on_by_action{action=\"preempt\"} 3",
            "kai_podgroups_scheduled_by_action{action=\"preempt\"} 1",
            "kai_scenarios_simulation_by_action{action=\"preempt\"} 4",
            "kai_scenarios_filtered_by_action{action=\"preempt\"} 5",
            "kai_total_preemption_attempts 1",
            "leader_election_master_status{name=\"kai-scheduler\"} 1",
        ] {
            assert!(text.lines().any(|one| one == line), "{line} is not in\n{text}");
        }
    }
}
