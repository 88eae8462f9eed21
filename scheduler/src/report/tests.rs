//! Conditions as they follow from what is there and what is to be said.

use jiff::Timestamp;
use kai_api::explanation::Explanation;
use serde_json::json;

use super::{
    desired::Standing,
    stamps::{changes, left_to_eviction},
    *,
};
use crate::message::Told;
use crate::{actuate::Stamps, message::Error, names::Number as _};

fn told(messages: &[&str]) -> Told {
    let error = |message: &&str| Error {
        code: reason::POD_SCHEDULING_ERRORS,
        message: String::from(*message),
        label: String::new(),
        queue: None,
    };
    Told { errors: messages.iter().map(error).collect(), ..Told::default() }
}

fn entry(pool: &str, message: &str, transition: &str) -> Value {
    json!({
        "type": "UnschedulableOnNodePool",
        "nodePool": pool,
        "message": message,
        "status": "True",
        "transitionID": transition,
    })
}

const NOW: Timestamp = Timestamp::UNIX_EPOCH;

#[test]
fn the_pools_conditions_become_one_at_the_end() {
    let current =
        [entry("default", "old", "3"), entry("other", "x", "4"), entry("default", "o", "5")];
    let next = with(&current, "default", &told(&["no room"]), NOW).expect("a change");
    assert_eq!(next.len(), 2);
    assert_eq!(next[0], current[1]);
    assert_eq!(next[1]["transitionID"], "6");
    assert_eq!(next[1]["message"], "PodSchedulingErrors: no room.");
    assert_eq!(next[1]["reasons"][0]["reason"], "PodSchedulingErrors");
    assert_eq!(next[1]["lastTransitionTime"], "1970-01-01T00:00:00Z");
}

#[test]
fn the_same_words_at_the_end_stay() {
    let current = [entry("default", "PodSchedulingErrors: no room.", "x")];
    assert_eq!(with(&current, "default", &told(&["no room"]), NOW), None);
    let moved = [current[0].clone(), entry("other", "x", "1")];
    assert!(with(&moved, "default", &told(&["no room"]), NOW).is_some());
    let mut untrue = current[0].clone();
    untrue["status"] = json!("False");
    assert!(with(&[untrue], "default", &told(&["no room"]), NOW).is_some());
}

#[test]
fn several_errors_are_one_message_and_a_reason_each() {
    let next = with(&[], "default", &told(&["rack b", "rack a", "rack b"]), NOW).expect("a change");
    assert_eq!(next[0]["message"], "Unable to schedule podgroup: 2 rack b. \nrack a.");
    let reasons = next[0]["reasons"].as_array().expect("a list");
    assert_eq!(reasons.len(), 3);
    assert!(reasons.iter().all(|one| one["reason"] == "PodSchedulingErrors"));
}

#[test]
fn gates_alone_are_no_error() {
    let next = with(&[], "default", &told(&[]), NOW).expect("a change");
    assert_eq!(next[0]["message"], "Unable to schedule podgroup");
    assert_eq!(next[0]["reasons"], json!([]));
}

#[test]
fn the_pods_own_words_have_the_pool_in_front_too() {
    let pod = Some((7, String::from("no node")));
    let told = Told { pod, prefix: String::from("Node-Pool 'p': "), ..told(&["no room"]) };
    assert_eq!(told.text_of(7, "all"), "Node-Pool 'p': no node");
    assert_eq!(told.text_of(8, "all"), "all");
    assert_eq!(told.text(), "Node-Pool 'p': PodSchedulingErrors: no room.");
}

/// Pending, gated, comes, active; what there is to say; what becomes of the condition.
#[test]
fn a_condition_stays_while_anything_waits_or_comes() {
    let told = told(&["no room"]);
    let says = Condition::Says(&told);
    let table = [
        ("a gang without room", [true, false, false, false], true, says),
        ("one with gated pods only", [false, true, false, false], true, says),
        ("one that is not ready any more", [true, false, false, false], false, Condition::Stays),
        ("one that grows", [true, false, false, true], true, Condition::Stays),
        ("one whose binds are under way", [true, false, true, true], true, Condition::Stays),
        ("one that is promised room", [false, false, true, true], false, Condition::Stays),
        ("one that runs", [false, false, false, true], false, Condition::Goes),
        ("one without pods", [false, false, false, false], false, Condition::Goes),
    ];
    for (what, [pending, gated, comes, active], says, expect) in table {
        let pending = if pending { vec![0] } else { Vec::new() };
        let standing = Standing { pending, gated, comes, active };
        assert_eq!(standing.condition(Some(&told).filter(|_| says)), expect, "{what}");
    }
}

