//! Questions of the API server and their answers: `AdmissionReview` of `admission.k8s.io/v1`.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::sync::Arc;

use serde::Deserialize;
use serde_json::{Value, json};

use super::settings::Settings;
use super::{Denial, Judgement, mutate, pod_group, queue, topology, validate};
use crate::object::Object;

/// Version of the questions that are understood.
const API_VERSION: &str = "admission.k8s.io/v1";
/// The answer's status code of what is refused, as for everything that one may not do.
const FORBIDDEN: u16 = 403;
/// That of what is to be asked again, and after how many seconds: most clients of the API server do so by themselves.
const TOO_MANY: u16 = 429;
const AGAIN_AFTER: u32 = 1;

/// So many objects and elements of lists may all versions of an object in a question have: as a tree each takes up to half a
/// kilobyte, however short it is as text. The largest `PodGroup` has a hundred thousand in two versions.
pub(super) const ENTRIES_MAX: usize = 200_000;
/// So many may those of a pod have, which has some hundreds: each of them is read, copied, changed and compared.
const POD_ENTRIES_MAX: usize = 40_000;

/// Letters of the name of a namespace, and of a question.
const NAMESPACE_MAX: usize = 63;
const UID_MAX: usize = 64;

/// A question that is asked under a path of its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Hook {
    /// Changes a pod.
    MutatePod,
    /// Judges a pod.
    ValidatePod,
    /// Judges a Topology.
    ValidateTopology,
    /// Judges a Queue.
    ValidateQueue,
    /// Judges a `PodGroup`.
    ValidatePodGroup,
}

impl Hook {
    /// All of them.
    pub const ALL: [Self; 5] = [
        Self::MutatePod,
        Self::ValidatePod,
        Self::ValidateTopology,
        Self::ValidateQueue,
        Self::ValidatePodGroup,
    ];

    /// The path that it is asked under.
    ///
    /// # Source
    /// docs/contract.md 3.1.
    pub fn path(self) -> &'static str {
        match self {
            Self::MutatePod => "/mutate--v1-pod",
            Self::ValidatePod => "/validate--v1-pod",
            Self::ValidateTopology => "/validate-kai-scheduler-v1alpha1-topology",
            Self::ValidateQueue => "/validate-scheduling-run-ai-v2-queue",
            Self::ValidatePodGroup => "/validate-scheduling-run-ai-v2alpha2-podgroup",
        }
    }

    /// The number of entries that an object in a question may have.
    pub(super) fn entries_max(self) -> usize {
        match self {
            Self::MutatePod | Self::ValidatePod => POD_ENTRIES_MAX,
            Self::ValidateTopology | Self::ValidateQueue | Self::ValidatePodGroup => ENTRIES_MAX,
        }
    }

    /// Gives the seconds for which the API server waits for an answer.
    pub(super) fn timeout(self) -> u64 {
        match self {
            Self::MutatePod | Self::ValidatePod | Self::ValidateTopology | Self::ValidateQueue => {
                10
            }
            // Tenants write nothing else that is as large, and a write has a seat of the API server while its question waits.
            // The largest takes a tenth of a second, and comes behind eight of its namespace and as many of each other.
            Self::ValidatePodGroup => 5,
        }
    }

    /// Gives the name that metrics and the log call it by.
    pub fn name(self) -> &'static str {
        match self {
            Self::MutatePod => "mutate-pod",
            Self::ValidatePod => "validate-pod",
            Self::ValidateTopology => "validate-topology",
            Self::ValidateQueue => "validate-queue",
            Self::ValidatePodGroup => "validate-podgroup",
        }
    }
}

/// The part of a question that is read.
#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Request {
    /// Names the question; the answer repeats it.
    pub uid: String,
    /// `CREATE`, `UPDATE` or others.
    pub operation: String,
    /// Namespace in which the object is made.
    #[serde(default)]
    pub namespace: String,
    /// The object as it would be.
    #[serde(default)]
    pub object: Value,
    /// The object as it is.
    #[serde(default)]
    pub old_object: Value,
}

