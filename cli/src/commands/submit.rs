//! `kubectl kai submit`: from flags or manifests to objects, checked as a whole before anything is created.
//!
//! ```text
//!  flags ── request ── render ─┐
//!                              ├─ inject ── check ── create (or dry run) ── wait
//!  files ── read ──────────────┘
//! ```

mod args;
mod array;
mod asked;
mod check;
mod claims;
mod cleaned;
mod code;
mod copy;
mod create;
mod data;
mod defaults;
mod diff;
mod document;
mod earlier;
mod fetch;
mod fits;
mod folders;
mod fragile;
mod inject;
mod inside;
pub(crate) mod library;
mod model;
mod particulars;
mod placement;
pub(crate) mod plan;
mod process;
mod read;
pub(crate) mod render;
mod request;
mod rivals;
mod roles;
mod saved;
pub(crate) mod sbatch;
mod sharing;
mod state;
mod summary;
pub(crate) mod template;
mod then;
mod train_job;
mod unified;
pub(crate) mod values;

use serde_json::json;

use crate::cluster::gpu::Gpu;
use crate::cluster::kinds::{self, Kind};
use crate::cluster::queue::count;
use crate::cluster::{Cluster, json, listing, manifest, object_name};
use crate::commands::last;
use crate::context::Context;
use crate::print::duration;
use crate::print::error::{Error, Exit, Problem, number};
use crate::print::output::clean;
pub(crate) use args::{Args, Flags};
use args::{DryRun, ThenFlags};
use copy::Copy;
use document::{Document, There, is_workload};
use request::Request;
use then::Awaited;

/// Says what `submit -h` ends with.
pub(crate) const EXAMPLES: &str = "\
Kinds:
  job cronjob pod deployment statefulset notebook jobset lws spark argo
  pytorch tensorflow jax xgboost paddle mpi trainjob ray raycluster rayservice

Examples:
  kubectl kai submit job hello -q team-a --image busybox -- echo hi
  kubectl kai submit pytorch llama-ft -q team-a --workers 2 --gpu 4 --image IMAGE -- torchrun train.py
  kubectl kai submit ray tune -q team-b --workers 3 --gpu 1 -- python tune.py
  kubectl kai submit notebook ana -q team-b --gpu 0.5
  kubectl kai submit cronjob nightly -q team-a --schedule '0 2 * * *' --image IMAGE -- ./report
  kubectl kai submit pytorch llama-ft -q team-a --gpu 8 --image IMAGE -m pvc://datasets:/data:ro --workdir . -- python train.py
  kubectl kai submit --from llama-ft --gpu 4 --logs
  kubectl kai submit -f workflow.yaml -q prod
  kubectl kai submit job sweep -q team-a --array 100%10 --gpu 1 --image IMAGE -- sh -c './task $JOB_COMPLETION_INDEX'
  kubectl kai submit train.sbatch --image IMAGE
  kubectl kai submit -f job.yaml -q team-a --dry-run=client -o yaml";

/// Runs `submit`.
pub(crate) async fn run(mut flags: Flags, context: &mut Context) -> Result<Exit, Error> {
    if asked::is_due(&flags, context) {
        asked::ask(&mut flags, context).await?;
    }
    sbatch::expand(&mut flags.work, context).await?;
    expanded(flags, context).await
}