#[test]
fn what_no_longer_holds_goes_and_others_stay() {
    let current = [entry("default", "old", "3"), entry("other", "x", "4")];
    assert_eq!(without(&current, "default"), Some(vec![current[1].clone()]));
    assert_eq!(without(&current[1..], "default"), None);
}

fn explanation_of(code: &str, sentence: &str) -> Explanation {
    let (code, sentence) = (String::from(code), String::from(sentence));
    Explanation { code, sentence, ..Explanation::default() }
}

/// A group on which this explanation is written.
fn explained(written: Explanation) -> Record {
    let text = written.write().into_boxed_str();
    Record { explanation: Some(text), ..Record::default() }
}

/// Other words are said anew after a pause, but those of an earlier process, which nobody said lately, at once.
#[test]
fn an_explanation_of_an_earlier_process_makes_way_at_once() {
    let mut report = Report::default();
    let mut explain = |now: &Explanation, before: &Explanation, at| {
        report.explain(7, Some(|| Some(now.clone())), &explained(before.clone()), at).is_some()
    };
    let before = explanation_of("KAI1203", "1 node is free");
    let now = explanation_of("KAI1202", "it is over its limit");
    let later = explanation_of("KAI1203", "2 nodes are free");
    assert!(explain(&now, &before, 1_000));
    assert!(!explain(&later, &now, 2_000));
    assert!(explain(&later, &now, 1_000 + RESAY_MILLISECONDS));
    assert_eq!(report.next(), Some(1_000 + RESAY_MILLISECONDS));
}

/// Thousands that are alike have other numbers in the same cycle.
#[test]
fn no_explanation_is_made_before_it_is_due() {
    let mut report = Report::default();
    let untimely = || -> Option<Explanation> { panic!("it is made before it is due") };
    assert!(report.explain(7, Some(untimely), &Record::default(), 0).is_none());
    assert_eq!(report.next(), Some(250));
    let told = explanation_of("KAI1203", "1 node is free");
    let make = || Some(told.clone());
    assert!(report.explain(7, Some(make), &Record::default(), 250).is_some());
    assert!(report.explain(7, Some(untimely), &explained(told), 5_249).is_none());
    assert!(report.due(5_249).contains(&7), "what was due before");
    assert_eq!(report.next(), Some(5_250));
}

/// Numbers beside the sentence are no news.
#[test]
fn other_numbers_of_an_explanation_wait_for_longer() {
    let mut report = Report::default();
    let told = explanation_of("KAI1203", "1 node is free");
    let other = Explanation { proofs: vec![String::from("3 are needed")], ..told.clone() };
    let mut is_written = |now: &Explanation, before: Record, at| {
        report.explain(7, Some(|| Some(now.clone())), &before, at).is_some()
    };
    assert!(is_written(&told, explained(other.clone()), 0));
    assert!(!is_written(&other, explained(told.clone()), 9_999));
    assert!(!is_written(&told, explained(told.clone()), 10_000), "it is written already");
    assert!(is_written(&other, explained(told.clone()), 10_000));
}

/// One that has news again meanwhile is looked at once, and one that is gone not at all.
#[test]
fn of_many_groups_with_news_so_many_are_looked_at_in_a_cycle() {
    const GROUPS: u32 = 600;
    let mut report = Report::default();
    for group in 0..GROUPS {
        report.wait(group, if group == GROUPS - 1 { "small" } else { "large" });
    }
    let first = report.in_turn();
    assert_eq!((first.len(), report.next()), (GROUPS_MAX, Some(i64::MIN)));
    assert!(first.contains(&(GROUPS - 1)), "the other namespace has its turn");
    report.wait(0, "large");
    report.wait(300, "large");
    report.forget(301);
    let rest: Vec<u32> = iter::from_fn(|| Some(report.in_turn()).filter(|few| !few.is_empty()))
        .inspect(|few| assert!(few.len() <= GROUPS_MAX))
        .flatten()
        .collect();
    let expect: Vec<u32> = (255..GROUPS - 1).filter(|group| *group != 301).chain([0]).collect();
    assert_eq!((rest, report.next()), (expect, None));
}

