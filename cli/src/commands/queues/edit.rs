//! Creates, changes and deletes queues, with the plan first.

use std::collections::BTreeSet;

use serde_json::{Map, Value, json};

use super::bounds;
use super::how::{self, How, Reach};
use super::step::{Step, carry_out};
use crate::cluster::json::{ensure, text};
use crate::cluster::queue::{LANES, Queue, Queues, count};
use crate::cluster::{Call, gpu, listing, names};
use crate::context::Context;
use crate::print::error::{Error, Exit, Problem, number};
use crate::print::format::Format;
use crate::print::output::clean;

/// Amounts of a queue; `-1` or `unlimited` is no bound.
#[derive(Clone, Debug, Default, clap::Args)]
pub(crate) struct Amounts {
    /// GPUs that it is owed
    #[arg(long, alias = "gpu", value_name = "N", allow_hyphen_values = true)]
    gpu_quota: Option<String>,
    /// GPUs that it may use at most
    #[arg(long, value_name = "N", allow_hyphen_values = true)]
    gpu_limit: Option<String>,
    /// Its part of GPUs that are left over, against its siblings
    #[arg(long, value_name = "N", allow_hyphen_values = true)]
    gpu_weight: Option<String>,
    /// CPU cores that it is owed, such as 64 or 500m
    #[arg(long, alias = "cpu", value_name = "N", allow_hyphen_values = true)]
    cpu_quota: Option<String>,
    /// CPU cores that it may use at most
    #[arg(long, value_name = "N", allow_hyphen_values = true)]
    cpu_limit: Option<String>,
    /// Its part of CPU that is left over
    #[arg(long, value_name = "N", allow_hyphen_values = true)]
    cpu_weight: Option<String>,
    /// Memory that it is owed, such as 512Gi
    #[arg(long, alias = "memory", value_name = "N", allow_hyphen_values = true)]
    memory_quota: Option<String>,
    /// Memory that it may use at most
    #[arg(long, value_name = "N", allow_hyphen_values = true)]
    memory_limit: Option<String>,
    /// Its part of memory that is left over
    #[arg(long, value_name = "N", allow_hyphen_values = true)]
    memory_weight: Option<String>,
    /// Queues with a higher number come first
    #[arg(long, value_name = "N", allow_negative_numbers = true)]
    priority: Option<i32>,
    /// Name for people
    #[arg(long, value_name = "TEXT")]
    display_name: Option<String>,
    /// Run time before others of the same queue may preempt, such as 30m
    #[arg(long, value_name = "DURATION")]
    preempt_min_runtime: Option<String>,
    /// Run time before other queues may reclaim, such as 30m
    #[arg(long, value_name = "DURATION")]
    reclaim_min_runtime: Option<String>,
}

/// Flags of `queues create`.
#[derive(Debug, clap::Args)]
pub(crate) struct Create {
    /// Name of the queue
    name: String,
    /// Queue above it
    #[arg(long, value_name = "QUEUE")]
    parent: Option<String>,
    #[command(flatten)]
    amounts: Amounts,
    /// Ask nothing
    #[arg(short, long)]
    yes: bool,
    /// Create nothing: none, client or server
    #[arg(long, value_name = "MODE", default_value = "none", num_args = 0..=1, require_equals = true, default_missing_value = "client")]
    dry_run: String,
}

/// Flags of `queues set`.
#[derive(Debug, clap::Args)]
pub(crate) struct Set {
    /// Name of the queue
    name: String,
    #[command(flatten)]
    amounts: Amounts,
    #[command(flatten)]
    how: How,
}

/// Flags of `queues delete`.
#[derive(Debug, clap::Args)]
pub(crate) struct Delete {
    /// Names of queues
    #[arg(required = true)]
    names: Vec<String>,
    /// Delete queues that still have work: it stays pending until its queue is back
    #[arg(long)]
    force: bool,
    /// Ask nothing
    #[arg(short, long)]
    yes: bool,
}

/// The fields that a resource's amounts have, with the unit of the object: devices, thousandths of a core, MB.
#[derive(Clone, Copy)]
enum Unit {
    Devices,
    Millicores,
    Megabytes,
}

