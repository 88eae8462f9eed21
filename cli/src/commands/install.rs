//! `kubectl kai install`: puts the scheduler into a cluster, looks after it, takes it out again.
//!
//! ```text
//!  deploy/*.yaml, kai_api::crd -> manifest -> plan (reads, dry runs) -> apply (server-side, in groups) -> wait
//! ```

mod apply;
mod image;
mod kai_v017;
pub(crate) mod manifest;
mod plan;
mod remove;
pub(crate) mod status;

use std::path::PathBuf;
use std::time::{Duration, Instant};

pub use apply::{Outcome, Step, apply};
pub use manifest::{Component, Group, Options, objects};
pub(crate) use status::holder;

use crate::cluster::Cluster;
use crate::context::Context;
use crate::print::error::{Error, Exit, Problem, number};
use crate::print::format::{self, Format};
use crate::print::output::{Style, clean};
use plan::{Plan, State};

/// Flags of `install`.
#[derive(Debug, clap::Args)]
#[command(args_conflicts_with_subcommands = true)]
pub struct Args {
    #[command(subcommand)]
    command: Option<Command>,
    #[command(flatten)]
    apply: ApplyArgs,
}

#[derive(Debug, clap::Subcommand)]
enum Command {
    /// Show what would change, ask, apply, wait until it runs (the default)
    Apply(ApplyArgs),
    /// Print the manifests, to be kept in git
    Render(ObjectArgs),
    /// What is there, and whether it is healthy (exit code 10 when not)
    Status(status::Args),
    /// Take the scheduler out; queues and workloads stay unless --crds
    Remove(remove::Args),
}

/// Says which objects, and what is in them.
#[derive(Debug, clap::Args)]
struct ObjectArgs {
    /// Only these parts, comma-separated
    #[arg(long, value_enum, value_delimiter = ',', value_name = "PART")]
    components: Vec<Component>,
    /// All but the Deployments: the daemons run elsewhere
    #[arg(long, conflicts_with = "components")]
    without_daemons: bool,
    /// Container image of both daemons
    #[arg(long, value_name = "IMAGE", default_value = manifest::IMAGE)]
    image: String,
    /// Queue to create below default-parent-queue; empty for none
    #[arg(long, value_name = "NAME", default_value = kai_api::names::queue::DEFAULT)]
    default_queue: String,
}

#[derive(Debug, clap::Args)]
#[expect(clippy::struct_excessive_bools, reason = "each is a flag")]
struct ApplyArgs {
    #[command(flatten)]
    objects: ObjectArgs,
    /// Do not ask
    #[arg(short, long)]
    yes: bool,
    /// Show what would change, and change nothing
    #[arg(long)]
    dry_run: bool,
    /// Wait until the daemons are ready
    #[arg(long, value_name = "BOOL", default_value_t = true, action = clap::ArgAction::Set,
        num_args = 0..=1, default_missing_value = "true")]
    wait: bool,
    /// Longest wait, as 90s or 5m
    #[arg(long, value_name = "DURATION", default_value = "5m")]
    timeout: String,
    /// Take over fields that somebody else has set
    #[arg(long)]
    force_conflicts: bool,
    /// Replace an existing KAI installation; its queues and workloads stay
    #[arg(long)]
    adopt: bool,
    /// Push the image in this archive to --registry, and install that one
    #[arg(long, value_name = "FILE", requires = "registry", conflicts_with = "image")]
    image_archive: Option<PathBuf>,
    /// Registry and repository that the cluster's nodes pull from; http:// in front means without TLS
    #[arg(long, value_name = "HOST/REPO", requires = "image_archive")]
    registry: Option<String>,
}

impl ApplyArgs {
    /// Reads the image that is to be pushed, where there is one.
    fn image(&self) -> Result<Option<image::Image>, Error> {
        let Some((archive, registry)) = self.image_archive.as_ref().zip(self.registry.as_ref())
        else {
            return Ok(None);
        };
        image::Image::read(archive, registry).map(Some)
    }
}

