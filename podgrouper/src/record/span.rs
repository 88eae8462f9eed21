//! Time that a pod waited and was on a node, read from the pod itself.

use std::sync::Arc;

use jiff::Timestamp;
use serde_json::Value;

/// Seconds since 1970, the precision of times in the API.
pub(crate) type Second = i64;

/// The way in which a pod ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum End {
    /// All its containers ended well.
    Succeeded,
    /// A container failed.
    Failed,
    /// It was deleted before it ended.
    Gone,
}

/// The end of a pod.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Ended {
    pub(crate) at: Second,
    pub(crate) how: End,
}

/// GPUs of one type.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Devices {
    /// The type that a record names.
    pub(crate) gpu_type: Arc<str>,
    /// Millionths of GPUs.
    pub(crate) micro_gpus: u64,
}

/// One pod of a workload.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Span {
    pub(crate) pod: Arc<str>,
    pub(crate) created: Second,
    /// Time when it was bound to a node; from then on it holds what it asks for.
    pub(crate) bound: Option<Second>,
    pub(crate) ended: Option<Ended>,
    /// GPUs that it holds while it is on a node.
    pub(crate) devices: Arc<[Devices]>,
    /// Time up to which its GPUs are counted; absent before the first count.
    pub(crate) counted_to: Option<Second>,
    /// True if this process heard of it as it happened, so that nobody has counted it before.
    pub(crate) is_news: bool,
}

impl Span {
    /// Times of a pod as the API server has them.
    pub(crate) fn of(pod: &Value) -> Self {
        let meta = &pod["metadata"];
        let created = second(&meta["creationTimestamp"]).unwrap_or_default();
        Self {
            pod: meta["name"].as_str().unwrap_or_default().into(),
            created,
            bound: bound(pod, created),
            ended: ended(pod, created),
            devices: Arc::default(),
            counted_to: None,
            is_news: false,
        }
    }

    /// Time when it ended, at the end of time while it has not.
    pub(crate) fn end(&self) -> Second {
        self.ended.map_or(Second::MAX, |ended| ended.at)
    }

    /// Tells whether it is on a node at a moment.
    pub(crate) fn holds_at(&self, at: Second) -> bool {
        self.bound.is_some_and(|bound| bound <= at) && self.end() > at
    }

    /// The moments at which something changed.
    pub(crate) fn changes(&self) -> impl Iterator<Item = Second> + use<> {
        let ended = self.ended.map(|ended| ended.at);
        std::iter::once(self.created).chain(self.bound).chain(ended)
    }

    /// Takes over what a later version of the pod says.
    pub(crate) fn follow(&mut self, news: &Self) {
        self.bound = self.bound.or(news.bound);
        self.ended = self.ended.or(news.ended);
    }

    /// Time from which its GPUs are still to be counted, in a window that begins at `from`.
    pub(crate) fn uncounted_from(&self, from: Second) -> Option<Second> {
        let bound = self.bound?;
        let first = if self.is_news { bound } else { bound.max(from) };
        Some(self.counted_to.unwrap_or(first))
    }
}

/// A time of the API.
pub(crate) fn second(value: &Value) -> Option<Second> {
    value.as_str()?.parse::<Timestamp>().ok().map(Timestamp::as_second)
}

fn rows<'v>(value: &'v Value, key: &str) -> &'v [Value] {
    value[key].as_array().map_or(&[], Vec::as_slice)
}

fn bound(pod: &Value, created: Second) -> Option<Second> {
    let node = pod["spec"]["nodeName"].as_str().unwrap_or_default();
    if node.is_empty() {
        return None;
    }
    let status = &pod["status"];
    let scheduled = rows(status, "conditions")
        .iter()
        .find(|row| row["type"] == "PodScheduled" && row["status"] == "True");
    let at = scheduled.and_then(|row| second(&row["lastTransitionTime"]));
    Some(at.or_else(|| second(&status["startTime"])).unwrap_or(created).max(created))
}

/// The end of a pod whose phase says so: when its last container ended, else when its conditions changed last. Both stay
/// what they are, so that a process that starts later reads the same.
fn ended(pod: &Value, created: Second) -> Option<Ended> {
    let status = &pod["status"];
    let how = match status["phase"].as_str() {
        Some("Succeeded") => End::Succeeded,
        Some("Failed") => End::Failed,
        Some(_) | None => return None,
    };
    let containers = rows(status, "containerStatuses").iter();
    let finished = containers.filter_map(|row| second(&row["state"]["terminated"]["finishedAt"]));
    let changed = || {
        let conditions = rows(status, "conditions").iter();
        conditions.filter_map(|row| second(&row["lastTransitionTime"])).max()
    };
    let at = finished.max().or_else(changed).unwrap_or(created);
    Some(Ended { at: at.max(created), how })
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn check(spec: &Value, status: &Value, bound: Option<Second>, ended: Option<Ended>) {
        let pod = json!({"metadata": {"name": "p", "creationTimestamp": "1970-01-01T00:00:10Z"},
            "spec": spec, "status": status});
        let span = Span::of(&pod);
        assert_eq!((span.created, span.bound, span.ended), (10, bound, ended), "{status}");
    }

    #[test]
    fn times_are_those_of_the_api() {
        let at = |second: u32| format!("1970-01-01T00:00:{second:02}Z");
        let on = json!({"nodeName": "n"});
        let scheduled =
            json!({"type": "PodScheduled", "status": "True", "lastTransitionTime": at(12)});
        check(&json!({}), &json!({"phase": "Pending"}), None, None);
        check(&on, &json!({"phase": "Pending", "conditions": [scheduled]}), Some(12), None);
        check(&on, &json!({"phase": "Running", "startTime": at(13)}), Some(13), None);
        check(&on, &json!({}), Some(10), None);
        let ends = json!([{"state": {"terminated": {"finishedAt": at(20)}}},
            {"state": {"terminated": {"finishedAt": at(30)}}}]);
        check(
            &on,
            &json!({"phase": "Failed", "conditions": [scheduled], "containerStatuses": ends}),
            Some(12),
            Some(Ended { at: 30, how: End::Failed }),
        );
        check(
            &on,
            &json!({"phase": "Succeeded", "conditions": [scheduled]}),
            Some(12),
            Some(Ended { at: 12, how: End::Succeeded }),
        );
    }
}
