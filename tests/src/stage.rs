//! The podgrouper on an embedded API server under its own account, with every request on a tape and faults on request.
//!
//! With tokio's clock paused a minute of backoff takes no time, and what happens when is the same in every run.

pub mod scene;
mod tape;

use std::collections::BTreeMap;

use anyhow::{Context, Result, anyhow, bail};
use kai_api::names::{component, namespace};
use kai_sandbox::server::{Options, Server};
use kube::{
    Client,
    api::{Api, DynamicObject, ListParams, Patch, PatchParams, PostParams},
    core::{ApiResource, GroupVersionKind},
    discovery::{Scope, pinned_kind},
};
use kubectl_kai::install;
use serde_json::Value;
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;

pub use tape::{Call, Fault, Tape};

/// A cluster in which the podgrouper acts.
#[derive(Debug)]
pub struct Stage {
    server: Server,
    /// What the podgrouper asked of the API server.
    pub tape: Tape,
    flags: Vec<String>,
    running: Option<Running>,
    /// UIDs of what was created, by `Kind/name`.
    uids: BTreeMap<String, String>,
}

#[derive(Debug)]
struct Running {
    stop: CancellationToken,
    task: JoinHandle<Result<(), kai_podgrouper::Error>>,
}

impl Drop for Running {
    fn drop(&mut self) {
        self.stop.cancel();
        self.task.abort();
    }
}

impl Stage {
    /// Starts the API server, installs CRDs, roles and queues, and starts the podgrouper with `flags` more.
    ///
    /// # Errors
    ///
    /// When the installation fails or the flags are refused.
    pub async fn start(flags: &[String]) -> Result<Self> {
        let stage = Self::empty(flags).await?;
        let options = install::Options { wait: false, ..install::Options::without_daemons() };
        install::apply(stage.server.client(), &options, &mut |_| {})
            .await
            .map_err(|error| anyhow!("{error:?}"))?;
        Ok(stage)
    }

    async fn empty(flags: &[String]) -> Result<Self> {
        let server = Server::start(Options::default()).await?;
        Ok(Self {
            server,
            tape: Tape::default(),
            flags: flags.to_vec(),
            running: None,
            uids: BTreeMap::new(),
        })
    }

    /// An administrator's client, whose requests are on no tape.
    pub fn client(&self) -> Client {
        self.server.client()
    }

    /// An administrator's kubeconfig.
    pub fn kubeconfig(&self) -> String {
        self.server.kubeconfig()
    }

    /// Starts the podgrouper.
    ///
    /// # Errors
    ///
    /// When its flags are refused.
    pub fn start_podgrouper(&mut self) -> Result<()> {
        let fixed = [
            "kai-podgrouper",
            "--metrics-bind-address=0",
            "--health-probe-bind-address=0",
            "--namespace=kai-scheduler",
        ];
        let words = fixed.iter().map(|word| (*word).to_owned()).chain(self.flags.iter().cloned());
        let args = kai_podgrouper::Args::try_from_words(words)?;
        let user = format!("system:serviceaccount:{}:{}", namespace::SYSTEM, component::PODGROUPER);
        let own = format!("system:serviceaccounts:{}", namespace::SYSTEM);
        let groups = ["system:serviceaccounts", &own, "system:authenticated"];
        let client = self.tape.record(self.server.client_as(&user, &groups));
        let stop = CancellationToken::new();
        let task = tokio::spawn(kai_podgrouper::run(args, client, stop.clone()));
        self.running = Some(Running { stop, task });
        Ok(())
    }

    /// Stops the podgrouper as SIGTERM does.
    pub async fn stop_podgrouper(&mut self) {
        if let Some(mut running) = self.running.take() {
            running.stop.cancel();
            // How it ended is told by what it left behind.
            let _ = (&mut running.task).await;
        }
    }

