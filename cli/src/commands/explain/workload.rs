//! The answer to why a workload is as it is, from what is known of it. Pure.

use super::answer::{Answer, Way};
use super::known::Known;
use super::{command, evicted, evidence};
use crate::cluster::queue::{Queue, count};
use crate::print::duration;
use crate::print::output::Style;
use crate::workload::position::Line;
use crate::workload::{Phase, State, Workload, reason};

/// Says why a workload is as it is.
pub(super) fn of(known: &Known) -> Answer {
    let state = known.workload.state();
    match state.phase {
        Phase::Pending | Phase::Waiting => waiting(known, state),
        Phase::Running | Phase::Degraded | Phase::Succeeded => running(known, state),
        Phase::Starting => starting(known, state),
        Phase::Suspended => suspended(&known.workload),
        Phase::Deleting => plain(&known.workload, "is being deleted", None),
        Phase::Failed => failed(known, state),
    }
}

/// A sentence about a workload, and nothing else.
fn plain(workload: &Workload, verb: &str, code: Option<&str>) -> Answer {
    Answer {
        headline: format!("{} {verb}", workload.name),
        code: code.map(str::to_owned),
        style: Style::Bold,
        ..Answer::default()
    }
}

fn waiting(known: &Known, state: &State) -> Answer {
    let workload = &known.workload;
    if let Some(name) = &known.other_scheduler {
        return bypassed(workload, name);
    }
    if let Some(seconds) = known.silent_seconds {
        return Answer {
            more: vec![format!(
                "Nobody has renewed its Lease for {}: it is down, or cannot reach the API server.",
                duration::short(seconds)
            )],
            ways: vec![Way {
                admin: true,
                ..Way::new(
                    "look at the scheduler's pods",
                    "",
                    Some("kubectl kai install status".into()),
                )
            }],
            ..plain(workload, "waits, and the scheduler is not at work", Some("KAI1216"))
        };
    }
    let sentence = state.message.as_deref().map(first_line).unwrap_or_default();
    let sentence = if sentence.is_empty() { String::new() } else { format!(": {sentence}") };
    let code =
        state.code.clone().or_else(|| reason::number(state.reason.as_deref()).map(str::to_owned));
    if let Some(queue) = known.queues.as_ref().and_then(|queues| queues.held(&workload.queue)) {
        return held(known, queue);
    }
    let ways = ways(known, state);
    let mut more = Vec::new();
    let (headline, code) = if let Some(eviction) = &known.eviction {
        let number = code.map_or_else(String::new, |code| format!("  [{code}]"));
        let verb = if state.never { "It can never run again as it is" } else { "It waits again" };
        more.push(format!("{verb}{sentence}.{number}"));
        (eviction.sentence_about(&workload.name), Some(eviction.code().to_owned()))
    } else {
        let verb = if state.never { "can never run as it is" } else { "waits" };
        more.extend(known.line.as_ref().map(|line| place(line, &workload.queue)));
        (format!("{} {verb}{sentence}", workload.name), code)
    };
    if let Some(first) = ways.first() {
        let cost =
            if first.cost.is_empty() { String::new() } else { format!(" (costs: {})", first.cost) };
        more.push(format!("First thing to try: {}{cost}.", first.text));
    }
    let style = if state.never { Style::Bad } else { Style::Bold };
    Answer {
        headline,
        code,
        style,
        more,
        evidence: evidence::of(known),
        table: evicted::queues(known.eviction.as_ref()),
        ways,
        note: note(known),
    }
}

/// The first line of a text, without a full stop at its end.
fn first_line(text: &str) -> String {
    let lines: Vec<&str> = text.lines().map(str::trim).filter(|line| !line.is_empty()).collect();
    lines.join(" ").trim_end_matches('.').to_owned()
}

/// Says where it stands in its queue, and who stands before it.
fn place(line: &Line, queue: &str) -> String {
    let Line { place, of, ahead, is_whole } = line;
    let whole = if *is_whole { "" } else { ", of those in this namespace" };
    match ahead.first() {
        None if *of == 1 => format!("Nobody else waits in queue {queue}{whole}."),
        None => format!(
            "It is the first of {} that wait in queue {queue}{whole}.",
            count(*of, "workload")
        ),
        Some(next) => {
            let others = match ahead.len() {
                1 => "is".to_owned(),
                many => format!("and {} are", count(many - 1, "other")),
            };
            format!(
                "It is number {place} of {of} in queue {queue}{whole}: {next} {others} tried before it."
            )
        }
    }
}

