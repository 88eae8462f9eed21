//! The way to the API server: reading the kubeconfig, sending requests, and telling what an answer means.
//!
//! Objects are plain JSON here, since the CLI reads any kind, of any version, and of a server older or newer than it.

pub(crate) mod capacity;
mod connect;
mod failure;
pub(crate) mod gpu;
pub(crate) mod home;
pub(crate) mod json;
pub(crate) mod kinds;
pub(crate) mod listing;
pub(crate) mod manifest;
pub(crate) mod me;
pub(crate) mod mirror;
pub(crate) mod names;
pub(crate) mod object_name;
mod pager;
mod pages;
pub(crate) mod queue;
pub(crate) mod records;
mod resource;
mod roles;

use std::collections::BTreeSet;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use bytes::Bytes;
use http::{Method, Request, header};
use kube::client::Body;
use serde_json::{Value, json};
use tokio::task::JoinHandle;

use crate::print::error::Error;
use crate::print::output::clean;
pub(crate) use failure::{Failure, Grant, Refusal, chain};
pub(crate) use mirror::{Mirror, Slim};
pub(crate) use pager::Part;
pub(crate) use pages::Detail;
use pages::{ENTRIES_MAX, PAGE, Wanted, named};
pub(crate) use resource::Resource;

/// Names itself as the owner of the fields it writes.
const FIELD_MANAGER: &str = "kubectl-kai";
/// The form of an object of which only the metadata is sent.
const METADATA: header::HeaderValue = header::HeaderValue::from_static(
    "application/json;as=PartialObjectMetadata;v=v1;g=meta.k8s.io",
);
/// Bytes of an answer that is read on a thread of its own.
const LARGE: usize = 64 << 10;
/// So many objects that were not read whole are named.
const CUT_NAMED: usize = 5;
/// The longest wait for an answer, without `--request-timeout`.
const TIMEOUT: Duration = Duration::from_secs(30);

/// Objects that lists and watches did not have whole, for their number of entries.
type Cut = Arc<Mutex<BTreeSet<String>>>;

/// A cluster, as one user in one namespace.
#[derive(Clone)]
pub struct Cluster {
    client: kube::Client,
    /// The namespace that commands work in.
    pub namespace: String,
    /// The kubeconfig context and the server's address, for messages.
    pub(crate) place: Arc<Place>,
    timeout: Duration,
    /// Holds what was read before, where a command goes on looking.
    mirror: Option<Arc<Mirror>>,
    cut: Cut,
}

impl std::fmt::Debug for Cluster {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Cluster")
            .field("namespace", &self.namespace)
            .field("place", &self.place)
            .finish_non_exhaustive()
    }
}

/// Says where the cluster is.
#[derive(Clone, Debug, Default)]
pub(crate) struct Place {
    pub(crate) context: Option<String>,
    pub(crate) server: String,
}

/// One request, kept for what its failure has to say.
#[derive(Clone, Debug)]
pub(crate) struct Call<'a> {
    pub(crate) verb: &'static str,
    pub(crate) resource: &'a Resource,
    pub(crate) namespace: Option<&'a str>,
    pub(crate) name: &'a str,
    /// Names the right that the user needs next, for what is done with the answer.
    pub(crate) then: Option<&'static str>,
}

impl<'a> Call<'a> {
    pub(crate) fn new(verb: &'static str, resource: &'a Resource) -> Self {
        Self { verb, resource, namespace: None, name: "", then: None }
    }

    pub(crate) fn namespace(mut self, namespace: Option<&'a str>) -> Self {
        self.namespace = namespace;
        self
    }

    pub(crate) fn name(mut self, name: &'a str) -> Self {
        self.name = name;
        self
    }

    pub(crate) fn then(mut self, verb: &'static str) -> Self {
        self.then = Some(verb);
        self
    }

    fn path(&self) -> String {
        self.resource.path(self.namespace, self.name)
    }
}

/// Says which objects a list answers with.
#[derive(Clone, Debug, Default)]
pub(crate) struct Select<'a> {
    pub(crate) labels: &'a str,
    pub(crate) fields: &'a str,
}

/// An answer: its body, and what the server warns of.
#[derive(Debug)]
pub(crate) struct Answer {
    pub(crate) body: Value,
    pub(crate) warnings: Vec<String>,
}

impl Cluster {
    /// A cluster behind a client that exists already.
    pub(crate) fn given(client: kube::Client, namespace: &str) -> Self {
        let place = Place { context: None, server: "the given cluster".into() };
        Self {
            client,
            namespace: namespace.into(),
            place: Arc::new(place),
            timeout: TIMEOUT,
            mirror: None,
            cut: Arc::default(),
        }
    }

    /// The client, for what needs one of its own.
    pub fn client(&self) -> kube::Client {
        self.client.clone()
    }

