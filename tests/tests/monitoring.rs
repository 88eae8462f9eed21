//! Queries of `deploy/monitoring`: they are of metrics that the daemons have, in `PromQL` that promtool reads and that a
//! Prometheus which scraped the daemons answers; alerts fire where they should, and Grafana's library reads the dashboards.

#![expect(clippy::panic_in_result_fn, reason = "a test asserts, and hands on what it cannot do")]

use std::{
    collections::BTreeSet,
    fmt::Write as _,
    fs,
    path::{Path, PathBuf},
    process::Command,
};

use anyhow::{Context as _, Result, ensure};
use kai_tests::{
    cluster::{Cluster, Setup},
    control_plane::{assets, http_get, tool},
    daemon::Daemon,
    stage::scene::documents,
};
use kube::{Client, Config};
use serde_json::{Value, json};

/// Metrics whose first series comes with what a cluster in which all goes well never sees.
const OF_TROUBLE: [&str; 5] = [
    "kai_pod_group_evicted_pods_total",
    "kai_scenario_search_action_budget_exhausted_total",
    "kai_scenario_search_jobs_total",
    "kai_undecodable_objects_total",
    "kai_scenarios_filtered_by_action",
];
/// Metrics of KAI's dashboards that every daemon has, and those of the podgrouper.
const OF_PROCESSES: [&str; 3] = [
    "process_resident_memory_bytes",
    "rest_client_requests_total",
    "rest_client_request_duration_seconds_count",
];
const OF_CONTROLLERS: [&str; 9] = [
    "controller_runtime_active_workers",
    "controller_runtime_reconcile_time_seconds_count",
    "controller_runtime_reconcile_total",
    "workqueue_adds_total",
    "workqueue_depth",
    "workqueue_queue_duration_seconds_count",
    "workqueue_work_duration_seconds_count",
    "kai_queue_info",
    "kai_admission_requests_total",
];

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}

/// The spec of the rules, which is a file of rules for Prometheus itself.
fn rules() -> Result<Value> {
    let documents = documents(&root().join("deploy/monitoring/rules.yaml"))?;
    Ok(documents.first().context("it has a PrometheusRule")?["spec"].clone())
}

fn alerts() -> Result<Vec<Value>> {
    let rules = rules()?;
    let groups = rules["groups"].as_array().context("groups of rules")?;
    Ok(groups.iter().filter_map(|group| group["rules"].as_array()).flatten().cloned().collect())
}

/// The dashboards by their file names.
fn dashboards() -> Result<Vec<(String, Value)>> {
    let mut found = Vec::new();
    for entry in fs::read_dir(root().join("deploy/monitoring/dashboards"))? {
        let path = entry?.path();
        let dashboard = serde_json::from_str(&fs::read_to_string(&path)?)?;
        found.push((path.display().to_string(), dashboard));
    }
    ensure!(found.len() >= 3, "the cluster, its queues, why work is pending");
    Ok(found)
}

/// Every query of a dashboard, with what stands for its variables.
fn queries(dashboard: &Value) -> Vec<String> {
    let panels = dashboard["panels"].as_array().into_iter().flatten();
    let targets = panels.filter_map(|panel| panel["targets"].as_array()).flatten();
    let texts = targets.filter_map(|target| target["expr"].as_str());
    texts.map(|text| text.replace("$queue", ".*")).collect()
}

/// The names that begin as ours do.
fn names(query: &str) -> impl Iterator<Item = &str> {
    let words = query.split(|c: char| !c.is_ascii_alphanumeric() && c != '_');
    words.filter(|word| word.starts_with("kai_"))
}

/// The words in the tables of metrics of both daemons; a metric that has no series yet is in no answer of theirs.
fn served() -> Result<BTreeSet<String>> {
    let mut served = BTreeSet::new();
    for file in [
        "scheduler/src/serve/metrics.rs",
        "scheduler/src/serve/metrics/queues.rs",
        "podgrouper/src/status/metrics.rs",
    ] {
        let source = fs::read_to_string(root().join(file))?;
        served.extend(source.split('"').map(|word| format!("kai_{word}")));
    }
    Ok(served)
}

#[test]
fn every_query_is_of_metrics_that_there_are() -> Result<()> {
    let served = served()?;
    let alerts = alerts()?;
    let of_alerts = alerts.iter().filter_map(|alert| alert["expr"].as_str()).map(str::to_owned);
    let of_dashboards = dashboards()?.into_iter().flat_map(|(_, dashboard)| queries(&dashboard));
    for query in of_alerts.chain(of_dashboards) {
        for name in names(&query) {
            let base = name.strip_suffix("_bucket").unwrap_or(name);
            assert!(served.contains(base), "{query}: no daemon has {base}");
        }
    }
    Ok(())
}

