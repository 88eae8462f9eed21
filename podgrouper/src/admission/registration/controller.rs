//! Keeps the registrations as they should be, in the replica that leads.

use std::collections::{BTreeMap, HashSet};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use k8s_openapi::api::authorization::v1::SelfSubjectAccessReview;
use k8s_openapi::api::core::v1::Namespace;
use kai_api::names::component;
use kube::Client;
use kube::api::{Api, DeleteParams, DynamicObject, PostParams, Preconditions};
use kube::core::{ApiResource, GroupVersionKind};
use serde_json::{Value, json};
use tokio::sync::{Notify, watch};

use super::{API_VERSION, MUTATING, Place, VALIDATING, Way, Write, plan, wanted};
use crate::admission::certificate::Material;
use crate::admission::reason;
use crate::admission::settings::Settings;
use crate::follow::{Change, Listing, Selection, follow};
use crate::object::{Gvk, Object};
use crate::slim::AnyShape;

/// Changes of so long go into one round. It also bounds how often two who disagree write.
const DEBOUNCE: Duration = Duration::from_secs(1);
/// Wait after a round in which a write failed.
const RETRY: Duration = Duration::from_secs(5);
/// Time that Services take until they forward to a pod that is ready: two of its readiness probes.
const FORWARDED_AFTER: Duration = Duration::from_secs(10);

/// Keeps the registrations; whoever runs it leads.
pub(crate) struct Registrar {
    pub(crate) client: Client,
    pub(crate) namespace: String,
    pub(crate) way: Way,
    pub(crate) settings: watch::Receiver<Option<Arc<Settings>>>,
    pub(crate) served: watch::Receiver<Option<Material>>,
}

/// The registrations of the cluster by kind and name.
#[derive(Debug, Default)]
struct Seen {
    rows: Mutex<BTreeMap<(String, String), Arc<Object>>>,
    listed: Mutex<HashSet<&'static str>>,
    wake: Notify,
}

impl Registrar {
    /// Runs for ever; nothing is written before the server serves.
    pub(crate) async fn run(mut self) {
        let is_ready = self.settings.wait_for(Option::is_some).await.is_ok()
            && self.served.wait_for(Option::is_some).await.is_ok();
        if !is_ready {
            return;
        }
        if self.way == Way::Services {
            tokio::time::sleep(FORWARDED_AFTER).await;
        }
        let seen = Seen::default();
        let client = self.client.clone();
        tokio::join!(
            watch_kind(client.clone(), MUTATING, &seen),
            watch_kind(client, VALIDATING, &seen),
            self.rounds(&seen),
        );
    }

    async fn rounds(&mut self, seen: &Seen) {
        let mut told = HashSet::new();
        loop {
            tokio::select! {
                biased;
                () = seen.wake.notified() => {}
                Ok(()) = self.settings.changed() => {}
                Ok(()) = self.served.changed() => {}
            }
            tokio::time::sleep(DEBOUNCE).await;
            while !self.round(seen, &mut told).await {
                tokio::time::sleep(RETRY).await;
            }
        }
    }

    /// Writes what differs; whether all of it went through.
    async fn round(&mut self, seen: &Seen, told: &mut HashSet<String>) -> bool {
        if seen.listed.lock().unwrap_or_else(PoisonError::into_inner).len() < 2 {
            return true;
        }
        let settings = self.settings.borrow_and_update().clone();
        let served = self.served.borrow_and_update().clone();
        let (Some(settings), Some(served)) = (settings, served) else { return true };
        let namespaces: Api<Namespace> = Api::all(self.client.clone());
        let namespace_uid = match namespaces.get_metadata_opt(&self.namespace).await {
            Ok(found) => found.and_then(|found| found.metadata.uid),
            Err(error) => {
                let why = reason(&error);
                tell(told, format!("failed to read namespace {}: {why}", self.namespace));
                return false;
            }
        };
        let bundle = json!(k8s_openapi::ByteString(served.authorities.into_bytes()));
        let place = Place {
            namespace: self.namespace.clone(),
            namespace_uid,
            way: self.way.clone(),
            bundle,
        };
        let rows = seen.rows.lock().unwrap_or_else(PoisonError::into_inner).clone();
        let stored: Vec<&Value> = rows.values().map(|object| object.value()).collect();
        let mut is_done = true;
        for write in plan(&wanted(&settings, &place), &stored) {
            // What goes is followed by something else, which has to be there before.
            if is_done || !matches!(write, Write::Delete(_)) {
                is_done &= self.carry_out(write, told).await;
            }
        }
        is_done
    }

