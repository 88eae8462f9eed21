//! `kubectl kai version`.

use schemars::JsonSchema;
use serde::Serialize;
use serde_json::{Value, json};

use crate::cluster::{Call, Cluster, Resource, names};
use crate::commands::install::{holder, namespace_flag};
use crate::context::Context;
use crate::print::error::{Error, Exit};
use crate::print::flags::ReportFlags;
use crate::print::format::{self, Format};
use crate::print::output::clean;

/// Flags of `version`.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// Ask no server
    #[arg(long)]
    client: bool,
    #[command(flatten)]
    report: ReportFlags,
}

/// The versions as data.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Versions {
    /// Version of this program.
    client: String,
    /// Version of the API server; absent under `--client`.
    #[serde(skip_serializing_if = "Option::is_none")]
    server: Option<String>,
    /// Images of the scheduler's deployments by name; absent under `--client`.
    #[serde(skip_serializing_if = "Option::is_none")]
    components: Option<serde_json::Map<String, Value>>,
}

/// Prints the versions of the client, of the API server, and of the scheduler's images.
pub(crate) async fn run(args: &Args, context: &mut Context) -> Result<Exit, Error> {
    let format = Format::asked(context.globals.output.as_deref(), args.report.jq.as_deref())?;
    let client = env!("CARGO_PKG_VERSION").to_owned();
    let mut versions = Versions { client, server: None, components: None };
    if !args.client {
        let cluster = context.cluster().await?;
        let server = cluster.read("/version").await.map_err(|e| cluster.explain_any(&e))?;
        versions.server = server["gitVersion"].as_str().map(str::to_owned);
        let deployments = deployments(&cluster).await;
        if let Err(reason) = &deployments {
            context.out.warn(reason);
        }
        versions.components = Some(deployments.unwrap_or_default());
    }
    let data = format::headed("Version", json!(versions));
    if format::report(&data, &format, &mut context.out)? {
        return Ok(Exit::Ok);
    }
    let mut lines = vec![format!("client     {}", versions.client)];
    if let Some(server) = &versions.server {
        lines.push(format!("server     {}", clean(server)));
    }
    for (name, image) in versions.components.iter().flatten() {
        let image = clean(image.as_str().unwrap_or_default());
        lines.push(format!("{:<10} {image}", clean(name)));
    }
    lines.iter().try_for_each(|line| context.out.data(line))?;
    Ok(Exit::Ok)
}

/// The images of the scheduler's deployments by name, or why they are not known.
async fn deployments(cluster: &Cluster) -> Result<serde_json::Map<String, Value>, String> {
    let resource = Resource::new("apps/v1", "Deployment", "deployments");
    let home = cluster.home().await;
    let call = Call::new("list", &resource).namespace(Some(&home));
    match cluster.list(&call, &crate::cluster::Select::default()).await {
        Ok(found) => {
            let found = found.unwrap_or_default();
            if found.is_empty() {
                // A process outside the cluster, or the sandbox's own.
                let leader = holder(cluster, &home, names::SCHEDULER).await;
                if let Ok(Some(leader)) = leader
                    && leader.is_fresh
                {
                    let text = format!("no Deployment; led by {}", leader.text);
                    return Ok([("scheduler".to_owned(), text.into())].into_iter().collect());
                }
                return Err(missing(&home));
            }
            let image = |d: &Value| d.pointer("/spec/template/spec/containers/0/image").cloned();
            Ok(found
                .iter()
                .filter_map(|d| Some((d["metadata"]["name"].as_str()?.to_owned(), image(d)?)))
                .collect())
        }
        Err(failure) => Err(format!("the scheduler's version is not known: {failure}")),
    }
}

/// Says that no scheduler runs where it should, and what installs it there.
fn missing(home: &str) -> String {
    let flag = namespace_flag(home);
    format!("no scheduler runs in namespace {}: kubectl kai install{flag}", clean(home))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_scheduler_is_installed_where_it_is_looked_for() {
        for (home, expect) in [
            ("kai-scheduler", "no scheduler runs in namespace kai-scheduler: kubectl kai install"),
            ("gpu", "no scheduler runs in namespace gpu: kubectl kai install -n gpu"),
        ] {
            assert_eq!(missing(home), expect);
        }
    }
}
