//! The annotation `kai.scheduler/explanation` on a `PodGroup` that waits: what the scheduler knows of why, as JSON.
//!
//! It stands beside the condition, whose words are KAI's and tools match. Who may read the `PodGroup` may read it, so it
//! names no workload, node or queue but the group's own queue and those above it.

use serde::{Deserialize, Serialize};

/// The version of the form. Fields are only ever added; what means something else gets a new number.
pub const VERSION: u32 = 1;
/// The largest text of an annotation.
pub const BYTES_MAX: usize = 4096;

/// The reason why a group waits.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Explanation {
    /// The form: [`VERSION`].
    pub version: u32,
    /// The stable number of the reason: `KAI1203`.
    pub code: String,
    /// The word for it, as tables show it: `NoCapacity`.
    pub reason: String,
    /// Nothing that ends or is evicted lets it in: it waits until it, its queue or the nodes are changed.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub never: bool,
    /// The reason as a clause without a full stop: `it needs 3 whole nodes at once, 2 are free`.
    pub sentence: String,
    /// The pods that have to start together.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub gang: Option<Gang>,
    /// GPUs of the nodes that it may go to.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub gpus: Option<Gpus>,
    /// Its queue and those above it, the lowest first.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub queues: Vec<Queue>,
    /// Numbers of nodes that refuse a pod of it, the most frequent reason first.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub nodes: Vec<Refusing>,
    /// A clause for each kind of eviction that does not help, and how far a search is.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub proofs: Vec<String>,
    /// Changes that would help, the least first.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub help: Vec<Help>,
}

/// The pods that have to start together.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Gang {
    /// The sub-group; empty where the group has none.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub sub_group: String,
    /// Number of pods that it needs to run at all.
    pub needed: u32,
    /// Number of them for which there is room, or that are there where pods are missing.
    pub placed: u32,
}

/// GPUs, in thousandths of devices.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Gpus {
    /// GPUs that one pod asks for.
    pub each_milli: i64,
    /// GPUs that are free in all, once the pods for which there is room have theirs.
    pub free_milli: i64,
    /// The most that are free on one node.
    pub free_node_max_milli: i64,
    /// The largest free part of a shared GPU.
    pub free_part_max_milli: i64,
    /// The most that a node has.
    pub node_max_milli: i64,
}

/// A queue, in thousandths of GPUs.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Queue {
    /// Its name.
    pub name: String,
    /// GPUs that it is entitled to; none where that is unlimited.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub quota_milli: Option<i64>,
    /// GPUs that it may never pass; none where that is unlimited.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub limit_milli: Option<i64>,
    /// GPUs that it holds.
    pub used_milli: i64,
    /// Its fair share.
    pub share_milli: i64,
    /// GPUs that it holds and waits for.
    pub asked_milli: i64,
}

/// Nodes that refuse a pod for one reason.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Refusing {
    /// Their number.
    pub count: u32,
    /// The reason, without the number: `have too few GPUs free`.
    pub reason: String,
}

/// A change that would help.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Help {
    /// The change: `ask for 8 GPUs a pod`.
    pub text: String,
    /// Its cost: `everybody in the queue may use more`.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub cost: String,
    /// Only an administrator may make it.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub admin: bool,
    /// The command that makes it; none where it depends on what the user submitted. It is to be run by nobody as it stands
    /// here: whoever may write the group may have chosen it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub command: Option<String>,
}

impl Explanation {
    /// Reads an annotation; none where it is of another form.
    pub fn read(text: &str) -> Option<Self> {
        let read: Self = serde_json::from_str(text).ok()?;
        (read.version == VERSION).then_some(read)
    }

    /// Writes the annotation: what matters least is left out where it would be too long.
    pub fn write(mut self) -> String {
        self.version = VERSION;
        cut(&mut self.sentence);
        self.proofs.iter_mut().for_each(cut);
        self.nodes.iter_mut().for_each(|one| cut(&mut one.reason));
        self.help.iter_mut().for_each(|one| cut(&mut one.text));
        loop {
            let text = serde_json::to_string(&self).unwrap_or_default();
            if text.len() <= BYTES_MAX || !self.shorten() {
                return text;
            }
        }
    }

    /// Leaves one thing out; tells whether there was one.
    fn shorten(&mut self) -> bool {
        let beyond_first = |list: &mut Vec<_>| list.len() > 1 && list.pop().is_some();
        self.nodes.pop().is_some()
            || beyond_first(&mut self.proofs)
            || (self.help.len() > 1 && self.help.pop().is_some())
            || self.queues.pop().is_some()
    }

    /// Tells whether the other says the same but for numbers beside the sentence.
    pub fn says(&self, other: &Self) -> bool {
        (&self.code, &self.reason, self.never, &self.sentence)
            == (&other.code, &other.reason, other.never, &other.sentence)
    }
}

/// The longest clause, in bytes.
const CLAUSE_MAX: usize = 400;

fn cut(text: &mut String) {
    if text.len() > CLAUSE_MAX {
        let end = text.floor_char_boundary(CLAUSE_MAX);
        text.truncate(end);
        text.push('…');
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_is_read_and_never_too_long() {
        let short = Explanation {
            version: VERSION,
            code: "KAI1203".into(),
            sentence: "it needs 3 whole nodes at once, 2 are free".into(),
            ..Explanation::default()
        };
        let text = short.clone().write();
        assert_eq!(Explanation::read(&text), Some(short.clone()));
        let many = |n: usize| vec![format!("é{}", "x".repeat(1000)); n];
        let long = Explanation {
            proofs: many(3),
            nodes: many(60).into_iter().map(|reason| Refusing { count: 1, reason }).collect(),
            help: many(9).into_iter().map(|text| Help { text, ..Help::default() }).collect(),
            queues: many(9).into_iter().map(|name| Queue { name, ..Queue::default() }).collect(),
            ..short.clone()
        };
        let text = long.write();
        assert!(text.len() <= BYTES_MAX, "{} bytes", text.len());
        let read = Explanation::read(&text).expect("it is of our form");
        assert!(read.says(&short), "{read:?}");
    }

    /// Lists show work that can never run in another state, so that it is news although the sentence stays.
    #[test]
    fn that_work_can_never_run_is_news() {
        let waits = Explanation {
            sentence: "it needs 3 whole nodes at once, 2 are free".into(),
            ..Explanation::default()
        };
        let never = Explanation { never: !waits.never, ..waits.clone() };
        assert!(waits.says(&waits) && !waits.says(&never) && !never.says(&waits));
    }

    #[test]
    fn another_form_is_not_read() {
        for text in ["", "KAI1203\nreclaim does not help", "{}", r#"{"version":2}"#] {
            assert_eq!(Explanation::read(text), None, "{text}");
        }
    }
}
