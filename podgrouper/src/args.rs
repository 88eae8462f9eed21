//! Flags, under the names that KAI gives them (`docs/grouping.md` 1).

#![expect(clippy::doc_markdown, reason = "the doc comments are the help text")]

use std::path::PathBuf;

use clap::{ArgAction, Parser};
use kube::Client;

use crate::settings::{Compat, Settings};
use crate::shard::Pools;

/// Groups pods into PodGroups and keeps the status of PodGroups and Queues.
#[expect(clippy::struct_excessive_bools, reason = "KAI has as many boolean flags")]
#[derive(Debug, Clone, PartialEq, Eq, Parser)]
#[command(name = "kai-podgrouper", version, about)]
pub struct Args {
    /// Address of /metrics; port 0 picks a free one, 0 alone serves none
    #[arg(long, default_value = ":8080")]
    pub metrics_bind_address: String,
    /// Address of /healthz and /readyz; port 0 picks a free one, 0 alone serves none
    #[arg(long, default_value = ":8081")]
    pub health_probe_bind_address: String,
    /// Act only while holding the Lease 54dff599.kai.scheduler
    #[arg(long, num_args = 0..=1, require_equals = true, default_value = "false",
        default_missing_value = "true", action = ArgAction::Set)]
    pub leader_elect: bool,
    /// Namespace of the Lease and of the schedulers of shards; its own unless given
    #[arg(long, default_value = "")]
    pub namespace: String,
    /// Label of the node pool; empty switches node pools off
    #[arg(long, default_value = "kai.scheduler/node-pool")]
    pub nodepool_label_key: String,
    /// Label of the queue
    #[arg(long, default_value = "kai.scheduler/queue")]
    pub queue_label_key: String,
    /// Only pods with this schedulerName are grouped
    #[arg(long, default_value = "kai-scheduler")]
    pub scheduler_name: String,
    /// Requests a second at most; unlimited unless given, the API server's own fairness holds
    #[arg(long)]
    pub qps: Option<u32>,
    /// Requests at once at most before --qps holds
    #[arg(long, default_value_t = 300)]
    pub burst: u32,
    /// Pods worked on at the same time
    #[arg(long, default_value_t = 10)]
    pub max_concurrent_reconciles: u32,
    /// Keep PodGroups of Jobs and RunaiJobs under their older names
    #[arg(long, num_args = 0..=1, require_equals = true, default_value = "true",
        default_missing_value = "true", action = ArgAction::Set)]
    pub search_legacy_pg: bool,
    /// One PodGroup per Knative Revision instead of one per pod
    #[arg(long, num_args = 0..=1, require_equals = true, default_value = "true",
        default_missing_value = "true", action = ArgAction::Set)]
    pub knative_gang_schedule: bool,
    /// Ask Karta definitions for kinds without a rule
    #[arg(long, num_args = 0..=1, require_equals = true, default_value = "true",
        default_missing_value = "true", action = ArgAction::Set)]
    pub generic_karta_fallback: bool,
    /// ConfigMap with defaults per workload type
    #[arg(long, default_value = "")]
    pub default_priorities_configmap_name: String,
    /// Namespace of that ConfigMap
    #[arg(long, default_value = "")]
    pub default_priorities_configmap_namespace: String,
    /// Group only pods with these labels (k=v,k=v)
    #[arg(long, default_value = "")]
    pub pod_label_selector: String,
    /// Group only pods of namespaces with these labels (k=v,k=v)
    #[arg(long, default_value = "")]
    pub namespace_label_selector: String,
    /// Make scaling pods, so that cluster autoscalers see pods that wait for shared GPUs, where the Config does not say
    /// whether to (nodeScaleAdjuster.service.enabled)
    #[arg(long, num_args = 0..=1, require_equals = true, default_value = "false",
        default_missing_value = "true", action = ArgAction::Set)]
    pub cluster_autoscaling: bool,
    /// Days for which DailyRecords are kept; 0 writes none
    #[arg(long, default_value_t = 31, value_name = "DAYS")]
    pub history_days: u32,
    /// Prefix of the names of metrics
    #[arg(long, default_value = "kai")]
    pub metrics_namespace: String,
    /// Labels of queues that become labels of their metrics (queue-label=metric-label,...)
    #[arg(long, default_value = "")]
    pub queue_label_to_metric_label: String,
    /// Values of those labels for queues without them (queue-label=value,...)
    #[arg(long, default_value = "")]
    pub queue_label_to_default_metric_value: String,
    /// Address of admission's webhooks, HOST:PORT; port 0 picks a free one; none are served unless given
    #[arg(long, default_value = "", value_name = "HOST:PORT")]
    pub webhook_listen_address: String,
    /// Have the API server reach them at this URL (https://HOST:PORT) instead of by Services, for a podgrouper outside
    /// of the cluster; port 0 is the one that is listened on
    #[arg(long, default_value = "", value_name = "URL")]
    pub webhook_url: String,
    /// Warn of queues whose quotas don't fit into their parent's, and refuse those whose parent does not exist
    #[arg(long, num_args = 0..=1, require_equals = true, default_value = "false",
        default_missing_value = "true", action = ArgAction::Set)]
    pub enable_quota_validation: bool,
    /// Kubeconfig to use outside a cluster
    #[arg(long, value_name = "FILE")]
    pub kubeconfig: Option<PathBuf>,
    /// Write the same objects as this version of KAI, which may run beside us
    #[arg(long, value_parser = ["kai-v0.17"])]
    pub compat: Option<String>,
    /// Least severe line to log: debug, info, warn, error
    #[arg(long, default_value = "info")]
    pub zap_log_level: String,
    /// Form of the log: console or json
    #[arg(long, default_value = "json", value_parser = ["json", "console"])]
    pub zap_encoder: String,
    /// Accepted; logs are for people when the encoder is console
    #[arg(long, num_args = 0..=1, require_equals = true, default_value = "false",
        default_missing_value = "true", action = ArgAction::Set)]
    pub zap_devel: bool,
    /// Accepted; lines carry no stack traces
    #[arg(long, default_value = "")]
    pub zap_stacktrace_level: String,
    /// Accepted; times are RFC 3339
    #[arg(long, default_value = "")]
    pub zap_time_encoding: String,
}

