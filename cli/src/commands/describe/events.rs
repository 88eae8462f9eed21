//! Events on the screen: what is the same of several objects, or again, is said once.

use kai_api::names::event;
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::Value;

use crate::cluster::json::text;
use crate::print::duration;
use crate::print::page::Page;
use crate::workload::{Workload, history};

/// Events that say the same.
struct Line<'e> {
    newest: &'e Value,
    /// `pod/a`, each object once.
    objects: Vec<String>,
    times: u64,
    message: String,
}

/// Adds the newest lines, the newest last, at most `most` of them; messages are shown whole if `in_full`.
pub(super) fn add(
    page: &mut Page,
    workload: &Workload,
    events: &[&Value],
    most: usize,
    in_full: bool,
) {
    if events.is_empty() {
        return page.row("Events", "none");
    }
    let lines = lines(workload, events, in_full);
    let now = jiff::Timestamp::now().as_second();
    let skip = lines.len().saturating_sub(most);
    for (i, line) in lines.iter().skip(skip).enumerate() {
        let when = history::when(line.newest);
        let age = when.map_or_else(String::new, |when| duration::short(now - when.as_second()));
        let times = if line.times > 1 { format!(" (x{})", line.times) } else { String::new() };
        let objects = match line.objects.as_slice() {
            [one] => one.clone(),
            [first, rest @ ..] => format!("{first} +{}", rest.len()),
            [] => String::new(),
        };
        let reason = text(&line.newest["reason"]);
        let row = format!("{age:>6}  {objects}  {reason}{times}  {}", line.message);
        page.row(if i == 0 { "Events" } else { "" }, &row);
    }
}

/// Events that differ in the object alone, or in the name of a pod, become one line, in the order of the newest of each.
/// What the status above says already is not said again, unless all is asked for.
fn lines<'e>(workload: &Workload, events: &[&'e Value], in_full: bool) -> Vec<Line<'e>> {
    let state = workload.state();
    let said = state.message.as_deref().unwrap_or_default();
    let condition = condition(workload).unwrap_or_default();
    let mut lines: Vec<(String, Line<'e>)> = Vec::new();
    for event in events {
        let reason = text(&event["reason"]);
        let message = message(event, in_full);
        let words = message.trim_end_matches('.');
        let is_said = said.contains(words) || one_line(&condition).contains(words);
        let of_status = reason == event::UNSCHEDULABLE && is_said;
        let shown = if of_status && !in_full { "as above".to_owned() } else { message };
        let key = format!("{reason} {}", general(&shown, &workload.name));
        let object = &event["involvedObject"];
        let name = format!("{}/{}", text(&object["kind"]).to_lowercase(), text(&object["name"]));
        let times = times(event);
        let same = lines.iter().position(|(other, _)| *other == key);
        // The newest stands where it came.
        let mut line = match same {
            Some(at) => lines.remove(at).1,
            None => Line { newest: event, objects: Vec::new(), times: 0, message: String::new() },
        };
        (line.newest, line.message) = (*event, shown);
        line.times += times;
        if !line.objects.contains(&name) {
            line.objects.push(name);
        }
        lines.push((key, line));
    }
    lines.into_iter().map(|(_, line)| line).collect()
}

/// The words of the condition that says why it waits, which the status above says in others.
fn condition(workload: &Workload) -> Option<String> {
    workload.explanation.as_ref()?;
    let conditions = workload
        .groups
        .iter()
        .filter_map(|group| group["status"]["schedulingConditions"].as_array()?.last());
    conditions.map(|condition| text(&condition["message"]).to_owned()).next()
}

/// A text on one line.
fn one_line(text: &str) -> String {
    let lines = text.lines().map(str::trim).filter(|line| !line.is_empty());
    lines.collect::<Vec<_>>().join(" ")
}

fn times(event: &Value) -> u64 {
    event["count"].as_u64().or_else(|| event["series"]["count"].as_u64()).unwrap_or(1)
}

