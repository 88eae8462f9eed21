//! `kubectl kai describe`: one workload on one screen.

mod devices;
mod events;
mod head;
mod pods;

use serde_json::{Value, json};

use crate::cluster::capacity::Capacity;
use crate::cluster::json::text;
use crate::context::Context;
use crate::print::error::{Error, Exit};
use crate::print::format::Format;
use crate::print::output::clean;
use crate::print::page::Page;
use crate::print::yaml;
use crate::workload::devices::{self as on_devices, Depth};
use crate::workload::history::{self, Eviction};
use crate::workload::position::line;
use crate::workload::{Phase, Position, Workload, find};

/// Flags of `describe`.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// Name of the workload, kind/name, or the name of its pod group or of one of its pods
    #[arg(value_name = "NAME")]
    name: String,
    /// How many events to show
    #[arg(long, default_value_t = 8, value_name = "N")]
    events: usize,
}

/// Runs `describe`.
pub(crate) async fn run(args: &Args, context: &mut Context) -> Result<Exit, Error> {
    let format = Format::read(context.globals.output.as_deref())?;
    let cluster = context.cluster().await?;
    let scope = context.scope(&cluster).map(str::to_owned);
    let place =
        scope.as_deref().map_or_else(|| "any namespace".to_owned(), |ns| format!("namespace {ns}"));
    let loaded = find(&cluster, scope.as_deref(), &args.name).await?;
    let mut workload = match loaded.one(&args.name, &place) {
        Ok(workload) => workload.clone(),
        Err(error) => {
            let evictions = history::evictions(&cluster, scope.as_deref()).await;
            return Err(history::of_name(error, &args.name, evictions.ok().as_deref()));
        }
    };
    let depth = Depth::Beside;
    let one = workload.clone();
    let (events, line, ()) = futures::join!(
        history::of_one(&cluster, &one),
        async {
            if one.state().phase.is_queued() {
                line(&cluster, &one).await.ok().flatten()
            } else {
                None
            }
        },
        on_devices::find(std::slice::from_mut(&mut workload), &cluster, depth),
    );
    workload.position = line.map(|line| Position { place: line.place, of: line.of });
    let events = events.map_err(|failure| failure.to_string());
    let mine = events.as_ref().map(|all| history::about(&workload, &[], all));
    let eviction = mine.as_ref().ok().and_then(|mine| Eviction::last(mine.iter().copied()));
    let data = || data(&workload, mine.as_deref().unwrap_or_default(), eviction.as_ref());
    match &format {
        Format::Json => return context.out.data(&format!("{:#}", data())).map(|()| Exit::Ok),
        Format::Yaml => return context.out.raw(&yaml::print(&data())).map(|()| Exit::Ok),
        Format::JsonPath(template) => {
            return context.out.raw(&template.apply(&data())).map(|()| Exit::Ok);
        }
        Format::Name => return context.out.data(&clean(&workload.label())).map(|()| Exit::Ok),
        Format::Table | Format::Wide => {}
    }
    // What is not known is left out; the workload itself is what was asked for.
    let (queues, capacity) = futures::join!(crate::cluster::queue::readable(&cluster), async {
        // Only what waits may wait for ever, and our scheduler says so itself.
        let is_told = workload.explanation.is_some();
        let waits = workload.state().phase == Phase::Pending;
        if waits && !is_told { Capacity::read(&cluster).await } else { None }
    });
    let queues = queues.ok().flatten();
    let never = capacity.and_then(|all| all.too_little(&workload.pods, workload.together()));
    let mut page = Page::new(context.out.columns());
    head::add(&mut page, &workload, queues.as_ref(), (never.as_deref(), eviction.as_ref()));
    pods::add(&mut page, &workload);
    devices::add(&mut page, &workload);
    objects(&mut page, &workload);
    match mine {
        Ok(mine) => {
            let most = if format == Format::Wide { usize::MAX } else { args.events };
            events::add(&mut page, &workload, &mine, (most, format == Format::Wide));
        }
        Err(reason) => page.row("Events", &format!("not known: {reason}")),
    }
    next(&mut page, &workload);
    context.out.raw(&page.text)?;
    Ok(Exit::Ok)
}

/// The workload as `list` has it, with its pods, its events and its last eviction.
fn data(workload: &Workload, events: &[&Value], eviction: Option<&Eviction>) -> Value {
    let mut data = workload.to_json();
    data["podStates"] = workload.pods.iter().map(pods::data).collect();
    data["eviction"] = eviction.map_or(Value::Null, |eviction| json!(eviction.sentence()));
    data["events"] = events.iter().map(|event| events::data(event)).collect();
    data
}

fn objects(page: &mut Page, workload: &Workload) {
    let groups: Vec<String> = workload
        .groups
        .iter()
        .take(4)
        .map(|group| format!("podgroup/{}", text(&group["metadata"]["name"])))
        .collect();
    let groups = if groups.is_empty() { "no PodGroup yet".to_owned() } else { groups.join(", ") };
    let pods = crate::cluster::queue::count(workload.pods.len(), "pod");
    page.row("Objects", &format!("{} - {groups} - {pods}", workload.label()));
}

fn next(page: &mut Page, workload: &Workload) {
    let (name, namespace) = (&workload.name, &workload.namespace);
    let phase = workload.state().phase;
    let first = match phase {
        Phase::Suspended => format!("kubectl kai resume -n {namespace} {name}"),
        _ if phase.is_queued() => format!("kubectl kai explain -n {namespace} {name}"),
        _ => format!("kubectl kai logs -n {namespace} {name}"),
    };
    page.row("Next", &format!("{first} · kubectl kai delete -n {namespace} {name}"));
}
