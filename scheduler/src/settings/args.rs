//! The command line: KAI's flag names and defaults, in Go's spelling or ours.
//!
//! `-flag=value`, `--flag=value` and `--flag value` are one thing, as in Go's `flag` and `pflag`;
//! boolean flags stand bare or carry `=true`/`=false`. Flags of KAI that have nothing to do
//! here are accepted, so that a stored `SchedulingShard` keeps working, and named once in the log.
//! Source: docs/contract.md 7.3, docs/behaviour.md appendix B.

use std::{ffi::OsString, net::SocketAddr, path::PathBuf, str::FromStr, time::Duration};

use clap::{ArgAction, Parser};
use kai_api::duration::GoDuration;

use crate::settings::SharingArgs;

/// Schedules pods of one scheduler name, in gangs, on the nodes of one node pool.
#[derive(Parser, Clone, Debug)]
#[command(name = "kai-scheduler", version = env!("CARGO_PKG_VERSION"), disable_version_flag = true)]
#[expect(clippy::struct_excessive_bools, reason = "each is a flag of KAI")]
pub struct Args {
    /// kubeconfig file; without it the in-cluster configuration is used.
    #[arg(long, value_name = "FILE")]
    pub kubeconfig: Option<PathBuf>,
    /// Pods with this `spec.schedulerName` are ours.
    #[arg(long, default_value = "kai-scheduler")]
    pub scheduler_name: String,
    /// Namespace of the Lease.
    #[arg(long, default_value = "kai-scheduler")]
    pub namespace: String,
    /// Stand by while another scheduler of the name holds the Lease, and end when it is lost.
    /// Without it the newest scheduler takes the Lease over and the older one stands by.
    #[arg(long, action = ArgAction::Set, num_args = 0..=1, require_equals = true,
        default_value = "false", default_missing_value = "true", value_parser = go_bool)]
    pub leader_elect: bool,
    /// Longest pause between two cycles; a change in the cluster starts one sooner.
    #[arg(long, default_value = "1s", value_parser = positive_duration)]
    pub schedule_period: Duration,
    /// Address of /metrics, /healthz and /readyz; port 0 picks a free one.
    #[arg(long, default_value = ":8080", value_parser = listen_address)]
    pub listen_address: SocketAddr,
    /// Port of `/get-job-order` on this machine's own address, while the plugin `reflectjoborder` is on.
    #[arg(long, default_value_t = 8081)]
    pub plugin_server_port: u16,
    /// Prefix of every metric's name.
    #[arg(long, default_value = "kai", value_parser = metrics_namespace)]
    pub metrics_namespace: String,
    /// Value of the label `app` on pods that hold a shared GPU.
    #[arg(long, default_value = "kai-resource-reservation")]
    pub resource_reservation_app_label: String,
    /// Label of nodes, queues and `PodGroups` that names their node pool; empty: every node.
    #[arg(long, default_value = "kai.scheduler/node-pool")]
    pub nodepool_label_key: String,
    /// The node pool served; empty: objects without the label.
    #[arg(long, default_value = "")]
    pub partition_label_value: String,
    /// Label that names the queue of a shared GPU claim.
    #[arg(long, default_value = "kai.scheduler/queue")]
    pub queue_label_key: String,
    /// GPU pods only on GPU workers, CPU pods only on CPU workers.
    #[arg(long, action = ArgAction::Set, num_args = 0..=1, require_equals = true,
        default_value = "false", default_missing_value = "true", value_parser = go_bool)]
    pub restrict_node_scheduling: bool,
    /// Label of CPU workers.
    #[arg(long, default_value = "node-role.kubernetes.io/cpu-worker")]
    pub cpu_worker_node_label_key: String,
    /// Label of GPU workers.
    #[arg(long, default_value = "node-role.kubernetes.io/gpu-worker")]
    pub gpu_worker_node_label_key: String,
    /// Label of MIG workers.
    #[arg(long, default_value = "node-role.kubernetes.io/mig-enabled")]
    pub mig_worker_node_label_key: String,
    /// Victims one consolidation may move at most: 0 moves nobody, below zero nothing limits them.
    #[arg(long, default_value_t = 16, allow_negative_numbers = true)]
    pub max_consolidation_preemptees: i32,
    /// Let reclaim move victims elsewhere instead of evicting them for good.
    #[arg(long, action = ArgAction::Set, num_args = 0..=1, require_equals = true,
        default_value = "true", default_missing_value = "true", value_parser = go_bool)]
    pub allow_consolidating_reclaim: bool,
    /// Name every node in the reasons why a pod does not fit.
    #[arg(long, action = ArgAction::Set, num_args = 0..=1, require_equals = true,
        default_value = "false", default_missing_value = "true", value_parser = go_bool)]
    pub detailed_fit_errors: bool,
    /// Write the condition `DisruptionTarget` on a pod before it is evicted.
    #[arg(long, action = ArgAction::Set, num_args = 0..=1, require_equals = true,
        default_value = "false", default_missing_value = "true", value_parser = go_bool)]
    pub update_pod_eviction_condition: bool,
    /// Evict no more pods than their `PodDisruptionBudget`s allow.
    #[arg(long, action = ArgAction::Set, num_args = 0..=1, require_equals = true,
        default_value = "false", default_missing_value = "true", value_parser = go_bool)]
    pub respect_disruption_budgets: bool,
    /// Respect the capacities of CSI storage.
    #[arg(long, action = ArgAction::Set, num_args = 0..=1, require_equals = true,
        default_value = "false", default_missing_value = "true", value_parser = go_bool)]
    pub schedule_csi_storage: bool,
    /// Seconds that the volume claims of a pod may take to get their volumes before its bind fails.
    #[arg(long, default_value_t = 120, value_parser = clap::value_parser!(u64).range(1..))]
    pub volume_binding_timeout_seconds: u64,
    /// Keep the queue tree as it is; false: one level under a queue without limits.
    #[arg(long, action = ArgAction::Set, num_args = 0..=1, require_equals = true,
        default_value = "true", default_missing_value = "true", value_parser = go_bool)]
    pub full_hierarchy_fairness: bool,
    /// How long a group may run below its minimum; negative: forever.
    #[arg(long, default_value = "60s", allow_hyphen_values = true)]
    pub default_staleness_grace_period: GoDuration,
    /// A pod that terminates for longer gives nothing back.
    #[arg(long, default_value = "2m", value_parser = positive_duration)]
    pub stuck_in_releasing_threshold: Duration,
    /// KAI's configuration file; with it the `SchedulingShard` is not asked.
    #[arg(long, default_value = "")]
    pub scheduler_conf: String,
    /// How nodes and devices are ranked, whatever the shard or the file says: the fullest first (binpack), the
    /// emptiest (spread), or where the fewest GPUs are left that other pods could not use (fragmentation).
    #[arg(long, value_name = "STRATEGY",
        value_parser = clap::builder::PossibleValuesParser::new(kai_api::shard::PLACEMENT_STRATEGIES))]
    pub placement_strategy: Option<String>,
    /// Prometheus that past use is read from where the shard's `usageDBConfig` has no address; empty:
    /// `usage-prometheus` in the namespace of the Lease.
    #[arg(long, default_value = "", value_name = "URL")]
    pub usage_prometheus_url: String,
    /// Log level: 0-2 warnings, 3 information, 4-5 debug, 6 and up trace.
    #[arg(long, short = 'v', default_value_t = 3)]
    pub v: u8,
    /// One JSON object per log line.
    #[arg(long, action = ArgAction::Set, num_args = 0..=1, require_equals = true,
        default_value = "false", default_missing_value = "true", value_parser = go_bool)]
    pub log_json: bool,
    /// Print the version and end.
    #[arg(long, action = ArgAction::Set, num_args = 0..=1, require_equals = true,
        default_value = "false", default_missing_value = "true", value_parser = go_bool)]
    pub version: bool,
    /// How GPUs are shared.
    #[command(flatten)]
    pub sharing: SharingArgs,
    /// What is accepted and unused.
    #[command(flatten)]
    pub accepted: Accepted,
}