impl ObjectArgs {
    fn options(&self, context: &Context) -> Result<Options, Error> {
        let mut options = Options::default();
        if !self.components.is_empty() {
            options.components.clone_from(&self.components);
        }
        if self.without_daemons {
            options.components.retain(|component| *component != Component::Daemons);
        }
        if let Some(namespace) = &context.globals.namespace {
            options.namespace.clone_from(namespace);
        }
        self.image.clone_into(&mut options.image);
        self.default_queue.clone_into(&mut options.default_queue);
        for (flag, name) in
            [("--namespace", &options.namespace), ("--default-queue", &options.default_queue)]
        {
            if !name.is_empty() && !manifest::is_name(name) {
                let what = format!("{flag} \"{name}\" is not a name that Kubernetes takes");
                return Err(Problem::new(number::NAME, Exit::Usage, what)
                    .line("lower-case letters, digits and -, at most 63, a letter or digit at both ends")
                    .into());
            }
        }
        if options.image.is_empty() || options.image.contains(char::is_whitespace) {
            let what = format!("--image \"{}\" is not an image", options.image);
            return Err(Problem::new(number::VALUE, Exit::Usage, what)
                .fix("--image REGISTRY/NAME:TAG")
                .into());
        }
        Ok(options)
    }
}

/// Runs the installation.
///
/// # Errors
/// What the user has to know: see `design` of the CLI for the codes.
pub async fn run(args: Args, context: &mut Context) -> Result<Exit, Error> {
    match args.command {
        None => install(args.apply, context).await,
        Some(Command::Apply(apply)) => install(apply, context).await,
        Some(Command::Render(objects)) => render(&objects, context),
        Some(Command::Status(status)) => status::run(&status, context).await,
        Some(Command::Remove(remove)) => remove::run(remove, context).await,
    }
}

fn render(args: &ObjectArgs, context: &mut Context) -> Result<Exit, Error> {
    let items = manifest::items(&args.options(context)?);
    let format = Format::read(context.globals.output.as_deref())?;
    match format {
        Format::Name => items.iter().try_for_each(|item| context.out.data(&item.title()))?,
        // The form that is kept in git is the one for people, too.
        Format::Table | Format::Wide | Format::Yaml => {
            for item in &items {
                context.out.raw(&format!("---\n{}", crate::print::yaml::print(&item.object)))?;
            }
        }
        Format::Json | Format::JsonPath(_) | Format::Csv | Format::Columns(_) | Format::Jq(_) => {
            let objects: Vec<_> = items.iter().map(|item| &item.object).collect();
            let list = serde_json::json!({"apiVersion": "v1", "kind": "List", "items": objects});
            format::report(&list, &format, &mut context.out)?;
        }
    }
    Ok(Exit::Ok)
}

async fn install(args: ApplyArgs, context: &mut Context) -> Result<Exit, Error> {
    let mut options = args.objects.options(context)?;
    let image = args.image()?;
    if let Some(image) = &image {
        options.image = image.name();
    }
    options.wait = args.wait;
    options.force_conflicts = args.force_conflicts;
    options.timeout =
        crate::print::duration::parse("--timeout", &args.timeout)?.unwrap_or(Duration::MAX);
    let cluster = context.cluster().await?;
    let version = cluster.read("/version").await.map_err(|e| cluster.explain_any(&e))?;
    let version =
        clean(version["gitVersion"].as_str().unwrap_or("of an unknown version")).into_owned();
    let kai = kai_v017::find(&cluster, &options.namespace).await?;
    if !kai.is_empty() && !args.adopt {
        return Err(kai_v017::refusal(&kai));
    }
    let plan = plan::make(&cluster, manifest::items(&options), &options).await?;
    say_plan(&plan, &version, &options, &kai, context);
    if let Some(image) = &image {
        context.out.talk(&format!("{:<9} {}", "", image.planned()));
    }
    if args.dry_run {
        report(&plan, true, context)?;
        return Ok(Exit::Ok);
    }
    if plan.is_done() && kai.is_empty() {
        context.out.talk("Nothing to change.");
    } else {
        context.confirm("Proceed?", args.yes)?;
    }
    let began = Instant::now();
    if let Some(image) = image {
        context.out.wait_for("pushing the image");
        image.push().await?;
    }
    context.out.wait_for("installing");
    kai_v017::remove(&cluster, &kai, options.timeout).await?;
    carry_out(&cluster, &plan, &options, context).await?;
    context.out.waited();
    report(&plan, false, context)?;
    if !plan.is_done() {
        let seconds = began.elapsed().as_secs_f32();
        context.out.talk(&format!(
            "Installed {} in {seconds:.1}s.   Try:  kubectl kai submit job hello --image busybox -- echo hi",
            env!("CARGO_PKG_VERSION")
        ));
    }
    Ok(Exit::Ok)
}

