//! `kubectl kai install status`.

use jiff::Timestamp;
use kai_api::names;
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::{Value, json};

use super::apply::{Replicas, condition, reasons};
use super::manifest::{self, Group, Item, Options};
use super::plan;
use crate::cluster::{Call, Cluster, Resource, Select};
use crate::context::Context;
use crate::print::error::{Error, Exit};
use crate::print::flags::{ListFlags, SheetFlags};
use crate::print::format::Format;
use crate::print::output::{Style, clean};
use crate::print::report::{self, Body, Report, Table};
use crate::print::table::{Cell, Column};

const COLUMNS: &[Column] = &[Column::new("PART"), Column::new("STATE"), Column::new("DETAIL")];

/// Flags of `install status`.
#[derive(Debug, clap::Args)]
pub(super) struct Args {
    #[command(flatten)]
    sheet: SheetFlags,
}

/// The installation as data.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct Status {
    /// Tells whether every part is ok.
    healthy: bool,
    /// The parts.
    items: Vec<Part>,
}

/// A part of the installation as data.
#[derive(Debug, Serialize, JsonSchema)]
struct Part {
    /// Holds what it is called.
    name: String,
    /// ok, skewed (of another version than this program), missing or unhealthy.
    state: String,
    /// Holds what is known of it.
    detail: String,
}

/// Says how a part is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Health {
    Ok,
    /// It works, and is of another version.
    Skewed,
    Missing,
    Unhealthy,
}

impl Health {
    fn word(self) -> &'static str {
        match self {
            Self::Ok => "ok",
            Self::Skewed => "skewed",
            Self::Missing => "missing",
            Self::Unhealthy => "unhealthy",
        }
    }

    /// Tells whether nothing has to be done at once.
    fn is_well(self) -> bool {
        matches!(self, Self::Ok | Self::Skewed)
    }

    fn style(self) -> Style {
        match self {
            Self::Ok => Style::Good,
            Self::Skewed => Style::Warn,
            Self::Missing | Self::Unhealthy => Style::Bad,
        }
    }
}

/// A part of the installation.
#[derive(Debug)]
struct Row {
    part: String,
    health: Health,
    detail: String,
}

/// Prints what is there; ends with 10 when something is missing or not healthy.
pub(super) async fn run(args: &Args, context: &mut Context) -> Result<Exit, Error> {
    let mut options = Options::default();
    if let Some(namespace) = &context.globals.namespace {
        options.namespace.clone_from(namespace);
    }
    let cluster = context.cluster().await?;
    let items = manifest::items(&options);
    let mut rows = Vec::new();
    for group in
        [Group::Crds, Group::PriorityClasses, Group::Rbac, Group::Policies, Group::Defaults]
    {
        let items: Vec<_> = items.iter().filter(|item| item.group == group).collect();
        rows.push(objects(&cluster, group, &items).await?);
    }
    for (component, lease) in [
        (names::component::SCHEDULER, names::SCHEDULER_NAME),
        (names::component::PODGROUPER, names::lease::PODGROUPER),
    ] {
        let is_its = |item: &&Item| {
            item.resource.kind == "Deployment"
                && item.object["metadata"]["labels"][names::label::COMPONENT] == component
        };
        let deployment = items.iter().find(is_its);
        rows.push(daemon(&cluster, component, deployment, &options.namespace, lease).await?);
        if component == names::component::SCHEDULER {
            rows.extend(shards(&cluster, &options.namespace).await?);
        }
    }
    let is_healthy = rows.iter().all(|row| row.health.is_well());
    print(&rows, is_healthy, &args.sheet.list(), context)?;
    Ok(if is_healthy { Exit::Ok } else { Exit::NoScheduler })
}

