//! Queues that hang in no tree: their condition `Orphan` (`docs/contract.md` 1.2).
//!
//! The scheduler leaves such a queue and everything below it out, so its owner has to hear of it.

use std::collections::BTreeMap;

use kai_api::names::condition;
use kai_daemon::clock;
use serde_json::{Value, json};

/// The reason why a queue hangs in no tree.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Orphan {
    /// Its parent does not exist.
    NoParent(String),
    /// It is its own ancestor, or below such a queue.
    Circle(String),
    /// A queue above it, named here, is an orphan.
    Above(String),
}

impl Orphan {
    fn reason(&self) -> &'static str {
        match self {
            Self::NoParent(_) => "ParentNotFound",
            Self::Circle(_) => "ParentCircle",
            Self::Above(_) => "AncestorNotFound",
        }
    }

    fn message(&self) -> String {
        match self {
            Self::NoParent(parent) => format!("parent queue {parent:?} does not exist"),
            Self::Circle(parent) => format!("parent queue {parent:?} leads back to itself"),
            Self::Above(queue) => format!("queue {queue:?} above it has no parent"),
        }
    }
}

/// The orphans among queues, given each with the name of its parent, empty for a root.
///
/// Cost: queues times the height of the tree.
pub(super) fn orphans(parents: &BTreeMap<String, String>) -> BTreeMap<&str, Orphan> {
    let orphan = |name: &str, parent: &String| {
        if !parent.is_empty() && !parents.contains_key(parent) {
            return Some(Orphan::NoParent(parent.clone()));
        }
        let mut at = name;
        for _ in 0..=parents.len() {
            let above = &parents[at];
            if above.is_empty() {
                return None;
            }
            if !parents.contains_key(above) {
                return Some(Orphan::Above(at.to_owned()));
            }
            at = above;
        }
        Some(Orphan::Circle(parent.clone()))
    };
    parents
        .iter()
        .filter_map(|(name, parent)| Some((name.as_str(), orphan(name, parent)?)))
        .collect()
}

/// The conditions of a queue with ours brought up to date; `None` when they are so already. Entries of others
/// stay as they are.
pub(super) fn conditions(stored: &Value, orphan: Option<&Orphan>) -> Option<Value> {
    let mut rows = stored.as_array().cloned().unwrap_or_default();
    let at = rows.iter().position(|row| row["type"] == condition::ORPHAN);
    let (status, reason, message) = match orphan {
        Some(orphan) => ("True", orphan.reason(), orphan.message()),
        None => ("False", "ParentFound", "every queue above it exists".to_owned()),
    };
    let before = match at {
        Some(at) => &rows[at],
        // A queue that never was one says nothing.
        None if orphan.is_none() => return None,
        None => &Value::Null,
    };
    if before["status"] == status && before["reason"] == reason && before["message"] == message {
        return None;
    }
    let now = json!(clock::now().strftime("%Y-%m-%dT%H:%M:%SZ").to_string());
    let since = if before["status"] == status { before["lastTransitionTime"].clone() } else { now };
    let row = json!({"type": condition::ORPHAN, "status": status, "reason": reason,
        "message": message, "lastTransitionTime": since});
    match at {
        Some(at) => rows[at] = row,
        None => rows.push(row),
    }
    Some(Value::Array(rows))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::{Orphan, conditions, orphans};

    #[test]
    fn a_queue_is_an_orphan_by_its_own_or_an_ancestors_parent() {
        let edges =
            [("a", ""), ("b", "a"), ("c", "gone"), ("d", "c"), ("x", "y"), ("y", "x"), ("z", "x")];
        let parents = edges.map(|(name, parent)| (name.to_owned(), parent.to_owned())).into();
        let circle = |name: &str| Orphan::Circle(name.to_owned());
        let wanted = [
            ("c", Orphan::NoParent("gone".to_owned())),
            ("d", Orphan::Above("c".to_owned())),
            ("x", circle("y")),
            ("y", circle("x")),
            ("z", circle("x")),
        ];
        assert_eq!(orphans(&parents), wanted.into());
    }

    #[test]
    fn conditions_of_others_stay_and_ours_is_written_when_it_changes() {
        let foreign = json!({"type": "OverQuota", "status": "True"});
        assert_eq!(conditions(&json!([foreign]), None), None);
        let orphan = Orphan::NoParent("p".to_owned());
        let Some(written) = conditions(&json!([foreign]), Some(&orphan)) else {
            panic!("nothing to write")
        };
        assert_eq!(written[0], foreign);
        assert_eq!(written[1]["status"], "True");
        assert_eq!(conditions(&written, Some(&orphan)), None);
        let mut earlier = written.clone();
        earlier[1]["lastTransitionTime"] = json!("2026-01-01T00:00:00Z");
        let circle = conditions(&earlier, Some(&Orphan::Circle("q".to_owned())));
        let Some(circle) = circle else { panic!("another reason is to be written") };
        assert_eq!(circle[1]["reason"], "ParentCircle");
        assert_eq!(circle[1]["lastTransitionTime"], "2026-01-01T00:00:00Z", "it is one all along");
        let healed = conditions(&earlier, None);
        assert!(healed.is_some_and(|rows| rows[1]["lastTransitionTime"] != "2026-01-01T00:00:00Z"));
        let healed = conditions(&written, None);
        assert!(healed.is_some_and(|rows| rows[1]["status"] == "False" && rows[0] == foreign));
    }
}