    async fn carry_out(&self, write: Write, told: &mut HashSet<String>) -> bool {
        let (verb, kind, name) = write.title();
        if verb == "create"
            && let Err(why) = self.may_keep(&kind, &name).await
        {
            tell(told, format!("failed to create {kind} {name}: {why}"));
            return false;
        }
        let gvk = Gvk::new(API_VERSION, &kind);
        let gvk = GroupVersionKind::gvk(&gvk.group, &gvk.version, &gvk.kind);
        let api: Api<DynamicObject> =
            Api::all_with(self.client.clone(), &ApiResource::from_gvk(&gvk));
        let written = match write {
            Write::Create(object) => match serde_json::from_value(object) {
                Ok(object) => api.create(&PostParams::default(), &object).await.map(drop),
                Err(error) => Err(kube::Error::SerdeError(error)),
            },
            Write::Replace(object) => match serde_json::from_value(object) {
                Ok(object) => api.replace(&name, &PostParams::default(), &object).await.map(drop),
                Err(error) => Err(kube::Error::SerdeError(error)),
            },
            Write::Delete([_, _, uid]) => {
                let guard = Preconditions { uid: Some(uid), resource_version: None };
                let params = DeleteParams { preconditions: Some(guard), ..DeleteParams::default() };
                api.delete(&name, &params).await.map(drop)
            }
        };
        match written {
            Ok(()) => {
                tracing::info!("{kind} {name}: {verb}d");
                true
            }
            // Somebody was faster: the watch tells, and the next round looks again.
            Err(kube::Error::Api(status)) if matches!(status.code, 404 | 409) => true,
            Err(error) => {
                tell(told, format!("failed to {verb} {kind} {name}: {}", reason(&error)));
                false
            }
        }
    }

    /// Tells whether a registration of this name could be changed and deleted later: one that can't would keep pods
    /// from being made as soon as its certificate is renewed.
    async fn may_keep(&self, kind: &str, name: &str) -> Result<(), String> {
        let plural = format!("{}s", kind.to_lowercase());
        let api: Api<SelfSubjectAccessReview> = Api::all(self.client.clone());
        for verb in ["update", "delete"] {
            let group = API_VERSION.split('/').next().unwrap_or_default();
            let review = json!({"metadata": {}, "spec": {"resourceAttributes": {"verb": verb,
                "group": group, "resource": plural, "name": name}}});
            let review = serde_json::from_value(review).map_err(|error| error.to_string())?;
            let asked = api.create(&PostParams::default(), &review).await;
            let asked = asked.map_err(|error| reason(&error))?;
            if asked.status.is_none_or(|status| !status.allowed) {
                return Err(format!(
                    "it could not be kept up to date: add its name to the rule of ClusterRole {} that gives \
                     update and delete on {plural}",
                    component::PODGROUPER
                ));
            }
        }
        Ok(())
    }
}

impl Write {
    /// Verb, kind and name.
    fn title(&self) -> (&'static str, String, String) {
        let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
        let of = |object: &Value| (text(&object["kind"]), text(&object["metadata"]["name"]));
        let (verb, (kind, name)) = match self {
            Self::Create(object) => ("create", of(object)),
            Self::Replace(object) => ("update", of(object)),
            Self::Delete([kind, name, _]) => ("delete", (kind.clone(), name.clone())),
        };
        (verb, kind, name)
    }
}

/// Logs a failure, once.
fn tell(told: &mut HashSet<String>, text: String) {
    if !told.contains(&text) {
        tracing::warn!("{text}; trying again");
        told.insert(text);
    }
}

async fn watch_kind(client: Client, kind: &'static str, seen: &Seen) {
    let mut listing = Listing::new();
    follow::<AnyShape>(client, Selection::of(API_VERSION, kind), |change| {
        let mut rows = seen.rows.lock().unwrap_or_else(PoisonError::into_inner);
        let key = |object: &Object| (kind.to_owned(), object.name().to_owned());
        match change {
            Change::ListStart => listing.start(),
            Change::Set(object) => {
                listing.see(key(&object));
                rows.insert(key(&object), object);
            }
            Change::Gone(object) => {
                rows.remove(&key(&object));
            }
            Change::ListEnd => {
                let known = rows.keys().filter(|(of, _)| of == kind).cloned().collect();
                for key in listing.end(known) {
                    rows.remove(&key);
                }
                seen.listed.lock().unwrap_or_else(PoisonError::into_inner).insert(kind);
            }
        }
        drop(rows);
        seen.wake.notify_one();
    })
    .await;
}
