//! Tests of things that are heard: how many are kept, and how much is told of them.

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

fn of_owner(uid: &str) -> Object {
    let owner = format!("name: j\nuid: {uid}\nversion: v1\nkind: Job\n");
    let annotations = json!({"kai.scheduler/top-owner-metadata": owner});
    Object::new(json!({"metadata": {"name": "g", "uid": "g", "annotations": annotations}}))
}

fn id(namespace: &str, uid: &str) -> WorkId {
    WorkId { namespace: namespace.into(), uid: uid.into() }
}

/// A UID is told to whoever its workload has evicted, and anybody may write it on a group of their own.
#[test]
fn workloads_of_two_namespaces_are_two_whatever_uid_they_name() {
    let heard = Heard::default();
    for namespace in ["a", "b"] {
        let mut group = of_owner("u").value().clone();
        group["metadata"]["namespace"] = json!(namespace);
        heard.set_group(&Key::new(namespace, "g"), &Object::new(group));
    }
    heard.group_gone(&Key::new("b", "g"));
    let heap = |namespace: &str| heard.heap(&id(namespace, "u")).expect("it is there");
    for (namespace, is_deleted) in [("a", false), ("b", true)] {
        let heap = heap(namespace);
        assert_eq!((heap.who.namespace.as_str(), heap.is_deleted), (namespace, is_deleted));
        assert_eq!(heap.members.len(), 1);
    }
}

/// A pod whose user moves it from group to group is in the last of them, though it was there before.
#[test]
fn a_pod_that_comes_back_to_a_group_has_not_left_it() {
    let heard = Heard::default();
    let key = group(&heard, "n", "g", "q");
    let metadata = json!({"namespace": "n", "name": "p", "uid": "p",
        "creationTimestamp": "2026-01-01T00:00:00Z", "annotations": {"pod-group-name": "g"}});
    let pod = json!({"metadata": metadata, "spec": {}, "status": {"phase": "Pending"}});
    let (object, stored) = (Object::new(pod.clone()), grouping::Pod::from_value(&pod));
    heard.set_pod(&object, &stored);
    heard.pod_gone(&key, &stored.uid);
    heard.set_pod(&object, &stored);
    let heap = heard.heap(&id("n", "g")).expect("it is there");
    let ends: Vec<Second> = heap.members[0].spans.iter().map(Span::end).collect();
    assert_eq!(ends, [Second::MAX]);
}

/// Whoever edits the UID of a group again and again leaves nothing behind.
#[test]
fn a_uid_that_no_group_names_any_more_is_let_go() {
    let heard = Heard::default();
    for uid in ["u", "v", "w"] {
        heard.set_group(&Key::new("", "g"), &of_owner(uid));
    }
    assert_eq!(heard.rows().works.keys().collect::<Vec<_>>(), [&id("", "w")]);
    assert_eq!(heard.take_left(), BTreeSet::from([id("", "u"), id("", "v")]));
    assert_eq!(heard.take_left(), BTreeSet::new());
}

/// Events are written by whoever may, as many as they like, and compared with each other while all else waits.
#[test]
fn evictions_of_a_namespace_are_bounded_and_go() {
    let heard = Heard::default();
    let (own, other) = (group(&heard, "n", "a", "q"), group(&heard, "o", "b", "q"));
    let count = u64::try_from(EVICTIONS_MAX).expect("it is small");
    for said in 0..count + 10 {
        heard.evicted(&own, seen(now(), said), |_| false);
    }
    heard.evicted(&other, seen(now(), 0), |_| false);
    // What is said again is one.
    heard.evicted(&other, seen(now() - 9, 0), |_| false);
    let kept = |key: &Key| heard.rows().evictions_of(key).len();
    assert_eq!((kept(&own), kept(&other)), (EVICTIONS_MAX, 1));
    heard.take_due(now() + EVICTION_AGE_MAX + 1);
    assert_eq!((kept(&own), kept(&other)), (0, 0));
    assert!(heard.rows().evictions.is_empty());
}

#[tokio::test(start_paused = true)]
async fn what_is_due_does_not_wait_for_a_clock_that_was_set_back() {
    clock::follow_tokio(jiff::Timestamp::UNIX_EPOCH);
    let heard = Heard::default();
    heard.listed();
    // A second later, by a clock that was set back by so much.
    let look = async |set_back: Second| {
        tokio::time::advance(std::time::Duration::from_secs(1)).await;
        heard.take_due(now() - set_back).len()
    };
    assert_eq!(look(0).await, 0);
    group(&heard, "n", "a", "q");
    assert_eq!(look(0).await, 0, "it is due in some seconds");
    assert_eq!([look(3_600).await, look(3_600).await, look(3_600).await], [0, 1, 0]);
}

/// A share of GPU memory is looked at again in a minute where its node is away.
#[test]
fn news_of_a_workload_do_not_wait_for_what_is_looked_at_later() {
    for change in ["queue", "end", "look"] {
        let heard = Heard::default();
        heard.listed();
        let key = group(&heard, "n", "g", "q");
        heard.take_due(now() + LAG_SECONDS);
        heard.again(&id("n", "g"), now() + 60);
        match change {
            "queue" => drop(group(&heard, "n", "g", "other")),
            "end" => heard.group_gone(&key),
            _ => heard.again(&id("n", "g"), now()),
        }
        let due = heard.next_due().expect("it is looked at again");
        assert!(due <= now() + LAG_SECONDS, "{change}");
    }
}

/// Nothing would let go of it before its time.
#[test]
fn an_eviction_of_tomorrow_is_none() {
    let heard = Heard::default();
    let own = group(&heard, "n", "a", "q");
    for (ahead, expect) in [(86_400, 0), (120, 0), (30, 1)] {
        heard.evicted(&own, seen(now() + ahead, 0), |_| false);
        assert_eq!(heard.rows().evictions_of(&own).len(), expect, "{ahead}");
    }
}

/// An event that a user made up says a group of another, to be told whose it is.
#[test]
fn an_eviction_tells_of_another_queue_what_its_message_does() {
    let told = |queue: &str, tells: bool| {
        let heard = Heard::default();
        group(&heard, "m", "g", "secret");
        let own = group(&heard, "n", "a", queue);
        heard.evicted(&own, seen(now(), 0), |queue| tells && queue == "secret");
        let seen = heard.rows().evictions_of(&own).pop().expect("it is kept");
        (seen.by_queue.to_string(), seen.by_workload.to_string())
    };
    let all = ("secret".to_owned(), "PodGroup/g".to_owned());
    assert_eq!(told("q", false), Default::default());
    assert_eq!(told("", false), Default::default());
    assert_eq!(told("secret", false), all);
    assert_eq!(told("q", true), all);
}
