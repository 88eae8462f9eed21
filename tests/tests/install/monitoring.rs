//! `install --monitoring` on clusters with and without the kinds of Prometheus' operator.

use anyhow::{Result, ensure};
use http::Method;
use kai_sandbox::server::{Options, Server};
use kai_tests::command_line;
use kubectl_kai::Exit;
use serde_json::{Value, json};

use super::Objects;

const LINE: &str = "install apply -y --wait=false --monitoring";
const PLACES: [&str; 3] = [
    "/apis/monitoring.coreos.com/v1/namespaces/kai-scheduler/podmonitors/kai-scheduler",
    "/apis/monitoring.coreos.com/v1/namespaces/kai-scheduler/prometheusrules/kai-scheduler",
    "/api/v1/namespaces/kai-scheduler/configmaps/kai-dashboard-queues",
];

fn definition(kind: &str, plural: &str) -> Value {
    let schema = json!({"type": "object", "x-kubernetes-preserve-unknown-fields": true});
    json!({"apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition",
        "metadata": {"name": format!("{plural}.monitoring.coreos.com")},
        "spec": {"group": "monitoring.coreos.com", "scope": "Namespaced",
            "names": {"kind": kind, "plural": plural, "singular": kind.to_lowercase(), "listKind": format!("{kind}List")},
            "versions": [{"name": "v1", "served": true, "storage": true,
                "schema": {"openAPIV3Schema": schema}}]}})
}

#[tokio::test(flavor = "multi_thread")]
async fn monitoring_is_installed_where_its_kinds_are() -> Result<()> {
    let server = Server::start(Options::default()).await?;
    let run = async |line: &str| {
        let said = command_line::kai(server.client(), "default", line.split_whitespace()).await;
        (said.exit, said.data + &said.talk)
    };
    let objects = Objects { client: server.client() };
    let (exit, said) = run(LINE).await;
    ensure!(exit == Exit::NotFound && said.contains("Prometheus' operator"), "{said}");
    ensure!(
        objects.find("/api/v1/namespaces/kai-scheduler").await?.is_null(),
        "nothing is changed"
    );
    let definitions = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";
    for (kind, plural) in [("PodMonitor", "podmonitors"), ("PrometheusRule", "prometheusrules")] {
        objects.send(Method::POST, definitions, &definition(kind, plural)).await?;
    }
    let (exit, said) = run(LINE).await;
    ensure!(exit == Exit::Ok && said.contains("monitoring"), "{said}");
    for place in PLACES {
        ensure!(!objects.find(place).await?.is_null(), "{place} is made");
    }
    let (_, said) = run(LINE).await;
    ensure!(said.contains("Nothing to change"), "{said}");
    let (exit, said) = run("install remove -y").await;
    ensure!(exit == Exit::Ok, "{said}");
    for place in PLACES {
        ensure!(objects.find(place).await?.is_null(), "{place} is removed");
    }
    server.stop().await;
    Ok(())
}
