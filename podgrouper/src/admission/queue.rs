//! Queues that are refused, and warnings of quotas that cannot all be given.

use std::collections::BTreeMap;
use std::sync::Arc;

use serde_json::Value;

use super::{Denial, Judgement};
use crate::object::Object;

/// The resources of a queue.
const RESOURCES: [&str; 3] = ["gpu", "cpu", "memory"];

/// Judges a queue; with `known`, the queues that there are, its quotas are compared with those of its parent and
/// children, which gives warnings only.
///
/// # Errors
/// It has no `spec.resources`, or its parent is looked for and is not there.
///
/// # Source
/// docs/contract.md 3.7. A quota of -1 is unlimited.
pub(super) fn validate(queue: &Value, known: Option<&BTreeMap<String, Arc<Object>>>) -> Judgement {
    let name = queue["metadata"]["name"].as_str().unwrap_or_default();
    if queue["spec"]["resources"].is_null() {
        let why = format!(
            "queue {name}: resources must be specified: add spec.resources with gpu, cpu and memory, each like \
             {{quota: 0, limit: -1, overQuotaWeight: 1}}"
        );
        let warnings = vec!["resources must be specified".to_owned()];
        return Judgement { warnings, denial: Some(Denial(why)) };
    }
    known.map_or_else(Judgement::default, |known| compare(queue, name, known))
}

fn compare(queue: &Value, name: &str, known: &BTreeMap<String, Arc<Object>>) -> Judgement {
    let parent = queue["spec"]["parentQueue"].as_str().unwrap_or_default();
    let mut warnings = Vec::new();
    let others = |of: &str| {
        let of = of.to_owned();
        let is_child = move |value: &&Value| {
            value["spec"]["parentQueue"] == of.as_str() && value["metadata"]["name"] != name
        };
        known.values().map(|object| object.value()).filter(is_child)
    };
    if !parent.is_empty() {
        let Some(found) = known.get(parent) else {
            let why = format!(
                "queue {name}: parent queue {parent} does not exist: create it first, or correct spec.parentQueue"
            );
            return Judgement { warnings, denial: Some(Denial(why)) };
        };
        for resource in RESOURCES {
            if let Some((own, limit)) = quota(queue, resource).zip(quota(found.value(), resource))
                && is_more(own, limit)
            {
                let (own, limit) = (shown(own), shown(limit));
                warnings.push(format!(
                    "{resource} quota {own} of queue {name} is more than the {limit} of its parent {parent}"
                ));
            }
            let siblings = others(parent).chain([queue]);
            warnings.extend(over(resource, parent, found.value(), siblings));
        }
    }
    for resource in RESOURCES {
        warnings.extend(over(resource, name, queue, others(name)));
    }
    Judgement { warnings, denial: None }
}

/// Says that children have more quota together than their parent. One that is unlimited alone is not in the sum.
fn over<'a>(
    resource: &str,
    name: &str,
    parent: &Value,
    children: impl Iterator<Item = &'a Value>,
) -> Option<String> {
    let limit = quota(parent, resource)?;
    let finite = children.filter_map(|child| quota(child, resource)).filter(|quota| *quota >= 0.0);
    let sum: f64 = finite.sum();
    is_more(sum, limit).then(|| {
        let (sum, limit) = (shown(sum), shown(limit));
        format!("{resource} quotas of the children of queue {name} are {sum} together, more than its {limit}")
    })
}

/// A quota; negative is unlimited.
fn quota(queue: &Value, resource: &str) -> Option<f64> {
    queue["spec"]["resources"][resource]["quota"].as_f64()
}

fn is_more(own: f64, limit: f64) -> bool {
    limit >= 0.0 && (own < 0.0 || own > limit)
}

fn shown(quota: f64) -> String {
    if quota < 0.0 { "unlimited".to_owned() } else { quota.to_string() }
}