/// Tells whether all objects of a group are there, and definitions established.
async fn objects(cluster: &Cluster, group: Group, items: &[&Item]) -> Result<Row, Error> {
    let (mut missing, mut unhealthy, mut skewed) = (Vec::new(), Vec::new(), Vec::new());
    for item in items {
        let call = plan::call(item, "get");
        match cluster.get(&call).await.map_err(|e| cluster.explain(&call, &e))? {
            None => missing.push(item.title()),
            Some(live)
                if group == Group::Crds
                    && condition(&live, "Established")
                        .is_none_or(|found| found["status"] != "True") =>
            {
                unhealthy.push(item.title());
            }
            // What is the administrator's is of no version.
            Some(live) if !item.is_kept() => skewed.extend(other_version(&live)),
            Some(_) => {}
        }
    }
    let count = items.len() - missing.len();
    let (health, detail) = if !missing.is_empty() {
        (Health::Missing, format!("{count} of {}; missing: {}", items.len(), first(&missing)))
    } else if !unhealthy.is_empty() {
        (Health::Unhealthy, format!("not established: {}", first(&unhealthy)))
    } else if let Some(version) = skewed.first() {
        let detail = format!("{count} of {}; {} of version {version}", items.len(), skewed.len());
        (Health::Skewed, detail)
    } else {
        (Health::Ok, format!("{count} of {}", items.len()))
    };
    Ok(Row { part: group.title().to_owned(), health, detail })
}

/// The first names of a list, and how many follow.
pub(super) fn first(names: &[String]) -> String {
    const SHOWN: usize = 3;
    let shown = names.iter().take(SHOWN).cloned().collect::<Vec<_>>().join(", ");
    match names.len().saturating_sub(SHOWN) {
        0 => shown,
        more => format!("{shown} and {more} more"),
    }
}

/// Says how a daemon is: by its Deployment, or, where it runs elsewhere, by its Lease.
async fn daemon(
    cluster: &Cluster,
    component: &str,
    deployment: Option<&Item>,
    namespace: &str,
    lease: &str,
) -> Result<Row, Error> {
    let holder = holder(cluster, namespace, lease).await?;
    let row = |health, detail| Row { part: component.to_owned(), health, detail };
    if let Some(item) = deployment {
        let call = plan::call(item, "get");
        let live = cluster.get(&call).await.map_err(|e| cluster.explain(&call, &e))?;
        if let Some(live) = live {
            return Ok(deployed(cluster, component, &live, holder.as_ref()).await);
        }
    }
    Ok(match holder {
        Some(holder) if holder.is_fresh => {
            row(Health::Ok, format!("no Deployment; runs elsewhere, leader {}", holder.text))
        }
        Some(holder) => {
            row(Health::Unhealthy, format!("no Deployment; last leader {}", holder.text))
        }
        None => row(Health::Missing, "no Deployment, no Lease".to_owned()),
    })
}

/// Says how the schedulers of further shards are, whose Deployments the podgrouper makes.
async fn shards(cluster: &Cluster, namespace: &str) -> Result<Vec<Row>, Error> {
    let resource = Resource::new("apps/v1", "Deployment", "deployments");
    let call = Call::new("list", &resource).namespace(Some(namespace));
    let labels = format!("{}={}", names::label::MANAGED_BY, names::component::PODGROUPER);
    let found = cluster.list(&call, &Select { labels: &labels, fields: "" }).await;
    let found = found.map_err(|e| cluster.explain(&call, &e))?.unwrap_or_default();
    let mut rows = Vec::new();
    for live in &found {
        let name = live["metadata"]["name"].as_str().unwrap_or_default();
        let holder = holder(cluster, namespace, &lease(live)).await?;
        rows.push(deployed(cluster, &clean(name), live, holder.as_ref()).await);
    }
    Ok(rows)
}

/// Names the Lease of a shard's scheduler, which is called by its node pool.
fn lease(deployment: &Value) -> String {
    let words = deployment.pointer("/spec/template/spec/containers/0/args");
    let mut words = words.and_then(Value::as_array).into_iter().flatten().filter_map(Value::as_str);
    let pool = words.find_map(|word| word.strip_prefix("--partition-label-value="));
    match pool.unwrap_or_default() {
        "" => names::SCHEDULER_NAME.to_owned(),
        pool => format!("{}-{pool}", names::SCHEDULER_NAME),
    }
}

