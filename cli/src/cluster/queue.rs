//! Queues as the CLI needs them: the tree, and what each may use.

mod load;

use std::collections::BTreeMap;

use serde_json::Value;

use crate::cluster::gpu;
use crate::cluster::json::text;
use crate::cluster::names;
use crate::print::error::{Exit, Problem, number};
use crate::print::output::clean;
pub(crate) use load::{not_installed, readable};

/// The resources that queues bound, as their objects call them.
pub(crate) const LANES: [&str; 3] = ["gpu", "cpu", "memory"];

/// An amount of a resource that a queue may have: none at all, unlimited, or thousandths of the unit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Amount {
    /// `-1`.
    Unlimited,
    /// Thousandths; absent counts as zero.
    Milli(u64),
}

impl Amount {
    /// Reads a field of a `Queue`. Below zero -1 alone means something; the rest counts as zero.
    pub(crate) fn read(value: &Value) -> Self {
        let text = value.to_string();
        if matches!(text.as_str(), "-1" | "-1.0") {
            Self::Unlimited
        } else {
            Self::Milli(gpu::milli(&text).unwrap_or(0))
        }
    }

    /// Returns it in words.
    pub(crate) fn words(self) -> String {
        match self {
            Self::Unlimited => "unlimited".to_owned(),
            Self::Milli(milli) => gpu::devices(milli),
        }
    }

    /// Returns it as a table shows it; unlimited as `∞`, or `inf` in ASCII.
    pub(crate) fn show(self, ascii: bool) -> String {
        match self {
            Self::Unlimited => (if ascii { "inf" } else { "∞" }).to_owned(),
            Self::Milli(milli) => gpu::devices(milli),
        }
    }

    pub(crate) fn milli(self) -> Option<u64> {
        match self {
            Self::Unlimited => None,
            Self::Milli(milli) => Some(milli),
        }
    }
}

impl From<Option<u64>> for Amount {
    fn from(milli: Option<u64>) -> Self {
        milli.map_or(Self::Unlimited, Self::Milli)
    }
}

/// Quota, limit and weight of one resource.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Resource {
    pub(crate) quota: Amount,
    pub(crate) limit: Amount,
    pub(crate) weight: Amount,
}

impl Resource {
    fn read(value: &Value) -> Self {
        Self {
            quota: Amount::read(&value["quota"]),
            limit: Amount::read(&value["limit"]),
            weight: Amount::read(&value["overQuotaWeight"]),
        }
    }
}

/// One queue.
#[derive(Clone, Debug)]
pub(crate) struct Queue {
    pub(crate) name: String,
    pub(crate) parent: Option<String>,
    pub(crate) children: Vec<String>,
    pub(crate) gpu: Resource,
    pub(crate) cpu: Resource,
    pub(crate) memory: Resource,
    pub(crate) priority: Option<i64>,
    pub(crate) object: Value,
}

impl Queue {
    /// Tells whether it was held, and nobody has given it limits since: work may be submitted to it, and starts once it is
    /// released.
    pub(crate) fn is_held(&self) -> bool {
        is_held(&self.object)
    }
}

/// Tells whether the object of a queue was held: its limits are kept in an annotation, and all are zero.
pub(crate) fn is_held(object: &Value) -> bool {
    let lane = |lane: &&str| Amount::read(&object["spec"]["resources"][lane]["limit"]);
    object["metadata"]["annotations"][names::LIMITS_BEFORE].is_string()
        && LANES.iter().all(|name| lane(name) == Amount::Milli(0))
}

/// All queues, by name.
#[derive(Clone, Debug, Default)]
pub(crate) struct Queues(pub(crate) BTreeMap<String, Queue>);

impl Queues {
    pub(crate) fn read(objects: Vec<Value>) -> Self {
        let mut queues = BTreeMap::new();
        for object in objects {
            let name = text(&object["metadata"]["name"]).to_owned();
            let parent = text(&object["spec"]["parentQueue"]);
            let resources = &object["spec"]["resources"];
            let queue = Queue {
                parent: (!parent.is_empty()).then(|| parent.to_owned()),
                children: Vec::new(),
                gpu: Resource::read(&resources["gpu"]),
                cpu: Resource::read(&resources["cpu"]),
                memory: Resource::read(&resources["memory"]),
                priority: object["spec"]["priority"].as_i64(),
                name: name.clone(),
                object,
            };
            queues.insert(name, queue);
        }
        let links: Vec<(String, String)> =
            queues.values().filter_map(|q| Some((q.parent.clone()?, q.name.clone()))).collect();
        for (parent, child) in links {
            if let Some(parent) = queues.get_mut(&parent) {
                parent.children.push(child);
            }
        }
        Self(queues)
    }

