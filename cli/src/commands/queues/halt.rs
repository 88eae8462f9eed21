//! Holds queues, so that nothing new starts in them, and lets them go on.
//!
//! KAI knows no held queue. What it knows is a limit of zero, under which nothing starts and nothing is evicted for the
//! limit itself; so that is what is set, and the limits that there were are kept in an annotation. A share is at most the
//! limit, so others may take back what runs in a held queue, and whom that hits is said first.

use std::collections::BTreeSet;

use serde_json::{Map, Value, json};

use super::how::How;
use super::step::{Step, carry_out};
use crate::cluster::json::text;
use crate::cluster::names;
use crate::cluster::queue::{LANES, Queue, Queues};
use crate::context::Context;
use crate::print::error::{Error, Exit, Problem, number};
use crate::print::output::clean;

/// Flags of `queues hold` and `queues release`.
#[derive(Debug, clap::Args)]
pub(crate) struct Halt {
    /// Names of queues
    #[arg(required = true, value_name = "NAME")]
    names: Vec<String>,
    #[command(flatten)]
    how: How,
}

pub(crate) const HOLD_HELP: &str = "\
Examples:
  kubectl kai queues hold team-a               nothing new starts in team-a; what runs goes on
  kubectl kai queues hold dept --dry-run       whom it would hit: also what waits below dept
  kubectl kai queues release team-a            its limits are as they were
The limits become 0 and are kept in the annotation kai.scheduler/limits-before-hold. Work can be submitted
and waits. What runs goes on until it ends; others that are entitled to its room may take it, and who
would be evicted is said first. Pods that ask for no GPU, CPU or memory at all still start.";

/// Runs `queues hold`: the limits become zero, and are kept in an annotation.
pub(super) async fn hold(args: Halt, context: &mut Context) -> Result<Exit, Error> {
    each(&args, true, context).await
}

/// Runs `queues release`: the limits are as they were before it was held.
pub(super) async fn release(args: Halt, context: &mut Context) -> Result<Exit, Error> {
    each(&args, false, context).await
}

async fn each(args: &Halt, is_hold: bool, context: &mut Context) -> Result<Exit, Error> {
    args.how.reach()?;
    let cluster = context.cluster().await?;
    let queues = super::read_to("patch", &cluster).await?;
    // Each once, in the order in which they were typed: a second write would meet the first one's version.
    let mut seen = BTreeSet::new();
    let names = args.names.iter().filter(|name| seen.insert(*name));
    let (mut steps, mut problems) = (Vec::new(), Vec::new());
    for name in names {
        let Some(queue) = queues.0.get(name) else {
            problems.push(queues.unknown(name));
            continue;
        };
        match (is_hold, queue.is_held()) {
            (true, true) => context.out.talk(&format!("{} is held already", clean(name))),
            (false, false) => context.out.talk(&format!("{} is not held", clean(name))),
            (true, false) => steps.push(held(queue)),
            (false, true) => match released(queue) {
                Ok(step) => steps.push(step),
                Err(problem) => problems.push(problem),
            },
        }
    }
    Error::all(problems)?;
    for step in &steps {
        context.out.talk(&format!("{}  {}", clean(&step.queue), effect(&queues, step, is_hold)));
    }
    carry_out(&steps, &queues, &args.how, &cluster, context).await
}

/// Says what a step means for what is submitted.
fn effect(queues: &Queues, step: &Step, is_hold: bool) -> String {
    let queue = &queues.0[&step.queue];
    if is_hold {
        let below = if queue.children.is_empty() { "" } else { ", nor in the queues below it" };
        return format!(
            "nothing new starts in it{below}; what runs goes on, unless others are entitled to its room"
        );
    }
    let above = queue.parent.as_deref().and_then(|parent| queues.held(parent));
    match above {
        Some(above) => format!("its limits are as they were; {} is still held", clean(&above.name)),
        None => "its limits are as they were".to_owned(),
    }
}

fn held(queue: &Queue) -> Step {
    let limits = |value: &dyn Fn(&str) -> Value| {
        LANES.iter().map(|lane| ((*lane).to_owned(), value(lane))).collect::<Map<_, _>>()
    };
    let kept = limits(&|lane| queue.object["spec"]["resources"][lane]["limit"].clone());
    Step {
        queue: queue.name.clone(),
        spec: json!({ "resources": limits(&|_| json!({ "limit": 0 })) }),
        annotations: json!({ names::LIMITS_BEFORE: Value::Object(kept).to_string() }),
        done: "held",
    }
}

fn released(queue: &Queue) -> Result<Step, Problem> {
    let written = text(&queue.object["metadata"]["annotations"][names::LIMITS_BEFORE]);
    let is_limit = |value: &Value| value.is_number() || value.is_null();
    let kept: Option<Map<String, Value>> = serde_json::from_str(written).ok();
    let kept = kept.filter(|kept| kept.values().all(is_limit)).ok_or_else(|| {
        let name = clean(&queue.name);
        let what = format!("which limits queue \"{name}\" had cannot be read");
        let key = names::LIMITS_BEFORE;
        Problem::new(number::VALUE, Exit::Failure, what)
            .line(format!("{key}: {}", clean(written)))
            .fix(format!(
                "kubectl annotate queue {name} {key}-   then: kubectl kai queues set {name} --gpu-limit N --cpu-limit N --memory-limit N"
            ))
    })?;
    let back = LANES.iter().map(|lane| {
        let limit = kept.get(*lane).cloned().unwrap_or_default();
        ((*lane).to_owned(), json!({ "limit": limit }))
    });
    Ok(Step {
        queue: queue.name.clone(),
        spec: json!({ "resources": back.collect::<Map<_, _>>() }),
        annotations: json!({ names::LIMITS_BEFORE: null }),
        done: "released",
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Says what a hold keeps, and what a release gives back.
    fn check(resources: &Value, kept: &str, back: &Value) {
        let object = json!({"metadata": {"name": "a"}, "spec": {"resources": resources}});
        let queue =
            |object: &Value| Queues::read(vec![object.clone()]).0.remove("a").expect("it was read");
        let hold = held(&queue(&object));
        assert_eq!(hold.annotations[names::LIMITS_BEFORE], kept);
        let mut object = object;
        object["metadata"]["annotations"] = hold.annotations;
        object["spec"]["resources"] = hold.spec["resources"].clone();
        assert!(queue(&object).is_held());
        let release = released(&queue(&object)).expect("it was kept a moment ago");
        assert_eq!(&release.spec["resources"], back);
        object["spec"]["resources"]["cpu"]["limit"] = json!(-1);
        assert!(!queue(&object).is_held(), "who sets a limit has released it");
        object["metadata"]["annotations"] = json!({ names::LIMITS_BEFORE: "8" });
        assert!(released(&queue(&object)).is_err());
    }

    #[test]
    fn a_release_gives_back_what_the_hold_took() {
        check(
            &json!({"gpu": {"quota": 8, "limit": 12.5}, "cpu": {"limit": -1}}),
            r#"{"gpu":12.5,"cpu":-1,"memory":null}"#,
            &json!({"gpu": {"limit": 12.5}, "cpu": {"limit": -1}, "memory": {"limit": null}}),
        );
    }
}
