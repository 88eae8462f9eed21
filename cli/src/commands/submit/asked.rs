//! `submit` without a word, on a terminal: asks for the few things that are needed, and shows the command line that says
//! them at once.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use super::Flags;
use super::args::Args;
use super::particulars::Particulars;
use super::request::image_of;
use crate::cluster::gpu::{self, Gpu};
use crate::cluster::kinds::{self, Kind};
use crate::cluster::queue::{self, Amount, Queues};
use crate::cluster::{Cluster, object_name};
use crate::commands::queues::{self, Use};
use crate::context::{Context, Question};
use crate::print::error::{Error, Problem};
use crate::print::output::{Style, clean};

/// Kinds whose pods are so many as one says.
const WITH_WORKERS: [&str; 11] = [
    "pytorch",
    "tensorflow",
    "jax",
    "xgboost",
    "paddle",
    "mpi",
    "trainjob",
    "ray",
    "raycluster",
    "jobset",
    "lws",
];

/// Tells whether nothing was said of the work, and somebody can be asked.
pub(super) fn is_due(flags: &Flags, context: &Context) -> bool {
    flags.work == Args::default() && context.may_ask()
}

/// Asks, and puts the answers where flags would have put them; what is submitted is shown and asked for once more.
///
/// # Errors
/// The cluster cannot be asked, or somebody goes away.
pub(super) async fn ask(flags: &mut Flags, context: &mut Context) -> Result<(), Error> {
    let cluster = context.cluster().await?;
    let (queues, uses, groups) =
        futures::join!(queue::readable(&cluster), queues::uses(&cluster), cluster.groups());
    let queues = queues?;
    let groups = groups.map_err(|failure| cluster.explain_any(&failure))?;
    let work = &mut flags.work;
    let kind = kind(&groups, context)?;
    let name = name(kind)?;
    work.names = vec![kind.noun.to_owned(), name];
    work.queue = Some(queue(queues.as_ref(), &uses.unwrap_or_default(), context)?);
    if WITH_WORKERS.contains(&kind.noun) {
        let check = |text: &str| match text.parse::<u32>() {
            Ok(1..) => Ok(()),
            Ok(0) | Err(_) => Err("a number of pods, such as 4".to_owned()),
        };
        work.workers = Some(Question { what: "Workers", default: "1", check: &check }.ask()?);
    }
    work.gpu = gpus(context)?;
    work.image = Some(image(kind, context)?);
    if kind.noun == "cronjob" {
        let check = |text: &str| match (text.split_whitespace().count(), text.starts_with('@')) {
            (5, _) | (_, true) => Ok(()),
            _ => Err("five fields, such as 0 2 * * *".to_owned()),
        };
        let question = Question { what: "When it runs", default: "0 2 * * *", check: &check };
        work.particulars.schedule = Some(question.ask()?);
    }
    work.command = command(kind)?;
    let line = line(work, &cluster, context);
    context.out.talk(&format!("\nThe same at once:\n  {}", Style::Bold.paint(&clean(&line))));
    flags.then.confirm = true;
    Ok(())
}

/// The first sentence of a problem, for whoever is asked again.
fn brief(result: Result<(), Problem>) -> Result<(), String> {
    result.map_err(|problem| problem.what)
}

fn kind(groups: &[(String, Vec<String>)], context: &mut Context) -> Result<&'static Kind, Error> {
    let is_there = |kind: &&'static Kind| {
        let is_builtin = matches!(kind.group, "" | "batch" | "apps");
        is_builtin || kind.noun == "notebook" || groups.iter().any(|(group, _)| group == kind.group)
    };
    let there = kinds::KINDS.iter().filter(|kind| !kind.noun.is_empty()).filter(is_there);
    let there: Vec<&str> = there.map(|kind| kind.noun).collect();
    context.out.talk(&format!("Kinds: {}", there.join(" ")));
    let check = |text: &str| {
        if there.contains(&text) { Ok(()) } else { Err(format!("one of {}", there.join(", "))) }
    };
    let noun = Question { what: "Kind", default: "job", check: &check }.ask()?;
    Ok(kinds::named(&noun).expect("checked just now"))
}

fn name(kind: &'static Kind) -> Result<String, Error> {
    let check = |text: &str| match text {
        "" => Err("it needs a name".to_owned()),
        text => brief(object_name::check(text, Some(kind))),
    };
    Question { what: "Name", default: "", check: &check }.ask()
}

