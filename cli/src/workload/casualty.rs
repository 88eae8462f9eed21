//! Says which rank of a workload failed first, and how: from what the kubelets wrote into its pods. Pure.

use jiff::Timestamp;
use serde_json::Value;

use crate::cluster::json::text;
use crate::print::time;

/// Exit codes of what was told to stop: who ends with them was most often taken along by another.
const TOLD_TO_STOP: [i64; 2] = [128 + 9, 128 + 15];

/// A container that failed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Casualty {
    pub(crate) pod: String,
    pub(crate) container: String,
    pub(crate) code: Option<i64>,
    /// `Error`, `OOMKilled`, or what the kubelet says of the whole pod.
    pub(crate) reason: String,
    pub(crate) when: Option<Timestamp>,
    /// It runs again: its log is that before its last restart.
    pub(crate) has_restarted: bool,
}

impl Casualty {
    /// `exit code 3, Error`.
    pub(crate) fn how(&self) -> String {
        match (self.code, self.reason.as_str()) {
            (Some(code), "" | "Error") => format!("exit code {code}"),
            (Some(code), reason) => format!("exit code {code}, {reason}"),
            (None, "") => "Failed".to_owned(),
            (None, reason) => reason.to_owned(),
        }
    }

    /// Tells whether it was told to stop rather than failed by itself.
    fn was_taken_along(&self) -> bool {
        self.code.is_some_and(|code| TOLD_TO_STOP.contains(&code)) && self.reason != "OOMKilled"
    }
}

/// The containers that failed, the first to fail first. Times are whole seconds, so that of one second those that were
/// told to stop come last.
pub(crate) fn casualties(pods: &[Value]) -> Vec<Casualty> {
    let mut all: Vec<Casualty> = pods.iter().filter_map(of_pod).collect();
    all.sort_by_cached_key(|one| {
        (one.when.is_none(), one.when, one.was_taken_along(), one.pod.clone())
    });
    all
}

/// Returns what failed first in a pod.
fn of_pod(pod: &Value) -> Option<Casualty> {
    let name = text(&pod["metadata"]["name"]).to_owned();
    let lists = [&pod["status"]["initContainerStatuses"], &pod["status"]["containerStatuses"]];
    let statuses = lists.iter().filter_map(|list| list.as_array()).flatten();
    let failed = statuses.flat_map(|status| {
        [("state", false), ("lastState", true)].map(|(field, has_restarted)| {
            let end = &status[field]["terminated"];
            let code = end["exitCode"].as_i64().filter(|code| *code != 0)?;
            Some(Casualty {
                pod: name.clone(),
                container: text(&status["name"]).to_owned(),
                code: Some(code),
                reason: text(&end["reason"]).to_owned(),
                when: time::of(&end["finishedAt"]),
                has_restarted,
            })
        })
    });
    let first = failed.flatten().min_by_key(|one| (one.when.is_none(), one.when));
    first.or_else(|| {
        (pod["status"]["phase"] == "Failed").then(|| Casualty {
            pod: name.clone(),
            container: String::new(),
            code: None,
            reason: text(&pod["status"]["reason"]).to_owned(),
            when: None,
            has_restarted: false,
        })
    })
}

/// The exit code of a container of a pod that has ended; `None` while it runs.
pub(crate) fn exit_code(pod: &Value, container: &str) -> Option<i64> {
    let statuses = pod["status"]["containerStatuses"].as_array()?;
    let status = statuses.iter().find(|status| status["name"] == container)?;
    status["state"]["terminated"]["exitCode"].as_i64()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    /// A pod whose container ended: name, second, code, reason, field.
    fn pod(name: &str, second: u8, code: i64, reason: &str, field: &str) -> Value {
        let at = format!("2026-01-01T00:00:{second:02}Z");
        json!({"metadata": {"name": name}, "status": {"phase": "Running", "containerStatuses": [
            {"name": "main", field: {"terminated": {"exitCode": code, "reason": reason, "finishedAt": at}}}]}})
    }

    /// The pods that failed, in their order.
    fn check(pods: &[(&str, u8, i64, &str, &str)], expect: &[&str]) {
        let pods: Vec<Value> =
            pods.iter().map(|one| pod(one.0, one.1, one.2, one.3, one.4)).collect();
        let said: Vec<String> =
            casualties(&pods).iter().map(|one| format!("{}: {}", one.pod, one.how())).collect();
        assert_eq!(said, expect);
    }

    #[test]
    fn the_first_to_fail_comes_first() {
        check(
            &[
                ("a", 7, 143, "Error", "state"),
                ("b", 5, 0, "Completed", "state"),
                ("c", 7, 3, "Error", "state"),
            ],
            &["c: exit code 3", "a: exit code 143"],
        );
        check(
            &[("a", 9, 1, "Error", "state"), ("b", 4, 137, "OOMKilled", "lastState")],
            &["b: exit code 137, OOMKilled", "a: exit code 1"],
        );
        // Who ran out of memory has the code of who was told to stop, and failed by itself.
        check(
            &[("a", 7, 143, "Error", "state"), ("b", 7, 137, "OOMKilled", "state")],
            &["b: exit code 137, OOMKilled", "a: exit code 143"],
        );
        check(&[("a", 9, 0, "Completed", "state")], &[]);
    }

    /// The containers after it never began, so that only its own log tells why.
    #[test]
    fn a_pod_fails_with_its_init_container() {
        let end = json!({"exitCode": 2, "reason": "Error", "finishedAt": "2026-01-01T00:00:05Z"});
        let pod = json!({"metadata": {"name": "a"}, "status": {"phase": "Failed",
            "initContainerStatuses": [{"name": "fetch", "state": {"terminated": end}}],
            "containerStatuses": [{"name": "main", "state": {"waiting": {}}}]}});
        let evicted = json!({"metadata": {"name": "b"},
            "status": {"phase": "Failed", "reason": "Evicted"}});
        let all = casualties(&[evicted, pod]);
        let said: Vec<String> =
            all.iter().map(|one| format!("{} {}: {}", one.pod, one.container, one.how())).collect();
        assert_eq!(said, ["a fetch: exit code 2", "b : Evicted"]);
    }
}