impl Amounts {
    /// The changes as a merge patch of `spec`.
    fn patch(&self) -> Result<Value, Error> {
        let mut patch = json!({});
        let mut problems = Vec::new();
        for (resource, field, flag, value) in [
            ("gpu", "quota", "--gpu-quota", &self.gpu_quota),
            ("gpu", "limit", "--gpu-limit", &self.gpu_limit),
            ("gpu", "overQuotaWeight", "--gpu-weight", &self.gpu_weight),
            ("cpu", "quota", "--cpu-quota", &self.cpu_quota),
            ("cpu", "limit", "--cpu-limit", &self.cpu_limit),
            ("cpu", "overQuotaWeight", "--cpu-weight", &self.cpu_weight),
            ("memory", "quota", "--memory-quota", &self.memory_quota),
            ("memory", "limit", "--memory-limit", &self.memory_limit),
            ("memory", "overQuotaWeight", "--memory-weight", &self.memory_weight),
        ] {
            let Some(value) = value else { continue };
            let unit = match (resource, field) {
                ("cpu", "quota" | "limit") => Unit::Millicores,
                ("memory", "quota" | "limit") => Unit::Megabytes,
                _ => Unit::Devices,
            };
            match amount(flag, value, unit, field != "overQuotaWeight") {
                Ok(number) => {
                    ensure(&mut patch, &format!("/resources/{resource}"))
                        .insert(field.into(), number);
                }
                Err(problem) => problems.push(problem),
            }
        }
        for (field, flag, value) in [
            ("preemptMinRuntime", "--preempt-min-runtime", &self.preempt_min_runtime),
            ("reclaimMinRuntime", "--reclaim-min-runtime", &self.reclaim_min_runtime),
        ] {
            let Some(value) = value else { continue };
            match crate::print::duration::parse(flag, value) {
                Ok(span) => {
                    patch[field] = json!(format!("{}s", span.map_or(0, |span| span.as_secs())));
                }
                Err(problem) => problems.push(problem),
            }
        }
        if let Some(priority) = self.priority {
            patch["priority"] = json!(priority);
        }
        if let Some(name) = &self.display_name {
            patch["displayName"] = json!(name);
        }
        Error::all(problems).map(|()| patch)
    }
}

/// Reads an amount of a queue into the unit of the object.
fn amount(flag: &str, text: &str, unit: Unit, may_be_unlimited: bool) -> Result<Value, Problem> {
    let wrong = |forms: &str| {
        Problem::new(number::VALUE, Exit::Usage, format!("{flag} \"{text}\" is not an amount"))
            .fix(format!("{flag}={forms}"))
    };
    if matches!(text, "-1" | "unlimited" | "none") {
        return if may_be_unlimited {
            Ok(json!(-1))
        } else {
            Err(wrong("1   (0: nothing of what is left over)"))
        };
    }
    let (digits, factor_milli, forms): (&str, u64, &str) = match unit {
        Unit::Devices => (text, 1, "8   or   0.5   or   -1 (no bound)"),
        Unit::Millicores => match text.strip_suffix('m') {
            Some(digits) => (digits, 1, "64   or   500m   or   -1 (no bound)"),
            None => (text, 1000, "64   or   500m   or   -1 (no bound)"),
        },
        Unit::Megabytes => {
            let forms = "512Gi   or   500G   or   -1 (no bound)";
            let digits = text.trim_end_matches(|c: char| c.is_ascii_alphabetic());
            let bytes: u128 = match &text[digits.len()..] {
                "Mi" => 1 << 20,
                "Gi" => 1 << 30,
                "Ti" => 1 << 40,
                "M" => 1_000_000,
                "G" => 1_000_000_000,
                "T" => 1_000_000_000_000,
                _ => return Err(wrong(forms)),
            };
            let milli = gpu::milli(digits).ok_or_else(|| wrong(forms))?;
            let megabytes = u128::from(milli).saturating_mul(bytes).div_ceil(1000 * 1_000_000);
            return u64::try_from(megabytes).map(|n| json!(n)).map_err(|_| wrong(forms));
        }
    };
    let milli = gpu::milli(digits).ok_or_else(|| wrong(forms))?.saturating_mul(factor_milli);
    let number = gpu::devices(milli);
    serde_json::from_str(&number).map_err(|_| wrong(forms))
}

