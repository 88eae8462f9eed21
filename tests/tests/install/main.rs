//! `kubectl kai install` on a real API server: what it takes over, what it leaves, what it waits for.

#![expect(clippy::panic_in_result_fn, reason = "a test asserts, and hands on what it cannot do")]

mod adopt;
mod drill;
mod flow_control;
mod interrupted;
mod leader;
mod life;
mod monitoring;
mod remove;
mod switched;

use std::{path::Path, process::Output, time::Duration};

use anyhow::{Context, Result, bail};
use http::Method;
use kai_tests::{
    cluster::processes::run_cli,
    control_plane::{ControlPlane, assets},
    stage::scene::documents,
};
use kube::{
    Client, Resource as _,
    core::{DynamicObject, GroupVersionKind, TypeMeta},
    discovery::{Scope, pinned_kind},
};
use serde_json::Value;
use tokio::time::{Instant, sleep};

const SUITE: &str = "install";
/// Time that the cluster may take to do what a test waits for.
const TIMEOUT: Duration = Duration::from_mins(1);

/// Deployments.
const DEPLOYMENTS: &str = "/apis/apps/v1/namespaces/kai-scheduler/deployments";
/// Namespaces.
const NAMESPACES: &str = "/api/v1/namespaces";

/// A control plane and the command line before it.
struct Bench {
    plane: ControlPlane,
    client: Client,
    objects: Objects,
}

/// Output of a command.
struct Said {
    code: Option<i32>,
    data: String,
    talk: String,
}

impl From<Output> for Said {
    fn from(output: Output) -> Self {
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        Self { code: output.status.code(), data: text(&output.stdout), talk: text(&output.stderr) }
    }
}

impl Said {
    /// Checks the exit code and that each part was said.
    #[track_caller]
    fn expect(self, code: i32, parts: &[&str]) -> Self {
        assert_eq!(self.code, Some(code), "{}{}", self.data, self.talk);
        // Names go on in the next line where a line is full.
        let all = format!("{}\n{}", self.data, self.talk);
        for part in parts {
            assert!(all.contains(part), "{part:?} is not said:\n{all}");
        }
        self
    }
}

impl Bench {
    async fn start() -> Result<Option<Self>> {
        let Some(assets) = assets(SUITE) else { return Ok(None) };
        let plane = ControlPlane::start(&assets, &[]).await?;
        let client = plane.client().await?;
        let objects = Objects { client: client.clone() };
        Ok(Some(Self { plane, client, objects }))
    }

    /// Runs `kubectl kai` with these words.
    fn kai(&self, line: &str) -> Result<Said> {
        let words: Vec<&str> = line.split_whitespace().collect();
        Ok(run_cli(&self.plane.kubeconfig(), &words)?.into())
    }

    async fn apply(&self, file: &str) -> Result<()> {
        self.objects.apply(file).await
    }

    async fn send(&self, method: Method, path: &str, body: &Value) -> Result<Value> {
        self.objects.send(method, path, body).await
    }

    async fn find(&self, path: &str) -> Result<Value> {
        self.objects.find(path).await
    }

    async fn names(&self, path: &str) -> Result<Vec<String>> {
        self.objects.names(path).await
    }

    /// Waits until nothing is at a path.
    async fn wait_until_gone(&self, path: &str) -> Result<()> {
        let end = Instant::now() + TIMEOUT;
        while !self.find(path).await?.is_null() {
            if Instant::now() > end {
                bail!("{path} is still there");
            }
            sleep(Duration::from_millis(100)).await;
        }
        Ok(())
    }
}

/// Holds the way to what an API server has.
struct Objects {
    client: Client,
}

impl Objects {
    /// Applies the objects of a file, each by the field manager that its annotation `test/manager` names.
    async fn apply(&self, file: &str) -> Result<()> {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/install");
        self.apply_all(documents(&folder.join(file))?).await
    }

    /// Applies objects, each by the field manager that its annotation `test/manager` names; `UID-OF-name` in one is the
    /// UID of the object of that name before it.
    async fn apply_all(&self, objects: Vec<Value>) -> Result<()> {
        let config = self.find("/apis/kai.scheduler/v1/configs/kai-config").await?;
        let mut uid = config["metadata"]["uid"].as_str().unwrap_or_default().to_owned();
        let mut uids = Vec::new();
        for object in objects {
            let text = object.to_string().replace("UID-OF-CONFIG", &uid);
            let known = |text: String, (name, uid): &(String, String)| text.replace(name, uid);
            let text = uids.iter().fold(text, known);
            let mut object: Value = serde_json::from_str(&text)?;
            let annotations = object["metadata"]["annotations"].as_object_mut();
            let manager = annotations.and_then(|table| table.remove("test/manager"));
            let manager = manager.as_ref().and_then(Value::as_str).unwrap_or("operator");
            let path = self.path_of(&object).await?;
            let path = format!("{path}?fieldManager={manager}&force=true");
            let made = self.send(Method::PATCH, &path, &object).await?;
            let text = |field: &str| made["metadata"][field].as_str().unwrap_or_default();
            uids.push((format!("UID-OF-{}\"", text("name")), format!("{}\"", text("uid"))));
            if made["kind"] == "Config" {
                made["metadata"]["uid"].as_str().unwrap_or_default().clone_into(&mut uid);
            }
        }
        Ok(())
    }

    /// The path of an object, by what the API server says of its kind.
    async fn path_of(&self, object: &Value) -> Result<String> {
        let types: TypeMeta = serde_json::from_value(object.clone())?;
        let kind = GroupVersionKind::try_from(types)?;
        let (resource, capabilities) = pinned_kind(&self.client, &kind).await?;
        let of = object["metadata"]["namespace"].as_str().unwrap_or("default");
        let of = (capabilities.scope == Scope::Namespaced).then_some(of);
        let name = object["metadata"]["name"].as_str().context("it has a name")?;
        Ok(format!("{}/{name}", DynamicObject::url_path(&resource, of)))
    }

    async fn send(&self, method: Method, path: &str, body: &Value) -> Result<Value> {
        let kind = if method == Method::PATCH && path.contains("fieldManager") {
            "application/apply-patch+yaml"
        } else if method == Method::PATCH {
            "application/merge-patch+json"
        } else {
            "application/json"
        };
        let text = if body.is_null() { Vec::new() } else { body.to_string().into_bytes() };
        let request = http::Request::builder().method(method).uri(path);
        let request = request.header(http::header::CONTENT_TYPE, kind).body(text)?;
        self.client.request(request).await.with_context(|| path.to_owned())
    }

    /// Reads what is at a path; `Null` where nothing is.
    async fn find(&self, path: &str) -> Result<Value> {
        match self.client.request(kai_tests::control_plane::http_get(path)).await {
            Ok(found) => Ok(found),
            Err(kube::Error::Api(status)) if status.code == 404 => Ok(Value::Null),
            Err(error) => Err(error).with_context(|| path.to_owned()),
        }
    }

    /// The names of a list.
    async fn names(&self, path: &str) -> Result<Vec<String>> {
        let list = self.find(path).await?;
        let items = list["items"].as_array().map(Vec::as_slice).unwrap_or_default();
        let name = |object: &Value| object["metadata"]["name"].as_str().map(str::to_owned);
        Ok(items.iter().filter_map(name).collect())
    }
}