/// The same, once a script for Slurm has given its flags.
async fn expanded(flags: Flags, context: &mut Context) -> Result<Exit, Error> {
    let Flags { work: args, then } = flags;
    let dry_run = then.dry_run;
    check_exit_code(&then)?;
    let timeout = match &then.timeout {
        Some(text) => duration::parse("--timeout", text).map_err(Error::from),
        None => Ok(None),
    };
    let format = create::Format::read(&context.globals);
    let user = submitter(&args, dry_run, context).await;
    if dry_run == DryRun::Plan {
        return Box::pin(plan::run(&args, then.exit_code, context)).await;
    }
    let request = match Request::read(&args, &context.settings, &context.env) {
        Ok(request) => request,
        Err(found) => {
            let (request, mut problems) = *found;
            for other in [timeout.err(), format.err()].into_iter().flatten() {
                problems.extend(list(other));
            }
            if dry_run != DryRun::Client {
                problems.extend(check::queue_in_a_hurry(&request, context).await);
            }
            return Err(Error::Problems(problems));
        }
    };
    let (timeout, format) = (timeout?, format?);
    let inside = inside::Inside::read(&then, context);
    let mut request = Request { user, inside, ..request };
    if then.save_template.is_some() {
        request = Request { name: saved::NAME.into(), user: None, ..request };
    }
    let (mut documents, copy) = made(&args, dry_run, &mut request, context).await?;
    if let Some(name) = &then.save_template {
        return saved::save(name, &documents, &request, then.yes, context).await;
    }
    let awaited = Awaited { until: then.wait, timeout, inside };
    then.check(&documents, awaited)?;
    for warning in &request.data.warnings {
        context.out.warn(warning);
    }
    fragile::warn(&documents, context);
    rivals::warn(&documents, context);
    if let Some(copy) = copy.as_ref().filter(|_| !then.diff) {
        let workloads = documents.iter().filter(|document| document.is_workload);
        workloads.for_each(|workload| copy.tell(workload, context));
    }
    if dry_run == DryRun::Client {
        return dry(&documents, " (dry run)", None, &format, context).await;
    }
    let cluster = context.cluster().await?;
    Box::pin(check::all(&mut documents, &request, &cluster, context)).await?;
    if then.replace {
        find_there(&mut documents, &then, &cluster, context).await?;
    }
    if then.diff {
        return diff::show(&documents, copy.as_ref(), &cluster, context).await;
    }
    if dry_run == DryRun::Server {
        let objects = create::rehearse(&documents, &cluster, context).await?;
        return dry(&objects, " (server dry run)", Some(&cluster), &format, context).await;
    }
    if then.confirm {
        confirm(&documents, then.yes, &cluster, context).await?;
    }
    let created = create::all(&documents, &cluster, context).await?;
    after(&created, &then, awaited, &format, context).await
}

/// Says what was created, and goes on with it as far as was asked for.
async fn after(
    created: &[Document],
    then: &ThenFlags,
    awaited: Awaited,
    format: &create::Format,
    context: &mut Context,
) -> Result<Exit, Error> {
    let cluster = context.cluster().await?;
    remember(created, &cluster, context);
    if awaited.inside.is_some() {
        // Its stdout is the container's.
        for one in created {
            context.out.talk(&format!("{} created", listing::name(&one.object)));
        }
    } else {
        told(created, format, &cluster, context).await?;
    }
    if then.goes_on() {
        return then.follow(created, awaited, context).await;
    }
    if context.out.talks_to_terminal() {
        state::first(created, &cluster, context).await;
    }
    create::next_steps(created, context);
    Ok(Exit::Ok)
}

/// Reads what the cluster says beforehand: its defaults, and whom it takes the user for. A rehearsal here asks it for the
/// latter where a copy is made, which it reads anyhow.
async fn submitter(args: &Args, dry_run: DryRun, context: &mut Context) -> Option<String> {
    if dry_run != DryRun::Client {
        return defaults::read(context).await;
    }
    args.from.as_ref()?;
    context.cluster().await.ok()?.me_if_told().await
}

/// Keeps what `@last` means: the last workload of those that were submitted.
fn remember(created: &[Document], cluster: &Cluster, context: &Context) {
    let mut workloads = created.iter().filter(|one| one.is_workload && !one.is_unchanged());
    if let Some(document) = workloads.next_back() {
        let namespace = document.namespace(cluster).unwrap_or_default();
        last::remember(&document.object, namespace, cluster, context);
    }
}

/// Prints what would be created.
async fn dry(
    documents: &[Document],
    title: &str,
    cluster: Option<&Cluster>,
    format: &create::Format,
    context: &mut Context,
) -> Result<Exit, Error> {
    create::show(documents, title, format, context)?;
    summary::say(documents, cluster, context).await;
    Ok(Exit::Ok)
}

/// Refuses the exit code of a plan where none is made.
fn check_exit_code(then: &ThenFlags) -> Result<(), Problem> {
    if !then.exit_code || then.dry_run == DryRun::Plan {
        return Ok(());
    }
    let what = "--exit-code works with --dry-run=plan only";
    Err(Problem::new(number::FLAGS_CONFLICT, Exit::Usage, what).fix("--dry-run=plan --exit-code"))
}

