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

#[cfg(test)]
mod tests {
    use http::{Request, Response};
    use kai_api::config::ConfigSpec;
    use kube::client::Body;

    use super::*;
    use crate::admission::settings::Flags;

    /// A registrar, and the paths of what it deletes, at an API server that lets it make registrations or not, and says that
    /// it may change them or not.
    fn registrar(
        settings: Settings,
        may_create: bool,
        may_update: bool,
    ) -> (Registrar, Arc<Mutex<Vec<String>>>) {
        let deleted = Arc::new(Mutex::new(Vec::new()));
        let told = Arc::clone(&deleted);
        let server = tower::service_fn(move |request: Request<Body>| {
            let told = Arc::clone(&told);
            async move {
                let (head, body) = request.into_parts();
                let path = head.uri.path().to_owned();
                let is_refused = !may_create && path.contains("webhookconfigurations");
                let body = body.collect_bytes().await?;
                let mut answer: Value = serde_json::from_slice(&body).unwrap_or_default();
                let code = match head.method.as_str() {
                    "GET" => {
                        answer = json!({"metadata": {"name": "kai-scheduler", "uid": "n-1"}});
                        200
                    }
                    "DELETE" => {
                        told.lock().expect("nobody panics with it").push(path);
                        answer = json!({"kind": "Status", "status": "Success"});
                        200
                    }
                    "POST" if is_refused => {
                        answer = json!({"kind": "Status", "status": "Failure", "code": 403,
                            "reason": "Forbidden", "message": "no"});
                        403
                    }
                    _ => {
                        let is_update = answer["spec"]["resourceAttributes"]["verb"] == "update";
                        answer["status"] = json!({"allowed": may_update || !is_update});
                        200
                    }
                };
                let answer = Body::from(answer.to_string().into_bytes());
                let answer = Response::builder().status(code).body(answer);
                Ok::<_, kube::Error>(answer.expect("it has a code"))
            }
        });
        let material = Material {
            certificate: String::new(),
            key: String::new(),
            authorities: String::from("ca"),
        };
        let registrar = Registrar {
            client: Client::new(server, "default"),
            namespace: String::from("kai-scheduler"),
            way: Way::Services,
            settings: watch::channel(Some(Arc::new(settings))).1,
            served: watch::channel(Some(material)).1,
        };
        (registrar, deleted)
    }

    /// No pod would be judged between the two, and for as long as nobody lets the new one be made. One that could not be changed
    /// later would have no pod made from the next certificate on.
    #[tokio::test]
    async fn a_registration_stays_until_the_one_in_its_place_is_made() {
        let settings = |config: Value| {
            let config: ConfigSpec = serde_json::from_value(config).expect("a Config");
            let (scheduler, queue_label) = ("kai-scheduler".into(), "kai.scheduler/queue".into());
            Settings::of(Some(&config), &Flags { scheduler, queue_label })
        };
        let place = Place {
            namespace: String::from("kai-scheduler"),
            namespace_uid: Some(String::from("n-1")),
            way: Way::Services,
            bundle: json!("Y2E="),
        };
        let path = format!("/apis/{API_VERSION}/validatingwebhookconfigurations");
        for (may_create, may_update, expect) in
            [(false, true, ""), (true, false, ""), (true, true, "validating-kai-admission")]
        {
            let seen = Seen::default();
            for mut object in wanted(&settings(json!({})), &place) {
                object["metadata"]["uid"] = json!("u");
                let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
                let key = (text(&object["kind"]), text(&object["metadata"]["name"]));
                let mut rows = seen.rows.lock().expect("nobody panics with it");
                rows.insert(key, Arc::new(Object::new(object)));
            }
            seen.listed.lock().expect("nobody panics with it").extend([MUTATING, VALIDATING]);
            let renamed = json!({"admission": {"validatingWebhookConfigurationName": "renamed"}});
            let (mut registrar, deleted) = registrar(settings(renamed), may_create, may_update);
            let is_done = registrar.round(&seen, &mut HashSet::new()).await;
            assert_eq!(is_done, may_create && may_update);
            let deleted = deleted.lock().expect("nobody panics with it").join(" ");
            let expect = if expect.is_empty() { String::new() } else { format!("{path}/{expect}") };
            assert_eq!(deleted, expect, "{may_create} {may_update}");
        }
    }
}
