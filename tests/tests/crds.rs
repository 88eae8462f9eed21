//! Our definitions and KAI's judge objects alike, on real API servers: one with ours, one with theirs.
//!
//! A file is an idea: one document is created; of two, the first is created and the second is written over it, its
//! status where it has one. The verdicts with their texts, and the objects with their defaults, must be equal.

#![expect(clippy::panic_in_result_fn, reason = "a test asserts, and hands on what it cannot do")]

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::LazyLock;
use std::time::Duration;

use anyhow::{Context as _, Result, ensure};
use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::CustomResourceDefinition;
use kai_tests::control_plane::{ControlPlane, assets, http_get};
use kube::api::{Api, PostParams};
use kube::{Client, ResourceExt as _};
use serde_json::{Value, json};

/// Made once: a definition is made anew, schema and all, each time it is asked for.
static OURS: LazyLock<Vec<CustomResourceDefinition>> = LazyLock::new(kai_api::crd::all);

fn api_tests() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../api/tests")
}

fn of_kai() -> Result<Vec<CustomResourceDefinition>> {
    let mut definitions = Vec::new();
    for entry in fs::read_dir(api_tests().join("kai-v0.17"))? {
        let path = entry?.path();
        if path.extension().is_some_and(|extension| extension == "json") {
            let text = fs::read_to_string(&path)?;
            definitions
                .push(serde_json::from_str(&text).with_context(|| path.display().to_string())?);
        }
    }
    Ok(definitions)
}

/// Creates definitions and waits until all are served.
async fn define(client: &Client, definitions: &[CustomResourceDefinition]) -> Result<()> {
    let api: Api<CustomResourceDefinition> = Api::all(client.clone());
    for definition in definitions {
        api.create(&PostParams::default(), definition).await?;
    }
    for definition in definitions {
        let name = definition.name_any();
        let mut is_established = false;
        for _ in 0..600 {
            let live = api.get(&name).await?;
            let conditions = live.status.and_then(|status| status.conditions).unwrap_or_default();
            is_established = conditions
                .iter()
                .any(|found| found.type_ == "Established" && found.status == "True");
            if is_established {
                break;
            }
            tokio::time::sleep(Duration::from_millis(100)).await;
        }
        ensure!(is_established, "{name} is not established");
    }
    Ok(())
}

/// Gives the path at which the API has an object of one of our kinds: its collection.
fn collection(object: &Value) -> Result<String> {
    let kind = object["kind"].as_str().unwrap_or_default();
    let definition = OURS
        .iter()
        .find(|definition| definition.spec.names.kind == kind)
        .context("a kind of ours")?;
    let api_version = object["apiVersion"].as_str().context("an apiVersion")?;
    let namespace = match object["metadata"]["namespace"].as_str() {
        Some(namespace) => format!("/namespaces/{namespace}"),
        None => String::new(),
    };
    Ok(format!("/apis/{api_version}{namespace}/{}", definition.spec.names.plural))
}

/// Answer of the server: its refusal, or what it made of the object.
#[derive(Debug, PartialEq)]
enum Verdict {
    Accepted { spec: Value, status: Value },
    Refused { code: u16, message: String },
}

async fn write(client: &Client, method: &str, path: &str, object: &Value) -> Result<Verdict> {
    let request = http::Request::builder()
        .method(method)
        .uri(path)
        .header("content-type", "application/json")
        .body(serde_json::to_vec(object)?)?;
    match client.request::<Value>(request).await {
        Ok(made) => {
            Ok(Verdict::Accepted { spec: made["spec"].clone(), status: made["status"].clone() })
        }
        Err(kube::Error::Api(status)) => {
            Ok(Verdict::Refused { code: status.code, message: status.message.clone() })
        }
        Err(error) => Err(error.into()),
    }
}

async fn judge(client: &Client, documents: &[Value]) -> Result<Verdict> {
    let first = documents.first().context("a document")?;
    let path = collection(first)?;
    let Some(second) = documents.get(1) else {
        return write(client, "POST", &format!("{path}?dryRun=All"), first).await;
    };
    let made = write(client, "POST", &path, first).await?;
    ensure!(matches!(made, Verdict::Accepted { .. }), "the first document is refused: {made:?}");
    let mut path = format!("{path}/{}", first["metadata"]["name"].as_str().context("a name")?);
    let live: Value = client.request(http_get(&path)).await?;
    let mut second = second.clone();
    second["metadata"]["resourceVersion"] = live["metadata"]["resourceVersion"].clone();
    if second.get("status").is_some() {
        path += "/status";
    }
    write(client, "PUT", &format!("{path}?dryRun=All"), &second).await
}

