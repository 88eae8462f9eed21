//! What is kept of what is heard, and what is told of it.

use serde_json::{Value, json};

use super::*;

fn group(heard: &Heard, namespace: &str, name: &str, queue: &str) -> Key {
    let key = Key::new(namespace, name);
    let metadata = json!({"namespace": namespace, "name": name, "uid": name});
    let value: Value = json!({"metadata": metadata, "spec": {"queue": queue}});
    heard.set_group(&key, &Object::new(value));
    key
}

fn seen(at: Second, said: u64) -> Seen {
    let [action, by_namespace, by_pod_group] = ["reclaim", "m", "g"].map(Arc::from);
    let (by_workload, by_queue, names) = Default::default();
    Seen { at, action, by_namespace, by_pod_group, by_workload, by_queue, names, said }
}

/// Events are written by whoever may, as many as they like, and compared with each other while all else waits.
#[test]
fn evictions_of_a_namespace_are_bounded_and_go() {
    let heard = Heard::default();
    let (own, other) = (group(&heard, "n", "a", "q"), group(&heard, "o", "b", "q"));
    let count = u64::try_from(EVICTIONS_MAX).expect("it is small");
    for said in 0..count + 10 {
        heard.evicted(&own, seen(now(), said), "");
    }
    heard.evicted(&other, seen(now(), 0), "");
    // What is said again is one.
    heard.evicted(&other, seen(now() - 9, 0), "");
    let kept = |key: &Key| heard.rows().evictions_of(key).len();
    assert_eq!((kept(&own), kept(&other)), (EVICTIONS_MAX, 1));
    heard.take_due(now() + EVICTION_AGE_MAX + 1);
    assert_eq!((kept(&own), kept(&other)), (0, 0));
    assert!(heard.rows().evictions.is_empty());
}

/// An event that a user made up says a group of another, to be told whose it is.
#[test]
fn an_eviction_tells_of_another_queue_what_its_message_does() {
    let told = |queue: &str, message: &str| {
        let heard = Heard::default();
        group(&heard, "m", "g", "secret");
        let own = group(&heard, "n", "a", queue);
        heard.evicted(&own, seen(now(), 0), message);
        let seen = heard.rows().evictions_of(&own).pop().expect("it is kept");
        (seen.by_queue.to_string(), seen.by_workload.to_string())
    };
    let all = ("secret".to_owned(), "PodGroup/g".to_owned());
    assert_eq!(told("q", "Pod n/p was preempted by workload m/g."), Default::default());
    assert_eq!(told("", ""), Default::default());
    assert_eq!(told("secret", ""), all);
    assert_eq!(told("q", "Pod n/p was preempted by workload m/g.\nsecret uses 1 GPU"), all);
}