/// Prints what was created.
async fn told(
    created: &[Document],
    format: &create::Format,
    cluster: &Cluster,
    context: &mut Context,
) -> Result<(), Error> {
    if let Err(error) = create::show(created, "", format, context) {
        // What cannot be printed is there all the same.
        let names: Vec<String> = created.iter().map(|d| listing::name(&d.object)).collect();
        context.out.talk(&format!("created all the same: {}", names.join(", ")));
        return Err(error);
    }
    summary::say(created, Some(cluster), context).await;
    Ok(())
}

/// Shows what would be created as the server would store it, and asks.
async fn confirm(
    documents: &[Document],
    is_confirmed: bool,
    cluster: &Cluster,
    context: &mut Context,
) -> Result<(), Error> {
    let objects = create::rehearse(documents, cluster, context).await?;
    for object in &objects {
        context.out.talk(&format!("  {}", listing::name(&object.object)));
    }
    summary::say(&objects, Some(cluster), context).await;
    context.confirm("Submit?", is_confirmed)
}

/// Makes the objects that were asked for, with all that goes into them, and says what was done beyond that.
async fn made(
    args: &Args,
    dry_run: DryRun,
    request: &mut Request,
    context: &mut Context,
) -> Result<(Vec<Document>, Option<Copy>), Error> {
    let (mut documents, copy) = documents(args, dry_run, request, context).await?;
    let notes = prepare(&mut documents, request, context)?;
    claims::add(&mut documents, request.gpu.as_ref(), dry_run, context).await?;
    if let Some(code) = &request.code {
        code.add(&mut documents, context)?;
    }
    let notes =
        notes.into_iter().chain(request.gpu.as_ref().and_then(Gpu::note)).collect::<Vec<_>>();
    notes.iter().chain(&request.data.notes).for_each(|note| context.out.talk(note));
    Ok((documents, copy))
}

/// Finds what `--replace` will change, and asks before anything is deleted.
async fn find_there(
    documents: &mut [Document],
    then: &ThenFlags,
    cluster: &Cluster,
    context: &mut Context,
) -> Result<(), Error> {
    create::there::find(documents, cluster, context).await?;
    let lost = documents.iter().filter(|one| matches!(one.there, Some(There::Fixed(_)))).count();
    if lost > 0 && then.dry_run == DryRun::None {
        let question = format!("Delete {} and create anew?", count(lost, "object"));
        context.confirm(&question, then.yes)?;
    }
    Ok(())
}

/// The problems of an error.
fn list(error: Error) -> Vec<Problem> {
    match error {
        Error::Problems(problems) => problems,
        Error::Quiet(_) => Vec::new(),
    }
}

/// The objects that were asked for, without what goes into them.
async fn documents(
    args: &Args,
    dry_run: DryRun,
    request: &mut Request,
    context: &mut Context,
) -> Result<(Vec<Document>, Option<Copy>), Error> {
    model::resolve(request, dry_run, context).await?;
    placement::resolve(&mut request.placement, dry_run == DryRun::Client, context).await?;
    let (documents, copy) = if let Some(from) = &args.from {
        let (document, copy) = copy::document(from, request, context).await?;
        (vec![document], Some(copy))
    } else if args.filename.is_empty() {
        (rendered(args, dry_run, request, context).await?, None)
    } else {
        (read::files(&args.filename, args.recursive, request.kind, context).await?, None)
    };
    let may_ask = dry_run != DryRun::Client;
    Ok((train_job::complete(documents, may_ask, context).await?, copy))
}

/// The documents of a template.
async fn rendered(
    args: &Args,
    dry_run: DryRun,
    request: &Request,
    context: &mut Context,
) -> Result<Vec<Document>, Error> {
    let kind = request.kind.expect("without a file there is a kind");
    let template = if let Some(name) = &args.template {
        library::find(name, context).await?
    } else {
        let name = default_template(kind.noun, &served(kind, dry_run, context).await?);
        if let Some(told) = unlike_asked(kind.noun, &name) {
            context.out.talk(told);
        }
        library::of_kind(&name, context).await?
    };
    if !template.is_compiled_in {
        context.out.talk(&format!("by the template {}", clean(&template.origin)));
    }
    let objects = render::render(&template, request)?;
    let source = template.origin;
    let mut documents: Vec<Document> =
        objects.into_iter().map(|object| Document::new(object, &source)).collect();
    if !documents.iter().any(|document| document.is_workload) {
        let what = format!("{source} makes no workload");
        return Err(Problem::new(number::TEMPLATE, Exit::Refused, what)
            .fix("write an object with a pod template into it")
            .into());
    }
    for document in &mut documents {
        document.is_helper = !document.is_workload;
        document.may_exist = document.is_helper;
    }
    Ok(documents)
}

