//! Checks of the API server and of clocks.

use crate::cluster::queue::count;
use kai_api::names::{self, component};
use serde_json::Value;

use super::facts::{Facts, Source, condition, each, place};
use super::finding::{Level, Unread, Verdict};
use crate::cluster::json::text;
use crate::commands::install::{MINOR_MIN, minor};

/// Sets how far clocks may be apart before leases and minimum run times go wrong.
const SKEW_SECONDS: i64 = 5;
/// A kubelet renews its Lease every ten seconds.
const NODE_LEASE_SECONDS: i64 = 60;

/// The API server answers, and its version is one that is supported.
pub(super) fn api_server(facts: &Facts) -> Result<Verdict, Unread> {
    let version = facts.version.as_ref().map_err(Clone::clone)?;
    let shown = text(&version["gitVersion"]);
    if minor(version).is_none_or(|minor| minor < MINOR_MIN) {
        return Ok(Verdict::error(format!("the API server is {shown}; 1.{MINOR_MIN} is the oldest that serves what the scheduler needs"))
            .fix(format!("upgrade the control plane to 1.{MINOR_MIN} or later")));
    }
    Ok(Verdict::ok(format!("it answers, and is {shown}")))
}

/// Clocks of this machine, of the daemons and of the nodes agree.
pub(super) fn clocks(facts: &Facts) -> Result<Verdict, Unread> {
    let mut leases = facts.list(Source::Leases)?.to_vec();
    leases.extend(facts.list(Source::NodeLeases).unwrap_or_default().iter().cloned());
    let ahead = |lease: &Value| {
        let seconds = -facts.seconds_since(&lease["spec"]["renewTime"])?;
        let holder = text(&lease["spec"]["holderIdentity"]);
        (seconds > SKEW_SECONDS)
            .then(|| format!("{holder} wrote a time {seconds}s ahead of this machine"))
    };
    let wrong: Vec<String> = leases.iter().filter_map(ahead).collect();
    let bad =
        |count: usize| format!("clocks more than {SKEW_SECONDS}s ahead of this machine's: {count}");
    let good = format!("of {} leases none is written in the future", leases.len());
    Ok(Verdict::of(wrong, Level::Warning, bad, good)
        .fix("run a time service (chrony, systemd-timesyncd) on those machines, and on this one"))
}

/// Kubelets renew their Leases.
pub(super) fn node_leases(facts: &Facts) -> Result<Verdict, Unread> {
    let leases = facts.list(Source::NodeLeases)?;
    let nodes = facts.list(Source::Nodes)?;
    let late = |node: &Value| {
        let name = text(&node["metadata"]["name"]);
        let lease = leases.iter().find(|lease| lease["metadata"]["name"] == name)?;
        let seconds = facts.seconds_since(&lease["spec"]["renewTime"])?;
        let is_late = seconds > NODE_LEASE_SECONDS && condition(node, "Ready") == "True";
        is_late.then(|| format!("{name} is Ready and renewed its lease {seconds}s ago"))
    };
    let wrong: Vec<String> = nodes.iter().filter_map(late).collect();
    let bad = |count: usize| {
        format!("nodes that are Ready and silent (pods bound there do not start): {count}")
    };
    Ok(Verdict::of(
        wrong,
        Level::Warning,
        bad,
        format!("those of {} are renewed", count(leases.len(), "node")),
    )
    .fix("look at the kubelet of those nodes: journalctl -u kubelet"))
}

/// Leaders of the daemons renew their Leases.
pub(super) fn leaders(facts: &Facts) -> Result<Verdict, Unread> {
    let leases = facts.list(Source::Leases)?;
    let deployments = facts.list(Source::Deployments)?;
    let (mut wrong, mut held, mut elsewhere) = (Vec::new(), Vec::new(), Vec::new());
    for (component, name) in [
        (component::SCHEDULER, names::SCHEDULER_NAME),
        (component::PODGROUPER, names::lease::PODGROUPER),
    ] {
        let Some(lease) = leases.iter().find(|lease| lease["metadata"]["name"] == name) else {
            let is_here = deployments
                .iter()
                .any(|found| found["metadata"]["labels"][names::label::COMPONENT] == component);
            let is_missed = is_here || component == component::SCHEDULER;
            let list = if is_missed { &mut wrong } else { &mut elsewhere };
            list.push(format!("{component}: nobody ever held lease {}/{name}", facts.system));
            continue;
        };
        match leaderless(facts, lease) {
            Some(why) => wrong.push(format!("{component}: lease {name} {why}")),
            None => held.push(format!("{component} by {}", text(&lease["spec"]["holderIdentity"]))),
        }
    }
    if wrong.is_empty() && !elsewhere.is_empty() {
        let said =
            "the podgrouper has neither a Deployment nor a lease: it runs elsewhere, or not at all";
        let fix = "kubectl kai doctor pods/ungrouped   (tells whether it works)";
        return Ok(Verdict::unknown(said).shown_by(elsewhere).fix(fix));
    }
    let bad = |count: usize| {
        format!("daemons without a leader (nothing is decided meanwhile): {count} of 2")
    };
    Ok(Verdict::of(wrong, Level::Error, bad, format!("led: {}", held.join(", "))).fix(format!(
        "{}; kubectl logs -n {} deploy/kai-podgrouper",
        facts.install(" status"),
        facts.system
    )))
}

/// Says why nobody leads by a lease; `None` where somebody does.
fn leaderless(facts: &Facts, lease: &Value) -> Option<String> {
    let holder = text(&lease["spec"]["holderIdentity"]);
    let seconds = facts.seconds_since(&lease["spec"]["renewTime"]).unwrap_or(i64::MAX);
    let lasts = lease["spec"]["leaseDurationSeconds"].as_i64().unwrap_or(15);
    let is_over = holder.is_empty() || seconds > 2 * lasts;
    is_over.then(|| format!("of {holder:?} was renewed {seconds}s ago, and lasts {lasts}s"))
}

/// Webhooks of anybody whose server is gone, and that fail closed.
pub(super) fn dead_webhooks(facts: &Facts) -> Result<Verdict, Unread> {
    let services = facts.list(Source::Services)?;
    let mut wrong = Vec::new();
    for source in [Source::Mutating, Source::Validating] {
        for configuration in facts.list(source)? {
            let dead = each(configuration, "/webhooks").find(|webhook| {
                let service = &webhook["clientConfig"]["service"];
                text(&service["namespace"]) == facts.system
                    && webhook["failurePolicy"] != "Ignore"
                    && !services.iter().any(|found| found["metadata"]["name"] == service["name"])
            });
            if let Some(webhook) = dead {
                let service = text(&webhook["clientConfig"]["service"]["name"]);
                wrong.push(format!(
                    "{} ({}) calls service {service}, which is not there",
                    place(configuration),
                    text(&webhook["name"])
                ));
            }
        }
    }
    let bad = |count: usize| {
        format!("webhook configurations that refuse everything, as their server is gone: {count}")
    };
    let fix = wrong.first().map(|first| first.split(' ').next().unwrap_or_default().to_owned());
    let kind = "mutatingwebhookconfiguration,validatingwebhookconfiguration";
    Ok(Verdict::of(wrong, Level::Error, bad, "every webhook that fails closed has its service")
        .fix(format!("kubectl delete {kind} {}", fix.unwrap_or_default())))
}