/// Flags of KAI with nothing to do here.
#[derive(clap::Args, Clone, Debug, Default)]
#[command(next_help_heading = "Accepted for compatibility, without effect")]
pub struct Accepted {
    /// Requests a second; binds are bounded by how many are in flight instead.
    #[arg(long)]
    pub qps: Option<String>,
    /// Requests at once; binds are bounded by how many are in flight instead.
    #[arg(long)]
    pub burst: Option<String>,
    /// Writers of conditions; all writes share one bound.
    #[arg(long)]
    pub num_of_status_recording_workers: Option<String>,
    /// Equal pods are always decided once.
    #[arg(long, num_args = 0..=1, require_equals = true, default_missing_value = "true")]
    pub use_scheduling_signatures: Option<String>,
    /// Profiler.
    #[arg(long, num_args = 0..=1, require_equals = true, default_missing_value = "true")]
    pub enable_profiler: Option<String>,
    /// Profiler port.
    #[arg(long)]
    pub profiler_port: Option<String>,
    /// Pyroscope server.
    #[arg(long)]
    pub pyroscope_address: Option<String>,
    /// Pyroscope mutex rate.
    #[arg(long)]
    pub pyroscope_mutex_profiler_rate: Option<String>,
    /// Pyroscope block rate.
    #[arg(long)]
    pub pyroscope_block_profiler_rate: Option<String>,
    /// Feature gates of KAI.
    #[arg(long)]
    pub feature_gates: Option<String>,
}

