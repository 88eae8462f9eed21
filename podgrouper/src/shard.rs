//! Shards: a scheduler Deployment for every `SchedulingShard` (`docs/contract.md` 1.6, 1.8, 7.6). And what the Config's
//! status says of the installation.
//!
//! The Deployment of the default shard is the installer's. It is also the pattern of all others: image, resources,
//! security and whatever an administrator changed there hold for every shard, and follow it. What is made here is owned
//! by its shard, so that it goes with it.

mod args;
mod conditions;
mod config;
mod plan;
mod sharing;
mod variable;

use std::collections::HashSet;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use kai_api::names::CONFIG_NAME;
use kai_daemon::clock;
use kai_daemon::process::causes;
use kube::Client;
use kube::api::{Api, DynamicObject, Patch, PatchParams, PostParams};
use kube::core::{ApiResource, GroupVersionKind};
use serde_json::{Value, json};
use tokio::sync::Notify;
use tokio::time::{Instant, timeout};

use crate::cache::to_object;
use crate::follow::{Selection, Table, keep_table};
use crate::global;
use crate::meters::{Ended, Meters};
use crate::object::{Gvk, Object};

pub use args::{KNOWN_FLAGS, installed_args};
pub(crate) use plan::{Pools, View, plan};

/// API version of shards and Config.
const API_VERSION: &str = "kai.scheduler/v1";
/// Changes of so long go into one round.
const DEBOUNCE: Duration = Duration::from_millis(200);
/// Wait after a round in which a write failed.
const RETRY: Duration = Duration::from_secs(5);
/// All is looked at so often, also where nothing changes.
const ROUND: Duration = Duration::from_mins(5);

/// One write to an object that a shard needs.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Write {
    /// Create it.
    Create(Value),
    /// Replace it; the object carries the UID and resourceVersion that were looked at.
    Replace(Value),
}

/// Shards, the Config and Deployments, as the watches tell them.
#[derive(Debug, Default)]
struct Seen {
    shards: Table,
    configs: Table,
    deployments: Table,
    wake: Notify,
}

/// Namespace of schedulers, and how they tell their work.
#[derive(Debug, Clone)]
pub(crate) struct Place {
    /// Namespace of the Deployments.
    pub(crate) namespace: String,
    /// The schedulers' name, with which the names of their Deployments begin.
    pub(crate) scheduler: String,
    /// Labels of node pools and queues.
    pub(crate) pools: Pools,
}

/// Keeps a scheduler for every shard and the statuses of shards and Config; never ends.
pub(crate) async fn run(client: Client, place: Place, meters: Meters) {
    let seen = Seen::default();
    let of_namespace = Selection {
        namespace: Some(place.namespace.clone()),
        ..Selection::of("apps/v1", "Deployment")
    };
    let config = Selection {
        fields: format!("metadata.name={CONFIG_NAME}"),
        ..Selection::of(API_VERSION, "Config")
    };
    let controller = Controller { client: client.clone(), place, told: Mutex::default(), meters };
    tokio::join!(
        watch(client.clone(), Selection::of(API_VERSION, "SchedulingShard"), &seen, &seen.shards),
        watch(client.clone(), config, &seen, &seen.configs),
        watch(client, of_namespace, &seen, &seen.deployments),
        controller.run(&seen),
    );
}

async fn watch(client: Client, selection: Selection, seen: &Seen, table: &Table) {
    keep_table(client, selection, table, || seen.wake.notify_one()).await;
}

struct Controller {
    client: Client,
    place: Place,
    /// Failures already told, so that a missing right is said once.
    told: Mutex<HashSet<String>>,
    meters: Meters,
}

impl Controller {
    async fn run(&self, seen: &Seen) {
        loop {
            // Services are not watched: one that somebody deleted is made again in time.
            let _ = timeout(ROUND, seen.wake.notified()).await;
            tokio::time::sleep(DEBOUNCE).await;
            while !self.round(seen).await {
                tokio::time::sleep(RETRY).await;
            }
        }
    }

