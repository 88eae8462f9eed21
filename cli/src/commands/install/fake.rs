//! An API server for tests: it keeps objects by their paths, and writes down what it was asked.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

use http::{Method, Request, Response};
use kube::client::Body;
use serde_json::{Value, json};

use super::manifest::Item;
use crate::cluster::Cluster;
use crate::context::Context;
use crate::print::output::Output;

/// Refuses what it answers with a code and a text.
type Rule = dyn Fn(&str) -> Option<(u16, &'static str)> + Send + Sync;

/// Holds what such a server has and was asked.
pub(super) struct Fake {
    objects: Mutex<BTreeMap<String, Value>>,
    asked: Mutex<Vec<String>>,
    rule: Box<Rule>,
}

impl Fake {
    /// Starts one of version 1.36 that refuses what the rule says of `METHOD PATH`, with ` dry` behind a dry run.
    pub(super) fn new(
        rule: impl Fn(&str) -> Option<(u16, &'static str)> + Send + Sync + 'static,
    ) -> Arc<Self> {
        let version = json!({"major": "1", "minor": "36", "gitVersion": "v1.36.0"});
        let objects = BTreeMap::from([("/version".to_owned(), version)]);
        Arc::new(Self { objects: objects.into(), asked: Mutex::default(), rule: Box::new(rule) })
    }

    /// Starts one that refuses nothing.
    pub(super) fn kind() -> Arc<Self> {
        Self::new(|_| None)
    }

    /// Puts an object into it.
    pub(super) fn put(&self, path: &str, object: Value) {
        let mut object = object;
        object["metadata"]["uid"] = json!(format!("uid of {path}"));
        lock(&self.objects).insert(path.to_owned(), object);
    }

    /// Puts objects of an installation into it.
    pub(super) fn put_all<'a>(&self, items: impl Iterator<Item = &'a Item>) {
        for item in items {
            self.put(&path(item), item.object.clone());
        }
    }

    pub(super) fn get(&self, path: &str) -> Option<Value> {
        lock(&self.objects).get(path).cloned()
    }

    /// Lists what it was asked, those with this word alone.
    pub(super) fn asked(&self, word: &str) -> Vec<String> {
        lock(&self.asked).iter().filter(|line| line.contains(word)).cloned().collect()
    }

    pub(super) fn client(self: &Arc<Self>) -> kube::Client {
        let fake = Arc::clone(self);
        let service = tower::service_fn(move |request: Request<Body>| {
            let fake = Arc::clone(&fake);
            async move {
                let (head, body) = request.into_parts();
                let body = body.collect_bytes().await?;
                let body = serde_json::from_slice(&body).unwrap_or_default();
                let is_dry = head.uri.query().is_some_and(|query| query.contains("dryRun"));
                let (code, answer) = fake.answer(&head.method, head.uri.path(), body, is_dry);
                let answer = Response::builder()
                    .status(code)
                    .body(Body::from(answer.to_string().into_bytes()));
                Ok::<_, kube::Error>(answer.expect("it has a code"))
            }
        });
        kube::Client::new(service, "default")
    }

    pub(super) fn cluster(self: &Arc<Self>) -> Cluster {
        Cluster::given(self.client(), "default")
    }

    /// Gives what a command stands in before it.
    pub(super) fn context(self: &Arc<Self>) -> Context {
        let out = Output::given(Box::new(std::io::sink()), Box::new(std::io::sink()));
        Context::given(self.client(), "default", out)
    }

    fn answer(&self, method: &Method, path: &str, body: Value, is_dry: bool) -> (u16, Value) {
        let line = format!("{method} {path}{}", if is_dry { " dry" } else { "" });
        lock(&self.asked).push(line.clone());
        if let Some((code, message)) = (self.rule)(&line) {
            return refusal(code, message);
        }
        let found = self.get(path);
        match (method.as_str(), found) {
            ("GET", Some(found)) => (200, found),
            ("GET", None) => self.list(path),
            ("DELETE", Some(_)) => {
                lock(&self.objects).remove(path);
                (200, json!({"kind": "Status"}))
            }
            ("PATCH", found) => {
                let mut object = body;
                if let Some(found) = found {
                    object["metadata"]["uid"] = found["metadata"]["uid"].clone();
                    if found["status"].is_object() {
                        object["status"] = found["status"].clone();
                    }
                }
                if !is_dry {
                    self.put(path, object.clone());
                }
                (200, object)
            }
            ("POST", _) if is_dry => refusal(409, "it is there already"),
            _ => refusal(404, "not found"),
        }
    }

    fn list(&self, path: &str) -> (u16, Value) {
        let (base, plural) = path.rsplit_once('/').unwrap_or_default();
        let base = format!("{base}/");
        let is_in = |known: &str| {
            let above = known.rsplit_once('/').map_or("", |(above, _)| above);
            known.starts_with(&base) && above.rsplit('/').next() == Some(plural)
        };
        let objects = lock(&self.objects);
        let items: Vec<&Value> =
            objects.iter().filter(|(path, _)| is_in(path)).map(|(_, object)| object).collect();
        if items.is_empty() { refusal(404, "not found") } else { (200, json!({"items": items})) }
    }
}

pub(super) fn path(item: &Item) -> String {
    item.resource.path(item.namespace(), item.name())
}

fn refusal(code: u16, message: &str) -> (u16, Value) {
    (code, json!({"kind": "Status", "code": code, "message": message}))
}

fn lock<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