impl Accepted {
    /// The names of those that were given.
    pub fn given(&self) -> Vec<&'static str> {
        let all = [
            ("qps", &self.qps),
            ("burst", &self.burst),
            ("num-of-status-recording-workers", &self.num_of_status_recording_workers),
            ("use-scheduling-signatures", &self.use_scheduling_signatures),
            ("enable-profiler", &self.enable_profiler),
            ("profiler-port", &self.profiler_port),
            ("pyroscope-address", &self.pyroscope_address),
            ("pyroscope-mutex-profiler-rate", &self.pyroscope_mutex_profiler_rate),
            ("pyroscope-block-profiler-rate", &self.pyroscope_block_profiler_rate),
            ("feature-gates", &self.feature_gates),
        ];
        all.into_iter().filter(|(_, value)| value.is_some()).map(|(name, _)| name).collect()
    }
}

impl Args {
    /// Reads a command line in Go's or in our spelling.
    ///
    /// # Errors
    /// clap's, which know how to print themselves and which exit code they carry.
    pub fn from_command_line(
        arguments: impl IntoIterator<Item = OsString>,
    ) -> Result<Self, clap::Error> {
        Self::try_parse_from(arguments.into_iter().map(long_spelling))
    }

    /// The Prometheus that past use is read from where a shard names none. Source: docs/contract.md 1.6.
    pub fn usage_prometheus(&self) -> String {
        match self.usage_prometheus_url.as_str() {
            "" => format!("http://usage-prometheus.{}.svc.cluster.local:9090", self.namespace),
            url => url.to_owned(),
        }
    }

    /// The pool as messages name it.
    pub fn pool(&self) -> &str {
        if self.partition_label_value.is_empty() { "default" } else { &self.partition_label_value }
    }
}

impl Default for Args {
    fn default() -> Self {
        Self::parse_from(["kai-scheduler"])
    }
}

/// `-flag=value` becomes `--flag=value`, as Go reads both alike; all else stays.
fn long_spelling(argument: OsString) -> OsString {
    match argument.to_str() {
        Some(text) if is_single_dash_flag(text) => OsString::from(format!("-{text}")),
        _ => argument,
    }
}

/// A flag with one dash: its name is a letter and more, so that `-1s` stays a value.
fn is_single_dash_flag(text: &str) -> bool {
    let Some(name) = text.strip_prefix('-') else { return false };
    name.starts_with(|first: char| first.is_ascii_alphabetic()) && name != "h"
}

/// The spellings of Go's `strconv.ParseBool`.
fn go_bool(text: &str) -> Result<bool, String> {
    match text {
        "1" | "t" | "T" | "true" | "TRUE" | "True" => Ok(true),
        "0" | "f" | "F" | "false" | "FALSE" | "False" => Ok(false),
        _ => Err(String::from("expected true or false")),
    }
}

fn positive_duration(text: &str) -> Result<Duration, String> {
    let duration = GoDuration::from_str(text).map_err(|error| error.to_string())?;
    let nanos =
        u64::try_from(duration.nanos()).map_err(|_| String::from("must not be negative"))?;
    Ok(Duration::from_nanos(nanos))
}

