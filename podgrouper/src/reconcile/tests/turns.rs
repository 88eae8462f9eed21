//! Rounds of one namespace that leave threads and turns to others.

use futures::FutureExt as _;

use super::*;

/// Ten thousand rounds may find all as it is wanted, one after the other, and wait for nothing.
#[tokio::test]
async fn a_worker_gives_its_thread_back_after_each_round() {
    let queue = Arc::new(Queue::new(meters(), WORKERS));
    let reconciler = Arc::new(Server::new().reconciler_of(queue.clone()));
    for number in 0..100 {
        let name = format!("p-{number}");
        let annotations = json!({"pod-group-name": "g"});
        let metadata =
            json!({"namespace": "n", "name": name, "uid": name, "annotations": annotations});
        let pod = json!({"metadata": metadata});
        let (pod, _) = reconciler.store.set_pod(Pod::from_value(&pod), Usage::of(&pod));
        queue.add(Key::of(&pod));
    }
    let mut worker = Box::pin(work(reconciler, queue.clone(), meters()));
    for _ in 0..3 {
        assert!(worker.as_mut().now_or_never().is_none());
    }
    let mut left = 0;
    while let Some(key) = queue.take().now_or_never() {
        queue.done(&key);
        left += 1;
    }
    assert_eq!(left, 97, "each time that it has a thread it goes one round");
}

/// A gang of a thousand pods has as many rounds, and each would wait for its turn to read and compare all of the group.
#[tokio::test(start_paused = true)]
async fn a_large_group_is_compared_once_for_all_pods_that_want_the_same() {
    let (version, kind) = ("leaderworkerset.x-k8s.io/v1", "LeaderWorkerSet");
    let template = json!({"size": 600, "subGroupPolicy": {"subGroupSize": 1}});
    let set = json!({"apiVersion": version, "kind": kind,
        "metadata": {"namespace": "n", "name": "l", "uid": "l", "resourceVersion": "1"},
        "spec": {"replicas": 0, "leaderWorkerTemplate": template}});
    let server = Server::new();
    server.has("/apis/leaderworkerset.x-k8s.io/v1/namespaces/n/leaderworkersets/l", set);
    let owner = json!({"apiVersion": version, "kind": kind, "name": "l", "uid": "l"});
    let reconciler = server.reconciler();
    round(&reconciler, "p-0", owner.clone()).await.expect("it makes the group");
    let key = Key::new("n", "pg-l-l");
    let set_version = |version: &str| {
        let group = reconciler.store.group_at_once(&key).expect("it is made");
        let mut value = group.value().clone();
        value["metadata"]["resourceVersion"] = json!(version);
        reconciler.store.set_group(&key, Some(&Object::new(value)));
    };
    let goes_well = async |name: &str| {
        let done = timeout(Duration::from_secs(1), round(&reconciler, name, owner.clone())).await;
        matches!(done, Ok(Ok(())))
    };
    set_version("7");
    assert!(goes_well("p-1").await);
    let turn = reconciler.compared.take(&"other".into()).await;
    assert!(goes_well("p-2").await, "it is known that the group is as it is wanted");
    set_version("8");
    assert!(!goes_well("p-3").await, "it is another version");
    drop(turn);
    assert!(goes_well("p-3").await);
}