/// The reason why a body is no question.
#[derive(Debug, thiserror::Error)]
pub enum Malformed {
    /// It is not JSON, or lacks what every question has.
    #[error("the body is no AdmissionReview: {0}")]
    Body(#[from] serde_json::Error),
    /// It has another version or kind.
    #[error("the body has apiVersion {0:?} and kind {1:?}, want {API_VERSION} AdmissionReview")]
    Kind(String, String),
    /// It would take more memory than is there for it.
    #[error("the object has more than {most} entries: leave out what is empty or repeats")]
    Entries {
        /// Names the question.
        uid: String,
        /// The number of entries that it may have.
        most: usize,
    },
    /// It asks about nothing.
    #[error("the AdmissionReview has no request.object")]
    NoObject,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Review {
    #[serde(default)]
    api_version: String,
    #[serde(default)]
    kind: String,
    request: Option<Request>,
}

/// Holds what is read of a question that is refused for its size: its name, and no tree.
#[derive(Deserialize)]
struct Named {
    request: NamedRequest,
}

#[derive(Deserialize)]
struct NamedRequest {
    uid: String,
}

/// Counts the entries of a body.
pub(super) fn entries(body: &[u8]) -> usize {
    let (mut count, mut is_text) = (0, false);
    let mut bytes = body.iter();
    while let Some(byte) = bytes.next() {
        match byte {
            b'"' => is_text = !is_text,
            // Whatever is behind it does not end the text.
            b'\\' if is_text => {
                bytes.next();
            }
            b'{' | b',' if !is_text => count += 1,
            _ => {}
        }
    }
    count
}

/// Finds the namespace in the beginning of a question, as the API server writes it: before the object. Empty where there is
/// none.
pub(super) fn namespace(start: &[u8]) -> String {
    text_of(start, b"\"namespace\":\"", NAMESPACE_MAX)
}

/// Finds the name of a question in its beginning, likewise.
pub(super) fn uid(start: &[u8]) -> String {
    text_of(start, b"\"uid\":\"", UID_MAX)
}

/// Finds the first text of a key, which is given with all that is between it and its text. It has so many bytes at most.
fn text_of(start: &[u8], key: &[u8], most: usize) -> String {
    // Within a text there is a backslash before each quote.
    let mut from = (0..start.len()).filter_map(|at| start[at..].strip_prefix(key));
    let rest = from.next().unwrap_or_default();
    let end = rest.iter().position(|byte| *byte == b'"').unwrap_or(0);
    String::from_utf8_lossy(&rest[..end.min(most)]).into_owned()
}

/// Reads a question.
///
/// # Errors
/// It is none, or about nothing, or about more than there is memory for.
pub fn read(hook: Hook, body: &[u8]) -> Result<Request, Malformed> {
    let most = hook.entries_max();
    if entries(body) > most {
        let Named { request } = serde_json::from_slice(body)?;
        return Err(Malformed::Entries { uid: request.uid, most });
    }
    let review: Review = serde_json::from_slice(body)?;
    if review.api_version != API_VERSION || review.kind != "AdmissionReview" {
        let short = |text: &str| text.chars().take(50).collect::<String>();
        return Err(Malformed::Kind(short(&review.api_version), short(&review.kind)));
    }
    review.request.filter(|request| request.object.is_object()).ok_or(Malformed::NoObject)
}

/// The answer, apart from warnings.
#[derive(Clone, Debug, PartialEq)]
pub enum Verdict {
    /// It may be made as it is.
    Allowed,
    /// It may be made with these changes.
    Patched(json_patch::Patch),
    /// It may not be made.
    Denied(String),
}

/// An answer.
#[derive(Clone, Debug, PartialEq)]
pub struct Answer {
    /// The answer.
    pub verdict: Verdict,
    /// Warnings that the user is told besides.
    pub warnings: Vec<String>,
}

/// Everything that answers depend on besides the question.
#[derive(Clone, Copy, Debug)]
pub struct Context<'a> {
    /// The Config.
    pub settings: &'a Settings,
    /// The queues, where their quotas are compared.
    pub queues: Option<&'a BTreeMap<String, Arc<Object>>>,
    /// Seven random lower-case letters or digits.
    pub token: &'a str,
}

/// Answers a question.
pub fn answer(hook: Hook, request: &Request, context: &Context<'_>) -> Answer {
    let old = (request.operation == "UPDATE").then_some(&request.old_object);
    let judged =
        |found: Result<(), Denial>| Judgement { warnings: Vec::new(), denial: found.err() };
    let judgement = match hook {
        Hook::MutatePod | Hook::ValidatePod => match placed(request) {
            Err(denial) => judged(Err(denial)),
            Ok(pod) if hook == Hook::ValidatePod => {
                judged(validate::validate(&pod, old, context.settings))
            }
            Ok(pod) if !mutate::is_ours(&pod, context.settings) => Judgement::default(),
            Ok(pod) => {
                let mut changed = Value::clone(&pod);
                match mutate::mutate(&mut changed, old, context.settings, context.token) {
                    Err(denial) => judged(Err(denial)),
                    Ok(()) if changed == *pod => Judgement::default(),
                    Ok(()) => {
                        let patch = json_patch::diff(&pod, &changed);
                        return Answer { verdict: Verdict::Patched(patch), warnings: Vec::new() };
                    }
                }
            }
        },
        Hook::ValidateTopology => topology::validate(&request.object),
        Hook::ValidateQueue => queue::validate(&request.object, context.queues),
        Hook::ValidatePodGroup => pod_group::validate(&request.object, old.is_some()),
    };
    let verdict = judgement.denial.map_or(Verdict::Allowed, |denial| Verdict::Denied(denial.0));
    Answer { verdict, warnings: judgement.warnings }
}

/// The pod of a question, in the namespace that it is made in.
fn placed(request: &Request) -> Result<Cow<'_, Value>, Denial> {
    let mut pod = Cow::Borrowed(&request.object);
    let own = pod["metadata"]["namespace"].as_str().unwrap_or_default();
    if own.is_empty() && !request.namespace.is_empty() {
        let pod = pod.to_mut();
        if let Some(metadata) = pod.get_mut("metadata").and_then(Value::as_object_mut) {
            metadata.insert("namespace".to_owned(), json!(request.namespace));
        }
    } else if own != request.namespace && !request.namespace.is_empty() {
        return Err(Denial(format!(
            "metadata.namespace {own:?} is not the namespace of the request, {:?}: leave it out or correct it",
            request.namespace
        )));
    }
    Ok(pod)
}

