//! `kubectl kai submit`: from flags or manifests to objects, checked as a whole before anything is created.
//!
//! ```text
//!  flags ── request ── render ─┐
//!                              ├─ inject ── check ── create (or dry run) ── wait
//!  files ── read ──────────────┘
//! ```

mod args;
mod check;
mod create;
mod data;
mod defaults;
mod fits;
mod fragile;
mod inject;
pub(crate) mod library;
mod model;
mod read;
pub(crate) mod render;
mod request;
mod sharing;
mod state;
pub(crate) mod template;
pub(crate) mod values;

use std::time::Duration;

use serde_json::{Value, json};

use crate::cluster::kinds::Kind;
use crate::cluster::{Cluster, Resource, json, manifest, object_name};
use crate::commands::wait;
use crate::context::Context;
use crate::print::duration;
use crate::print::error::{Error, Exit, Problem, number};
pub(crate) use args::Args;
use args::{DryRun, Until};
use request::Request;

/// What `submit -h` ends with.
pub(crate) const EXAMPLES: &str = "\
Examples:
  kubectl kai submit job hello -q team-a --image busybox -- echo hi
  kubectl kai submit pytorch llama-ft -q team-a --workers 2 --gpu 4 --image IMAGE -- torchrun train.py
  kubectl kai submit ray tune -q team-b --workers 3 --gpu 1 -- python tune.py
  kubectl kai submit notebook ana -q team-b --gpu 0.5
  kubectl kai submit -f workflow.yaml -q prod
  kubectl kai submit -f job.yaml -q team-a --dry-run=client -o yaml";

/// An object on its way to the API server.
#[derive(Clone, Debug)]
pub(crate) struct Document {
    pub(crate) object: Value,
    /// Where it came from, for messages: `job.yaml`, or the template.
    pub(crate) source: String,
    /// Whether it makes pods.
    pub(crate) is_workload: bool,
    /// Where the API serves it, once asked.
    pub(crate) resource: Option<Resource>,
    /// Whether it was there before, as the manifest has it.
    pub(crate) exists: bool,
}

impl Document {
    pub(crate) fn name(&self) -> &str {
        json::text(&self.object["metadata"]["name"])
    }

    pub(crate) fn kind(&self) -> &str {
        json::text(&self.object["kind"])
    }

    pub(crate) fn namespace<'a>(&'a self, cluster: &'a Cluster) -> Option<&'a str> {
        let own = json::text(&self.object["metadata"]["namespace"]);
        let namespaced = self.resource.as_ref().is_none_or(|resource| resource.namespaced);
        namespaced.then_some(if own.is_empty() { cluster.namespace.as_str() } else { own })
    }
}

/// Runs `submit`.
pub(crate) async fn run(args: Args, context: &mut Context) -> Result<Exit, Error> {
    let timeout = match &args.timeout {
        Some(text) => duration::parse("--timeout", text).map_err(Error::from),
        None => Ok(None),
    };
    let format = create::Format::read(&context.globals);
    if args.dry_run != DryRun::Client {
        defaults::read(context).await;
    }
    let request = match Request::read(&args, &context.settings, &context.env) {
        Ok(request) => request,
        Err(found) => {
            let (request, mut problems) = *found;
            for other in [timeout.err(), format.err()].into_iter().flatten() {
                problems.extend(list(other));
            }
            if args.dry_run != DryRun::Client {
                problems.extend(check::queue_in_a_hurry(&request, context).await);
            }
            return Err(Error::Problems(problems));
        }
    };
    let (timeout, format) = (timeout?, format?);
    let mut request = request;
    model::resolve(&mut request, args.dry_run, context).await?;
    let mut documents = documents(&args, &request, context).await?;
    let notes = prepare(&mut documents, &request, context)?;
    for note in notes.iter().chain(&request.data.notes) {
        context.out.talk(note);
    }
    for warning in &request.data.warnings {
        context.out.warn(warning);
    }
    fragile::warn(&documents, context);
    if args.dry_run == DryRun::Client {
        create::show(&documents, "created (dry run)", &format, context)?;
        create::summary(&documents, None, context);
        return Ok(Exit::Ok);
    }
    let cluster = context.cluster().await?;
    Box::pin(check::all(&mut documents, &request, &cluster, context)).await?;
    if args.dry_run == DryRun::Server {
        let objects = create::rehearse(&documents, &cluster, context).await?;
        create::show(&objects, "created (server dry run)", &format, context)?;
        create::summary(&objects, Some(&cluster), context);
        return Ok(Exit::Ok);
    }
    let created = create::all(&documents, &cluster, context).await?;
    if let Err(error) = create::show(&created, "created", &format, context) {
        // What cannot be printed is there all the same.
        let names: Vec<String> =
            created.iter().map(|d| crate::cluster::listing::name(&d.object)).collect();
        context.out.talk(&format!("created all the same: {}", names.join(", ")));
        return Err(error);
    }
    create::summary(&created, Some(&cluster), context);
    if let Some(until) = args.wait {
        return follow(&created, until, timeout, &cluster, context).await;
    }
    if context.out.talks_to_terminal() {
        state::first(&created, &cluster, context).await;
    }
    create::next_steps(&created, context);
    Ok(Exit::Ok)
}

