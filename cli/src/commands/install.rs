//! `kubectl kai install`: puts the scheduler into a cluster, looks after it, takes it out again.
//!
//! ```text
//!  deploy/*.yaml, kai_api::crd -> manifest -> plan (reads, dry runs) -> apply (server-side, in groups) -> wait
//! ```

mod adopted;
mod apply;
mod drill;
#[cfg(test)]
mod fake;
mod image;
mod kai_v017;
mod known;
mod losses;
pub(crate) mod manifest;
mod older;
mod plan;
mod preflight;
mod release;
mod remove;
mod rights;
pub(crate) mod status;
mod stranded;
mod tell;
#[cfg(test)]
mod tests;

use std::path::PathBuf;
use std::time::{Duration, Instant};

pub use apply::{Outcome, Step, apply};
pub(crate) use known::is_name_of_kai;
pub use manifest::{Component, Group, Options, objects};
pub(crate) use preflight::{MINOR_MIN, minor, namespace_flag};
pub(crate) use status::holder;

use crate::cluster::Cluster;
use crate::context::Context;
use crate::print::error::{Error, Exit, Problem, number};
use crate::print::format::{self, Format};
use crate::print::output::Style;
use plan::{Place, Plan};

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
    /// Give back to KAI what --adopt took over; queues, workloads and reservations stay
    Release(release::Args),
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
    /// Also what Prometheus' operator scrapes and alerts on, and dashboards for Grafana
    #[arg(long)]
    monitoring: bool,
    /// Also seats of the API server for the daemons alone, which are taken from those of others
    #[arg(long)]
    flow_control: bool,
    /// Container image of both daemons; what runs keeps its own, else it is the published one
    #[arg(long, value_name = "IMAGE")]
    image: Option<String>,
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
        for (is_asked, part) in
            [(self.monitoring, Component::Monitoring), (self.flow_control, Component::FlowControl)]
        {
            if is_asked && !options.components.contains(&part) {
                options.components.push(part);
            }
        }
        if let Some(namespace) = &context.globals.namespace {
            options.namespace.clone_from(namespace);
        }
        if let Some(image) = &self.image {
            options.image.clone_from(image);
        }
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
        None => install(args.apply, context).await.map_err(of_administrators),
        Some(Command::Apply(apply)) => install(apply, context).await.map_err(of_administrators),
        Some(Command::Render(objects)) => render(&objects, context),
        Some(Command::Status(status)) => status::run(&status, context).await,
        Some(Command::Remove(remove)) => {
            remove::run(remove, context).await.map_err(of_administrators)
        }
        Some(Command::Release(release)) => {
            release::run(release, context).await.map_err(of_administrators)
        }
    }
}