#[test]
fn every_alert_says_what_to_do() -> Result<()> {
    let guide = fs::read_to_string(root().join("docs/guide/alerts.md"))?;
    let mut said = BTreeSet::new();
    for alert in alerts()? {
        let name = alert["alert"].as_str().context("a name")?;
        let notes = &alert["annotations"];
        let text = |key: &str| notes[key].as_str().unwrap_or_default().to_owned();
        assert!(text("summary").ends_with('.'), "{name} has no sentence as summary");
        assert!(text("description").contains("Do: "), "{name} does not say what to do");
        let link = format!("docs/guide/alerts.md#{}", name.to_lowercase());
        assert!(text("runbook_url").ends_with(&link), "{name} does not link to {link}");
        assert!(guide.contains(&format!("## {name}\n")), "docs/guide/alerts.md: no {name}");
        said.insert(name.to_owned());
    }
    let sections = guide.lines().filter_map(|line| line.strip_prefix("## "));
    assert_eq!(sections.map(str::to_owned).collect::<BTreeSet<_>>(), said);
    Ok(())
}

#[test]
fn promtool_reads_all_and_alerts_fire() -> Result<()> {
    let Some(promtool) = tool("monitoring", "promtool")? else { return Ok(()) };
    let folder = tempfile::tempdir()?;
    let run = |arguments: &[&str]| -> Result<()> {
        let output = Command::new(&promtool).args(arguments).current_dir(folder.path()).output()?;
        let text = [output.stdout, output.stderr].concat();
        ensure!(output.status.success(), "{arguments:?}: {}", String::from_utf8_lossy(&text));
        Ok(())
    };
    fs::write(folder.path().join("rules.yaml"), rules()?.to_string())?;
    run(&["check", "rules", "rules.yaml"])?;
    let recorded: Vec<Value> = dashboards()?
        .iter()
        .flat_map(|(_, dashboard)| queries(dashboard))
        .enumerate()
        .map(|(at, query)| json!({"record": format!("query:{at}"), "expr": query}))
        .collect();
    ensure!(recorded.len() > 20, "{} queries of dashboards", recorded.len());
    let recorded = json!({"groups": [{"name": "dashboards", "rules": recorded}]});
    fs::write(folder.path().join("dashboards.yaml"), recorded.to_string())?;
    run(&["check", "rules", "dashboards.yaml"])?;
    fs::copy(root().join("tests/monitoring/alerts.yaml"), folder.path().join("alerts.yaml"))?;
    run(&["test", "rules", "alerts.yaml"])
}

#[test]
fn grafanas_library_reads_the_dashboards() -> Result<()> {
    let Some(grafana) = tool("monitoring", "grafana")? else { return Ok(()) };
    let paths: Vec<String> = dashboards()?.into_iter().map(|(path, _)| path).collect();
    let output = Command::new(&grafana).args(&paths).output()?;
    ensure!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    // What Grafana does not know is refused.
    let folder = tempfile::tempdir()?;
    let (path, mut dashboard) = dashboards()?.swap_remove(0);
    dashboard["panels"][0]["colour"] = json!("red");
    let wrong = folder.path().join("wrong.json");
    fs::write(&wrong, dashboard.to_string())?;
    let output = Command::new(&grafana).arg(&wrong).output()?;
    let said = String::from_utf8_lossy(&output.stderr);
    ensure!(!output.status.success() && said.contains("colour"), "{path}: {said}");
    Ok(())
}

/// Finds where a daemon that has just started serves its metrics: the last address of the line that says so.
async fn address(cluster: &Cluster, daemon: &Daemon) -> Result<String> {
    let find = || {
        let log = daemon.log_end()?;
        let line = log.lines().find(|line| line.contains("serving") && line.contains("metrics"));
        let port = line
            .and_then(|line| line.rsplit("127.0.0.1:").next())
            .map(|rest| rest.chars().take_while(char::is_ascii_digit).collect::<String>());
        anyhow::Ok(port.filter(|port| !port.is_empty()))
    };
    cluster
        .wait_until("an address", async || {
            Ok(find()?.map(|_| ()).ok_or_else(|| "not said".to_owned()))
        })
        .await?;
    Ok(format!("127.0.0.1:{}", find()?.unwrap_or_default()))
}

/// A Prometheus that scrapes the daemons every second, and evaluates all rules as often.
struct Prometheus {
    client: Client,
    _process: Daemon,
}

impl Prometheus {
    fn start(program: &Path, folder: &Path, targets: &[String]) -> Result<Self> {
        fs::write(folder.join("rules.yaml"), rules()?.to_string())?;
        let config = json!({
            "global": {"scrape_interval": "1s", "evaluation_interval": "1s"},
            "rule_files": ["rules.yaml"],
            "scrape_configs": [{"job_name": "kai", "static_configs":
                [{"targets": targets, "labels": {"namespace": "kai-scheduler"}}]}],
        });
        fs::write(folder.join("prometheus.yaml"), config.to_string())?;
        let port = std::net::TcpListener::bind("127.0.0.1:0")?.local_addr()?.port();
        let arguments = [
            format!("--config.file={}", folder.join("prometheus.yaml").display()),
            format!("--storage.tsdb.path={}", folder.join("data").display()),
            format!("--web.listen-address=127.0.0.1:{port}"),
        ];
        let process = Daemon::start(folder, "prometheus", program, &arguments)?;
        let config = Config::new(format!("http://127.0.0.1:{port}").parse()?);
        Ok(Self { client: Client::try_from(config)?, _process: process })
    }

