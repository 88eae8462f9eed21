//! The podgrouper under its own account on an embedded API server or a real one, with every request on a tape and
//! faults on request.
//!
//! With tokio's clock paused a minute of backoff takes no time, and what happens when is the same in every run.

mod log;
pub mod scene;
mod tape;

use std::{collections::BTreeMap, time::Duration};

use anyhow::{Context, Result, bail, ensure};
use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::CustomResourceDefinition;
use kai_api::names::component;
use kube::{
    Client, Resource,
    api::{Api, DeleteParams, DynamicObject, ListParams, Patch, PatchParams, PostParams},
    core::{ApiResource, GroupVersionKind},
    discovery::{Scope, pinned_kind},
};
use serde_json::Value;
use tokio::{
    task::JoinHandle,
    time::{Instant, sleep},
};
use tokio_util::sync::CancellationToken;

use crate::live::Place;
pub use log::Log;
pub use tape::{Call, Fault, Tape};

/// A cluster in which the podgrouper acts.
pub struct Stage {
    place: Place,
    client: Client,
    /// Requests of the podgrouper to the API server.
    pub tape: Tape,
    flags: Vec<String>,
    running: Option<Running>,
    /// UIDs of what was created, by `Kind/name`.
    uids: BTreeMap<String, String>,
    /// Objects that were created, in order.
    created: Vec<Value>,
}

impl std::fmt::Debug for Stage {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        out.debug_struct("Stage").field("place", &self.place).finish_non_exhaustive()
    }
}