    /// The same cluster with less patience.
    pub(crate) fn hurried(mut self, timeout: Duration) -> Self {
        self.timeout = self.timeout.min(timeout);
        self
    }

    /// Reads each thing once, and has it kept up to date from then on; of each object what a function leaves of it.
    pub(crate) fn mirrored(&mut self, slim: Slim) -> Arc<Mirror> {
        let mirror = || Arc::new(Mirror::new(slim, Arc::clone(&self.cut)));
        Arc::clone(self.mirror.get_or_insert_with(mirror))
    }

    /// Sends a request, reads the whole answer and decodes it.
    pub(crate) async fn send(&self, request: Request<Body>) -> Result<Answer, Failure> {
        let (bytes, warnings) = self.fetch(request).await?;
        let body = beside(bytes, decoded).await?;
        Ok(Answer { body, warnings })
    }

    /// Sends a request and reads the whole answer: its bytes, and what the server warns of.
    async fn fetch(&self, request: Request<Body>) -> Result<(Bytes, Vec<String>), Failure> {
        let (method, path) = (request.method().clone(), request.uri().clone());
        let begin = Instant::now();
        let exchange = async {
            let response = self.client.send(request).await.map_err(Failure::from)?;
            let (head, body) = response.into_parts();
            let bytes = body.collect_bytes().await.map_err(Failure::from)?;
            let (status, ms) = (head.status.as_u16(), begin.elapsed().as_millis());
            tracing::debug!(%method, %path, status, bytes = bytes.len(), ms, "answered");
            if !head.status.is_success() {
                return Err(Failure::Refused(Refusal::read(head.status.as_u16(), &bytes)));
            }
            let warnings =
                head.headers.get_all(header::WARNING).iter().filter_map(warning).collect();
            Ok((bytes, warnings))
        };
        let answer = match tokio::time::timeout(self.timeout, exchange).await {
            Ok(answer) => answer,
            Err(_) => Err(Failure::Slow(self.timeout)),
        };
        // A refusal was answered.
        if let Err(failure) = &answer
            && failure.code().is_none()
        {
            let ms = begin.elapsed().as_millis();
            tracing::debug!(%method, %path, ms, %failure, "failed");
        }
        answer
    }

    /// Reads a path such as `/version`.
    pub(crate) async fn read(&self, path: &str) -> Result<Value, Failure> {
        let Some(mirror) = &self.mirror else {
            return self.send(get(path)).await.map(|answer| answer.body);
        };
        if let Some(known) = mirror.answer(path) {
            return Ok(known);
        }
        let answer = self.send(get(path)).await?;
        mirror.keep(path, &answer);
        Ok(answer.body)
    }

    /// Reads one object; `None` when it is not there.
    pub(crate) async fn get(&self, call: &Call<'_>) -> Result<Option<Value>, Failure> {
        if let Some(mirror) = &self.mirror
            && let Ok(found) = mirror.get(&self.client, call).await
        {
            return Ok(found);
        }
        match self.read(&call.path()).await {
            Ok(body) => Ok(Some(body)),
            Err(Failure::Refused(refusal)) if refusal.code == 404 => Ok(None),
            Err(failure) => Err(failure),
        }
    }

    /// Reads one object with its `managedFields`, which all other reads leave out; `None` when it is not there.
    pub(crate) async fn whole(&self, call: &Call<'_>) -> Result<Option<Value>, Failure> {
        let (bytes, _) = match self.fetch(get(&call.path())).await {
            Err(Failure::Refused(refusal)) if refusal.code == 404 => return Ok(None),
            answer => answer?,
        };
        serde_json::from_slice(&bytes).map(Some).map_err(|e| Failure::Unreadable(e.to_string()))
    }

    /// Reads the metadata of one object and nothing else of it; `None` when it is not there.
    pub(crate) async fn metadata(&self, call: &Call<'_>) -> Result<Option<Value>, Failure> {
        let mut request = get(&call.path());
        request.headers_mut().insert(header::ACCEPT, METADATA);
        match self.send(request).await {
            Ok(answer) => Ok(Some(answer.body)),
            Err(Failure::Refused(refusal)) if refusal.code == 404 => Ok(None),
            Err(failure) => Err(failure),
        }
    }

    /// Reads a page of a list: the first where `next` is empty, else the one that it names. Of each object the metadata
    /// alone where that is enough: then the server sends no more.
    pub(crate) async fn page(
        &self,
        call: &Call<'_>,
        select: &Select<'_>,
        next: &str,
        metadata_only: bool,
    ) -> Result<Value, Failure> {
        let request = pages::request(call, select, &Wanted { next, metadata_only, objects: PAGE });
        let (bytes, _) = self.fetch(request).await?;
        let decode = |bytes: &[u8]| match pages::list(bytes) {
            Ok((list, cut)) => an_object(Ok(list)).map(|list| (list, cut)),
            Err(error) => Err(Failure::Unreadable(error.to_string())),
        };
        let (list, cut) = beside(bytes, decode).await?;
        self.note_cut(call.resource, &cut);
        Ok(list)
    }