/// Asks for the queue, beside what is left in each.
fn queue(
    queues: Option<&Queues>,
    uses: &BTreeMap<String, Use>,
    context: &mut Context,
) -> Result<String, Error> {
    let usual = context.settings.get("queue").map(|setting| setting.value.clone());
    let Some(queues) = queues else {
        let usual = usual.unwrap_or_default();
        let check = |text: &str| if text.is_empty() { Err("a queue".to_owned()) } else { Ok(()) };
        return Question { what: "Queue", default: &usual, check: &check }.ask();
    };
    let leaves: Vec<(&str, String)> = queues
        .0
        .values()
        .filter(|queue| queue.children.is_empty())
        .map(|queue| (queue.name.as_str(), room(queue, uses.get(&queue.name))))
        .collect();
    let width = leaves.iter().map(|(name, _)| name.len()).max().unwrap_or(0);
    let lines = leaves.iter().fold(String::from("Queues:"), |mut all, (name, room)| {
        let _infallible = write!(all, "\n  {:<width$}  {room}", clean(name));
        all
    });
    context.out.talk(&lines);
    let only = match leaves.as_slice() {
        [(only, _)] => (*only).to_owned(),
        _ => String::new(),
    };
    let usual = usual.filter(|usual| queues.check(usual, false).is_ok()).unwrap_or(only);
    let check = |text: &str| brief(queues.check(text, false));
    Question { what: "Queue", default: &usual, check: &check }.ask()
}

/// Says what a queue uses of its quota, and what is left of it.
fn room(queue: &queue::Queue, used: Option<&Use>) -> String {
    let used = used.map(|used| used.used.clone()).unwrap_or_default();
    match queue.gpu.quota {
        Amount::Unlimited => format!("{used} GPU used, quota unlimited"),
        Amount::Milli(0) => format!("{used} GPU used, quota 0: what others leave"),
        Amount::Milli(quota) => {
            let free = gpu::devices(quota.saturating_sub(used.milli));
            format!("{used} of {} GPU used, {free} free", gpu::devices(quota))
        }
    }
}

/// Asks for GPUs; none where there are to be none.
fn gpus(context: &mut Context) -> Result<Option<String>, Error> {
    let usual = context.settings.get("gpu").map_or_else(|| "1".to_owned(), |one| one.value.clone());
    let check = |text: &str| match text {
        "0" => Ok(()),
        text => brief(Gpu::parse_typed(text).map(drop)),
    };
    let what = "GPUs of each pod (2, 0.5, 8Gi; 0 for none)";
    let text = Question { what, default: &usual, check: &check }.ask()?;
    Ok(Some(text).filter(|text| text != "0"))
}

fn image(kind: &Kind, context: &mut Context) -> Result<String, Error> {
    let usual = context.settings.get("image").map(|one| one.value.clone());
    let usual = usual.or_else(|| image_of(kind.noun).map(str::to_owned)).unwrap_or_default();
    let check = |text: &str| match text {
        "" => Err("it needs an image, such as busybox".to_owned()),
        _ => Ok(()),
    };
    Question { what: "Image", default: &usual, check: &check }.ask()
}

fn command(kind: &'static Kind) -> Result<Vec<String>, Error> {
    let words = |text: &str| shlex::split(text).ok_or("a quote is open".to_owned());
    let check = |text: &str| {
        let words = words(text)?;
        let rest = Particulars { schedule: Some("@daily".into()), ..Particulars::default() };
        brief(rest.missing(kind.noun, &words).map_or(Ok(()), Err))
    };
    let what = "Command (empty: the image's own)";
    let text = Question { what, default: "", check: &check }.ask()?;
    Ok(words(&text).unwrap_or_default())
}

/// The command line that says all of it.
fn line(work: &Args, cluster: &Cluster, context: &Context) -> String {
    let mut words = vec!["kubectl".to_owned(), "kai".to_owned(), "submit".to_owned()];
    words.extend(work.names.iter().cloned());
    let namespace = context.globals.namespace.as_ref().map(|_| cluster.namespace.clone());
    for (flag, value) in [
        ("--context", &context.globals.context),
        ("-n", &namespace),
        ("-q", &work.queue),
        ("--workers", &work.workers),
        ("--gpu", &work.gpu),
        ("--image", &work.image),
        ("--schedule", &work.particulars.schedule),
    ] {
        words.extend(value.iter().flat_map(|value| [flag.to_owned(), value.clone()]));
    }
    if !work.command.is_empty() {
        words.push("--".to_owned());
        words.extend(work.command.iter().cloned());
    }
    // Only a NUL cannot be quoted, which nobody can type.
    shlex::try_join(words.iter().map(String::as_str)).unwrap_or_default()
}
