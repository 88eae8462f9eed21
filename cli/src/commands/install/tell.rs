//! Says what `install` would do and what it did: to people line by line, to programs as one report.

use std::collections::BTreeMap;

use super::apply::Outcome;
use super::manifest::{self, Component, Group, Options, is_subdomain};
use super::plan::{Entry, Plan, State};
use super::status::first;
use super::{adopted, drill, kai_v017, losses};
use crate::cluster::Cluster;
use crate::context::Context;
use crate::print::error::Error;
use crate::print::format::{self, Format};
use crate::print::output::clean;

/// Says which cluster it is: context and server.
pub(super) fn place(cluster: &Cluster) -> String {
    let server = clean(&cluster.place.server);
    match &cluster.place.context {
        Some(context) => format!("{} ({server})", clean(context)),
        None => server.into_owned(),
    }
}

pub(super) fn say_plan(
    plan: &Plan,
    server: &str,
    options: &Options,
    kai: &kai_v017::Installation,
    context: &mut Context,
) {
    let found = if kai.is_empty() { "no other KAI found" } else { "KAI found, to be replaced" };
    context.out.talk(&format!("Cluster   {server} · {found}"));
    if let Some((version, names)) = losses::newer(plan) {
        let names = first(&names);
        context.out.warn(&format!("this program is older than what is there, {version}: {names}"));
    }
    let mut head = "REMOVE";
    for (kind, names) in kai.going() {
        say_names(head, &format!("{kind} "), &names, context);
        head = "";
    }
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
    say_taken(plan, kai, context);
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
    if !kai.is_empty() {
        let stays = "queues, PodGroups, pods, reservations, shards, kai-config and roles stay";
        context.out.talk(&format!("{:<9} {stays}", ""));
        let (name, home) = (adopted::NAME, clean(&options.namespace));
        context.out.talk(&format!(
            "{:<9} configmap/{name} in {home} keeps what goes and what changes",
            ""
        ));
        context.out.talk(&format!("{:<9} the way back: kubectl kai install release", ""));
    }
}

/// Says which workloads are grouped otherwise than by KAI, and what the drill cannot tell.
pub(super) fn say_drill(drill: &drill::Drill, context: &mut Context) {
    context.out.talk(&format!("{:<9} {}", "DRILL", drill.summary()));
    for (workload, what) in &drill.differ {
        let what: Vec<String> = what.iter().cloned().collect();
        say_names("", &format!("{workload}: "), &what, context);
    }
    let untried = "not tried: order, place and evictions   (DESIGN.md, differences Q and K)";
    context.out.talk(&format!("{:<9} {untried}", ""));
}

/// Says what is taken over from whom.
fn say_taken(plan: &Plan, kai: &kai_v017::Installation, context: &mut Context) {
    let mut by_manager: BTreeMap<String, Vec<String>> = BTreeMap::new();
    let mut releases = kai.releases();
    for entry in &plan.entries {
        let managers: Vec<_> = entry.managers.iter().map(|manager| clean(manager)).collect();
        if !managers.is_empty() {
            by_manager.entry(managers.join(", ")).or_default().push(entry.item.title());
            releases.extend(entry.release.clone());
        }
    }
    let mut head = "TAKE OVER";
    for (manager, titles) in by_manager {
        say_names(head, &format!("from {manager}: "), &titles, context);
        head = "";
    }
    for (namespace, name) in releases {
        // What is typed in is no name that somebody else chose freely.
        let last = if is_subdomain(&namespace) && is_subdomain(&name) {
            format!("kubectl delete secret -n {namespace} -l owner=helm,name={name}")
        } else {
            "delete its Secret".to_owned()
        };
        context.out.warn(&format!(
            "Helm keeps its record of release {}: helm upgrade needs it on the way back, and helm uninstall \
             would remove what is ours; once you stay: {last}",
            clean(&name)
        ));
    }
}

/// Says names behind what they are, in as many lines as they need.
pub(super) fn say_names(head: &str, what: &str, names: &[String], context: &mut Context) {
    const INDENT: usize = 10;
    let width = context.out.columns().saturating_sub(INDENT).max(20);
    let mut line = what.to_owned();
    let mut head = head;
    for (index, name) in names.iter().enumerate() {
        let comma = if index + 1 < names.len() { "," } else { "" };
        let word = format!("{name}{comma} ");
        if line.len() > what.len() && line.chars().count() + word.trim_end().chars().count() > width
        {
            context.out.talk(format!("{head:<INDENT$}{line}").trim_end());
            (line, head) = (" ".repeat(2), "");
        }
        line += &word;
    }
    context.out.talk(format!("{head:<INDENT$}{line}").trim_end());
}

/// Says what was or would be done, for programs.
pub(super) fn report(
    plan: &Plan,
    kai: &kai_v017::Installation,
    drill: Option<&drill::Drill>,
    dry: bool,
    context: &mut Context,
) -> Result<(), Error> {
    let changed = |entry: &&Entry| matches!(entry.state, State::Create | State::Change);
    let names = plan.entries.iter().filter(changed).map(|entry| entry.item.title());
    let whole = || {
        let ours = plan.entries.iter().map(|entry| {
            let mut object = entry.item.reported(entry.state.word());
            object["takenFrom"] = serde_json::json!(entry.managers);
            object
        });
        let objects: Vec<_> = kai.reported().chain(ours).collect();
        let mut report = serde_json::json!({ "dryRun": dry, "objects": objects });
        if let Some(drill) = drill {
            report["drill"] = drill.reported();
        }
        report
    };
    for_programs(names, whole, context)
}

/// Prints for programs what was or would be done: names alone, or the whole report; nothing with a table, which is for people.
pub(super) fn for_programs(
    mut names: impl Iterator<Item = String>,
    whole: impl FnOnce() -> serde_json::Value,
    context: &mut Context,
) -> Result<(), Error> {
    let format = Format::read(context.globals.output.as_deref())?;
    match format {
        Format::Table | Format::Wide => Ok(()),
        Format::Name => names.try_for_each(|name| context.out.data(&name)),
        Format::Json
        | Format::Yaml
        | Format::JsonPath(_)
        | Format::Csv
        | Format::Columns(_)
        | Format::Jq(_) => {
            let report = format::headed("InstallReport", whole());
            format::report(&report, &format, &mut context.out).map(|_| ())
        }
    }
}