/// Returns what waits in a held queue, or below one: whatever else there is, nothing starts before that is released.
fn held(known: &Known, queue: &Queue) -> Answer {
    let command = format!("kubectl kai queues release {}", queue.name);
    let release = Way::new(format!("release queue {}", queue.name), "", Some(command));
    let verb = format!("waits: queue {} is held, and nothing starts in it", queue.name);
    let eviction = known.eviction.as_ref().map(|one| one.sentence_about("It"));
    Answer {
        more: eviction.map(|sentence| format!("{sentence}.")).into_iter().collect(),
        evidence: evidence::of(known),
        ways: vec![Way { admin: true, ..release }],
        note: note(known),
        ..plain(&known.workload, &verb, Some("KAI1202"))
    }
}

/// Returns what the scheduler says would help, and what every user may do.
fn ways(known: &Known, state: &State) -> Vec<Way> {
    let workload = &known.workload;
    let explained = workload.explanation.iter().flat_map(|one| one.help.iter().cloned());
    let mut ways: Vec<Way> = explained.map(Way::from).collect();
    // Where a command would help, the scheduler says one thing that is for an administrator.
    if let Some(way) = ways.iter_mut().find(|way| way.admin) {
        way.command = workload.explanation.as_ref().and_then(|one| command::of(&one.code, known));
    }
    if let (Some(eviction), true) = (&known.eviction, ways.len() < 4) {
        ways.push(Way::new(format!("the next time: {}", eviction.avoidance()), "", None));
    }
    if ways.is_empty() && state.phase == Phase::Pending {
        ways.push(Way::new("wait until other work ends, or ask for less", "time", None));
    }
    ways
}

/// Says what cannot be known: by the scheduler that runs, or by the rights of the user.
fn note(known: &Known) -> Option<String> {
    let mut notes = Vec::new();
    let state = known.workload.state();
    if known.workload.explanation.is_none()
        && state.phase == Phase::Pending
        && !known.workload.groups.is_empty()
    {
        notes.push(
            "The scheduler of this cluster says no more than that: which evictions would help, and how much is free \
             where, is known where kubectl kai's own scheduler runs.",
        );
    }
    // What the scheduler says of queues on the workload is as good.
    let are_told = known.workload.explanation.as_ref().is_some_and(|one| !one.queues.is_empty());
    if are_told {
        notes.push("The numbers of queues are from the scheduler's last look at this workload.");
    }
    match (known.queues.is_some() || are_told, known.is_line_read) {
        (false, false) => {
            notes.push("Not read, for want of rights: queues and the workloads that wait in them.");
        }
        (true, false) => notes.push("Not read, for want of rights: who else waits in its queue."),
        (false, true) => notes.push("Not read, for want of rights: queues."),
        (true, true) => {}
    }
    (!notes.is_empty()).then(|| notes.join(" "))
}

fn bypassed(workload: &Workload, scheduler: &str) -> Answer {
    let text = "name kai-scheduler as the scheduler of its pods, or submit it again with kubectl kai submit -f FILE";
    Answer {
        more: vec![
            "It is in no queue, and takes GPUs that KAI believes free.".to_owned(),
            format!("First thing to try: {text}."),
        ],
        ways: vec![Way::new(text, "it starts anew", None)],
        ..plain(
            workload,
            &format!("is not scheduled by KAI: its pods name the scheduler {scheduler}"),
            Some("KAI1215"),
        )
    }
}

fn running(known: &Known, state: &State) -> Answer {
    let workload = &known.workload;
    let (ready, wanted) = workload.ready();
    let verb = match state.phase {
        Phase::Succeeded => "has ended well".to_owned(),
        Phase::Degraded => format!("runs in part: {ready} of {} are ready", count(wanted, "pod")),
        _ => format!("runs: {ready} of {} ready", count(wanted, "pod")),
    };
    let mut more = Vec::new();
    if state.phase != Phase::Succeeded {
        more.extend(evidence::borrowing(known));
        if let Some(eviction) = &known.eviction {
            let sentence = eviction.sentence_about("It");
            more.push(format!("{sentence}, and has started again.  [{}]", eviction.code()));
        }
        if let Some(message) = &state.message {
            more.push(format!("Its other pods wait: {}.", first_line(message)));
        }
    }
    let code = state.code.clone();
    let evidence = evidence::of(known);
    Answer { code, more, evidence, ..plain(workload, &verb, None) }
}

/// Words of the kubelet for an image or something else that a container needs and that is not there.
const NOT_STARTING: [&str; 8] = [
    "ErrImagePull",
    "ImagePullBackOff",
    "InvalidImageName",
    "ErrImageNeverPull",
    "ImageInspectError",
    "RegistryUnavailable",
    "CreateContainerConfigError",
    "CreateContainerError",
];