    /// Brings every shard up to date; whether all writes went through.
    async fn round(&self, seen: &Seen) -> bool {
        let copy = |table: &Table| table.lock().unwrap_or_else(PoisonError::into_inner).clone();
        let (shards, deployments) = (copy(&seen.shards), copy(&seen.deployments));
        let configs = copy(&seen.configs);
        let config = configs.values().next().map(AsRef::as_ref);
        let mut settings = sharing::flags(config);
        settings.extend(global::flags(config));
        let mut is_done = true;
        for shard in shards.values() {
            let since = Instant::now();
            let service = self.service_of(shard).await;
            let pattern = self.service_of_default().await;
            let (Ok(service), Ok(pattern)) = (service, pattern) else {
                is_done = false;
                self.ended("schedulingshard", false, since);
                continue;
            };
            let view = View {
                shards: &shards,
                deployments: &deployments,
                service: service.as_ref(),
                service_pattern: pattern.as_ref(),
                scheduler: &self.place.scheduler,
                pools: &self.place.pools,
                settings: &settings,
                now: clock::now(),
            };
            let plan = plan(shard, &view);
            let mut is_well = true;
            for write in plan.writes {
                is_well &= self.carry_out(write).await;
            }
            if let Some(rows) = plan.conditions {
                is_well &= self.write_conditions(shard, rows).await;
            }
            self.ended("schedulingshard", is_well, since);
            is_done &= is_well;
        }
        for config in configs.values() {
            let (now, since) = (clock::now(), Instant::now());
            let mut is_well = true;
            if let Some(rows) = config::plan(config, &deployments, &self.place.scheduler, now) {
                is_well = self.write_conditions(config, rows).await;
            }
            self.ended("config", is_well, since);
            is_done &= is_well;
        }
        is_done
    }

    fn ended(&self, controller: &str, is_well: bool, since: Instant) {
        let how = if is_well { Ended::Well } else { Ended::Badly };
        self.meters.ended(controller, how, since.elapsed());
    }

    async fn service_of(&self, shard: &Object) -> Result<Option<Object>, ()> {
        self.service(&format!("{}-{}", self.place.scheduler, shard.name())).await
    }

    async fn service_of_default(&self) -> Result<Option<Object>, ()> {
        self.service(&format!("{}-{}", self.place.scheduler, kai_api::names::DEFAULT_SHARD)).await
    }

    async fn service(&self, name: &str) -> Result<Option<Object>, ()> {
        let gvk = Gvk::new("v1", "Service");
        match self.api("v1", "Service").get_opt(name).await {
            Ok(found) => Ok(found.map(|found| to_object(&gvk, found))),
            Err(error) => {
                self.tell(&format!("failed to read Service {name}: {}", causes(&error)));
                Err(())
            }
        }
    }

    fn api(&self, api_version: &str, kind: &str) -> Api<DynamicObject> {
        let gvk = Gvk::new(api_version, kind);
        let gvk = GroupVersionKind::gvk(&gvk.group, &gvk.version, &gvk.kind);
        let resource = ApiResource::from_gvk(&gvk);
        Api::namespaced_with(self.client.clone(), &self.place.namespace, &resource)
    }

    async fn carry_out(&self, write: Write) -> bool {
        let (Write::Create(object) | Write::Replace(object)) = &write;
        let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
        let (kind, name) = (text(&object["kind"]), text(&object["metadata"]["name"]));
        let api = self.api(&text(&object["apiVersion"]), &kind);
        let params = PostParams::default();
        let body = match serde_json::from_value::<DynamicObject>(object.clone()) {
            Ok(body) => body,
            Err(error) => {
                self.tell(&format!("failed to write {kind} {name}: {error}"));
                return false;
            }
        };
        let written = match write {
            Write::Create(_) => api.create(&params, &body).await,
            Write::Replace(_) => api.replace(&name, &params, &body).await,
        };
        match written {
            Ok(_) => true,
            // Somebody was faster: the watch tells, and the next round looks again.
            Err(kube::Error::Api(status)) if status.code == 409 => true,
            Err(error) => {
                self.tell(&format!("failed to write {kind} {name}: {}", causes(&error)));
                false
            }
        }
    }

