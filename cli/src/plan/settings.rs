//! The settings of the scheduler whose view a snapshot is: its shard, and the command line that it runs with.

use std::ffi::OsString;

use kai_api::names::DEFAULT_SHARD;
use kai_api::shard::SchedulingShardSpec;
use kai_scheduler::{Args, config};
use serde_json::Value;

use crate::cluster::json::text;
use crate::cluster::{Call, Cluster, Resource, Select};
use crate::print::error::{Error, Exit, Problem, number};
use crate::print::output::clean;

/// Holds what a scheduler follows.
#[derive(Debug)]
pub(crate) struct Settings {
    /// Its shard, with what its command line says instead.
    pub(crate) spec: SchedulingShardSpec,
    /// Its command line.
    pub(crate) args: Args,
    /// Holds what was assumed, since it could not be read.
    pub(crate) notes: Vec<String>,
}

/// Reads them.
///
/// The command line is that of the shard's Deployment; where there is none, or it may not be read, it follows from the
/// shard and the Config, as the Deployment does.
///
/// # Errors
/// There is no such shard, or the server cannot be asked.
pub(crate) async fn read(name: &str, cluster: &Cluster) -> Result<Settings, Error> {
    let mut notes = Vec::new();
    let spec = shard(name, cluster, &mut notes).await?;
    let words = match deployed(name, cluster).await? {
        Some(words) => words,
        None => derived(&spec, cluster, &mut notes).await?,
    };
    let args = arguments(&words, &mut notes);
    let spec = config::ranked(spec, args.placement_strategy.as_deref());
    Ok(Settings { spec, args, notes })
}

async fn shard(
    name: &str,
    cluster: &Cluster,
    notes: &mut Vec<String>,
) -> Result<SchedulingShardSpec, Error> {
    let resource = Resource::new("kai.scheduler/v1", "SchedulingShard", "schedulingshards");
    let resource = resource.cluster_wide();
    let call = Call::new("get", &resource).name(name);
    let found = match cluster.get(&call).await {
        Ok(found) => found,
        Err(failure) if failure.is_forbidden() => {
            notes.push(format!(
                "you may not read the SchedulingShard {}: the default settings are assumed",
                clean(name)
            ));
            return Ok(SchedulingShardSpec::default());
        }
        Err(failure) => return Err(cluster.explain(&call, &failure)),
    };
    let Some(object) = found else {
        if name == DEFAULT_SHARD {
            notes.push(format!(
                "there is no SchedulingShard {name}: the default settings are assumed"
            ));
            return Ok(SchedulingShardSpec::default());
        }
        return Err(unknown(name, &resource, cluster).await);
    };
    serde_json::from_value(object["spec"].clone()).map_err(|error| {
        let what = format!("the SchedulingShard {} cannot be read: {error}", clean(name));
        Problem::new(number::OTHER, Exit::Failure, what).into()
    })
}

/// No such shard, with those that there are.
async fn unknown(name: &str, resource: &Resource, cluster: &Cluster) -> Error {
    let what = format!("there is no SchedulingShard \"{}\"", clean(name));
    let problem = Problem::new(number::OTHER, Exit::NotFound, what);
    let call = Call::new("list", resource);
    let known = cluster.list(&call, &Select::default()).await.ok().flatten().unwrap_or_default();
    let known: Vec<String> =
        known.iter().map(|one| clean(text(&one["metadata"]["name"])).into_owned()).collect();
    if known.is_empty() {
        return problem.into();
    }
    problem.line(format!("there are: {}", known.join(", "))).into()
}

/// The flags that the shard's scheduler runs with; none where nothing is deployed or may be read.
async fn deployed(shard: &str, cluster: &Cluster) -> Result<Option<Vec<String>>, Error> {
    let resource = Resource::new("apps/v1", "Deployment", "deployments");
    let name = format!("{}-{shard}", kai_api::names::SCHEDULER_NAME);
    let home = cluster.home().await;
    let call = Call::new("get", &resource).namespace(Some(&home)).name(&name);
    match cluster.get(&call).await {
        Ok(Some(deployment)) => {
            let words = &deployment["spec"]["template"]["spec"]["containers"][0]["args"];
            Ok(serde_json::from_value(words.clone()).ok())
        }
        Ok(None) => Ok(None),
        Err(failure) if failure.is_forbidden() => Ok(None),
        Err(failure) => Err(cluster.explain(&call, &failure)),
    }
}

/// The flags of a scheduler that would be deployed for the shard.
async fn derived(
    spec: &SchedulingShardSpec,
    cluster: &Cluster,
    notes: &mut Vec<String>,
) -> Result<Vec<String>, Error> {
    let resource = Resource::new("kai.scheduler/v1", "Config", "configs").cluster_wide();
    let call = Call::new("get", &resource).name(kai_api::names::CONFIG_NAME);
    let config = match cluster.get(&call).await {
        Ok(config) => config.unwrap_or_default(),
        Err(failure) if failure.is_forbidden() => {
            notes.push(format!(
                "you may read neither the scheduler's Deployment nor the Config {}: its default flags are assumed",
                kai_api::names::CONFIG_NAME
            ));
            Value::Null
        }
        Err(failure) => return Err(cluster.explain(&call, &failure)),
    };
    let global = &config["spec"]["global"];
    let held = &config["spec"]["binder"]["resourceReservation"];
    let given = [
        ("scheduler-name", &global["schedulerName"]),
        ("queue-label-key", &global["queueLabelKey"]),
        ("nodepool-label-key", &global["nodePoolLabelKey"]),
        ("resource-reservation-namespace", &held["namespace"]),
        ("resource-reservation-app-label", &held["appLabel"]),
    ];
    let mut words: Vec<String> = given
        .iter()
        .filter_map(|(flag, value)| Some(format!("--{flag}={}", value.as_str()?)))
        .collect();
    if let Some(pool) = &spec.partition_label_value {
        words.push(format!("--partition-label-value={pool}"));
    }
    // A flag that is given twice is an error: the shard's own goes before.
    words.retain(|word| !spec.args.keys().any(|own| word.starts_with(&format!("--{own}="))));
    words.extend(spec.args.iter().map(|(flag, value)| format!("--{flag}={value}")));
    Ok(words)
}

/// A command line of ours or of KAI's; words that mean nothing to us are left out, and named.
fn arguments(words: &[String], notes: &mut Vec<String>) -> Args {
    let read = |words: &[&String]| {
        let program = std::iter::once(OsString::from("kai-scheduler"));
        Args::from_command_line(program.chain(words.iter().map(OsString::from)))
    };
    let all: Vec<&String> = words.iter().collect();
    read(&all).unwrap_or_else(|_| {
        let (known, unknown): (Vec<&String>, Vec<&String>) =
            all.into_iter().partition(|word| read(&[word]).is_ok());
        for word in unknown {
            notes.push(format!("the scheduler's flag {} is not understood", clean(word)));
        }
        read(&known).unwrap_or_default()
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn flags_that_mean_nothing_are_named_and_the_others_hold() {
        let words = ["--scheduler-name=mine", "--dance=on", "-schedule-csi-storage=true"];
        let words = words.map(String::from);
        let mut notes = Vec::new();
        let args = arguments(&words, &mut notes);
        assert_eq!((&*args.scheduler_name, args.schedule_csi_storage), ("mine", true));
        assert_eq!(notes, ["the scheduler's flag --dance=on is not understood"]);
    }
}
