//! `kubectl kai install status`.

use jiff::Timestamp;
use kai_api::names;
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::{Value, json};

use super::apply::{Replicas, condition, reasons};
use super::manifest::{self, Group, Item, Options};
use super::plan;
use crate::cluster::{Call, Cluster, Resource};
use crate::context::Context;
use crate::print::error::{Error, Exit};
use crate::print::flags::ListFlags;
use crate::print::format::Format;
use crate::print::output::{Style, clean};
use crate::print::report::{self, Body, Report, Table};
use crate::print::table::{Cell, Column};

const COLUMNS: &[Column] = &[Column::new("PART"), Column::new("STATE"), Column::new("DETAIL")];

/// Flags of `install status`.
#[derive(Debug, clap::Args)]
pub(super) struct Args {
    #[command(flatten)]
    list: ListFlags,
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
    /// ok, missing or unhealthy.
    state: String,
    /// Holds what is known of it.
    detail: String,
}

/// Says how a part is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Health {
    Ok,
    Missing,
    Unhealthy,
}

impl Health {
    fn word(self) -> &'static str {
        match self {
            Self::Ok => "ok",
            Self::Missing => "missing",
            Self::Unhealthy => "unhealthy",
        }
    }

    fn style(self) -> Style {
        match self {
            Self::Ok => Style::Good,
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
    }
    let is_healthy = rows.iter().all(|row| row.health == Health::Ok);
    print(&rows, is_healthy, &args.list, context)?;
    Ok(if is_healthy { Exit::Ok } else { Exit::NoScheduler })
}

/// Tells whether all objects of a group are there, and definitions established.
async fn objects(cluster: &Cluster, group: Group, items: &[&Item]) -> Result<Row, Error> {
    let (mut missing, mut unhealthy) = (Vec::new(), Vec::new());
    for item in items {
        let call = plan::call(item, "get");
        match cluster.get(&call).await.map_err(|e| cluster.explain(&call, &e))? {
            None => missing.push(item.title()),
            Some(live) if group == Group::Crds => {
                if condition(&live, "Established").is_none_or(|found| found["status"] != "True") {
                    unhealthy.push(item.title());
                }
            }
            Some(_) => {}
        }
    }
    let count = items.len() - missing.len();
    let (health, detail) = if !missing.is_empty() {
        (Health::Missing, format!("{count} of {}; missing: {}", items.len(), first(&missing)))
    } else if !unhealthy.is_empty() {
        (Health::Unhealthy, format!("not established: {}", first(&unhealthy)))
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
            let replicas = Replicas::of(&live);
            let image = live.pointer("/spec/template/spec/containers/0/image");
            let image = clean(image.and_then(Value::as_str).unwrap_or("-"));
            let mut detail = format!("{}/{} ready, {image}", replicas.available, replicas.wanted);
            if let Some(holder) = &holder {
                detail.push_str(", leader ");
                detail.push_str(&holder.text);
            }
            if replicas.is_ready {
                return Ok(row(Health::Ok, detail));
            }
            if let Some(why) = reasons(cluster, item).await.first() {
                detail.push_str("; ");
                detail.push_str(why);
            }
            return Ok(row(Health::Unhealthy, detail));
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
        report::Row::new(row.part.clone(), cells)
    };
    let table = Table { columns: COLUMNS.to_vec(), rows: rows.iter().map(cells).collect() };
    let mut report = Report::new("InstallStatus", json!(status), Body::Table(table));
    report.arrange(flags)?;
    let format = Format::asked(context.globals.output.as_deref(), flags.sheet.jq.as_deref())?;
    report.print(&format, flags, &mut context.out)
}