/// `:8080` listens on every address, as in Go.
fn listen_address(text: &str) -> Result<SocketAddr, String> {
    let whole = if text.starts_with(':') { format!("0.0.0.0{text}") } else { String::from(text) };
    whole.parse().map_err(|_| String::from("expected HOST:PORT or :PORT with a numeric host"))
}

/// A prefix with which names of metrics begin that Prometheus reads; empty for none.
fn metrics_namespace(text: &str) -> Result<String, String> {
    let is_read = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b':');
    if text.bytes().all(is_read) && !text.starts_with(|first: char| first.is_ascii_digit()) {
        Ok(text.to_owned())
    } else {
        Err(String::from("expected letters, digits, _ and :, and no digit first"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(words: &[&str]) -> Result<Args, clap::Error> {
        let program = std::iter::once("kai-scheduler");
        Args::from_command_line(program.chain(words.iter().copied()).map(OsString::from))
    }

    #[test]
    fn defaults_are_the_peers() {
        let args = Args::default();
        assert_eq!(args.scheduler_name, "kai-scheduler");
        assert_eq!(args.schedule_period, Duration::from_secs(1));
        assert_eq!(args.listen_address.port(), 8080);
        assert!(args.full_hierarchy_fairness && args.allow_consolidating_reclaim);
        assert!(!args.leader_elect && !args.detailed_fit_errors);
        assert_eq!(args.pool(), "default");
        assert!(args.accepted.given().is_empty());
    }

    #[test]
    fn go_and_gnu_spellings_mean_the_same() {
        for words in [
            &["-leader-elect", "-schedule-period=250ms", "-v=5"][..],
            &["--leader-elect=true", "--schedule-period", "250ms", "--v", "5"],
            &["-leader-elect=T", "-schedule-period", "0.25s", "-v", "5"],
        ] {
            let args = parse(words).expect("all spellings are accepted");
            assert!(args.leader_elect, "{words:?}");
            assert_eq!(args.schedule_period, Duration::from_millis(250), "{words:?}");
            assert_eq!(args.v, 5, "{words:?}");
        }
    }

    #[test]
    fn a_number_below_zero_limits_no_consolidation() {
        for words in [
            ["--max-consolidation-preemptees", "-1"].as_slice(),
            &["-max-consolidation-preemptees=-1"],
        ] {
            let args = parse(words).expect("valid");
            assert_eq!(args.max_consolidation_preemptees, -1, "{words:?}");
        }
    }

    #[test]
    fn past_use_is_read_from_where_a_flag_says() {
        for (words, expect) in [
            (["-namespace=kai"].as_slice(), "http://usage-prometheus.kai.svc.cluster.local:9090"),
            (&["-usage-prometheus-url=https://metrics:9090"], "https://metrics:9090"),
        ] {
            assert_eq!(parse(words).expect("valid").usage_prometheus(), expect);
        }
    }

    #[test]
    fn a_boolean_does_not_eat_the_next_word() {
        assert!(parse(&["--leader-elect", "false"]).is_err());
        assert!(!parse(&["-leader-elect=false"]).expect("valid").leader_elect);
    }

    #[test]
    fn a_negative_duration_is_a_value() {
        let args = parse(&["-default-staleness-grace-period=-1s"]).expect("valid");
        assert!(args.default_staleness_grace_period.is_negative());
        let args = parse(&["--default-staleness-grace-period", "-1s"]).expect("valid");
        assert!(args.default_staleness_grace_period.is_negative());
    }

    #[test]
    fn unused_flags_are_accepted_and_named() {
        let args = parse(&["-qps=50", "--burst", "300", "-enable-profiler"]).expect("valid");
        assert_eq!(args.accepted.given(), ["qps", "burst", "enable-profiler"]);
    }

    #[test]
    fn wrong_values_are_refused() {
        for words in [
            &["--schedule-period=soon"][..],
            &["--schedule-period=-1s"],
            &["--listen-address=nowhere"],
            &["--leader-elect=maybe"],
            &["--metrics-namespace=my-team"],
            &["--metrics-namespace=1st"],
            &["--placement-strategy=fragmentaton"],
            &["--no-such-flag"],
        ] {
            assert!(parse(words).is_err(), "{words:?}");
        }
    }
}
