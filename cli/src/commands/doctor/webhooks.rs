//! Checks of our admission.

use serde_json::Value;

use super::facts::{Facts, Source, each, place};
use super::finding::{Level, Unread, Verdict};
use crate::cluster::json::text;

/// Webhook configurations that call a service or an address of ours.
fn ours(facts: &Facts) -> Result<Vec<&Value>, Unread> {
    let all = facts.list(Source::Mutating)?.iter().chain(facts.list(Source::Validating)?);
    let is_ours = |found: &&Value| {
        text(&found["metadata"]["name"]).contains("kai")
            || each(found, "/webhooks")
                .any(|one| text(&one["clientConfig"]["service"]["namespace"]) == facts.system)
    };
    Ok(all.filter(is_ours).collect())
}

/// Webhooks are registered, and somebody listens behind them.
pub(super) fn registered(facts: &Facts) -> Result<Verdict, Unread> {
    let ours = ours(facts)?;
    if ours.is_empty() {
        return Ok(Verdict::warning("no webhook is registered: shares of GPUs are not completed, and wrong queues are found late")
            .fix(format!("{}   (the podgrouper registers them once it runs)", facts.install(" status"))));
    }
    let slices = facts.list(Source::EndpointSlices)?;
    let has_ready = |service: &str| {
        slices
            .iter()
            .filter(|slice| {
                text(&slice["metadata"]["labels"]["kubernetes.io/service-name"]) == service
            })
            .any(|slice| {
                each(slice, "/endpoints").any(|endpoint| endpoint["conditions"]["ready"] != false)
            })
    };
    let mut wrong = Vec::new();
    for configuration in &ours {
        for webhook in each(configuration, "/webhooks") {
            let service = &webhook["clientConfig"]["service"];
            if text(&service["namespace"]) == facts.system && !has_ready(text(&service["name"])) {
                wrong.push(format!(
                    "{} calls service {}, which has no ready endpoint",
                    place(configuration),
                    text(&service["name"])
                ));
            }
        }
    }
    wrong.dedup();
    let bad = |count: usize| {
        format!("webhooks that nobody answers (what fails closed is refused): {count}")
    };
    Ok(Verdict::of(
        wrong,
        Level::Error,
        bad,
        format!("{} configurations, all are answered", ours.len()),
    )
    .fix(format!("kubectl get pods,endpointslices -n {}", facts.system)))
}

/// Every webhook names the authority of its certificate.
pub(super) fn authorities(facts: &Facts) -> Result<Verdict, Unread> {
    let ours = ours(facts)?;
    let wrong = ours.iter().flat_map(|configuration| {
        each(configuration, "/webhooks")
            .filter(|webhook| text(&webhook["clientConfig"]["caBundle"]).is_empty())
            .map(|webhook| {
                format!("{} ({}) has no caBundle", place(configuration), text(&webhook["name"]))
            })
    });
    let bad = |count: usize| {
        format!("webhooks that the API server can't trust (each call fails): {count}")
    };
    Ok(Verdict::of(
        wrong.collect(),
        Level::Error,
        bad,
        format!("{} configurations name theirs", ours.len()),
    )
    .fix(format!(
        "kubectl rollout restart -n {} deploy/kai-podgrouper   (it writes them anew)",
        facts.system
    )))
}

/// Webhooks that look at pods are quick to give up.
pub(super) fn timeouts(facts: &Facts) -> Result<Verdict, Unread> {
    const SECONDS_MAX: u64 = 10;
    let ours = ours(facts)?;
    let wrong = ours.iter().flat_map(|configuration| {
        each(configuration, "/webhooks").filter_map(|webhook| {
            let seconds = webhook["timeoutSeconds"].as_u64().unwrap_or(10);
            (seconds > SECONDS_MAX).then(|| {
                format!("{} ({}) waits {seconds}s", place(configuration), text(&webhook["name"]))
            })
        })
    });
    let bad = |count: usize| format!("webhooks that may hold a request up for long: {count}");
    Ok(Verdict::of(
        wrong.collect(),
        Level::Warning,
        bad,
        format!("none waits longer than {SECONDS_MAX}s"),
    )
    .fix(format!("{}   (it sets their time limits)", facts.install(""))))
}