/// Says of a missing right who has all that an installation takes: one right after another would not help.
fn of_administrators(error: Error) -> Error {
    let Error::Problems(mut problems) = error else { return error };
    for problem in problems.iter_mut().filter(|problem| problem.number == number::FORBIDDEN) {
        problem.lines = vec![
            "an installation makes definitions and roles, which takes all rights in the cluster".into(),
            "have an administrator of the cluster (ClusterRole cluster-admin) do it, or apply: kubectl kai install render".into(),
        ];
    }
    Error::Problems(problems)
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

/// Holds what an installation is about to do, as it was told.
struct Intent {
    cluster: Cluster,
    options: Options,
    /// The image that is pushed first.
    image: Option<image::Image>,
    /// Holds what of KAI is taken over.
    kai: kai_v017::Installation,
    plan: Plan,
    drill: Option<drill::Drill>,
}

async fn install(args: ApplyArgs, context: &mut Context) -> Result<Exit, Error> {
    let mut intent = intend(&args, context).await?;
    if args.dry_run {
        tell::report(&intent.plan, &intent.kai, intent.drill.as_ref(), true, context)?;
        return Ok(Exit::Ok);
    }
    if intent.plan.is_done() && intent.kai.is_empty() {
        context.out.talk("Nothing to change.");
    } else {
        let question = format!("Install into {}?", tell::place(&intent.cluster));
        context.confirm(&question, args.yes)?;
    }
    let began = Instant::now();
    if let Some(image) = intent.image.take() {
        context.out.wait_for("pushing the image");
        image.push().await?;
    }
    context.out.wait_for("installing");
    let Intent { cluster, options, kai, plan, drill, .. } = &intent;
    if !kai.is_empty() {
        let record = adopted::Record::of(cluster, kai, plan).await?;
        adopted::keep(cluster, record, plan, options).await?;
    }
    if let Err(error) = switch(&intent, context).await {
        context.out.waited();
        return Err(stranded::told(cluster, kai, plan, options, error).await);
    }
    context.out.waited();
    tell::report(plan, kai, drill.as_ref(), false, context)?;
    if !plan.is_done() {
        let seconds = began.elapsed().as_secs_f32();
        context.out.talk(&format!(
            "Installed {} in {seconds:.1}s.   Try:  kubectl kai submit job hello --image busybox -- echo hi",
            env!("CARGO_PKG_VERSION")
        ));
    }
    Ok(Exit::Ok)
}

/// Finds out what is to be done, and tells it; changes nothing.
async fn intend(args: &ApplyArgs, context: &mut Context) -> Result<Intent, Error> {
    let mut options = args.objects.options(context)?;
    let image = args.image()?;
    options.wait = args.wait;
    // Whoever takes an installation over takes its objects over.
    options.force_conflicts = args.force_conflicts || args.adopt;
    options.timeout =
        crate::print::duration::parse("--timeout", &args.timeout)?.unwrap_or(Duration::MAX);
    let cluster = context.cluster().await?;
    let version = preflight::version(&cluster).await?;
    apply::can_monitor(&cluster, &options).await?;
    let kept = match (&image, &args.objects.image) {
        (Some(image), _) => {
            options.image = image.name();
            None
        }
        (None, Some(_)) => None,
        (None, None) => kept_image(&cluster, &options).await?,
    };
    options.image = kept.clone().unwrap_or(options.image);
    let items = manifest::items(&options);
    let found = kai_v017::find(&cluster, &options.namespace, &items).await?;
    if let Some(strange) = found.strange() {
        context.out.warn(&strange);
    }
    if found.acts() && !args.adopt {
        return Err(kai_v017::refusal(&found));
    }
    is_alone(&cluster, &items, &options, &found).await?;
    let kai = if args.adopt { found } else { kai_v017::Installation::default() };
    let ending = ending(&cluster, &items, &options, args.dry_run, context).await?;
    let plan = plan::make(&cluster, items, &options, |item| place(item, &kai, &ending)).await?;
    if !args.force_conflicts {
        losses::check(&plan)?;
    }
    let server = format!("{} · Kubernetes {version}", tell::place(&cluster));
    tell::say_plan(&plan, &server, &options, &kai, context);
    let drill = if kai.is_empty() { None } else { Some(drill::hold(&cluster).await?) };
    if let Some(drill) = &drill {
        tell::say_drill(drill, context);
    }
    if let Some(image) = &image {
        context.out.talk(&format!("{:<9} {}", "", image.planned()));
    }
    if kept.is_some() {
        let stays = "that image runs now and stays; --image names another";
        context.out.talk(&format!("{:<9} {stays}", ""));
    }
    Ok(Intent { cluster, options, image, kai, plan, drill })
}

/// Finds the image that stays where the command line names none.
async fn kept_image(cluster: &Cluster, options: &Options) -> Result<Option<String>, Error> {
    let running = image::choice::running(cluster, &manifest::items(options)).await?;
    image::choice::choose(&running)
}

/// Checks that nothing of ours runs in another namespace, and that nobody else works, or may, in this one.
async fn is_alone(
    cluster: &Cluster,
    items: &[manifest::Item],
    options: &Options,
    kai: &kai_v017::Installation,
) -> Result<(), Error> {
    let here = options.namespace.as_str();
    if !items.iter().any(|item| item.namespace().is_some()) {
        return Ok(());
    }
    if let Some(home) = preflight::elsewhere(cluster, here).await? {
        return Err(preflight::second(&home, here));
    }
    if !kai.is_in(here) {
        preflight::is_free(cluster, items, here).await?;
    }
    rights::check(cluster, items, here, kai.is_in(here)).await
}

/// Says what is in the place where an object of ours comes.
fn place(item: &manifest::Item, kai: &kai_v017::Installation, ending: &[String]) -> Place {
    if item.namespace().is_some_and(|name| ending.iter().any(|ending| ending == name)) {
        Place::Ending
    } else if kai.replaces(item) {
        Place::Taken
    } else if kai.is_asked() && item.is_kept() {
        Place::Guarded
    } else {
        Place::Open
    }
}

/// Takes KAI out where it is replaced, and puts in what is ours.
async fn switch(intent: &Intent, context: &mut Context) -> Result<(), Error> {
    let Intent { cluster, options, kai, plan, .. } = intent;
    if !kai.is_empty() {
        let mut tell = |what: &str| context.out.wait_for(what);
        kai_v017::remove(cluster, kai, options.timeout, &mut tell).await?;
    }
    carry_out(cluster, plan, options, context).await
}

/// Waits for namespaces and definitions that are being deleted; in a dry run only says which namespaces those are.
async fn ending(
    cluster: &Cluster,
    items: &[manifest::Item],
    options: &Options,
    dry: bool,
    context: &mut Context,
) -> Result<Vec<String>, Error> {
    if !dry {
        let mut said = String::new();
        let mut tell = |what: &str| {
            if said != what {
                context.out.talk(what);
                what.clone_into(&mut said);
            }
            context.out.wait_for(what);
        };
        apply::ended(cluster, items, options.timeout, &mut tell).await?;
        context.out.waited();
        return Ok(Vec::new());
    }
    let mut ending = Vec::new();
    for item in items.iter().filter(|item| item.resource.kind == "Namespace") {
        let call = plan::call(item, "get");
        let live = cluster.get(&call).await.map_err(|e| cluster.explain(&call, &e))?;
        if live.is_some_and(|live| plan::is_ending(&live)) {
            context.out.talk(&format!(
                "{} is being deleted; installing would wait for that",
                item.title()
            ));
            ending.push(item.name().to_owned());
        }
    }
    Ok(ending)
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