async fn carry_out(
    cluster: &Cluster,
    plan: &Plan,
    options: &Options,
    context: &mut Context,
) -> Result<(), Error> {
    let ok = if context.out.is_ascii() { "ok" } else { "✔" };
    let mut tell = |step: &Step| {
        let line = match step {
            Step::Applied { outcome, .. } if outcome.created + outcome.changed == 0 => return,
            Step::Applied { group, outcome, elapsed } => {
                let what = format!("{} {}", group.title(), outcome);
                format!("{what:<60} {:>6.1}s", elapsed.as_secs_f32())
            }
            Step::Ready { what, elapsed } => {
                format!("{:<60} {:>6.1}s", format!("{what} ready"), elapsed.as_secs_f32())
            }
        };
        context.out.talk(&format!("  {} {line}", Style::Good.paint(ok)));
    };
    apply::carry_out(cluster, plan, options, &mut tell).await.map(drop)
}

fn say_plan(
    plan: &Plan,
    version: &str,
    options: &Options,
    kai: &kai_v017::Installation,
    context: &mut Context,
) {
    let kai = if kai.is_empty() { "no other KAI found" } else { "KAI found, to be replaced" };
    context.out.talk(&format!("Cluster   Kubernetes {version} · {kai}"));
    let mut head = "PLAN";
    for group in Group::ALL {
        let states: Vec<_> = plan.of(group).collect();
        if states.is_empty() {
            continue;
        }
        let names = group.names(states.iter().map(|entry| &entry.item));
        let count = Outcome::of(states.iter().map(|entry| entry.state));
        context.out.talk(&format!("{head:<9} {names}: {}", count.planned()));
        head = "";
    }
    if options.components.contains(&Component::Daemons) {
        context.out.talk(&format!("{:<9} image {}", "", clean(&options.image)));
        if options.image == manifest::IMAGE {
            context.out.warn(
                "that image is not published yet: cargo xtask image builds it, --image-archive and --registry push it",
            );
        }
    }
    context.out.talk(&format!(
        "{:<9} will not touch: other schedulers, existing pods, other namespaces",
        ""
    ));
}

/// Says what was or would be done, for programs.
fn report(plan: &Plan, dry: bool, context: &mut Context) -> Result<(), Error> {
    let format = Format::read(context.globals.output.as_deref())?;
    match format {
        Format::Table | Format::Wide => Ok(()),
        Format::Name => plan
            .entries
            .iter()
            .filter(|entry| matches!(entry.state, State::Create | State::Change))
            .try_for_each(|entry| context.out.data(&entry.item.title())),
        Format::Json
        | Format::Yaml
        | Format::JsonPath(_)
        | Format::Csv
        | Format::Columns(_)
        | Format::Jq(_) => {
            let objects: Vec<_> = plan
                .entries
                .iter()
                .map(|entry| {
                    serde_json::json!({
                        "apiVersion": entry.item.object["apiVersion"],
                        "kind": entry.item.object["kind"],
                        "namespace": entry.item.object["metadata"]["namespace"],
                        "name": entry.item.object["metadata"]["name"],
                        "result": entry.state.word(),
                    })
                })
                .collect();
            let report = serde_json::json!({ "dryRun": dry, "objects": objects });
            let report = format::headed("InstallReport", report);
            format::report(&report, &format, &mut context.out).map(|_| ())
        }
    }
}