/// The body that carries an answer.
pub fn write(uid: &str, answer: &Answer) -> Value {
    let mut response = json!({"uid": uid, "allowed": true});
    match &answer.verdict {
        Verdict::Allowed => {}
        Verdict::Patched(patch) => {
            response["patchType"] = json!("JSONPatch");
            response["patch"] = json!(base64(&json!(patch).to_string()));
        }
        Verdict::Denied(why) => {
            response["allowed"] = json!(false);
            response["status"] = json!({"status": "Failure", "message": why, "reason": "Forbidden", "code": FORBIDDEN});
        }
    }
    if !answer.warnings.is_empty() {
        response["warnings"] = json!(answer.warnings);
    }
    json!({"apiVersion": API_VERSION, "kind": "AdmissionReview", "response": response})
}

/// The body that has a question asked again.
pub(super) fn again(uid: &str) -> Value {
    let message =
        "too many large objects of this namespace are written at once: try again in a moment";
    let status = json!({"status": "Failure", "message": message, "reason": "TooManyRequests", "code": TOO_MANY,
        "details": {"retryAfterSeconds": AGAIN_AFTER}});
    json!({"apiVersion": API_VERSION, "kind": "AdmissionReview",
        "response": {"uid": uid, "allowed": false, "status": status}})
}

/// Bytes as JSON has them in the API.
fn base64(text: &str) -> Value {
    json!(k8s_openapi::ByteString(text.as_bytes().to_vec()))
}