    /// Notes objects of a kind that a list does not have whole.
    fn note_cut(&self, resource: &Resource, names: &[String]) {
        note(&self.cut, &resource.label(), names);
    }

    /// Tells whether an object of a kind was not read whole since [`Self::take_cut`] was last asked.
    pub(crate) fn is_cut(&self, resource: &Resource, object: &Value) -> bool {
        let title = title(&resource.label(), &named(object));
        self.cut.lock().unwrap_or_else(PoisonError::into_inner).contains(&title)
    }

    /// Says which objects were not read whole since this was last asked; none where each was.
    pub(crate) fn take_cut(&self) -> Option<String> {
        let cut = std::mem::take(&mut *self.cut.lock().unwrap_or_else(PoisonError::into_inner));
        if cut.is_empty() {
            return None;
        }
        let first: Vec<&str> = cut.iter().take(CUT_NAMED).map(String::as_str).collect();
        let more = if cut.len() > first.len() { ", .." } else { "" };
        let (count, first) = (queue::count(cut.len(), "object"), first.join(", "));
        Some(format!(
            "not all was read of {count} with more than {ENTRIES_MAX} entries: {first}{more}"
        ))
    }

    /// Creates an object with strict field validation.
    pub(crate) async fn create(
        &self,
        call: &Call<'_>,
        body: &Value,
        dry: bool,
    ) -> Result<Answer, Failure> {
        let path = format!(
            "{}?fieldManager={FIELD_MANAGER}&fieldValidation=Strict{}",
            call.resource.path(call.namespace, ""),
            if dry { "&dryRun=All" } else { "" }
        );
        self.send(with_body(Method::POST, &path, "application/json", body)).await
    }

    /// Changes an object by a JSON merge patch.
    pub(crate) async fn patch(
        &self,
        call: &Call<'_>,
        patch: &Value,
        dry: bool,
    ) -> Result<Answer, Failure> {
        let path = format!(
            "{}?fieldManager={FIELD_MANAGER}&fieldValidation=Strict{}",
            call.path(),
            if dry { "&dryRun=All" } else { "" }
        );
        self.send(with_body(Method::PATCH, &path, "application/merge-patch+json", patch)).await
    }

    /// Deletes exactly the object with this UID, its dependents in the background; `false` when it was gone already.
    pub(crate) async fn delete(
        &self,
        call: &Call<'_>,
        uid: &str,
        dry: bool,
    ) -> Result<bool, Failure> {
        let mut body = json!({
            "apiVersion": "v1",
            "kind": "DeleteOptions",
            "propagationPolicy": "Background",
            "preconditions": { "uid": uid },
        });
        if dry {
            body["dryRun"] = json!(["All"]);
        }
        let request = with_body(Method::DELETE, &call.path(), "application/json", &body);
        match self.send(request).await {
            Ok(_) => Ok(true),
            Err(Failure::Refused(refusal)) if refusal.code == 404 => Ok(false),
            Err(failure) => Err(failure),
        }
    }

    /// Says what a failure means to the user.
    pub(crate) fn explain(&self, call: &Call<'_>, failure: &Failure) -> Error {
        failure.problem(Some(call), &self.place).into()
    }

    /// Says what a failure means to the user, where the request was about no object in particular.
    pub(crate) fn explain_any(&self, failure: &Failure) -> Error {
        failure.problem(None, &self.place).into()
    }

    /// The groups that the server serves, each with its preferred version first.
    pub(crate) async fn groups(&self) -> Result<Vec<(String, Vec<String>)>, Failure> {
        let body = self.read("/apis").await?;
        let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
        let groups = body["groups"].as_array().map(Vec::as_slice).unwrap_or_default();
        Ok(groups
            .iter()
            .map(|group| {
                let preferred = text(&group["preferredVersion"]["version"]);
                let mut versions: Vec<String> = group["versions"]
                    .as_array()
                    .map(|all| all.iter().map(|v| text(&v["version"])).collect())
                    .unwrap_or_default();
                versions.sort_by_key(|v| *v != preferred);
                (text(&group["name"]), versions)
            })
            .collect())
    }
}

/// The JSON of an answer, which is an object whatever was asked for: a page of something before the server is none.
fn decoded(bytes: &[u8]) -> Result<Value, Failure> {
    an_object(pages::object(bytes))
}

