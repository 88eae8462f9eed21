//! Conditions in the status of a shard or of the Config (`docs/contract.md` 1.8).

use jiff::Timestamp;
use kai_api::names::condition;
use serde_json::{Value, json};

use crate::object::Object;

/// Condition of a shard or of the whole installation.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Standing {
    /// Subject whose readiness it is about, with its verb.
    pub(super) subject: &'static str,
    /// A need that is not there.
    pub(super) missing: Option<String>,
    /// The reason why it is not deployed.
    pub(super) refused: Option<String>,
    /// Fields of its spec that have no effect.
    pub(super) idle: Vec<String>,
    /// True if everything that is deployed answers.
    pub(super) is_available: bool,
}

/// The five conditions of an object; `None` when they are as stored but for times.
pub(super) fn conditions(object: &Object, standing: &Standing, now: Timestamp) -> Option<Value> {
    let is_fulfilled = standing.missing.is_none();
    let is_deployed = is_fulfilled && standing.refused.is_none();
    let is_available = is_deployed && standing.is_available;
    let deployed = match (&standing.refused, &standing.missing) {
        (Some(why), _) | (None, Some(why)) => why.clone(),
        (None, None) if standing.idle.is_empty() => "all objects are applied".to_owned(),
        (None, None) => {
            format!("all objects are applied; without effect here: {}", standing.idle.join(", "))
        }
    };
    let not = if is_available { "" } else { "not " };
    let available = format!("{} {not}ready", standing.subject);
    let fulfilled = standing.missing.clone().unwrap_or_else(|| "nothing is missing".to_owned());
    let rows = [
        (condition::RECONCILING, false, "reconciled", "done".to_owned()),
        (condition::DEPLOYED, is_deployed, "deployed", deployed),
        (condition::AVAILABLE, is_available, "available", available.clone()),
        (
            condition::DEPENDENCIES_FULFILLED,
            is_fulfilled,
            if is_fulfilled { "dependencies_fulfilled" } else { "dependencies_missing" },
            fulfilled,
        ),
        (
            condition::READY,
            is_available,
            if is_available { "ready" } else { "not_ready" },
            available,
        ),
    ];
    let stored = object.value()["status"]["conditions"].as_array();
    let generation = &object.value()["metadata"]["generation"];
    let now = now.strftime("%Y-%m-%dT%H:%M:%SZ").to_string();
    let mut is_same = true;
    let mut wanted = Vec::new();
    for (name, is_true, reason, message) in rows {
        let before = stored
            .and_then(|rows| rows.iter().find(|row| row["type"] == name))
            .unwrap_or(&Value::Null);
        let status = if is_true { "True" } else { "False" };
        let since = match before["lastTransitionTime"].as_str() {
            Some(since) if before["status"] == status => since,
            Some(_) | None => &now,
        };
        let row = json!({"type": name, "status": status, "reason": reason, "message": message,
            "observedGeneration": generation, "lastTransitionTime": since});
        is_same &= row == *before;
        wanted.push(row);
    }
    // Conditions of others stay.
    let is_ours = |row: &&Value| wanted.iter().any(|ours| ours["type"] == row["type"]);
    let others: Vec<Value> =
        stored.into_iter().flatten().filter(|row| !is_ours(row)).cloned().collect();
    wanted.extend(others);
    (!is_same).then_some(Value::Array(wanted))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Whoever waits for a shard is told since when it is as it is.
    #[test]
    fn a_condition_is_as_old_as_its_status() {
        let mut value = json!({"metadata": {"name": "s"}});
        let mut told = Vec::new();
        for (at, is_available, idle) in
            [(1, false, "a"), (2, false, "b"), (3, true, "b"), (4, true, "c")]
        {
            let idle = vec![idle.to_owned()];
            let standing = Standing { subject: "it is", is_available, idle, ..Standing::default() };
            let now = Timestamp::from_second(at).expect("a moment");
            let rows = conditions(&Object::new(value.clone()), &standing, now);
            let rows = rows.expect("its words or its status are others");
            let since = |name: &str| {
                let mut all = rows.as_array().into_iter().flatten();
                let row = all.find(|row| row["type"] == name).expect("it is one of ours");
                row["lastTransitionTime"].as_str().map(|text| text.replace("1970-01-01T00:00:", ""))
            };
            told.extend(since(condition::DEPLOYED).zip(since(condition::READY)));
            value["status"]["conditions"] = rows;
        }
        let expect = [("01Z", "01Z"), ("01Z", "01Z"), ("01Z", "03Z"), ("01Z", "03Z")];
        let told: Vec<(&str, &str)> =
            told.iter().map(|(deployed, ready)| (deployed.as_str(), ready.as_str())).collect();
        assert_eq!(told, expect);
    }
}