/// Runs `queues create`.
pub(super) async fn create(args: Create, context: &mut Context) -> Result<Exit, Error> {
    let format = Format::read(context.globals.output.as_deref())?;
    let reach = how::reach(&args.dry_run)?;
    // What nobody bounds is not bounded: KAI reads an absent limit as zero, and nothing would run.
    let open = |quota: i32| json!({ "quota": quota, "limit": -1, "overQuotaWeight": 1 });
    let mut spec = json!({ "resources": { "gpu": open(0), "cpu": open(-1), "memory": open(-1) } });
    merge(&mut spec, args.amounts.patch()?);
    if let Some(parent) = &args.parent {
        spec["parentQueue"] = json!(parent);
    }
    let resource = names::queues();
    let object = json!({
        "apiVersion": resource.api_version(),
        "kind": resource.kind,
        "metadata": { "name": args.name },
        "spec": spec,
    });
    crate::cluster::object_name::check(&args.name, None)?;
    if reach == Reach::Shown {
        return printed(object, "created (dry run)", &format, context);
    }
    let cluster = context.cluster().await?;
    let queues = super::read_to("create", &cluster).await?;
    if let Some(parent) = &args.parent {
        if !queues.0.contains_key(parent) {
            return Err(queues.unknown(parent).into());
        }
        let inside = super::uses(&cluster).await.ok().and_then(|uses| uses.get(parent).cloned());
        if let Some(inside) = inside {
            inside.warn_of_queues_below(parent, context);
        }
        context.warn_of_cut();
    }
    for warning in bounds::warnings(&queues, &args.name, &Value::Null, &object["spec"]) {
        context.out.warn(&warning);
    }
    let call = Call::new("create", &resource).name(&args.name);
    let dry = reach == Reach::Checked;
    let answer =
        cluster.create(&call, &object, dry).await.map_err(|failure| match failure.code() {
            Some(409) => Problem::new(
                number::EXISTS,
                Exit::Conflict,
                format!("queue \"{}\" already exists", args.name),
            )
            .fix(format!("kubectl kai queues set {} …", args.name))
            .into(),
            _ => cluster.explain(&call, &failure),
        })?;
    printed(answer.body, if dry { "created (server dry run)" } else { "created" }, &format, context)
}

fn printed(
    object: Value,
    done: &str,
    format: &Format,
    context: &mut Context,
) -> Result<Exit, Error> {
    if format.is_table() {
        context.out.data(&format!("{} {done}", listing::name(&object)))?;
    } else {
        listing::objects(vec![object], false, format, &mut context.out)?;
    }
    Ok(Exit::Ok)
}

/// A JSON merge patch, applied.
fn merge(target: &mut Value, patch: Value) {
    match patch {
        Value::Object(fields) => {
            if !target.is_object() {
                *target = Value::Object(Map::new());
            }
            for (key, value) in fields {
                merge(&mut target[key], value);
            }
        }
        other => *target = other,
    }
}

/// Runs `queues set`.
pub(super) async fn set(args: Set, context: &mut Context) -> Result<Exit, Error> {
    args.how.reach()?;
    let patch = args.amounts.patch()?;
    if patch.as_object().is_some_and(Map::is_empty) {
        return Err(Problem::new(number::MISSING, Exit::Usage, "nothing to set")
            .fix(format!("kubectl kai queues set {} --gpu-quota N", args.name))
            .into());
    }
    let cluster = context.cluster().await?;
    let queues = super::read_to("patch", &cluster).await?;
    let Some(queue) = queues.0.get(&args.name) else {
        return Err(queues.unknown(&args.name).into());
    };
    let mut after = queue.object["spec"].clone();
    merge(&mut after, patch.clone());
    if after == queue.object["spec"] {
        context.out.talk(&format!("{} is that way already", args.name));
        return Ok(Exit::Ok);
    }
    held_limits(queue, &patch)?;
    plan(&queues, &args.name, &patch, &after, context);
    let step = Step { queue: args.name, spec: patch, annotations: Value::Null, done: "changed" };
    carry_out(&[step], &queues, &args.how, &cluster, context).await
}

/// Refuses limits of a held queue: they would let it go, and a release would undo them.
fn held_limits(queue: &Queue, patch: &Value) -> Result<(), Problem> {
    let is_set = |lane: &&str| !patch["resources"][lane]["limit"].is_null();
    if !queue.is_held() || !LANES.iter().any(is_set) {
        return Ok(());
    }
    let name = clean(&queue.name);
    Err(Problem::new(number::QUEUE_IN_USE, Exit::Refused, format!("queue \"{name}\" is held"))
        .line("its limits are those of the hold until it is released")
        .fix(format!("kubectl kai queues release {name}")))
}

