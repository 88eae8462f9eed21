//! Whom a change of queues would hit: what the scheduler would do after it, by its own code on a copy of the cluster.

use kai_api::names;
use kai_engine::QueueLane;
use serde_json::Value;

use crate::cluster::Cluster;
use crate::context::Context;
use crate::plan::words::{loss, state};
use crate::plan::{Change, Field, Reading, Situation, Wish};
use crate::print::error::Error;
use crate::print::output::{Output, clean};

/// Workloads that are named of those that are hit.
const NAMED_MAX: usize = 10;

/// The changes that a merge patch of a queue's `spec` makes, as far as they decide what runs.
pub(super) fn changes(queue: &str, patch: &Value) -> Vec<Change> {
    let mut changes = Vec::new();
    let mut change = |field, value| {
        changes.push(Change::Queue { queue: queue.to_owned(), field, value });
    };
    let lanes = [("gpu", QueueLane::Gpu), ("cpu", QueueLane::Cpu), ("memory", QueueLane::Memory)];
    for (name, lane) in lanes {
        let fields = [
            ("quota", Field::Quota(lane)),
            ("limit", Field::Limit(lane)),
            ("overQuotaWeight", Field::Weight(lane)),
        ];
        for (key, field) in fields {
            if let Some(value) = patch["resources"][name].get(key) {
                change(field, amount(value));
            }
        }
    }
    if let Some(priority) = patch["priority"].as_i64() {
        change(Field::Priority, priority.to_string());
    }
    if let Some(parent) = patch["parentQueue"].as_str() {
        changes.push(Change::Move { queue: queue.to_owned(), parent: parent.to_owned() });
    }
    changes
}

/// An amount as KAI reads it: what is left out is 0, and so is what is negative but for -1.
fn amount(value: &Value) -> String {
    let text = value.to_string();
    let is_negative = text.starts_with('-') && !["-1", "-1.0"].contains(&text.as_str());
    if value.is_number() && !is_negative { text } else { "0".to_owned() }
}

/// Says whose pods would have to leave and who would start or wait, and tells how many workloads would leave. What the
/// user may not read is an assumption; who may not read enough is told so, and the change is theirs to make all the same.
///
/// # Errors
/// A change names a queue that is gone by now.
pub(super) async fn say(
    changes: &[Change],
    cluster: &Cluster,
    context: &mut Context,
) -> Result<usize, Error> {
    if changes.is_empty() {
        return Ok(0);
    }
    let reading = Reading { cluster, shard: names::DEFAULT_SHARD, save: None };
    let outcome = match Situation::live(reading, &mut context.out).await {
        Ok(mut situation) => situation.plan(&Wish { changes, ..Wish::default() })?,
        Err(error) => {
            let why = error.to_string();
            let why = why.lines().next().unwrap_or_default();
            context.out.warn(&format!("whom it hits is not known: {}", clean(why)));
            return Ok(0);
        }
    };
    let evicted = outcome.evicted.iter().map(|victim| format!("evicts  {}", loss(victim)));
    let is_victim = |namespace: &str, name: &str| {
        outcome.evicted.iter().any(|one| one.name == name && one.namespace == namespace)
    };
    let others = outcome.others.iter().filter(|one| !is_victim(&one.namespace, &one.name));
    let others = others.map(|one| {
        let (before, after) = (state(&one.before), state(&one.after));
        format!("{}/{} of {}: {before} -> {after}", one.namespace, one.name, one.queue)
    });
    let lines: Vec<String> = evicted.chain(others).collect();
    say_known(&lines, cluster.take_cut().as_deref(), &mut context.out);
    for line in lines.iter().take(NAMED_MAX) {
        context.out.talk(&format!("  {}", clean(line)));
    }
    if lines.len() > NAMED_MAX {
        context.out.talk(&format!("  and {} more: kubectl kai simulate", lines.len() - NAMED_MAX));
    }
    for assumption in &outcome.assumptions {
        context.out.talk(&format!("  assumes {}", clean(assumption)));
    }
    Ok(outcome.evicted.len())
}

/// Says how far it is known whom a change hits: of what was not read whole nothing is planned.
fn say_known(lines: &[String], cut: Option<&str>, out: &mut Output) {
    if let Some(cut) = cut {
        out.warn(&format!("whom it hits is not all known: {cut}"));
    } else if lines.is_empty() {
        out.talk("  nobody is hit: what runs goes on, what waits waits");
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::print::output::tests::Page;

    #[test]
    fn nobody_is_hit_where_all_was_read() {
        let evicts = ["evicts  ml/a".to_owned()];
        let unknown = "whom it hits is not all known: not all was read of a";
        for (lines, cut, expect) in [
            (&[][..], None, "nobody is hit"),
            (&evicts[..], None, ""),
            (&[][..], Some("not all was read of a"), unknown),
            (&evicts[..], Some("not all was read of a"), unknown),
        ] {
            let page = Page::default();
            say_known(lines, cut, &mut page.output());
            let said = page.text();
            assert!(said.contains(expect), "{said}");
            assert_eq!(said.lines().count(), usize::from(!expect.is_empty()), "{said}");
        }
    }

    #[test]
    fn amounts_are_tried_as_kai_reads_them() {
        for (value, expect) in [
            (json!(8), "8"),
            (json!(0.5), "0.5"),
            (json!(-1), "-1"),
            (json!(-3), "0"),
            (Value::Null, "0"),
        ] {
            assert_eq!(amount(&value), expect, "{value}");
        }
    }

    /// Shares follow from weights, and who holds more than its share is who loses.
    #[test]
    fn every_bound_of_a_queue_may_hit_somebody() {
        for (field, told) in [("quota", "Quota"), ("limit", "Limit"), ("overQuotaWeight", "Weight")]
        {
            for (lane, named) in [("gpu", "Gpu"), ("cpu", "Cpu"), ("memory", "Memory")] {
                let patch = json!({"resources": {lane: {field: 3}}});
                let expect =
                    format!("[Queue {{ queue: \"a\", field: {told}({named}), value: \"3\" }}]");
                assert_eq!(format!("{:?}", changes("a", &patch)), expect, "{patch}");
            }
        }
    }
}