    /// These, and the queues among some objects that are not there yet.
    pub(crate) fn with<'o>(self, objects: impl Iterator<Item = &'o Value>) -> Self {
        let own = names::queues();
        let is_new = |object: &&Value| {
            text(&object["kind"]) == own.kind
                && text(&object["apiVersion"]) == own.api_version()
                && !self.0.contains_key(text(&object["metadata"]["name"]))
        };
        let new: Vec<Value> = objects.filter(is_new).cloned().collect();
        Self::read(self.0.into_values().map(|queue| queue.object).chain(new).collect())
    }

    /// The names from the root to the queue, `research/team-a`; stops at a cycle.
    pub(crate) fn path(&self, name: &str) -> String {
        let mut path = vec![name];
        let mut at = name;
        while let Some(parent) = self.0.get(at).and_then(|queue| queue.parent.as_deref()) {
            if path.contains(&parent) {
                break;
            }
            path.push(parent);
            at = parent;
        }
        path.reverse();
        clean(&path.join("/")).into_owned()
    }

    /// Tells whether a queue is `root` or below it.
    pub(crate) fn is_below(&self, name: &str, root: &str) -> bool {
        let mut at = Some(name);
        for _ in 0..=self.0.len() {
            match at {
                Some(name) if name == root => return true,
                Some(name) => at = self.0.get(name).and_then(|queue| queue.parent.as_deref()),
                None => return false,
            }
        }
        false
    }

    /// A queue and those above it, the nearest first; stops at a cycle.
    pub(crate) fn up(&self, name: &str) -> impl Iterator<Item = &Queue> {
        let above = move |queue: &&Queue| self.0.get(queue.parent.as_deref()?);
        std::iter::successors(self.0.get(name), above).take(self.0.len())
    }

    /// The held one of a queue and those above it, the nearest first.
    pub(crate) fn held(&self, name: &str) -> Option<&Queue> {
        self.up(name).find(|queue| queue.is_held())
    }

    /// The queues without children, those with a similar name first.
    fn leaves_near<'a>(&'a self, name: &str) -> Vec<&'a Queue> {
        let mut leaves: Vec<_> =
            self.0.values().filter(|queue| queue.children.is_empty()).collect();
        leaves.sort_by_key(|queue| strsim::damerau_levenshtein(&queue.name, name));
        leaves
    }

    /// Tells whether work can be submitted to a queue.
    ///
    /// # Errors
    /// It does not exist, has children, or nothing can ever run in it.
    pub(crate) fn check(&self, name: &str, asks_gpu: bool) -> Result<(), Problem> {
        let Some(queue) = self.0.get(name) else { return Err(self.unknown(name)) };
        if !queue.children.is_empty() {
            let flags: Vec<String> =
                queue.children.iter().take(3).map(|c| format!("-q {}", clean(c))).collect();
            return Err(Problem::new(
                number::QUEUE_INNER,
                Exit::Refused,
                format!("queue \"{name}\" has child queues and cannot run workloads"),
            )
            .fix(flags.join("   or   ")));
        }
        let mut at = Some(queue);
        let mut steps = self.0.len();
        while let Some(queue) = at.filter(|_| asks_gpu && steps > 0) {
            if queue.gpu.limit == Amount::Milli(0) && !queue.is_held() {
                let here =
                    if queue.name == name { String::new() } else { format!(" (above \"{name}\")") };
                let shown = clean(&queue.name);
                return Err(Problem::new(
                    number::QUEUE_LIMIT_ZERO,
                    Exit::Refused,
                    format!("queue \"{shown}\"{here} can give no GPU: its gpu.limit is 0 or not set, which KAI reads as 0"),
                )
                .fix(format!("(admin) kubectl kai queues set {shown} --gpu-limit=-1   (-1: no limit); or submit all the same: --force")));
            }
            if let Some(parent) = &queue.parent
                && !self.0.contains_key(parent)
            {
                let what = format!(
                    "queue \"{}\" names a parent that does not exist: \"{}\"",
                    clean(&queue.name),
                    clean(parent)
                );
                return Err(Problem::new(number::QUEUE_NOT_FOUND, Exit::Refused, what)
                    .line("KAI leaves such a queue out, so nothing runs in it")
                    .fix(format!("(admin) kubectl kai queues create {}", clean(parent))));
            }
            steps -= 1;
            at = queue.parent.as_ref().and_then(|parent| self.0.get(parent));
        }
        Ok(())
    }

    pub(crate) fn unknown(&self, name: &str) -> Problem {
        let problem = Problem::new(
            number::QUEUE_NOT_FOUND,
            Exit::NotFound,
            format!("queue \"{name}\" does not exist"),
        );
        let near = self.leaves_near(name);
        if self.0.is_empty() {
            return problem
                .line("this cluster has no queue at all")
                .fix("(admin) kubectl kai queues create NAME");
        }
        let close = near
            .first()
            .filter(|q| strsim::damerau_levenshtein(&q.name, name) <= name.len().max(3) / 3 + 1);
        let problem = if let Some(queue) = close {
            problem.line(format!(
                "did you mean \"{}\" ({})?",
                clean(&queue.name),
                self.path(&queue.name)
            ))
        } else {
            let names: Vec<_> = near.iter().take(5).map(|q| clean(&q.name).into_owned()).collect();
            problem.line(format!("queues that run workloads: {}", names.join(", ")))
        };
        problem.fix(format!("one of {}: kubectl kai queues", count(near.len(), "queue")))
    }
}

/// A number and its noun.
pub(crate) fn count(n: impl std::fmt::Display, noun: &str) -> String {
    let n = n.to_string();
    if n == "1" { format!("1 {noun}") } else { format!("{n} {noun}s") }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn nothing_but_minus_one_is_unlimited() {
        for (value, expect) in [
            (json!(8), Amount::Milli(8000)),
            (json!(0.5), Amount::Milli(500)),
            (json!(-1), Amount::Unlimited),
            (json!(-1.0), Amount::Unlimited),
            (json!(-3), Amount::Milli(0)),
            (json!(-0.5), Amount::Milli(0)),
            (Value::Null, Amount::Milli(0)),
        ] {
            assert_eq!(Amount::read(&value), expect, "{value}");
        }
    }
}