/// Time that what was created may take to go.
const GO_MAX: Duration = Duration::from_mins(1);

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
    /// An embedded API server with CRDs, roles and queues, for a podgrouper with `flags` more.
    ///
    /// # Errors
    ///
    /// When the installation fails.
    pub async fn start(flags: &[String]) -> Result<Self> {
        Self::at(Place::embedded().await?, flags).await
    }

    /// The same at an API server that is there already.
    ///
    /// # Errors
    ///
    /// When it cannot be reached.
    pub async fn at(place: Place, flags: &[String]) -> Result<Self> {
        Ok(Self {
            client: place.admin().await?,
            place,
            tape: Tape::default(),
            flags: flags.to_vec(),
            running: None,
            uids: BTreeMap::new(),
            created: Vec::new(),
        })
    }

    /// Tells whether the API server is a real one, with a clock that nobody stops.
    pub fn is_real(&self) -> bool {
        matches!(self.place, Place::Real(_))
    }

    /// An administrator's client, whose requests are on no tape.
    pub fn client(&self) -> Client {
        self.client.clone()
    }

    /// An administrator's kubeconfig.
    ///
    /// # Errors
    ///
    /// When that of a real API server cannot be read.
    pub fn kubeconfig(&self) -> Result<String> {
        match &self.place {
            Place::Embedded(server) => Ok(server.kubeconfig()),
            Place::Real(plane) => Ok(std::fs::read_to_string(plane.kubeconfig())?),
        }
    }

    /// Starts the podgrouper.
    ///
    /// # Errors
    ///
    /// When its flags are refused.
    pub async fn start_podgrouper(&mut self) -> Result<()> {
        let fixed = [
            "kai-podgrouper",
            "--metrics-bind-address=0",
            "--health-probe-bind-address=0",
            "--namespace=kai-scheduler",
        ];
        let words = fixed.iter().map(|word| (*word).to_owned()).chain(self.flags.iter().cloned());
        let args = kai_podgrouper::Args::try_from_words(words)?;
        let client = self.tape.record(self.place.account(component::PODGROUPER).await?);
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

    /// Tells whether the podgrouper still runs.
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
    /// When the kind is not served within a minute.
    pub async fn api(&self, object: &Value) -> Result<Api<DynamicObject>> {
        let (resource, namespace) = self.kind(object).await?;
        Ok(self.api_of(&resource, namespace.as_deref()))
    }

    fn api_of(&self, resource: &ApiResource, namespace: Option<&str>) -> Api<DynamicObject> {
        match namespace {
            Some(namespace) => Api::namespaced_with(self.client(), namespace, resource),
            None => Api::all_with(self.client(), resource),
        }
    }

    /// The kind of an object, and its namespace where the kind has any. What was just defined is waited for.
    async fn kind(&self, object: &Value) -> Result<(ApiResource, Option<String>)> {
        let end = Instant::now() + GO_MAX;
        loop {
            match self.served_kind(object).await {
                Err(_) if Instant::now() < end => sleep(Duration::from_millis(100)).await,
                served => return served,
            }
        }
    }

    /// The same, where it is served now.
    async fn served_kind(&self, object: &Value) -> Result<(ApiResource, Option<String>)> {
        let (api_version, kind) = (text(object, "apiVersion"), text(object, "kind"));
        let (group, version) = api_version.rsplit_once('/').unwrap_or(("", api_version));
        let gvk = GroupVersionKind::gvk(group, version, kind);
        let (resource, capabilities) = pinned_kind(&self.client(), &gvk).await?;
        let namespace = object["metadata"]["namespace"].as_str().unwrap_or("default");
        let is_namespaced = matches!(capabilities.scope, Scope::Namespaced);
        Ok((resource, is_namespaced.then(|| namespace.to_owned())))
    }

    /// Creates an object, with its status where it has one. A field that its kind does not have is refused.
    ///
    /// # Errors
    ///
    /// When the API server refuses it.
    pub async fn create(&mut self, object: &Value) -> Result<()> {
        let object = self.resolve(object)?;
        let (kind, name) = (text(&object, "kind"), text(&object["metadata"], "name"));
        let (resource, namespace) = self.kind(&object).await?;
        let path = DynamicObject::url_path(&resource, namespace.as_deref());
        let request = http::Request::post(format!("{path}?fieldValidation=Strict"))
            .header("content-type", "application/json")
            .body(serde_json::to_vec(&object)?)?;
        let created = self.client.request::<Value>(request).await;
        let created = created.with_context(|| format!("failed to create {kind} {name}"))?;
        if !object["status"].is_null() {
            let status = Patch::Merge(serde_json::json!({"status": object["status"]}));
            let api = self.api(&object).await?;
            api.patch_status(name, &PatchParams::default(), &status).await?;
        }
        let uid = text(&created["metadata"], "uid").to_owned();
        self.uids.insert(format!("{kind}/{name}"), uid);
        self.created.push(object);
        Ok(())
    }

    /// Installs one of the product's own definitions, by its name, and waits until it is served.
    ///
    /// # Errors
    ///
    /// When there is none of this name, or it is refused.
    pub async fn define(&self, name: &str) -> Result<()> {
        let all = kai_api::crd::all();
        let definition = all.iter().find(|row| row.metadata.name.as_deref() == Some(name));
        let definition = definition.with_context(|| format!("no definition {name}"))?;
        self.install(definition).await
    }

    /// Creates a definition and waits until its kind is served.
    ///
    /// # Errors
    ///
    /// When it is refused, or not served within a minute.
    pub async fn install(&self, definition: &CustomResourceDefinition) -> Result<()> {
        let api: Api<CustomResourceDefinition> = Api::all(self.client());
        let name = definition.metadata.name.as_deref().unwrap_or_default();
        api.create(&PostParams::default(), definition).await.context(name.to_owned())?;
        let end = Instant::now() + GO_MAX;
        loop {
            let live = api.get(name).await?;
            let conditions = live.status.and_then(|status| status.conditions).unwrap_or_default();
            let is_established =
                conditions.iter().any(|row| row.type_ == "Established" && row.status == "True");
            if is_established && self.is_served(definition).await {
                return Ok(());
            }
            ensure!(Instant::now() < end, "{name} is not served: {conditions:?}");
            sleep(Duration::from_millis(50)).await;
        }
    }

    /// Deletes a definition and waits until its kind is no longer served.
    ///
    /// # Errors
    ///
    /// When there is none of this name, or its kind is still served after a minute.
    pub async fn undefine(&self, name: &str) -> Result<()> {
        let api: Api<CustomResourceDefinition> = Api::all(self.client());
        let definition = api.get(name).await?;
        api.delete(name, &DeleteParams::default()).await?;
        let end = Instant::now() + GO_MAX;
        while api.get_opt(name).await?.is_some() || self.is_served(&definition).await {
            ensure!(Instant::now() < end, "{name} does not go");
            sleep(Duration::from_millis(50)).await;
        }
        Ok(())
    }

    async fn is_served(&self, definition: &CustomResourceDefinition) -> bool {
        let spec = &definition.spec;
        let mut served = spec.versions.iter().filter(|version| version.served);
        let Some(version) = served.next() else { return false };
        self.list(&format!("{}/{}", spec.group, version.name), &spec.names.kind).await.is_ok()
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
        self.end_podgrouper().await?;
        self.place.stop().await;
        Ok(())
    }

    /// Stops the podgrouper and takes away what was created; the API server stays.
    ///
    /// # Errors
    ///
    /// When the podgrouper had ended by itself, or something does not go.
    pub async fn leave(mut self) -> Result<Place> {
        let ended = self.end_podgrouper().await;
        for object in self.created.iter().rev() {
            // A kind that went takes its objects along.
            let Ok((kind, namespace)) = self.served_kind(object).await else { continue };
            let api = self.api_of(&kind, namespace.as_deref());
            let name = text(&object["metadata"], "name");
            // What is gone already is as wanted.
            let _ = api.delete(name, &DeleteParams::background().grace_period(0)).await;
            let end = Instant::now() + GO_MAX;
            while api.get_opt(name).await?.is_some() {
                ensure!(Instant::now() < end, "{} {name} does not go", text(object, "kind"));
                sleep(Duration::from_millis(50)).await;
            }
        }
        // What a scene took away that was not its own.
        let definitions: Api<CustomResourceDefinition> = Api::all(self.client());
        for definition in kai_api::crd::all() {
            let name = definition.metadata.name.as_deref().unwrap_or_default();
            if definitions.get_opt(name).await?.is_none() {
                self.install(&definition).await?;
            }
        }
        self.place.clear().await?;
        ended.map(|()| self.place)
    }

    async fn end_podgrouper(&mut self) -> Result<()> {
        if let Some(mut running) = self.running.take() {
            if running.task.is_finished() {
                bail!("the podgrouper ended by itself: {:?}", (&mut running.task).await);
            }
            running.stop.cancel();
            (&mut running.task).await??;
        }
        Ok(())
    }
}

fn text<'a>(value: &'a Value, key: &str) -> &'a str {
    value[key].as_str().unwrap_or_default()
}
