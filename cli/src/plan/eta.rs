//! When those start that wait: the cluster as it is, let run by the scheduler's own code.

use std::collections::{BTreeMap, BTreeSet};

use kai_engine::{Eviction, GroupId, Timestamp};
use kai_sim::forecast::{Draw, Drawn, Forecast};

use super::future::{Ends, Outlook};
use super::situation::{Effects, Reading, Situation};
use super::trial::{self, Trial};
use super::words::HORIZON_SECONDS;
use crate::cluster::Cluster;
use crate::cluster::json::text;
use crate::print::duration;
use crate::print::error::Error;
use crate::print::output::{Output, clean};
use crate::workload::Workload;
use crate::workload::eta::{Eta, When};

/// Says what has to be read in whole: without it the cluster is another one.
const NEEDED: [&str; 4] = ["nodes", "pods", "podGroups", "queues"];
/// Says what there has to be for a place: what is in no namespace is read in whole or not at all.
const PLACES: [&str; 2] = ["nodes", "queues"];
/// Says why work never starts of which the scheduler has said nothing yet.
const NO_FIT: &str = "it does not fit this cluster, even if nobody else were there";
/// Workloads of which it is found out whether they could ever start.
const ALONE_MAX: usize = 16;

/// Estimates when those workloads start that wait for nodes, with the user's own rights. What cannot be read is why an
/// estimate is missing, never an error.
///
/// # Cost
/// Nothing where nothing waits; else all of the cluster is read once that the scheduler reads.
pub(crate) async fn find(workloads: &mut [Workload], cluster: &Cluster, out: &mut Output) {
    let mut waiting: Vec<&mut Workload> = workloads
        .iter_mut()
        .filter(|workload| workload.phase().is_queued() && !workload.groups.is_empty())
        .collect();
    if waiting.is_empty() {
        return;
    }
    let reading = Reading { cluster, shard: kai_api::names::DEFAULT_SHARD, save: None };
    let mut situation = Situation::live(reading, out).await.map_err(|error| first(&error));
    if let Ok(situation) = &mut situation {
        situation.learn(cluster).await;
    }
    let wanted: BTreeSet<String> = waiting.iter().flat_map(|workload| keys(workload)).collect();
    let etas = situation.and_then(|situation| situation.etas(&wanted));
    for workload in &mut waiting {
        workload.eta = Some(match &etas {
            Ok(etas) => foreseen(of_all(keys(workload).filter_map(|key| etas.get(&key))), workload),
            Err(why) => Eta::unknown(why.as_str()),
        });
    }
}

/// Gives a "never" the scheduler's own reason, and withdraws one that it does not say: what work waits for may be made
/// by others, such as a volume claim, which no plan foresees.
fn foreseen(eta: Eta, workload: &Workload) -> Eta {
    match &workload.explanation {
        Some(told) if eta.when == When::Never => {
            let why = clean(&told.sentence).into_owned();
            if told.never { Eta::never(why) } else { Eta::unknown(why) }
        }
        _ => eta,
    }
}

/// `namespace/name` of its groups.
fn keys(workload: &Workload) -> impl Iterator<Item = String> {
    let meta = workload.groups.iter().map(|group| &group["metadata"]);
    meta.map(|meta| format!("{}/{}", text(&meta["namespace"]), text(&meta["name"])))
}

/// Work of several groups is what its first one is that waits.
fn of_all<'e>(mut etas: impl Iterator<Item = &'e Eta>) -> Eta {
    let other = "it is of another node pool, or came after the cluster was read";
    etas.next().cloned().unwrap_or_else(|| Eta::unknown(other))
}

/// The first problem of an error, as a reason.
fn first(error: &Error) -> String {
    match error {
        Error::Problems(problems) => {
            problems.first().map_or_else(String::new, |problem| problem.what.clone())
        }
        Error::Quiet(_) => "the cluster cannot be read".to_owned(),
    }
}

impl Situation {
    /// When groups start that are named by namespace and name; those that run already are left out.
    ///
    /// # Errors
    /// Says what is missing without which nothing can be said.
    fn etas(&self, wanted: &BTreeSet<String>) -> Result<BTreeMap<String, Eta>, String> {
        if let Some(missing) = self.blind() {
            return Err(missing);
        }
        let snapshot = &self.snapshot;
        let names = &snapshot.ingest.context.names;
        let config = &snapshot.settings.config;
        let outlook = Outlook::new(&self.times, names, [&snapshot.cluster]);
        let late = Drawn { knowledge: &outlook, draw: Draw::Late };
        let is_waiting = |group: &GroupId| !snapshot.cluster.runs(*group);
        let asked: BTreeMap<GroupId, &String> = wanted
            .iter()
            .filter_map(|key| Some((GroupId::new(names.groups.find(key)?), key)))
            .filter(|(group, _)| is_waiting(group))
            .collect();
        let now = snapshot.taken;
        let trial =
            Trial::settle(snapshot.cluster.clone(), config, now, &late, &Effects::default());
        let open: BTreeSet<GroupId> =
            asked.keys().copied().filter(|group| !trial.course.is_running(*group)).collect();
        let horizon = Timestamp(snapshot.taken.0 + HORIZON_SECONDS * 1000);
        let forecast = Forecast::new(trial.outset(config), &outlook, &open, horizon);
        let ends = outlook.ends(&trial.course);
        let mut alone = 0;
        let mut never = |group: GroupId| {
            alone += 1;
            alone <= ALONE_MAX && !trial::starts_alone(&trial, config, &late, group)
        };
        let each = asked.into_iter().map(|(group, key)| {
            let eta = match forecast.at.get(&group) {
                _ if trial.course.is_running(group) => Eta::now(how(group, &trial)),
                Some(range) => {
                    let seconds = |at: Timestamp| (at.0 - snapshot.taken.0).max(0) / 1000;
                    let latest = range.latest.map(seconds);
                    Eta::later(seconds(range.earliest), latest, basis(ends, latest, &forecast))
                }
                None if never(group) => Eta::never(NO_FIT),
                None => Eta::unknown(missing(ends, &forecast)),
            };
            (key.clone(), eta)
        });
        Ok(each.collect())
    }

