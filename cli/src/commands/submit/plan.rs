//! `submit --dry-run=plan`: where it would go, when, and at whose cost; and what else could be asked for.

mod alternatives;
mod draw;

use schemars::JsonSchema;
use serde::Serialize;
use serde_json::{Value, json};

use super::args::{Args, DryRun};
use super::request::Request;
use super::{Document, check, create, defaults, made};
use crate::cluster::Cluster;
use crate::context::Context;
use crate::plan::words::{self, HORIZON_SECONDS};
use crate::plan::{Reading, Situation, Wish, in_namespace};
use crate::print::error::{Error, Exit};
use crate::print::format;
use alternatives::Alternative;

/// A plan for programs.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct Plan<'p> {
    #[serde(flatten)]
    told: words::Told<'p>,
    /// Holds what else could be asked for, and starts sooner.
    alternatives: &'p [Alternative],
}

/// Holds what would be submitted.
#[derive(Debug, Default)]
pub(crate) struct Rendered {
    documents: Vec<Document>,
}

impl Rendered {
    /// The objects that a plan depends on: those that make pods, and what these pods read.
    pub(crate) fn planned(&self) -> impl Iterator<Item = &Value> {
        self.documents.iter().filter(|document| is_planned(document)).map(|one| &one.object)
    }

    /// The objects that make pods.
    pub(crate) fn workloads(&self) -> impl Iterator<Item = &Value> {
        self.documents.iter().filter(|document| document.is_workload).map(|one| &one.object)
    }
}

/// Tells whether a plan depends on an object: pods start once the config maps are there that they read.
fn is_planned(document: &Document) -> bool {
    document.is_workload || document.object["kind"] == "ConfigMap"
}

/// Makes the objects that `submit` would make of the same flags, with its checks where there is a cluster to ask.
///
/// # Errors
/// What `submit` would refuse.
pub(crate) async fn render(
    args: &Args,
    cluster: Option<&Cluster>,
    context: &mut Context,
) -> Result<Rendered, Error> {
    let dry_run = if cluster.is_none() {
        DryRun::Client
    } else {
        defaults::read(context).await;
        DryRun::Plan
    };
    let mut request = Request::read(args, &context.settings, &context.env)
        .map_err(|found| Error::Problems(found.1))?;
    request.is_plan = true;
    let (mut documents, _) = made(args, dry_run, &mut request, context).await?;
    if let Some(cluster) = cluster {
        Box::pin(check::all(&mut documents, &request, cluster, context)).await?;
    }
    Ok(Rendered { documents })
}

/// Runs `submit --dry-run=plan`.
pub(super) async fn run(
    args: &Args,
    is_exit_asked: bool,
    context: &mut Context,
) -> Result<Exit, Error> {
    let format = create::Form::read(context.globals.output.as_deref())?;
    let cluster = context.cluster().await?;
    let rendered = Box::pin(render(args, Some(&cluster), context)).await?;
    let shard = kai_api::names::DEFAULT_SHARD;
    let reading = Reading { cluster: &cluster, shard, save: None };
    let mut situation = Situation::live(reading, &mut context.out).await?;
    let objects: Vec<Value> =
        rendered.planned().map(|object| in_namespace(object.clone(), &cluster.namespace)).collect();
    let horizon_seconds = HORIZON_SECONDS;
    let wish = Wish { objects: &objects, horizon_seconds, ..Wish::default() };
    let outcome = situation.plan_on(&cluster, &wish).await?;
    let exit = words::exit(&outcome, is_exit_asked);
    let others = if words::exit(&outcome, true) == Exit::Ok {
        Vec::new()
    } else {
        alternatives::try_all(args, &outcome, &mut situation, &cluster.namespace, context).await
    };
    let plan = Plan { told: words::told(&outcome, &situation), alternatives: &others };
    let report = format::headed("Plan", json!(plan));
    if !format::report(&report, &format, &mut context.out)? {
        let page = draw::page(&rendered, &outcome, &others, &context.out);
        context.out.raw(&page)?;
    }
    Ok(exit)
}
