//! Changes of a cluster that are tried: what a user may type for them, and what they mean to the engine.

use kai_engine::{Limit, PerLane, QueueLane};
use kai_sandbox::nodes::group::{self, Spec};
use kai_sandbox::nodes::object;
use serde_json::{Value, json};

use crate::print::error::{Exit, Problem, number};
use crate::print::output::clean;

/// Decimal places that the scheduler tells apart.
const PLACES_MAX: usize = 3;

/// Labels that say where a node stands, beside those that topologies name.
pub(super) const PLACES: [&str; 2] =
    ["topology.kubernetes.io/region", "topology.kubernetes.io/zone"];

/// A change to try.
#[derive(Clone, Debug)]
pub(crate) enum Change {
    /// A bound or the priority of a queue.
    Queue { queue: String, field: Field, value: String },
    /// A queue that goes below another one.
    Move { queue: String, parent: String },
    /// Nodes that come.
    AddNodes { typed: String, specs: Vec<Spec> },
    /// A node whose pods leave.
    Drain(String),
    /// Work that goes.
    Delete(String),
    /// The priority of work: a class or a number.
    Priority { workload: String, priority: String },
}

/// Says what of a queue changes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Field {
    /// `quota` of a resource.
    Quota(QueueLane),
    /// `limit` of a resource.
    Limit(QueueLane),
    /// `overQuotaWeight` of a resource.
    Weight(QueueLane),
    /// `spec.priority`.
    Priority,
}

impl Change {
    /// Reads the value of `--set`: `QUEUE.gpu.quota=12`, `QUEUE.priority=200`, `WORKLOAD.priority=build`.
    ///
    /// # Errors
    /// Says what the value could have meant.
    pub(crate) fn set(text: &str) -> Result<Self, Problem> {
        let forms = "--set QUEUE.gpu.quota=12   or   QUEUE.gpu.limit, QUEUE.gpu.weight, QUEUE.priority, workload/NAME.priority";
        let wrong = |what: &str| {
            Problem::new(number::VALUE, Exit::Usage, format!("--set {}: {what}", clean(text)))
                .fix(forms)
        };
        let (path, value) = text.split_once('=').ok_or_else(|| wrong("there is no = in it"))?;
        if let Some(path) = path.strip_prefix("workload/") {
            let workload = path.strip_suffix(".priority");
            let workload = workload.ok_or_else(|| wrong("of work only the priority can be set"))?;
            return Ok(Self::Priority {
                workload: workload.to_owned(),
                priority: value.to_owned(),
            });
        }
        if let Some(queue) = path.strip_suffix(".priority") {
            value.parse::<i32>().map_err(|_| wrong("a queue's priority is a whole number"))?;
            let field = Field::Priority;
            return Ok(Self::Queue { queue: queue.to_owned(), field, value: value.to_owned() });
        }
        let mut parts = path.rsplitn(3, '.');
        let (Some(bound), Some(lane), Some(queue)) = (parts.next(), parts.next(), parts.next())
        else {
            return Err(wrong("a queue, a resource and a bound were expected"));
        };
        let lane = match lane {
            "gpu" => QueueLane::Gpu,
            "cpu" => QueueLane::Cpu,
            "memory" => QueueLane::Memory,
            _ => return Err(wrong("the resource is gpu, cpu or memory")),
        };
        let field = match bound {
            "quota" => Field::Quota(lane),
            "limit" => Field::Limit(lane),
            "weight" => Field::Weight(lane),
            _ => return Err(wrong("the bound is quota, limit or weight")),
        };
        Self::bound(&format!("--set {text}"), queue, field, value)
    }