/// The problems of an error.
fn list(error: Error) -> Vec<Problem> {
    match error {
        Error::Problems(problems) => problems,
        Error::Quiet(_) => Vec::new(),
    }
}

async fn documents(
    args: &Args,
    request: &Request,
    context: &mut Context,
) -> Result<Vec<Document>, Error> {
    if !args.filename.is_empty() {
        return read::files(&args.filename, request.kind, context);
    }
    let kind = request.kind.expect("without a file there is a kind");
    let name = if let Some(name) = &args.template {
        name.clone()
    } else {
        let name = default_template(kind.noun, &served(kind, args, context).await?);
        if name == "notebook-pod" {
            context.out.talk("kubeflow's Notebook is not installed here, so this is a plain pod");
        }
        name
    };
    let template = library::find(&name, context).await?;
    let object = render::render(&template, request)?;
    let source = template.origin;
    Ok(vec![Document { object, source, is_workload: true, resource: None, exists: false }])
}

/// The versions of a kind that are served, where its template depends on them. A rehearsal here asks for that alone, so
/// that it shows what would be created; where no cluster answers it says what it takes for granted.
async fn served(
    kind: &'static Kind,
    args: &Args,
    context: &mut Context,
) -> Result<Vec<&'static str>, Error> {
    if !matches!(kind.noun, "mpi" | "notebook") {
        return Ok(Vec::new());
    }
    let is_rehearsal = args.dry_run == DryRun::Client;
    let asked = match context.cluster().await {
        Ok(cluster) if is_rehearsal => check::served(kind, &cluster.hurried(check::HURRY)).await,
        Ok(cluster) => check::served(kind, &cluster).await,
        Err(error) => Err(error),
    };
    match asked {
        Err(_) if is_rehearsal => {
            let best = kind.best().api_version();
            context.out.warn(&format!(
                "no cluster was asked what it serves: {best} {} is taken for granted",
                kind.name
            ));
            Ok(vec![kind.versions[0]])
        }
        served => served,
    }
}

/// The template of a kind, by the versions of it that are served.
fn default_template(noun: &str, served: &[&str]) -> String {
    match noun {
        "mpi" if served.contains(&"v1") && !served.contains(&"v2beta1") => "mpi-v1".into(),
        "notebook" if !served.contains(&"v1") => "notebook-pod".into(),
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
        if !document.is_workload {
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
    problems.dedup();
    Error::all(problems).map(|()| notes)
}

async fn follow(
    created: &[Document],
    until: Until,
    timeout: Option<Duration>,
    cluster: &Cluster,
    context: &mut Context,
) -> Result<Exit, Error> {
    let goal = match until {
        Until::Scheduled => wait::Goal::Scheduled,
        Until::Running => wait::Goal::Running,
        Until::Complete => wait::Goal::Complete,
    };
    let mut exit = Exit::Ok;
    for document in created.iter().filter(|document| document.is_workload) {
        let namespace = document.namespace(cluster).unwrap_or_default().to_owned();
        let target =
            wait::Target { namespace, kind: document.kind().into(), name: document.name().into() };
        let ended = wait::until(&target, goal, timeout, cluster, context).await?;
        if exit == Exit::Ok {
            exit = ended;
        }
    }
    Ok(exit)
}
