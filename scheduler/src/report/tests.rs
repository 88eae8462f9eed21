//! Conditions as they follow from what is there and what is to be said.

use super::*;

fn told(message: &str) -> Reason {
    Reason {
        code: reason::POD_SCHEDULING_ERRORS,
        message: String::from(message),
        pod: None,
        queue: None,
        prefix: String::new(),
    }
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
    let next = conditions(&current, "default", Some(&told("no room")), NOW).expect("a change");
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
    assert_eq!(conditions(&current, "default", Some(&told("no room")), NOW), None);
    let moved = [current[0].clone(), entry("other", "x", "1")];
    assert!(conditions(&moved, "default", Some(&told("no room")), NOW).is_some());
}

#[test]
fn what_no_longer_holds_goes_and_others_stay() {
    let current = [entry("default", "old", "3"), entry("other", "x", "4")];
    assert_eq!(conditions(&current, "default", None, NOW), Some(vec![current[1].clone()]));
    assert_eq!(conditions(&current[1..], "default", None, NOW), None);
}

#[test]
fn timestamps_are_compared_at_the_second() {
    let stamps = |stale_since, last_start| Stamps { stale_since, last_start, last_eviction: None };
    assert_eq!(stamp_changes(&stamps(None, Some(1000)), &stamps(None, Some(1999))), None);
    assert_eq!(
        stamp_changes(&stamps(Some(1000), None), &stamps(None, Some(60_000))),
        Some(vec![
            ("kai.scheduler/stale-podgroup-timestamp", None),
            ("kai.scheduler/last-start-timestamp", Some(String::from("1970-01-01T00:01:00Z"))),
        ])
    );
}