/// Says what changes, and what that means.
fn plan(queues: &Queues, name: &str, patch: &Value, after: &Value, context: &mut Context) {
    let queue = &queues.0[name];
    let before = &queue.object["spec"];
    for (resource, fields) in patch["resources"].as_object().into_iter().flatten() {
        for (field, value) in fields.as_object().into_iter().flatten() {
            let old = &before["resources"][resource][field];
            let old = if old.is_null() { "not set".to_owned() } else { old.to_string() };
            context.out.talk(&format!("{}  {resource}.{field} {old} -> {value}", clean(name)));
        }
    }
    for (field, value) in
        patch.as_object().into_iter().flatten().filter(|(field, _)| *field != "resources")
    {
        let old = &before[field];
        let old = if old.is_null() { "not set".to_owned() } else { old.to_string() };
        context.out.talk(&format!("{}  {field} {old} -> {value}", clean(name)));
    }
    for warning in bounds::warnings(queues, name, before, after) {
        context.out.warn(&warning);
    }
}

/// Runs `queues delete`.
pub(super) async fn delete(mut args: Delete, context: &mut Context) -> Result<Exit, Error> {
    let mut once = BTreeSet::new();
    args.names.retain(|name| once.insert(name.clone()));
    let cluster = context.cluster().await?;
    let (queues, uses) = futures::join!(super::read_to("delete", &cluster), super::uses(&cluster));
    let queues = queues?;
    let cut = cluster.take_cut();
    let mut problems = Vec::new();
    for name in &args.names {
        let Some(queue) = queues.0.get(name) else {
            problems.push(queues.unknown(name));
            continue;
        };
        let left: Vec<&String> =
            queue.children.iter().filter(|child| !args.names.contains(child)).collect();
        let work = uses.as_ref().ok().and_then(|uses| uses.get(name));
        let work = work.filter(|work| work.running > 0 || work.has_waiting());
        if !left.is_empty() {
            let names: Vec<&str> = left.iter().map(|child| child.as_str()).collect();
            let what = format!(
                "queue \"{name}\" has {}: {}",
                count(left.len(), "child queue"),
                clean(&names.join(", "))
            );
            problems.push(
                Problem::new(number::QUEUE_IN_USE, Exit::Refused, what)
                    .line("without its parent a queue and all its work are left out by KAI")
                    .fix(format!("kubectl kai queues delete {} {name}", names.join(" "))),
            );
        } else if let Some(work) = work
            && !args.force
        {
            let what = format!(
                "queue \"{name}\" is in use: {} running with {}, {} waiting for {}",
                count(work.running, "workload"),
                work.used.words(),
                count(work.waiting, "workload"),
                work.pending.words()
            );
            problems.push(Problem::new(number::QUEUE_IN_USE, Exit::Refused, what).fix(format!(
                "kubectl kai delete -A -q {name}   or leave the work without a queue: --force"
            )));
        }
    }
    problems.extend(cut.iter().filter(|_| !args.force).map(|cut| unsure(&args.names, cut)));
    Error::all(problems)?;
    for reason in uses.as_ref().err().into_iter().chain(&cut) {
        context.out.warn(&format!("whether they are in use is not known: {reason}"));
    }
    context.confirm(&format!("Delete {}?", args.names.join(", ")), args.yes)?;
    let resource = names::queues();
    // Children first, so that no queue is ever without its parent.
    let mut names = args.names.clone();
    names.sort_by_key(|name| std::cmp::Reverse(queues.path(name).matches('/').count()));
    for name in &names {
        let call = Call::new("delete", &resource).name(name);
        let uid = text(&queues.0[name].object["metadata"]["uid"]);
        cluster
            .delete(&call, uid, false)
            .await
            .map_err(|failure| cluster.explain(&call, &failure))?;
        context.out.data(&format!("{} deleted", listing::name(&queues.0[name].object)))?;
    }
    Ok(Exit::Ok)
}

/// Refuses to delete what may be in use by what was not read whole: whoever makes such an object decides that it is not.
fn unsure(names: &[String], cut: &str) -> Problem {
    let what = format!("whether {} is in use is not known: {cut}", clean(&names.join(", ")));
    Problem::new(number::QUEUE_IN_USE, Exit::Refused, what)
        .line("work that has lost its queue stays pending until that is back")
        .fix(format!("kubectl kai queues delete {} --force", clean(&names.join(" "))))
}