    async fn get(&self, path: &str) -> Result<Value> {
        let answer: Value = self.client.request(http_get(path)).await?;
        ensure!(answer["status"] == "success", "{path}: {answer}");
        Ok(answer["data"].clone())
    }

    async fn ask(&self, query: &str) -> Result<Vec<Value>> {
        let mut encoded = String::new();
        for byte in query.bytes() {
            write!(encoded, "%{byte:02X}")?;
        }
        let data = self.get(&format!("/api/v1/query?query={encoded}")).await?;
        Ok(data["result"].as_array().cloned().unwrap_or_default())
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_prometheus_that_scraped_the_daemons_answers_every_query() -> Result<()> {
    let Some(program) = tool("monitoring", "prometheus")? else { return Ok(()) };
    let Some(assets) = assets("monitoring") else { return Ok(()) };
    let setup = Setup { nodes: "2xH100:8", operators: None, api_server_flags: &[] };
    let cluster = Cluster::start(&assets, setup).await?;
    let targets = [
        address(&cluster, &cluster.scheduler).await?,
        address(&cluster, &cluster.podgrouper).await?,
    ];
    cluster.kai_ok(&["queues", "create", "team", "--gpu-quota", "8", "--yes"])?;
    let submit = |name: &str, gpus: &str| {
        let words = ["submit", "job", name, "-q", "team", "--gpu", gpus, "--image", "i", "--force"];
        cluster.kai_ok(&[&words[..], &["--", "sleep", "60"]].concat())
    };
    submit("runs", "2")?;
    submit("waits", "9")?;
    let folder = tempfile::tempdir()?;
    let prometheus = Prometheus::start(&program, folder.path(), &targets)?;
    cluster
        .wait_until("two scrapes of both, and the books", async || {
            let up = prometheus.ask("count_over_time(up[1h]) >= 3 and up == 1").await;
            let books = prometheus.ask("kai_queue_allocated_gpus{queue_name=\"team\"} == 2").await;
            let bound = prometheus.ask("kai_task_bind_latency_milliseconds_count > 0").await;
            let seen = format!("{up:?} {books:?} {bound:?}");
            let is_done = up.is_ok_and(|up| up.len() == 2)
                && [books, bound].into_iter().all(|rows| rows.is_ok_and(|rows| !rows.is_empty()));
            Ok(if is_done { Ok(()) } else { Err(seen) })
        })
        .await?;
    every_rule_is_evaluated(&cluster, &prometheus).await?;
    every_query_is_answered(&prometheus).await
}

async fn every_rule_is_evaluated(cluster: &Cluster, prometheus: &Prometheus) -> Result<()> {
    let wanted = alerts()?.len();
    cluster
        .wait_until("rules", async || {
            let groups = prometheus.get("/api/v1/rules").await?;
            let groups = groups["groups"].as_array().cloned().unwrap_or_default();
            let rules = groups.iter().filter_map(|group| group["rules"].as_array()).flatten();
            let well = rules.clone().filter(|rule| rule["health"] == "ok").count();
            let bad = rules.clone().find(|rule| rule["health"] == "err");
            ensure!(bad.is_none(), "{bad:?}");
            Ok(if well == wanted { Ok(()) } else { Err(format!("{well} of {wanted}")) })
        })
        .await
}

/// Each query has an answer, and one that is not empty unless it is of trouble; each metric of KAI's has series.
async fn every_query_is_answered(prometheus: &Prometheus) -> Result<()> {
    let known = prometheus.get("/api/v1/label/__name__/values").await?;
    let known: BTreeSet<String> = serde_json::from_value(known)?;
    for name in OF_PROCESSES {
        let found = prometheus.ask(&format!("count by (instance) ({name})")).await?;
        ensure!(found.len() == 2, "{name}: {found:?}");
    }
    for name in OF_CONTROLLERS {
        ensure!(known.contains(name), "no series of {name}: {known:?}");
    }
    let (mut asked, mut empty) = (0, Vec::new());
    let of_dashboards = dashboards()?.into_iter().flat_map(|(_, dashboard)| queries(&dashboard));
    let of_alerts = alerts()?;
    let of_alerts = of_alerts.iter().filter_map(|alert| alert["expr"].as_str()).map(str::to_owned);
    for query in of_dashboards.chain(of_alerts) {
        for name in names(&query).filter(|name| !OF_TROUBLE.contains(name)) {
            ensure!(known.contains(name), "{query}: no series of {name}");
        }
        if prometheus.ask(&query).await?.is_empty() {
            empty.push(query);
        }
        asked += 1;
    }
    // Alerts are silent, and nothing was evicted, is above its quota, or lasts for a day.
    ensure!(
        asked > 30 && empty.len() * 2 < asked,
        "{asked} queries, without an answer: {empty:#?}"
    );
    Ok(())
}