    /// Stops the podgrouper in the middle of whatever it does, as kill -9 does.
    pub async fn kill_podgrouper(&mut self) {
        if let Some(mut running) = self.running.take() {
            running.task.abort();
            let _ = (&mut running.task).await;
        }
    }

    /// Whether the podgrouper still runs.
    pub fn is_running(&self) -> bool {
        self.running.as_ref().is_some_and(|running| !running.task.is_finished())
    }

    /// Replaces `$(Kind/name)` by the UID of that object, wherever it stands.
    ///
    /// # Errors
    ///
    /// When no such object was created.
    pub fn resolve(&self, value: &Value) -> Result<Value> {
        let mut text = value.to_string();
        while let Some(start) = text.find("$(") {
            let end = text[start..].find(')').context("$( without )")? + start;
            let name = &text[start + 2..end];
            let uid = self.uids.get(name).with_context(|| format!("nothing created as {name}"))?;
            text.replace_range(start..=end, uid);
        }
        Ok(serde_json::from_str(&text)?)
    }

    /// An interface to the objects of a kind, in the namespace that `object` names.
    ///
    /// # Errors
    ///
    /// When the kind is not served.
    pub async fn api(&self, object: &Value) -> Result<Api<DynamicObject>> {
        let (api_version, kind) = (text(object, "apiVersion"), text(object, "kind"));
        let (group, version) = api_version.rsplit_once('/').unwrap_or(("", api_version));
        let gvk = GroupVersionKind::gvk(group, version, kind);
        let (resource, capabilities) = pinned_kind(&self.client(), &gvk).await?;
        Ok(match capabilities.scope {
            Scope::Namespaced => {
                let namespace = object["metadata"]["namespace"].as_str().unwrap_or("default");
                Api::namespaced_with(self.client(), namespace, &resource)
            }
            Scope::Cluster => Api::all_with(self.client(), &resource),
        })
    }

    /// Creates an object, with its status where it has one.
    ///
    /// # Errors
    ///
    /// When the API server refuses it.
    pub async fn create(&mut self, object: &Value) -> Result<()> {
        let object = self.resolve(object)?;
        let (kind, name) = (text(&object, "kind"), text(&object["metadata"], "name"));
        let api = self.api(&object).await?;
        let body = serde_json::from_value(object.clone())?;
        let created = api.create(&PostParams::default(), &body).await;
        let created = created.with_context(|| format!("failed to create {kind} {name}"))?;
        if !object["status"].is_null() {
            let status = Patch::Merge(serde_json::json!({"status": object["status"]}));
            api.patch_status(name, &PatchParams::default(), &status).await?;
        }
        let uid = created.metadata.uid.context("a created object has a UID")?;
        self.uids.insert(format!("{kind}/{name}"), uid);
        Ok(())
    }

    /// All objects of a built-in or installed kind as JSON.
    ///
    /// # Errors
    ///
    /// When the list fails.
    pub async fn list(&self, api_version: &str, kind: &str) -> Result<Vec<Value>> {
        let (group, version) = api_version.rsplit_once('/').unwrap_or(("", api_version));
        let resource = ApiResource::from_gvk(&GroupVersionKind::gvk(group, version, kind));
        let api: Api<DynamicObject> = Api::all_with(self.client(), &resource);
        let list = api.list(&ListParams::default()).await?;
        list.items.into_iter().map(|item| Ok(serde_json::to_value(item)?)).collect()
    }

    /// Stops everything.
    ///
    /// # Errors
    ///
    /// When the podgrouper had ended by itself.
    pub async fn end(mut self) -> Result<()> {
        if let Some(mut running) = self.running.take() {
            if running.task.is_finished() {
                bail!("the podgrouper ended by itself: {:?}", (&mut running.task).await);
            }
            running.stop.cancel();
            (&mut running.task).await??;
        }
        self.server.stop().await;
        Ok(())
    }
}

fn text<'a>(value: &'a Value, key: &str) -> &'a str {
    value[key].as_str().unwrap_or_default()
}