fn starting(known: &Known, state: &State) -> Answer {
    let workload = &known.workload;
    let reason = state.reason.as_deref().unwrap_or_default();
    let said = state.message.as_deref().map(first_line).unwrap_or_default();
    if reason.is_empty() {
        let nodes = workload.nodes().join(", ");
        return plain(workload, &format!("has its nodes and starts: {nodes}"), None);
    }
    let code = NOT_STARTING.contains(&reason).then_some("KAI1214");
    let said = if said.is_empty() { String::new() } else { format!(": {said}") };
    let what = format!("has its nodes, and its containers do not start ({reason}){said}");
    Answer {
        ways: code.map_or_else(Vec::new, |_| {
            let text = "mend the image's name, the pull secret, or what the container refers to";
            vec![Way::new(text, "it starts anew", None)]
        }),
        evidence: vec![("GPUs", format!("it holds {} meanwhile", workload.gpus_held().words()))],
        ..plain(workload, &what, code)
    }
}

fn suspended(workload: &Workload) -> Answer {
    let command = format!("kubectl kai resume -n {} {}", workload.namespace, workload.name);
    Answer {
        more: vec![format!("First thing to try: {command}")],
        ways: vec![Way::new("put it back in the queue", "", Some(command))],
        ..plain(workload, "is suspended, so it holds no GPU and waits for none", Some("KAI1208"))
    }
}