/// The versions of a kind that are served, where its template depends on them. A rehearsal here asks for that alone, so
/// that it shows what would be created; where no cluster answers it says what it takes for granted.
async fn served(
    kind: &'static Kind,
    dry_run: DryRun,
    context: &mut Context,
) -> Result<Vec<&'static str>, Error> {
    if !matches!(kind.noun, "mpi" | "notebook" | "pytorch") {
        return Ok(Vec::new());
    }
    let is_rehearsal = dry_run == DryRun::Client;
    let trainer = kinds::named("trainjob").expect("a noun of ours");
    let asked = match context.cluster().await {
        Ok(cluster) => {
            let cluster = if is_rehearsal { cluster.hurried(check::HURRY) } else { cluster };
            match check::served(kind, &cluster).await {
                // Trainer v2 does what the operator before it did.
                Ok(none) if none.is_empty() && kind.noun == "pytorch" => {
                    check::served(trainer, &cluster).await
                }
                served => served,
            }
        }
        Err(error) => Err(error),
    };
    match asked {
        Err(_) if is_rehearsal => {
            let best = kind.best().api_version();
            context.out.warn(&format!(
                "no cluster could be asked whether it serves {best} {}: it is assumed that it does",
                kind.name
            ));
            Ok(vec![kind.versions[0]])
        }
        served => served,
    }
}

/// Says what a template makes that is not what the noun says, or of which there are two.
fn unlike_asked(noun: &str, template: &str) -> Option<&'static str> {
    Some(match (noun, template) {
        ("notebook", "notebook-pod") => {
            "kubeflow's Notebook is not installed here, so this is a plain pod"
        }
        ("pytorch", "trainjob") => {
            "kubeflow.org/v1 PyTorchJob is not installed here, so this is a trainer.kubeflow.org/v1alpha1 TrainJob"
        }
        ("mpi", "mpi") => "this is a kubeflow.org/v2beta1 MPIJob",
        ("mpi", "mpi-v1") => "this is a kubeflow.org/v1 MPIJob",
        _ => return None,
    })
}

/// The template of a kind, by the versions of it that are served.
fn default_template(noun: &str, served: &[&str]) -> String {
    match noun {
        "mpi" if served.contains(&"v1") && !served.contains(&"v2beta1") => "mpi-v1".into(),
        "notebook" if !served.contains(&"v1") => "notebook-pod".into(),
        "pytorch" if served.contains(&"v1alpha1") => "trainjob".into(),
        noun => noun.into(),
    }
}

/// Puts the request into every workload, and checks all that can be checked here.
fn prepare(
    documents: &mut [Document],
    request: &Request,
    context: &Context,
) -> Result<Vec<String>, Error> {
    let (mut notes, mut problems) = (Vec::new(), Vec::new());
    for document in documents.iter_mut() {
        if let Some(namespace) = &context.globals.namespace {
            let own = json::text(&document.object["metadata"]["namespace"]).to_owned();
            if own.is_empty() && context.globals.namespace.is_some() {
                json::ensure(&mut document.object, "/metadata")
                    .insert("namespace".into(), json!(namespace));
            } else if own != *namespace {
                let what =
                    format!("{}: the namespace is {own}, and -n says {namespace}", document.source);
                problems.push(
                    Problem::new(number::FLAGS_CONFLICT, Exit::Usage, what).fix("leave -n out"),
                );
            }
        }
        if !document.takes_request() {
            continue;
        }
        if let Err(found) = inject::inject(&mut document.object, request, &mut notes) {
            problems.extend(found);
        }
        if !document.name().is_empty() {
            let kind = manifest::kind(&document.object);
            problems.extend(object_name::check(document.name(), kind).err());
        }
    }
    problems
        .extend(documents.iter().filter_map(|d| train_job::without_place(d, documents, request)));
    problems.dedup();
    Error::all(problems)?;
    train_job::resolve(documents);
    Ok(notes)
}
