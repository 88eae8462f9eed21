//! Describes what the amounts of a queue mean beside each other and beside those of its siblings.

use serde_json::Value;

use crate::cluster::gpu;
use crate::cluster::queue::{Amount, Queues};
use crate::print::output::clean;

/// Says what to warn of: bounds that keep a quota from being used, and children who are owed more than their parent.
/// `before` is the spec that there was, null where the queue is new: what is not touched is no news.
pub(super) fn warnings(queues: &Queues, name: &str, before: &Value, after: &Value) -> Vec<String> {
    let mut warnings = Vec::new();
    for resource in ["gpu", "cpu", "memory"] {
        let of = |spec: &Value, field: &str| Amount::read(&spec["resources"][resource][field]);
        let [quota, limit] = ["quota", "limit"].map(|field| of(after, field));
        let is_new =
            before.is_null() || [quota, limit] != ["quota", "limit"].map(|f| of(before, f));
        let (Amount::Milli(limit_milli), true) = (limit, is_new) else { continue };
        let is_below = match quota {
            Amount::Unlimited => true,
            Amount::Milli(quota) => limit_milli < quota,
        };
        if is_below {
            warnings.push(format!(
                "{resource}.limit {} is below {resource}.quota {}: it never gets more than its limit",
                limit.words(),
                quota.words()
            ));
        }
    }
    let quota = |spec: &Value| Amount::read(&spec["resources"]["gpu"]["quota"]);
    let is_moved = before["parentQueue"] != after["parentQueue"];
    if before.is_null() || is_moved || quota(before) != quota(after) {
        warnings.extend(siblings(queues, name, after));
    }
    warnings
}

/// That the children of its parent are owed more GPUs together than the parent is.
fn siblings(queues: &Queues, name: &str, after: &Value) -> Option<String> {
    let parent = queues.0.get(after["parentQueue"].as_str()?)?;
    let Amount::Milli(above) = parent.gpu.quota else { return None };
    let own = Amount::read(&after["resources"]["gpu"]["quota"]).milli()?;
    let others = parent.children.iter().filter(|child| *child != name);
    let others: Option<u64> =
        others.map(|child| queues.0.get(child).and_then(|q| q.gpu.quota.milli())).sum();
    let all = own + others?;
    (own > 0 && all > above).then(|| {
        format!(
            "children of {} would total {} GPUs, it has {} (KAI allows it; then not every quota can be honoured at once)",
            clean(&parent.name),
            gpu::devices(all),
            gpu::devices(above)
        )
    })
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    /// Checks what is said of queue `a` of `dept` (16 GPUs), beside `b` with 8, when its GPU quota and limit change.
    fn check(before: Option<[i64; 2]>, after: [i64; 2], expect: &[&str]) {
        let spec = |[quota, limit]: [i64; 2]| {
            json!({"parentQueue": "dept", "resources": {"gpu": {"quota": quota, "limit": limit},
                "cpu": {"quota": -1, "limit": -1}, "memory": {"quota": -1, "limit": -1}}})
        };
        let queue = |name: &str, spec: Value| json!({"metadata": {"name": name}, "spec": spec});
        let dept = json!({"resources": {"gpu": {"quota": 16, "limit": -1}}});
        let queues = Queues::read(vec![queue("dept", dept), queue("b", spec([8, -1]))]);
        let before = before.map_or(Value::Null, spec);
        let warnings = warnings(&queues, "a", &before, &spec(after));
        assert_eq!(warnings.len(), expect.len(), "{warnings:?}");
        for (warning, expect) in warnings.iter().zip(expect) {
            assert!(warning.contains(expect), "{warning}");
        }
    }

    #[test]
    fn bounds_that_contradict_each_other_are_told_when_they_are_set() {
        check(None, [8, -1], &[]);
        check(None, [9, -1], &["children of dept would total 17 GPUs, it has 16"]);
        check(None, [8, 4], &["gpu.limit 4 is below gpu.quota 8"]);
        check(None, [-1, 4], &["gpu.limit 4 is below gpu.quota unlimited"]);
        check(Some([9, 4]), [9, 4], &[]);
        check(Some([4, -1]), [9, -1], &["children of dept"]);
    }
}