fn failed(known: &Known, state: &State) -> Answer {
    let workload = &known.workload;
    if let Some(eviction) = &known.eviction {
        return evicted::of(known, eviction);
    }
    let said = state.message.as_deref().map(first_line).unwrap_or_default();
    let said = if said.is_empty() { String::new() } else { format!(": {said}") };
    let command = format!("kubectl kai logs -n {} {}", workload.namespace, workload.name);
    let held = workload.gpus_held();
    let more = (!held.is_zero()).then(|| format!("Its pods still hold {}.", held.words()));
    Answer {
        more: more.into_iter().collect(),
        style: Style::Bad,
        ways: vec![Way::new("read its last words", "", Some(command))],
        ..plain(workload, &format!("has failed{said}"), Some("KAI1401"))
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;
    use crate::cluster::queue::Queues;

    /// A job of one pod that waits, with what its `PodGroup` says: KAI's reason and words, and our explanation.
    fn known(condition: Option<(&str, &str)>, explanation: Option<Value>) -> Known {
        let pod = json!({"metadata": {"namespace": "n", "name": "big"},
            "spec": {"schedulerName": "kai-scheduler"}, "status": {"phase": "Pending"}});
        let mut workload = Workload::of_pod(&pod);
        workload.pods.push(pod);
        let conditions = condition.map(|(reason, message)| {
            json!([{"type": "UnschedulableOnNodePool", "status": "True", "reason": "Unschedulable",
                "message": message, "reasons": [{"reason": reason, "message": message}]}])
        });
        workload.groups.push(json!({"metadata": {"namespace": "n", "name": "pg-big"},
            "status": {"schedulingConditions": conditions}}));
        workload.explanation =
            explanation.map(|one| serde_json::from_value(one).expect("it is one"));
        Known {
            workload,
            eviction: None,
            queues: None,
            line: None,
            is_line_read: false,
            other_scheduler: None,
            silent_seconds: None,
        }
    }

    /// The headline with its number, and what completes it.
    fn check(known: &Known, expect: &[&str]) {
        let answer = of(known);
        let mut said = vec![format!("{} [{}]", answer.headline, answer.code.unwrap_or_default())];
        said.extend(answer.more);
        assert_eq!(said, expect);
    }

    const RIGHTS: &str =
        "Not read, for want of rights: queues and the workloads that wait in them.";

    #[test]
    fn a_cluster_that_runs_kai_is_explained_by_its_words_and_says_once_what_is_not_known() {
        let over =
            "OverLimit: research quota has reached the allowable limit of GPUs. Limit is 16 GPUs.";
        let told = known(Some(("OverLimit", over)), None);
        check(
            &told,
            &[
                "big waits: OverLimit: research quota has reached the allowable limit of GPUs. Limit is 16 GPUs [KAI1202]",
                "First thing to try: wait until other work ends, or ask for less (costs: time).",
            ],
        );
        let note = of(&told).note.expect("there is something that is not known");
        assert_eq!(note.matches("says no more than that").count(), 1, "{note}");
        assert!(note.ends_with(RIGHTS), "{note}");
        for (reason, message, number) in [
            ("QueueDoesNotExist", "Queue 'x' does not exist", "KAI1201"),
            ("NonPreemptibleOverQuota", "Non-preemptible workload is over quota.", "KAI1204"),
            (
                "PodSchedulingErrors",
                "Resources were found for 2 pods while 3 are required",
                "KAI1203",
            ),
            ("PodSchedulingErrors", "Requested topology racks does not exist", "KAI1206"),
            ("PodSchedulingErrors", "available in a single node is topped at 8", "KAI1220"),
            ("PreemptionDelayNotElapsed", "within its preemption delay window", "KAI1212"),
        ] {
            let code = of(&known(Some((reason, message)), None)).code;
            assert_eq!(code.as_deref(), Some(number), "{message}");
        }
    }

    #[test]
    fn our_scheduler_is_quoted_with_what_would_help_first() {
        let explanation = json!({"version": 1, "code": "KAI1203", "reason": "NoCapacity",
            "sentence": "it needs 3 whole nodes at once, 2 are free",
            "help": [{"text": "start it with 2 pods (--min 2)", "cost": "it runs smaller"}]});
        let mut told = known(None, Some(explanation.clone()));
        check(
            &told,
            &[
                "big waits: it needs 3 whole nodes at once, 2 are free [KAI1203]",
                "First thing to try: start it with 2 pods (--min 2) (costs: it runs smaller).",
            ],
        );
        assert_eq!(of(&told).note.as_deref(), Some(RIGHTS));
        told.is_line_read = true;
        told.line = Some(Line {
            place: 3,
            of: 4,
            ahead: vec!["n/next (priority 50)".into(), "n/first (priority 75)".into()],
            is_whole: false,
        });
        let more = of(&told).more;
        assert_eq!(
            more[0],
            "It is number 3 of 4 in queue , of those in this namespace: n/next (priority 50) and 1 other are tried before it."
        );
        let mut never = explanation;
        never["never"] = json!(true);
        let told = known(None, Some(never));
        assert!(of(&told).headline.starts_with("big can never run as it is: "));
    }

    /// The command that is told of two GPUs that wait in a queue for the reason of a number: each queue holds 3, 2.5 of them
    /// for work that is not evicted, and the annotation has a command of somebody's own.
    fn check_command(code: &str, queue: &str, expect: Option<&str>) {
        let own = "kubectl kai queues set team --gpu-limit 1000; id";
        let explanation = json!({"version": 1, "code": code, "help": [{"text": "wait", "command": own},
            {"text": "raise it", "admin": true, "command": own}]});
        let mut told = known(None, Some(explanation));
        told.workload.queue = queue.into();
        told.workload.pods[0]["spec"]["containers"] =
            json!([{"resources": {"limits": {"nvidia.com/gpu": "2"}}}]);
        let object = |name: &str, parent: &str, limit: i64| {
            json!({"metadata": {"name": name},
                "spec": {"parentQueue": parent, "resources": {"gpu": {"quota": 4, "limit": limit}}},
                "status": {"allocated": {"nvidia.com/gpu": "3"},
                    "allocatedNonPreemptible": {"nvidia.com/gpu": "2500m"}}})
        };
        told.queues = Some(Queues::read(vec![object("team", "dept", 8), object("dept", "", 4)]));
        let ways = of(&told).ways;
        let commands: Vec<&str> = ways.iter().filter_map(|way| way.command.as_deref()).collect();
        assert_eq!(commands, expect.into_iter().collect::<Vec<_>>(), "{code} in {queue}");
    }

    #[test]
    fn a_command_is_of_the_number_and_of_queues_that_were_read() {
        check_command("KAI1201", "team-x", Some("kubectl kai queues create team-x"));
        check_command("KAI1201", "team", None);
        check_command("KAI1201", "x; id #", None);
        check_command("KAI1202", "team", Some("kubectl kai queues set dept --gpu-limit 5"));
        check_command("KAI1202", "x; id #", None);
        check_command("KAI1204", "team", Some("kubectl kai queues set team --gpu-quota 4.5"));
        check_command("KAI1203", "team", None);
    }

    #[test]
    fn who_is_not_scheduled_is_told_by_whom() {
        let mut told = known(None, None);
        told.workload.pods.clear();
        told.other_scheduler = Some("default-scheduler".into());
        check(
            &told,
            &[
                "big is not scheduled by KAI: its pods name the scheduler default-scheduler [KAI1215]",
                "It is in no queue, and takes GPUs that KAI believes free.",
                "First thing to try: name kai-scheduler as the scheduler of its pods, or submit it again with kubectl kai submit -f FILE.",
            ],
        );
        let mut told = known(None, None);
        told.silent_seconds = Some(660);
        check(
            &told,
            &[
                "big waits, and the scheduler is not at work [KAI1216]",
                "Nobody has renewed its Lease for 11m: it is down, or cannot reach the API server.",
            ],
        );
    }
}
