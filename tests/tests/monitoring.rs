//! Queries of `deploy/monitoring`: they are of metrics that the daemons have, in `PromQL` that promtool reads, and alerts fire
//! where they should.

#![expect(clippy::panic_in_result_fn, reason = "a test asserts, and hands on what it cannot do")]

use std::{
    collections::BTreeSet,
    fs,
    path::{Path, PathBuf},
    process::Command,
};

use anyhow::{Context as _, Result, ensure};
use kai_tests::{control_plane::tool, stage::scene::documents};
use serde_json::{Value, json};

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