#[test]
fn timestamps_are_compared_at_the_second() {
    let stamps = |stale_since, last_start| Stamps { stale_since, last_start, last_eviction: None };
    assert_eq!(changes(&stamps(None, Some(1000)), &stamps(None, Some(1999))), None);
    assert_eq!(
        changes(&stamps(Some(1000), None), &stamps(None, Some(60_000))),
        Some(vec![
            ("kai.scheduler/stale-podgroup-timestamp", None),
            ("kai.scheduler/last-start-timestamp", Some(String::from("1970-01-01T00:01:00Z"))),
        ])
    );
}

#[test]
fn when_it_was_evicted_is_written_here_where_the_eviction_could_not() {
    let evicted = |at| Stamps { last_eviction: at, ..Stamps::default() };
    let left = |known, at, now| {
        let mut wanted = evicted(at);
        (left_to_eviction(&evicted(known), &mut wanted, now), wanted.last_eviction)
    };
    assert_eq!(left(None, None, 9_000), (None, None));
    assert_eq!(left(None, Some(10_000), 10_000), (Some(5_000), None), "the eviction writes it");
    assert_eq!(left(Some(3_000), Some(10_000), 14_999), (Some(1), Some(3_000)));
    assert_eq!(left(None, Some(10_000), 15_000), (None, Some(10_000)), "it could not");
    assert_eq!(left(Some(10_000), Some(10_900), 11_000), (None, Some(10_900)), "it has");
}

/// A claim whose devices change is waited for as long as it was at first.
#[test]
fn selectors_that_are_evaluated_again_are_waited_for_anew() {
    let mut report = Report::default();
    for (awaits_selectors, now, is_put_off) in [
        (true, 0, true),
        (true, 4_999, true),
        (true, 5_000, false),
        (false, 5_100, false),
        (true, 6_000, true),
    ] {
        let group = GroupReport {
            strays: Vec::new(),
            not_ready: None,
            told: None,
            awaits_selectors,
            standing: Standing::default(),
        };
        assert_eq!(report.awaits_selectors(7, &group, now), is_put_off, "at {now} ms");
    }
}

/// Whoever edits a group to and fro has a few of its reasons said at once; what it is in the end is said later.
#[test]
fn reasons_in_turns_are_said_a_few_times_in_a_pause() {
    let mut report = Report::default();
    let mut said = Vec::new();
    for (now, code) in (0..100).map(|at| at * 100).zip(["one", "other"].into_iter().cycle()) {
        said.extend((report.news(7, code, "text", now) == News::New).then_some(now));
    }
    assert_eq!(said, [0, 100, 200, 5_100, 5_200, 5_300]);
    assert_eq!(report.news(7, "one", "text", 9_950), News::Early);
    assert_eq!(report.due(9_999), [7]);
    assert_eq!(report.next(), Some(10_100));
    assert_eq!(report.news(7, "one", "text", 10_100), News::New);
}

/// So are the words on its pods; those of a pod without any are written at once, and all share one text.
#[test]
fn pods_get_other_words_a_few_times_in_a_pause() {
    let mut names = Names::new();
    let pods = ["a", "b", "late"].map(|uid| names.pod(uid).number());
    let mut report = Report::default();
    let mut marked = |now, words: &str, pods: &[u32]| {
        let text = Text::of(words);
        let marks = pods.iter().filter_map(|pod| mark(*pod, text.clone(), &names)).collect();
        let marks = report.in_pace(7, marks, &names, now);
        assert!(marks.iter().all(|mark| Arc::ptr_eq(&mark.message, &text.message)));
        let tasks: Vec<Task> = marks.into_iter().map(Task::Pod).collect();
        remember_marks(&tasks, &mut names);
        tasks.len()
    };
    let steps = [(0, "one"), (100, "other"), (200, "one"), (300, "other"), (400, "one")];
    assert_eq!(steps.map(|(now, words)| marked(now, words, &pods[..2])), [2, 2, 2, 2, 0]);
    assert_eq!(marked(500, "one", &pods), 1);
    assert_eq!(marked(5_099, "one", &pods), 0);
    assert_eq!(marked(5_100, "one", &pods), 2);
    assert_eq!(marked(5_100, "one", &pods), 0);
    assert_eq!(report.next(), Some(5_100));
}
