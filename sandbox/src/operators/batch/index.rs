//! The indexes of a Job with `completionMode: Indexed`: which have ended well, and which failed for good.

use std::collections::{BTreeMap, BTreeSet};

use kube::core::DynamicObject;
use serde_json::{Value, json};

use super::super::action::phase;
use super::super::template::integer;
use super::{End, INDEX, has_failed, to_i64};

/// The indexes of a Job, and what became of them.
#[derive(Debug, Default)]
pub(super) struct Indexes {
    is_indexed: bool,
    /// Their number.
    count: i64,
    /// Failures after which one is tried anew, where each has a limit of its own.
    limit: Option<i64>,
    /// Indexes that may fail before the rest is not tried.
    failed_max: Option<i64>,
    succeeded: BTreeSet<i64>,
    /// Those that failed once more than they may.
    pub(super) failed: BTreeSet<i64>,
}

/// The index of a pod.
pub(super) fn of(pod: &DynamicObject) -> Option<i64> {
    pod.metadata.labels.as_ref()?.get(INDEX)?.parse().ok()
}

impl Indexes {
    pub(super) fn read(spec: &Value, pods: &[&DynamicObject]) -> Self {
        let mut read = Self {
            is_indexed: spec["completionMode"] == "Indexed",
            count: integer(&spec["completions"], 1),
            limit: spec["backoffLimitPerIndex"].as_i64(),
            failed_max: spec["maxFailedIndexes"].as_i64(),
            ..Self::default()
        };
        let mut failures: BTreeMap<i64, i64> = BTreeMap::new();
        for (index, pod) in pods.iter().filter_map(|pod| Some((of(pod)?, pod))) {
            match phase(pod) {
                "Succeeded" => drop(read.succeeded.insert(index)),
                _ if has_failed(pod, spec) => *failures.entry(index).or_default() += 1,
                _ => {}
            }
        }
        if let Some(limit) = read.limit {
            let for_good = failures.into_iter().filter(|(_, times)| *times > limit);
            read.failed = for_good.map(|(index, _)| index).collect();
            read.failed.retain(|index| !read.succeeded.contains(index));
        }
        read
    }

    /// Tells whether each index has a limit of its own.
    pub(super) fn has_limit(&self) -> bool {
        self.limit.is_some()
    }

    /// The end of the Job by its failed indexes.
    pub(super) fn end(&self) -> Option<End> {
        let failed = to_i64(self.failed.len());
        if self.failed_max.is_some_and(|most| failed > most) {
            let words = "Job has exceeded the specified maximal number of failed indexes";
            return Some(("Failed", "MaxFailedIndexesExceeded", words));
        }
        let are_over = failed + to_i64(self.succeeded.len()) >= self.count;
        (failed > 0 && are_over).then_some(("Failed", "FailedIndexes", "Job has failed indexes"))
    }

    /// Writes which have ended, as `0,2-4`.
    pub(super) fn tell(&self, status: &mut Value) {
        if !self.is_indexed {
            return;
        }
        status["completedIndexes"] = json!(ranges(&self.succeeded));
        if self.limit.is_some() {
            status["failedIndexes"] = json!(ranges(&self.failed));
        }
    }
}

fn ranges(indexes: &BTreeSet<i64>) -> String {
    let mut ranges: Vec<(i64, i64)> = Vec::new();
    for index in indexes {
        match ranges.last_mut() {
            Some((_, last)) if *last + 1 == *index => *last = *index,
            Some(_) | None => ranges.push((*index, *index)),
        }
    }
    let texts = ranges.iter().map(|(first, last)| match last - first {
        0 => first.to_string(),
        // As the job controller writes two.
        1 => format!("{first},{last}"),
        _ => format!("{first}-{last}"),
    });
    texts.collect::<Vec<_>>().join(",")
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A Job of four indexes that may each be tried anew once, with pods `index phase`: which failed, and how it ends.
    fn check(pods: &[(i64, &str)], failed: &str, end: Option<&str>) {
        let pod = |(index, phase): &(i64, &str)| -> DynamicObject {
            serde_json::from_value(json!({"apiVersion": "v1", "kind": "Pod",
                "metadata": {"name": "p", "labels": {INDEX: index.to_string()}},
                "status": {"phase": phase}}))
            .expect("written above")
        };
        let pods: Vec<DynamicObject> = pods.iter().map(pod).collect();
        let spec =
            json!({"completionMode": "Indexed", "completions": 4, "backoffLimitPerIndex": 1});
        let indexes = Indexes::read(&spec, &pods.iter().collect::<Vec<_>>());
        let mut status = json!({});
        indexes.tell(&mut status);
        assert_eq!(status["failedIndexes"], failed, "{pods:?}");
        assert_eq!(indexes.end().map(|(_, reason, _)| reason), end, "{pods:?}");
    }

    #[test]
    fn each_index_has_its_own_tries() {
        check(&[(0, "Failed"), (0, "Running"), (1, "Running")], "", None);
        check(&[(0, "Failed"), (0, "Failed"), (1, "Running")], "0", None);
        check(
            &[(0, "Failed"), (0, "Failed"), (1, "Succeeded"), (2, "Succeeded"), (3, "Succeeded")],
            "0",
            Some("FailedIndexes"),
        );
        let all = [0, 0, 1, 1, 2, 2, 3, 3].map(|index| (index, "Failed"));
        check(&all, "0-3", Some("FailedIndexes"));
        check(&all[..4], "0,1", None);
    }
}
