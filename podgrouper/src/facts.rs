//! Facts that a rule has to know besides the pod and its owners, asked for one read at a time.
//!
//! A rule never reads the API. It looks a fact up, and where the fact is not there yet it stops with
//! [`Stop::Need`]; the caller reads, adds the answer and calls again. So grouping stays a function of
//! its arguments, and a second pod of the same gang finds all facts known.

use crate::object::POD_GROUP_API_VERSION;
use std::collections::BTreeMap;
use std::sync::Arc;

use crate::object::{FieldError, Object, OwnerRef};
use crate::sought::Sought;

/// The part of an object that a reader needs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Part {
    /// Its metadata.
    Metadata,
    /// Its metadata and its spec, but for the containers of pods and what is around them.
    Spec,
    /// All of it, but for what no rule reads of its kind.
    Whole,
}

/// One read of the API.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Read {
    /// One object by name; the namespace of cluster-scoped kinds is empty.
    Get {
        /// API version of the object.
        api_version: String,
        /// Kind of the object.
        kind: String,
        /// Namespace, empty for cluster-scoped kinds.
        namespace: String,
        /// Name.
        name: String,
        /// The part of it that the rule reads.
        part: Part,
    },
    /// All objects of a kind in a namespace with this beginning of a name and these labels.
    List {
        /// API version of the objects.
        api_version: String,
        /// Kind of the objects.
        kind: String,
        /// Namespace, empty for cluster-scoped kinds.
        namespace: String,
        /// Prefix of the names; empty selects all.
        prefix: String,
        /// Labels that must be equal; none selects all.
        labels: Vec<(String, String)>,
        /// The pods among them that the rule looks for: an answer may leave out all others.
        sought: Sought,
    },
}

impl Read {
    /// A read of one object.
    pub fn get(api_version: &str, kind: &str, namespace: &str, name: &str) -> Self {
        Self::Get {
            api_version: api_version.to_owned(),
            kind: kind.to_owned(),
            namespace: namespace.to_owned(),
            name: name.to_owned(),
            part: Part::Whole,
        }
    }

    /// A read of the metadata of one object.
    pub fn metadata(api_version: &str, kind: &str, namespace: &str, name: &str) -> Self {
        Self::get(api_version, kind, namespace, name).of(Part::Metadata)
    }

    /// A read of a part of an owner.
    pub(crate) fn owner(owner: &OwnerRef, namespace: &str, part: Part) -> Self {
        Self::get(&owner.api_version, &owner.kind, namespace, &owner.name).of(part)
    }

    /// The same read, of another part.
    fn of(mut self, wanted: Part) -> Self {
        if let Self::Get { part, .. } = &mut self {
            *part = wanted;
        }
        self
    }

    /// A read of the pods of a namespace that have these labels and are looked for.
    pub fn pods(namespace: &str, labels: &[(&str, &str)], sought: Sought) -> Self {
        let labels = labels.iter().map(|(key, value)| ((*key).to_owned(), (*value).to_owned()));
        Self::List {
            api_version: "v1".to_owned(),
            kind: "Pod".to_owned(),
            namespace: namespace.to_owned(),
            prefix: String::new(),
            labels: labels.collect(),
            sought,
        }
    }

    /// A read of a `PriorityClass`.
    pub fn priority_class(name: &str) -> Self {
        Self::get("scheduling.k8s.io/v1", "PriorityClass", "", name)
    }

    /// A read of a `PodGroup`.
    pub fn pod_group(namespace: &str, name: &str) -> Self {
        Self::get(POD_GROUP_API_VERSION, "PodGroup", namespace, name)
    }
}

/// Result of a read.
#[derive(Debug, Clone, PartialEq)]
pub enum Answer {
    /// The object of a get.
    Found(Arc<Object>),
    /// No such object.
    Absent,
    /// The API server does not serve the kind.
    Unserved,
    /// The objects of a list.
    List(Vec<Arc<Object>>),
    /// The read failed; the text says why.
    Failed(String),
}

/// All that is known so far.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Facts(BTreeMap<Read, Answer>);

impl Facts {
    /// Adds the answer to a read.
    pub fn add(&mut self, read: Read, answer: Answer) {
        self.0.insert(read, answer);
    }

    /// The answer to a read, or a stop that asks for it.
    pub fn ask(&self, read: Read) -> Result<&Answer, Stop> {
        let known = self.0.get(&read);
        known.ok_or_else(|| Stop::Need(Box::new(read)))
    }

    /// The object of a get: `None` when it does not exist, an error when the read failed.
    pub fn object(&self, read: Read) -> Result<Option<&Arc<Object>>, Stop> {
        match self.ask(read)? {
            Answer::Found(object) => Ok(Some(object)),
            Answer::Absent | Answer::Unserved | Answer::List(_) => Ok(None),
            Answer::Failed(why) => Err(Stop::bad(why.clone())),
        }
    }

    /// The objects of a list; a kind that does not exist has none.
    pub fn list(&self, read: Read) -> Result<&[Arc<Object>], Stop> {
        match self.ask(read)? {
            Answer::List(items) => Ok(items),
            Answer::Absent | Answer::Unserved | Answer::Found(_) => Ok(&[]),
            Answer::Failed(why) => Err(Stop::bad(why.clone())),
        }
    }
}

/// The reason why a rule gave no `PodGroup`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Stop {
    /// A fact is missing: read it, add it, call again.
    Need(Box<Read>),
    /// The workload cannot be grouped; the text is for the user.
    Bad(String),
    /// The workload's controller has not written yet what the rule needs; the text is for the user.
    Early(String),
}

impl Stop {
    /// A final error.
    pub fn bad(text: impl Into<String>) -> Self {
        Self::Bad(text.into())
    }
}

impl From<FieldError> for Stop {
    fn from(error: FieldError) -> Self {
        Self::Bad(error.to_string())
    }
}