    /// A bound of a queue, from a flag as it was typed.
    ///
    /// # Errors
    /// The value is no amount.
    pub(crate) fn bound(
        flag: &str,
        queue: &str,
        field: Field,
        value: &str,
    ) -> Result<Self, Problem> {
        let is_weight = matches!(field, Field::Weight(_));
        let amount =
            thousandths(value).filter(|amount| *amount >= 0 || (*amount == -1000 && !is_weight));
        if amount.is_none() {
            let what = format!("{}: \"{}\" is no amount", clean(flag), clean(value));
            return Err(Problem::new(number::VALUE, Exit::Usage, what)
                .fix("a number such as 12 or 0.5; -1 is without bound"));
        }
        Ok(Self::Queue { queue: queue.to_owned(), field, value: value.to_owned() })
    }

    /// Reads the value of `--add-node`, which is that of `sandbox --nodes`.
    ///
    /// # Errors
    /// Names the part that was not understood.
    pub(crate) fn add_nodes(text: &str) -> Result<Self, Problem> {
        let groups = group::parse(text).map_err(|error| {
            let what = error.to_string().replacen("--nodes", "--add-node", 1);
            Problem::new(number::VALUE, Exit::Usage, what)
        })?;
        Ok(Self::AddNodes { typed: text.to_owned(), specs: group::expand(&groups, 1) })
    }
}

/// Decimal text in thousandths, with a sign or without.
fn thousandths(text: &str) -> Option<i64> {
    let (sign, digits) = text.strip_prefix('-').map_or((1, text), |digits| (-1, digits));
    let (whole, places) = digits.split_once('.').unwrap_or((digits, ""));
    let is_number = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
    if whole.is_empty() || !is_number(whole) || !is_number(places) || places.len() > PLACES_MAX {
        return None;
    }
    let places: i64 = format!("{places:0<PLACES_MAX$}").parse().ok()?;
    let whole: i64 = whole.parse().ok()?;
    Some(sign * whole.checked_mul(1000)?.checked_add(places)?)
}

/// Puts a bound into the facts of a queue.
pub(super) fn change_queue(queue: &mut kai_engine::Queue, field: Field, value: &str) {
    let amount = thousandths(value).unwrap_or_default();
    // The API counts milli-cores, 10^6 bytes and devices, the engine milli-cores, bytes and milli-devices.
    let limit = |lane: QueueLane| {
        let engine = match lane {
            QueueLane::Gpu => amount,
            QueueLane::Cpu => amount / 1000,
            QueueLane::Memory => amount.saturating_mul(1000),
        };
        if amount < 0 { Limit::UNLIMITED } else { Limit::of(engine) }
    };
    match field {
        Field::Quota(lane) => queue.quota[lane] = limit(lane),
        Field::Limit(lane) => queue.limit[lane] = limit(lane),
        Field::Weight(lane) => {
            let weights: &mut PerLane<u64> = &mut queue.weight_milli;
            weights[lane] = u64::try_from(amount).unwrap_or(0);
        }
        Field::Priority => queue.priority = value.parse().unwrap_or(queue.priority),
    }
}

/// Says what changes of a queue, from one value to another.
pub(super) fn field_name(field: Field) -> String {
    let lane = |lane: QueueLane| match lane {
        QueueLane::Gpu => "GPU",
        QueueLane::Cpu => "CPU",
        QueueLane::Memory => "memory",
    };
    match field {
        Field::Quota(of) => format!("{} quota", lane(of)),
        Field::Limit(of) => format!("{} limit", lane(of)),
        Field::Weight(of) => format!("{} weight", lane(of)),
        Field::Priority => "priority".to_owned(),
    }
}

/// Shows a value of a field as it stands.
pub(super) fn field_value(queue: &kai_engine::Queue, field: Field) -> String {
    let limit = |limit: Limit, lane: QueueLane| match (limit.amount(), lane) {
        (None, _) => "none".to_owned(),
        (Some(amount), QueueLane::Gpu) => decimal(amount),
        (Some(amount), QueueLane::Cpu) => amount.to_string(),
        (Some(amount), QueueLane::Memory) => (amount / 1_000_000).to_string(),
    };
    match field {
        Field::Quota(lane) => limit(queue.quota[lane], lane),
        Field::Limit(lane) => limit(queue.limit[lane], lane),
        Field::Weight(lane) => decimal(i64::try_from(queue.weight_milli[lane]).unwrap_or(i64::MAX)),
        Field::Priority => queue.priority.to_string(),
    }
}