/// The resources that KAI v0.17 does not define, and that a user of it therefore can't miss.
const OURS_ALONE: [&str; 1] = ["dailyrecords"];

/// Reads what discovery and tables show of the kinds, sorted by name: the server lists them in no order.
async fn shown(client: &Client) -> Result<Value> {
    let mut shown = Vec::new();
    for path in [
        "/apis/scheduling.run.ai/v2",
        "/apis/scheduling.run.ai/v2alpha2",
        "/apis/scheduling.run.ai/v1alpha2",
        "/apis/kai.scheduler/v1",
        "/apis/kai.scheduler/v1alpha1",
    ] {
        let resources: Value = client.request(http_get(path)).await.context(path)?;
        for resource in resources["resources"].as_array().context("resources")? {
            let name = resource["name"].as_str().context("a name")?;
            let columns = if name.contains('/') {
                Value::Null
            } else {
                let request = http::Request::get(format!("{path}/{name}"))
                    .header("accept", "application/json;as=Table;v=v1;g=meta.k8s.io")
                    .body(Vec::new())?;
                let table: Value = client.request(request).await?;
                table["columnDefinitions"].clone()
            };
            shown.push(json!({ "path": path, "resource": resource, "columns": columns }));
        }
    }
    shown.sort_by_key(|found| found["resource"]["name"].to_string() + &found["path"].to_string());
    Ok(Value::Array(shown))
}

/// Waits until both servers show the same: a server says that a definition is established before its discovery and
/// its tables follow. What still differs after half a minute is a difference.
async fn same_shown(a: &Client, b: &Client) -> Result<()> {
    for _ in 0..60 {
        // Not to be found is one of the states on the way.
        if let (Ok(ours), Ok(theirs)) = (shown(a).await, shown(b).await)
            && without_ours_alone(&ours) == theirs
        {
            return Ok(());
        }
        tokio::time::sleep(Duration::from_millis(500)).await;
    }
    let ours = without_ours_alone(&shown(a).await?);
    assert_eq!(ours, shown(b).await?, "discovery and columns: ours is left");
    Ok(())
}

/// Leaves out what only we define; each of these must be there, so that the list above can't go stale.
fn without_ours_alone(shown: &Value) -> Value {
    let resources = shown.as_array().into_iter().flatten();
    let (alone, both): (Vec<_>, Vec<_>) = resources.cloned().partition(|found| {
        OURS_ALONE.iter().any(|name| found["resource"]["name"].as_str() == Some(name))
    });
    if alone.len() == OURS_ALONE.len() { Value::Array(both) } else { shown.clone() }
}

#[tokio::test(flavor = "multi_thread")]
async fn ours_and_kais_definitions_judge_alike() -> Result<()> {
    let Some(assets) = assets("definitions") else { return Ok(()) };
    let (ours, theirs) =
        (ControlPlane::start(&assets, &[]).await?, ControlPlane::start(&assets, &[]).await?);
    let (ours, theirs) = ((ours.client().await?, ours), (theirs.client().await?, theirs));
    let (a, b) = (&ours.0, &theirs.0);
    define(a, &OURS).await?;
    define(b, &of_kai()?).await?;
    same_shown(a, b).await?;
    let (mut judged, mut wrong) = (0, Vec::new());
    for verdict in ["accept", "reject"] {
        for entry in fs::read_dir(api_tests().join("objects").join(verdict))? {
            let path = entry?.path();
            let text = fs::read_to_string(&path)?;
            let documents: Vec<Value> =
                serde_saphyr::from_multiple(&text).with_context(|| path.display().to_string())?;
            let ours = judge(a, &documents).await.with_context(|| path.display().to_string())?;
            let theirs = judge(b, &documents).await.with_context(|| path.display().to_string())?;
            if ours != theirs {
                wrong.push(format!("{}: ours {ours:?}, theirs {theirs:?}", path.display()));
            } else if matches!(ours, Verdict::Accepted { .. }) != (verdict == "accept") {
                wrong.push(format!("{}: both {ours:?}", path.display()));
            }
            judged += 1;
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert!(judged > 40, "only {judged} objects were found");
    Ok(())
}