    async fn write_conditions(&self, object: &Object, rows: Value) -> bool {
        let Gvk { group, version, kind } = object.gvk();
        let gvk = GroupVersionKind::gvk(&group, &version, &kind);
        let api: Api<DynamicObject> =
            Api::all_with(self.client.clone(), &ApiResource::from_gvk(&gvk));
        let guard = json!({"uid": object.uid(), "resourceVersion": object.resource_version()});
        let body = json!({"metadata": guard, "status": {"conditions": rows}});
        let written =
            api.patch_status(object.name(), &PatchParams::default(), &Patch::Merge(&body)).await;
        match written {
            Ok(_) => true,
            Err(kube::Error::Api(status)) if matches!(status.code, 404 | 409) => true,
            Err(error) => {
                self.tell(&format!(
                    "failed to write the status of {kind} {}: {}",
                    object.name(),
                    causes(&error)
                ));
                false
            }
        }
    }

    /// Logs a failure, once.
    fn tell(&self, text: &str) {
        if self.told.lock().unwrap_or_else(PoisonError::into_inner).insert(text.to_owned()) {
            tracing::warn!("{text}; trying again");
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;
    use std::sync::atomic::{AtomicUsize, Ordering};

    use http::{Method, Request, Response};
    use kai_daemon::metrics::Register;
    use kube::client::Body;

    use super::*;

    fn controller(client: Client) -> Controller {
        let pools = Pools { node_pool_label: "pool".to_owned(), queue_label: "queue".to_owned() };
        let place = Place { namespace: "kai".to_owned(), scheduler: "kai".to_owned(), pools };
        let meters = Meters::new(&Register::default()).expect("names");
        Controller { client, place, told: Mutex::default(), meters }
    }

    /// Counts how often Services are asked for in two rounds and a half, where nothing is there and writes are answered with
    /// this code.
    async fn services_asked_for(code: u16) -> usize {
        let asked = Arc::new(AtomicUsize::new(0));
        let count = asked.clone();
        let server = tower::service_fn(move |request: Request<Body>| {
            if request.uri().path().contains("/services/") {
                count.fetch_add(1, Ordering::Relaxed);
            }
            let code = if *request.method() == Method::GET { 404 } else { code };
            let reason = if code == 404 { "NotFound" } else { "InternalError" };
            let refusal =
                json!({"kind": "Status", "status": "Failure", "reason": reason, "code": code});
            let refusal = Body::from(refusal.to_string().into_bytes());
            async move { Response::builder().status(code).body(refusal) }
        });
        let seen = Seen::default();
        let shard = Object::new(json!({"metadata": {"name": "s"}}));
        seen.shards.lock().expect("nobody panics with it").insert("s".to_owned(), Arc::new(shard));
        let controller = controller(Client::new(server, "default"));
        tokio::select! {
            () = controller.run(&seen) => {}
            () = tokio::time::sleep(2 * ROUND + ROUND / 2) => {}
        }
        asked.load(Ordering::Relaxed)
    }

    /// Nobody tells of a Service that was deleted.
    #[tokio::test(start_paused = true)]
    async fn services_are_looked_after_while_nothing_changes() {
        // Each round asks for that of the shard and for the pattern.
        assert_eq!(services_asked_for(404).await, 4);
    }

    #[tokio::test(start_paused = true)]
    async fn what_could_not_be_written_is_tried_again_after_seconds() {
        let asked = services_asked_for(500).await;
        assert!(asked > 100, "{asked} times");
    }

    /// All conditions are written as one list: those that somebody else wrote meanwhile would be lost.
    #[tokio::test]
    async fn conditions_are_written_on_the_version_that_was_read() {
        let sent = Arc::new(Mutex::new(Value::Null));
        let noted = sent.clone();
        let server = tower::service_fn(move |request: Request<Body>| {
            let noted = noted.clone();
            async move {
                let body = request.into_body().collect_bytes().await?;
                *noted.lock().expect("nobody panics with it") =
                    serde_json::from_slice(&body).expect("it is JSON");
                Ok::<_, kube::Error>(Response::new(Body::from(b"{\"metadata\": {}}".to_vec())))
            }
        });
        let shard = Object::new(json!({"apiVersion": API_VERSION, "kind": "SchedulingShard",
            "metadata": {"name": "s", "uid": "u", "resourceVersion": "7"}}));
        let controller = controller(Client::new(server, "default"));
        assert!(controller.write_conditions(&shard, json!([])).await);
        let guard = sent.lock().expect("nobody panics with it")["metadata"].clone();
        assert_eq!(guard, json!({"uid": "u", "resourceVersion": "7"}));
    }
}