/// The message on one line; of an eviction its first sentence, since what follows are the numbers of two queues.
fn message(event: &Value, in_full: bool) -> String {
    let message = text(&event["message"]);
    let lines: Vec<&str> = message.lines().map(str::trim).filter(|line| !line.is_empty()).collect();
    let is_short = text(&event["reason"]) == event::EVICT && !in_full;
    let most = if is_short { 1 } else { lines.len() };
    lines[..most.min(lines.len())].join(" ")
}

/// A message without the names of single pods.
fn general(message: &str, workload: &str) -> String {
    let word = |word: &str| {
        let name = word.trim_end_matches(['.', ',', ':']);
        let name = name.rsplit('/').next().unwrap_or(name);
        let is_pod = name.strip_prefix(workload).is_some_and(|rest| rest.starts_with('-'));
        if is_pod { "*".to_owned() } else { word.to_owned() }
    };
    message.split(' ').map(word).collect::<Vec<_>>().join(" ")
}

/// An event as data.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Event {
    /// When it happened last, as RFC 3339.
    time: Option<String>,
    /// A word for what happened.
    reason: String,
    /// Kind of the object that it is about.
    kind: String,
    /// Name of that object.
    name: String,
    /// Says how often it happened.
    count: u64,
    /// The sentence.
    message: String,
}

/// An event as data.
pub(super) fn data(event: &Value) -> Event {
    let object = &event["involvedObject"];
    Event {
        time: history::when(event).map(|when| when.to_string()),
        reason: text(&event["reason"]).to_owned(),
        kind: text(&object["kind"]).to_owned(),
        name: text(&object["name"]).to_owned(),
        count: times(event),
        message: text(&event["message"]).to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    /// The lines of events `reason kind/name: message`, a second apart, of a workload that waits for `status`.
    fn check(status: &str, events: &[&str], expect: &[&str]) {
        let condition = json!({"type": "PodScheduled", "status": "False", "reason": "Unschedulable",
            "message": status});
        let pod = json!({"metadata": {"name": "w"}, "status": {"phase": "Pending", "conditions": [condition]}});
        let mut workload = Workload::of_pod(&pod);
        workload.pods.push(pod);
        let event = |(i, text): (usize, &&str)| {
            let (head, message) = text.split_once(": ").expect("a message");
            let (reason, object) = head.split_once(' ').expect("an object");
            let (kind, name) = object.split_once('/').expect("a name");
            json!({"reason": reason, "message": message, "lastTimestamp": format!("2026-01-01T00:00:{i:02}Z"),
                "involvedObject": {"kind": kind, "name": name}})
        };
        let events: Vec<Value> = events.iter().enumerate().map(event).collect();
        let events: Vec<&Value> = events.iter().collect();
        let lines = lines(&workload, &events, false);
        let shown: Vec<String> = lines
            .iter()
            .map(|line| format!("{} x{} {}", line.objects.join(" "), line.times, line.message))
            .collect();
        assert_eq!(shown, expect);
    }

    #[test]
    fn what_is_said_of_several_is_said_once() {
        check(
            "no room",
            &[
                "Evict PodGroup/pg-w: Pod n/w-1 was preempted by workload n/pg-x.\nx uses (GPU: 1)",
                "Evict PodGroup/pg-w: Pod n/w-2 was preempted by workload n/pg-x.\nx uses (GPU: 2)",
                "Unschedulable Pod/w-3: no room.",
                "Unschedulable Pod/w-4: no room.",
                "Bound Pod/w-3: Pod bound successfully to node n",
            ],
            &[
                "podgroup/pg-w x2 Pod n/w-2 was preempted by workload n/pg-x.",
                "pod/w-3 pod/w-4 x2 as above",
                "pod/w-3 x1 Pod bound successfully to node n",
            ],
        );
        check(
            "",
            &["A Pod/w: one", "B Pod/w: two", "A Pod/w: one"],
            &["pod/w x1 two", "pod/w x2 one"],
        );
    }
}