#[cfg(test)]
mod tests {
    use http::{Method, Request, Response};
    use kube::client::Body;

    use super::*;
    use crate::print::output::tests::Page;

    /// Says how it ends to delete a queue where this `PodGroup` has a pod that runs, and what is said until then.
    async fn deleted(group: &Value, force: bool) -> (Exit, String) {
        let pod = json!({"metadata": {"namespace": "ml", "name": "p",
            "annotations": {(names::POD_GROUP): "g"}},
            "spec": {"nodeName": "n"}, "status": {"phase": "Running"}});
        let queue = json!({"metadata": {"name": "q", "uid": "u"}, "spec": {}});
        let lists = [("/queues", queue), ("/podgroups", group.clone()), ("/pods", pod)];
        let service = tower::service_fn(move |request: Request<Body>| {
            let path = request.uri().path();
            let found = lists.iter().find(|(end, _)| path.ends_with(end));
            let items: Vec<&Value> = found.into_iter().map(|(_, object)| object).collect();
            let answer = if *request.method() == Method::GET {
                json!({"metadata": {}, "items": items})
            } else {
                json!({})
            };
            let body = Body::from(answer.to_string().into_bytes());
            async move { Ok::<_, kube::Error>(Response::new(body)) }
        });
        let page = Page::default();
        let client = kube::Client::new(service, "ml");
        let mut context = Context::given(client, "ml", page.output());
        let args = Delete { names: vec!["q".to_owned()], force, yes: true };
        match delete(args, &mut context).await {
            Ok(exit) => (exit, page.text()),
            Err(error) => (error.exit(), page.text() + &error.to_string()),
        }
    }

    /// Whoever makes a `PodGroup` decides how large it is.
    #[tokio::test]
    async fn a_queue_is_not_deleted_for_what_was_not_read() {
        let labels: Map<String, Value> =
            (0..60_000).map(|at| (format!("l{at}"), json!(""))).collect();
        let labelled = json!({"metadata": {"namespace": "ml", "name": "g", "labels": labels},
            "spec": {"queue": "q"}});
        let large = json!({"metadata": {"namespace": "ml", "name": "g"},
            "spec": {"queue": "q", "a": vec![1; 60_000]}});
        let unknown = "in use is not known: not all was read of 1 object";
        for (group, force, exit, expect) in [
            (&labelled, false, Exit::Refused, "queue \"q\" is in use: 1 workload running"),
            (&labelled, false, Exit::Refused, unknown),
            (&large, false, Exit::Refused, unknown),
            (&large, true, Exit::Ok, unknown),
        ] {
            let (ended, said) = deleted(group, force).await;
            assert_eq!(ended, exit, "{said}");
            assert!(said.contains(expect), "{said}");
            let (told, gone) = (said.find(unknown), said.find(" deleted"));
            assert!(gone.is_none_or(|gone| told.is_some_and(|told| told < gone)), "{said}");
        }
    }

    fn check(unit: Unit, typed: &str, expect: &str) {
        let read = amount("--flag", typed, unit, true);
        let told = read.map_or_else(|problem| problem.what, |number| number.to_string());
        assert_eq!(told, expect, "{typed}");
    }

    /// Objects count devices, thousandths of a core, and 10^6 bytes, of which the last one begun counts.
    #[test]
    fn amounts_are_written_in_the_units_of_the_object() {
        check(Unit::Devices, "8", "8");
        check(Unit::Devices, "0.5", "0.5");
        check(Unit::Millicores, "8", "8000");
        check(Unit::Millicores, "0.25", "250");
        check(Unit::Millicores, "500m", "500");
        for (typed, megabytes) in [
            ("1M", "1"),
            ("1Mi", "2"),
            ("1.5G", "1500"),
            ("1Gi", "1074"),
            ("512Gi", "549756"),
            ("2T", "2000000"),
            ("1Ti", "1099512"),
        ] {
            check(Unit::Megabytes, typed, megabytes);
        }
        for unit in [Unit::Devices, Unit::Millicores, Unit::Megabytes] {
            for typed in ["-1", "unlimited", "none"] {
                check(unit, typed, "-1");
            }
        }
        check(Unit::Megabytes, "8", "--flag \"8\" is not an amount");
        check(Unit::Devices, "8Gi", "--flag \"8Gi\" is not an amount");
        assert!(
            amount("--flag", "-1", Unit::Devices, false).is_err(),
            "no weight is without bound"
        );
    }
}