/// Says how a daemon with a Deployment is.
async fn deployed(cluster: &Cluster, part: &str, live: &Value, holder: Option<&Holder>) -> Row {
    let replicas = Replicas::of(live);
    let image = live.pointer("/spec/template/spec/containers/0/image");
    let image = clean(image.and_then(Value::as_str).unwrap_or("-"));
    let mut detail = format!("{}/{} ready, {image}", replicas.available, replicas.wanted);
    if let Some(holder) = holder {
        detail.push_str(", leader ");
        detail.push_str(&holder.text);
    }
    let mut health = Health::Ok;
    if !replicas.is_ready {
        health = Health::Unhealthy;
        if let Some(why) = reasons(cluster, live).await.first() {
            detail.push_str("; ");
            detail.push_str(why);
        }
    } else if let Some(version) = other_version(live) {
        health = Health::Skewed;
        detail.push_str("; of version ");
        detail.push_str(&version);
    }
    Row { part: part.to_owned(), health, detail }
}

/// Says of which version an object of ours is, if of another than this program.
fn other_version(live: &Value) -> Option<String> {
    let version = live["metadata"]["labels"][names::label::VERSION].as_str()?;
    let is_other = live["metadata"]["labels"][names::label::PART_OF] == names::value::PRODUCT
        && version != env!("CARGO_PKG_VERSION");
    is_other.then(|| clean(version).into_owned())
}

/// Says who leads.
#[derive(Debug)]
pub(crate) struct Holder {
    pub(crate) text: String,
    pub(crate) is_fresh: bool,
}

/// Says who holds a Lease; `None` when nobody does.
///
/// # Errors
/// The Lease cannot be read.
pub(crate) async fn holder(
    cluster: &Cluster,
    namespace: &str,
    name: &str,
) -> Result<Option<Holder>, Error> {
    let resource = Resource::new("coordination.k8s.io/v1", "Lease", "leases");
    let call = Call::new("get", &resource).namespace(Some(namespace)).name(name);
    let Some(lease) = cluster.get(&call).await.map_err(|e| cluster.explain(&call, &e))? else {
        return Ok(None);
    };
    let spec = &lease["spec"];
    let holder = spec["holderIdentity"].as_str().filter(|holder| !holder.is_empty());
    let Some(holder) = holder else { return Ok(None) };
    let renewed = spec["renewTime"].as_str().and_then(|text| text.parse::<Timestamp>().ok());
    let Some(renewed) = renewed else { return Ok(None) };
    let age_seconds = Timestamp::now().duration_since(renewed).as_secs().max(0);
    let lasts_seconds = spec["leaseDurationSeconds"].as_i64().unwrap_or(15);
    let text = format!("{} renewed {age_seconds}s ago", clean(holder));
    // One renewal may be late.
    Ok(Some(Holder { text, is_fresh: age_seconds <= 2 * lasts_seconds }))
}

fn print(
    rows: &[Row],
    is_healthy: bool,
    flags: &ListFlags,
    context: &mut Context,
) -> Result<(), Error> {
    let part = |row: &Row| Part {
        name: row.part.clone(),
        state: row.health.word().to_owned(),
        detail: row.detail.clone(),
    };
    let status = Status { healthy: is_healthy, items: rows.iter().map(part).collect() };
    let cells = |row: &Row| {
        let state = Cell::styled(row.health.word(), row.health.style());
        let cells = vec![row.part.as_str().into(), state, row.detail.as_str().into()];
        report::Row::new(row.part.replace(' ', "-"), cells).keyed(row.part.clone())
    };
    let table = Table { columns: COLUMNS.to_vec(), rows: rows.iter().map(cells).collect() };
    let mut report = Report::new("InstallStatus", json!(status), Body::Table(table));
    report.arrange(flags)?;
    let format = Format::asked(context.globals.output.as_deref(), flags.sheet.jq.as_deref())?;
    report.print(&format, flags, &mut context.out)
}