/// Thousandths as decimal text.
pub(super) fn decimal(milli: i64) -> String {
    let text = format!("{}.{:03}", milli / 1000, (milli % 1000).abs());
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}

/// A node that comes, as its kubelet would register it: under this name, with these labels for its place.
pub(super) fn node(spec: &Spec, name: &str, labels: &[(String, String)]) -> Value {
    let mut node = object::node(spec, jiff::Timestamp::UNIX_EPOCH, 0);
    node["metadata"]["name"] = json!(name);
    let own = &mut node["metadata"]["labels"];
    if let Value::Object(own) = &mut *own {
        own.retain(|key, _| !PLACES.contains(&key.as_str()) && key != object::RACK_LABEL);
    }
    own["kubernetes.io/hostname"] = json!(name);
    for (key, value) in labels {
        own[key] = json!(value);
    }
    node
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, expect: &str) {
        let told = match Change::set(text) {
            Ok(change) => format!("{change:?}"),
            Err(problem) => problem.what,
        };
        assert_eq!(told, expect, "{text}");
    }

    /// The API counts memory in megabytes, and CPUs in thousandths.
    #[test]
    fn what_is_set_stands_as_it_was_typed() {
        for (lane, typed, engine) in [
            (QueueLane::Gpu, "1.5", 1_500),
            (QueueLane::Cpu, "4000", 4_000),
            (QueueLane::Memory, "64000", 64_000_000_000),
        ] {
            for field in [Field::Quota(lane), Field::Limit(lane)] {
                let mut queue = kai_engine::Queue::default();
                change_queue(&mut queue, field, typed);
                assert_eq!(field_value(&queue, field), typed, "{field:?}");
                let bounds = if let Field::Quota(_) = field { &queue.quota } else { &queue.limit };
                assert_eq!(bounds[lane].amount(), Some(engine), "{field:?}");
            }
        }
    }

    #[test]
    fn what_is_set_is_read_or_refused() {
        check("a.b.gpu.quota=1.5", "Queue { queue: \"a.b\", field: Quota(Gpu), value: \"1.5\" }");
        check("a.gpu.limit=-1", "Queue { queue: \"a\", field: Limit(Gpu), value: \"-1\" }");
        check("a.gpu.weight=-1", "--set a.gpu.weight=-1: \"-1\" is no amount");
        check("a.gpu.quota=x", "--set a.gpu.quota=x: \"x\" is no amount");
        check("a.gpu.quota", "--set a.gpu.quota: there is no = in it");
        check("a.tpu.quota=1", "--set a.tpu.quota=1: the resource is gpu, cpu or memory");
        check("a.priority=9", "Queue { queue: \"a\", field: Priority, value: \"9\" }");
        check("workload/w.priority=build", "Priority { workload: \"w\", priority: \"build\" }");
    }

    #[test]
    fn weights_and_priorities_stand_as_they_were_typed() {
        for lane in QueueLane::ALL {
            for (typed, engine) in [("2", 2_000), ("0.5", 500), ("0", 0)] {
                let mut queue = kai_engine::Queue::default();
                change_queue(&mut queue, Field::Weight(lane), typed);
                assert_eq!(queue.weight_milli[lane], engine, "{typed}");
                assert_eq!(field_value(&queue, Field::Weight(lane)), typed);
            }
        }
        let mut queue = kai_engine::Queue::default();
        change_queue(&mut queue, Field::Priority, "-7");
        assert_eq!((queue.priority, field_value(&queue, Field::Priority)), (-7, "-7".to_owned()));
    }
}