    /// Says what of the cluster could not be read without which another one is planned for.
    fn blind(&self) -> Option<String> {
        self.missing(&NEEDED)
    }

    /// Says which lists could not be read at all without which no work has a place to go.
    pub(super) fn unseen(&self) -> Option<String> {
        self.missing(&PLACES)
    }

    /// Says which of some lists could not be read.
    fn missing(&self, arrays: &[&str]) -> Option<String> {
        let is_one =
            |what: &&String| what.split_once(':').is_some_and(|(array, _)| arrays.contains(&array));
        let missing = self.assumptions.iter().find(is_one)?;
        Some(clean(missing).into_owned())
    }
}

/// By which right a group starts at once.
fn how(group: GroupId, trial: &Trial<'_>) -> &'static str {
    let evicts = |evicted: &trial::Evicted| {
        evicted.reason.as_ref().and_then(Eviction::for_group) == Some(group)
    };
    if trial.promised.contains(&group) || trial.evicted.values().any(evicts) {
        "others leave for it"
    } else {
        "there is room"
    }
}

/// Says what a range rests on, or why it has no end.
fn basis(ends: Ends, latest: Option<i64>, forecast: &Forecast) -> String {
    if latest.is_some() { ends.basis() } else { missing(ends, forecast) }
}

fn missing(ends: Ends, forecast: &Forecast) -> String {
    let looked = || match forecast.cut {
        Some(_) => "too much happens before".to_owned(),
        None => format!("not within {}", duration::short(HORIZON_SECONDS)),
    };
    ends.missing().unwrap_or_else(looked)
}

#[cfg(test)]
mod tests {
    use super::*;

    const CLUSTER: &str = "
title: Two nodes, both of them taken
why: it is for estimates
nodes: { n0..1: { gpus: 8 } }
queues: { team: { quota: 16 } }
groups:
  old:  { queue: team, gpus: 8, on: n0, started: 1h }
  other: { queue: team, gpus: 8, on: n1, started: 10m }
  next: { queue: team, gpus: 8 }
  large: { queue: team, gpus: 8, pods: 3, min: 3 }
expect: idle
";

    /// Checks what is said of the start of a group, where groups may run for so many seconds and some things were not read.
    fn check(whose: &str, longest: &[(&str, i64)], missing: &[&str], expect: &str) {
        let folder = tempfile::tempdir().expect("a temporary folder");
        std::fs::write(folder.path().join("cluster.yaml"), CLUSTER).expect("it is ours");
        let situation = Situation::of_scenario("cluster.yaml", folder.path());
        let mut situation = situation.expect("it is a scenario");
        situation.assumptions.extend(missing.iter().map(|what| (*what).to_owned()));
        for (name, seconds) in longest {
            let names = &situation.snapshot.ingest.context.names;
            let number = names.groups.find(&format!("default/{name}")).expect("it is there");
            situation.times.longest.insert(GroupId::new(number), seconds * 1000);
        }
        let key = format!("default/{whose}");
        let told = match situation.etas(&BTreeSet::from([key.clone()])) {
            Ok(etas) => etas.get(&key).map(|eta| eta.sentence.clone()),
            Err(why) => Some(why),
        };
        assert_eq!(told.as_deref().unwrap_or("it is not there"), expect, "{whose} {longest:?}");
    }

    #[test]
    fn an_estimate_says_what_it_rests_on_or_what_is_missing() {
        let nobody = "2 running workloads have no max run time and no history";
        check("next", &[], &[], &format!("not known: {nobody}"));
        check("next", &[("old", 7200)], &[], "within 60m, from max-runtime");
        check("next", &[("old", 7200), ("other", 900)], &[], "within 5m1s, from max-runtime");
        check(
            "large",
            &[("old", 7200)],
            &[],
            "never: it does not fit this cluster, even if nobody else were there",
        );
        check("old", &[], &[], "it is not there");
        let hidden = "nodes: you may not list them";
        check("next", &[("old", 7200)], &[hidden], hidden);
        let beside = "configMaps: you may not list them";
        check("next", &[("old", 7200)], &[beside], "within 60m, from max-runtime");
    }
}