impl Args {
    /// Reads the command line; flags may have one dash, as KAI's may.
    pub fn from_command_line(words: impl IntoIterator<Item = String>) -> Self {
        Self::parse_from(two_dashes(words))
    }

    /// The same for tests and for hosts that must not exit.
    pub fn try_from_words(
        words: impl IntoIterator<Item = String>,
    ) -> Result<Self, clap::error::Error> {
        Self::try_parse_from(two_dashes(words))
    }

    /// The settings of the grouping rules.
    pub fn settings(&self) -> Settings {
        let (namespace, name) = (
            self.default_priorities_configmap_namespace.clone(),
            self.default_priorities_configmap_name.clone(),
        );
        Settings {
            queue_label: self.queue_label_key.clone(),
            node_pool_label: self.nodepool_label_key.clone(),
            scheduler: self.scheduler_name.clone(),
            legacy_names: self.search_legacy_pg,
            knative_gangs: self.knative_gang_schedule,
            karta: self.generic_karta_fallback,
            defaults: (!name.is_empty() && !namespace.is_empty()).then_some((namespace, name)),
            compat: if self.compat.is_some() { Compat::KaiV017 } else { Compat::Off },
        }
    }

    /// The labels by which schedulers tell their work.
    pub(crate) fn pools(&self) -> Pools {
        Pools {
            node_pool_label: self.nodepool_label_key.clone(),
            queue_label: self.queue_label_key.clone(),
        }
    }

    /// The namespace that the system runs in.
    pub(crate) fn system_namespace(&self, client: &Client) -> String {
        let own = client.default_namespace();
        if self.namespace.is_empty() { own.to_owned() } else { self.namespace.clone() }
    }

    /// Flags that are taken and have nothing to do here, as given.
    pub fn idle_flags(&self) -> Vec<&'static str> {
        let rows = [
            (self.zap_devel, "zap-devel"),
            (!self.zap_stacktrace_level.is_empty(), "zap-stacktrace-level"),
            (!self.zap_time_encoding.is_empty(), "zap-time-encoding"),
            (self.webhook_listen_address.is_empty() && !self.webhook_url.is_empty(), "webhook-url"),
            (
                self.webhook_listen_address.is_empty() && self.enable_quota_validation,
                "enable-quota-validation",
            ),
        ];
        rows.into_iter().filter(|(is_given, _)| *is_given).map(|(_, name)| name).collect()
    }
}

fn two_dashes(words: impl IntoIterator<Item = String>) -> impl Iterator<Item = String> {
    words.into_iter().map(|word| {
        let is_long = word.starts_with('-') && !word.starts_with("--") && word.len() > 2;
        if is_long { format!("-{word}") } else { word }
    })
}

/// A selector `k=v,k=v`: pieces are trimmed, and one without `=` is dropped, as KAI does.
pub(crate) fn selector(text: &str) -> Vec<(String, String)> {
    text.split(',')
        .filter_map(|piece| piece.split_once('='))
        .map(|(key, value)| (key.trim().to_owned(), value.trim().to_owned()))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::{Args, selector};

    fn parse(words: &[&str]) -> Result<Args, clap::error::Error> {
        let words = ["kai-podgrouper"].iter().chain(words).map(|word| (*word).to_owned());
        Args::try_from_words(words)
    }

    #[test]
    fn one_dash_and_two_and_bare_booleans_are_the_same() {
        for word in ["-leader-elect", "--leader-elect", "-leader-elect=true"] {
            assert!(parse(&[word]).is_ok_and(|args| args.leader_elect), "{word}");
        }
        for word in ["-search-legacy-pg=false", "--search-legacy-pg=false"] {
            assert!(parse(&[word]).is_ok_and(|args| !args.search_legacy_pg), "{word}");
        }
        let args = parse(&["-scheduler-name=x", "--qps", "7", "-nodepool-label-key="]);
        assert!(args.is_ok_and(|args| {
            args.scheduler_name == "x" && args.qps == Some(7) && args.nodepool_label_key.is_empty()
        }));
        assert!(parse(&["--no-such-flag"]).is_err());
    }

    #[test]
    fn each_switch_of_grouping_switches_its_own_rule() {
        for (word, expect) in [
            ("--search-legacy-pg=false", [false, true, true]),
            ("--knative-gang-schedule=false", [true, false, true]),
            ("--generic-karta-fallback=false", [true, true, false]),
        ] {
            let settings = parse(&[word]).expect("it is a flag").settings();
            let found = [settings.legacy_names, settings.knative_gangs, settings.karta];
            assert_eq!(found, expect, "{word}");
        }
    }

    #[test]
    fn a_piece_of_a_selector_without_value_is_dropped() {
        assert_eq!(selector("a,b=c"), [("b".to_owned(), "c".to_owned())]);
        assert_eq!(selector(" a = b = c ,"), [("a".to_owned(), "b = c".to_owned())]);
    }
}