/// An answer where it is an object.
fn an_object(answer: Result<Value, serde_json::Error>) -> Result<Value, Failure> {
    match answer {
        Ok(answer) if answer.is_object() => Ok(answer),
        Ok(_) => Err(Failure::Unreadable("it is no object".to_owned())),
        Err(error) => Err(Failure::Unreadable(error.to_string())),
    }
}

/// Decodes bytes, where they are many on a thread that does nothing else: other answers go on being read meanwhile.
async fn beside<T: Send + 'static>(
    bytes: Bytes,
    decode: impl FnOnce(&[u8]) -> Result<T, Failure> + Send + 'static,
) -> Result<T, Failure> {
    if bytes.len() < LARGE {
        return decode(&bytes);
    }
    joined(tokio::task::spawn_blocking(move || decode(&bytes))).await
}

/// Waits for a task.
async fn joined<T>(task: JoinHandle<Result<T, Failure>>) -> Result<T, Failure> {
    task.await.map_err(|e| Failure::Unreadable(e.to_string()))?
}

/// Notes objects of a kind that were not read whole.
fn note(cut: &Mutex<BTreeSet<String>>, label: &str, names: &[String]) {
    let titles = names.iter().map(|name| title(label, name));
    cut.lock().unwrap_or_else(PoisonError::into_inner).extend(titles);
}

/// The text by which an object of a kind is noted that was not read whole.
fn title(label: &str, name: &str) -> String {
    format!("{label} {}", clean(name))
}

/// The text of a `299` warning header: `299 - "text"`.
fn warning(value: &header::HeaderValue) -> Option<String> {
    let text = value.to_str().ok()?;
    let quoted = text.split_once('"')?.1;
    Some(quoted.strip_suffix('"').unwrap_or(quoted).replace("\\\"", "\""))
}

fn get(path: &str) -> Request<Body> {
    let request = Request::get(path).header(header::ACCEPT, "application/json");
    request.body(Body::empty()).expect("paths are escaped")
}

fn with_body(method: Method, path: &str, kind: &str, body: &Value) -> Request<Body> {
    Request::builder()
        .method(method)
        .uri(path)
        .header(header::ACCEPT, "application/json")
        .header(header::CONTENT_TYPE, kind)
        .body(Body::from(body.to_string().into_bytes()))
        .expect("paths are escaped")
}

/// The text as a part of a URL: everything but letters, digits and `-_.~` percent-encoded.
pub(crate) fn escape(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for byte in text.bytes() {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'_' | b'.' | b'~' => {
                out.push(char::from(byte));
            }
            _ => out += &format!("%{byte:02X}"),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use std::sync::{Arc, Mutex};

    use http::{Request, Response};
    use kube::client::Body;
    use serde_json::{Value, json};

    use super::{Call, Cluster, Resource, decoded};

    /// Another object may have the name by then.
    #[tokio::test]
    async fn exactly_the_object_that_was_looked_at_is_deleted() {
        let sent: Arc<Mutex<Vec<Value>>> = Arc::default();
        let service = tower::service_fn({
            let sent = Arc::clone(&sent);
            move |request: Request<Body>| {
                let sent = Arc::clone(&sent);
                async move {
                    let body = request.into_body().collect_bytes().await?;
                    let body: Value = serde_json::from_slice(&body).expect("it is JSON");
                    sent.lock().expect("nobody panics with it").push(body);
                    Ok::<_, kube::Error>(Response::new(Body::from(b"{}".to_vec())))
                }
            }
        });
        let cluster = Cluster::given(kube::Client::new(service, "ml"), "ml");
        let pods = Resource::new("v1", "Pod", "pods");
        let call = Call::new("delete", &pods).namespace(Some("ml")).name("a");
        for is_dry in [false, true] {
            assert!(cluster.delete(&call, "u", is_dry).await.expect("it is taken"));
        }
        let options = json!({"apiVersion": "v1", "kind": "DeleteOptions",
            "propagationPolicy": "Background", "preconditions": {"uid": "u"}});
        let mut dry = options.clone();
        dry["dryRun"] = json!(["All"]);
        assert_eq!(*sent.lock().expect("nobody panics with it"), [options, dry]);
    }

    #[test]
    fn an_answer_is_an_object() {
        for (answer, expect) in [
            (r#"{"kind":"Job"}"#, Ok(())),
            ("<html>log in first</html>", Err("expected value at line 1 column 1")),
            ("", Err("EOF while parsing a value at line 1 column 0")),
            ("[]", Err("it is no object")),
            ("\"ok\"", Err("it is no object")),
        ] {
            let read = decoded(answer.as_bytes()).map(|_| ()).map_err(|error| error.to_string());
            let why = expect.map_err(|why| format!("the answer cannot be read: {why}"));
            assert_eq!(read, why, "{answer}");
        }
    }
}
