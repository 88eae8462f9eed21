//! Checks that limits and quotas hold at every level, and in whose name queues that move are judged.

use k8s_openapi::api::core::v1::Pod;
use kai_sandbox::server::Change;
use serde_json::json;

use super::*;

/// A tree of `top` with a limit of 6 GPUs and `a` and `b` below it, each with a quota of 4, and `c` beside it.
struct Tree {
    queues: QueueTree,
    groups: Groups,
    now: Instant,
}

impl Tree {
    fn new() -> Self {
        let now = Instant::now();
        let mut tree = Self { queues: QueueTree::default(), groups: Groups::new(), now };
        tree.queue("top", &json!({"resources": {"gpu": {"quota": 5, "limit": 6}}}));
        for (name, parent) in [("a", "top"), ("b", "top"), ("c", "")] {
            tree.queue(name, &leaf(parent, -1));
        }
        for (name, queue, is_protected) in
            [("d/a", "a", false), ("d/a-kept", "a", true), ("d/b-kept", "b", true)]
        {
            let queue = queue.to_owned();
            let group = Group { queue, minimum: 1, is_protected, ..Group::default() };
            tree.groups.insert(name.to_owned(), group);
        }
        tree
    }

    fn queue(&mut self, name: &str, spec: &Value) {
        self.queues.queue(name, spec, self.now);
    }

    /// Takes a pod of a group in, which has a node or waits; gives what is passed then, as heard of since a minute ago, and once its
    /// plan is told whole.
    fn pod(&mut self, name: &str, group: &str, gpus: u32, node: Option<&str>) -> Vec<String> {
        let mut found = self.tell(&pod(name, group, gpus, node), Change::Modified);
        found.extend(self.queues.settled(self.now + 2 * TOLD_WITHIN));
        found
    }

    fn tell(&mut self, pod: &Pod, change: Change) -> Vec<String> {
        let since = self.now.checked_sub(Duration::from_mins(1)).unwrap_or(self.now);
        let at = Moment { now: self.now, since, calm: None };
        let mut found = self.queues.settled(self.now);
        found.extend(self.queues.pod(&Shown::of(pod, change), &self.groups, at));
        found
    }

    fn wait(&mut self, seconds: u64) {
        self.now += Duration::from_secs(seconds);
    }
}

fn pod(name: &str, group: &str, gpus: u32, node: Option<&str>) -> Pod {
    serde_json::from_value(json!({
        "metadata": {"name": name, "uid": name, "namespace": "d", "annotations": {"pod-group-name": group}},
        "spec": {"nodeName": node, "containers": [
            {"name": "main", "resources": {"limits": {"nvidia.com/gpu": gpus.to_string()}}},
        ]},
    }))
    .expect("it is a pod")
}

fn leaf(parent: &str, limit: i64) -> Value {
    json!({
        "parentQueue": parent, "reclaimMinRuntime": if parent.is_empty() { "3m" } else { "" },
        "resources": {"gpu": {"quota": 4, "limit": limit}},
    })
}

#[test]
fn a_limit_holds_for_all_below_a_queue() {
    let mut tree = Tree::new();
    assert_eq!(tree.pod("1", "a", 4, None), [""; 0]);
    assert_eq!(tree.pod("1", "a", 4, Some("n")), [""; 0]);
    let found = tree.pod("2", "b-kept", 3, Some("n"));
    assert_eq!(found, ["top has 7000 milli of GPUs of 6000 after 2"]);
    assert_eq!(tree.pod("3", "a", 0, Some("n")), [""; 0], "it asks for none");
}

/// A plan that evicts one pod of a queue and binds another is told in any order.
#[test]
fn what_the_same_plan_evicts_does_not_count() {
    let mut tree = Tree::new();
    let (first, second) = (pod("1", "a", 4, Some("n")), pod("2", "b-kept", 3, Some("n")));
    for (is_evicted, expect) in
        [(true, &[][..]), (false, &["top has 7000 milli of GPUs of 6000 after 2"][..])]
    {
        assert_eq!(tree.tell(&first, Change::Modified), [""; 0]);
        assert_eq!(tree.tell(&second, Change::Modified), [""; 0]);
        tree.wait(1);
        if is_evicted {
            assert_eq!(tree.tell(&first, Change::Deleted), [""; 0]);
        }
        assert_eq!(tree.queues.settled(tree.now + 2 * TOLD_WITHIN), expect);
        tree.tell(&second, Change::Deleted);
    }
}

#[test]
fn a_quota_holds_for_what_is_never_evicted() {
    let mut tree = Tree::new();
    assert_eq!(tree.pod("1", "a", 2, Some("n")), [""; 0]);
    assert_eq!(tree.pod("2", "a-kept", 3, Some("n")), [""; 0]);
    let found = tree.pod("3", "b-kept", 3, Some("n"));
    let expect = [
        "top has 8000 milli of GPUs of 6000 after 3",
        "top has 6000 milli of GPUs for good of a quota of 5000 after 3",
    ];
    assert_eq!(found, expect);
}

#[test]
fn a_limit_that_is_lowered_holds_once_it_was_heard_of() {
    for (seconds, expect) in
        [(30, &[][..]), (90, &["a has 2000 milli of GPUs of 1000 after 1"][..])]
    {
        let mut tree = Tree::new();
        tree.queue("a", &leaf("top", 1));
        tree.wait(seconds);
        assert_eq!(tree.pod("1", "a", 2, Some("n")), expect, "after {seconds} s");
    }
}

#[test]
fn a_queue_that_moves_takes_along_what_it_holds() {
    let mut tree = Tree::new();
    assert_eq!(tree.pod("1", "a", 4, Some("n")), [""; 0]);
    tree.queue("a", &leaf("c", -1));
    tree.wait(90);
    assert_eq!(tree.pod("2", "b-kept", 4, Some("n")), [""; 0]);
    let most = |queue| tree.queues.most_and_own(queue, tree.now);
    assert_eq!((most("c"), most("top")), (Some((4000, 4000)), Some((4000, 5000))));
}

#[test]
fn nothing_is_bound_for_a_queue_that_is_gone() {
    for (gone, seconds, expect) in [
        ("a", 30, &[][..]),
        ("a", 90, &["a is gone, and 1 is bound for it"][..]),
        ("top", 90, &["top is gone, and 1 is bound for it"][..]),
        ("b", 90, &[][..]),
    ] {
        let mut tree = Tree::new();
        tree.queues.queue_gone(gone, tree.now);
        tree.wait(seconds);
        assert_eq!(tree.pod("1", "a", 1, Some("n")), expect, "{seconds} s after {gone} went");
        tree.queue(gone, &leaf("", -1));
        assert_eq!(tree.pod("2", "a", 1, Some("n")), [""; 0], "{gone} is there again");
    }
}

#[test]
fn what_waits_counts_among_what_a_queue_may_have() {
    let mut tree = Tree::new();
    assert_eq!(tree.pod("1", "a", 3, Some("n")), [""; 0]);
    assert_eq!(tree.pod("2", "a", 2, None), [""; 0]);
    assert_eq!(tree.queues.most_and_own("a", tree.now), Some((5000, 4000)));
    assert_eq!(tree.queues.most_and_own("b", tree.now), Some((0, 4000)));
}

#[test]
fn a_share_is_at_most_what_others_leave() {
    let mut tree = Tree::new();
    tree.queues.node("n", 8);
    let share = |tree: &Tree, queue| tree.queues.least_and_share(queue, tree.now);
    assert_eq!(share(&tree, "a"), Some((0, 8000)));
    // Beside it one asks for more than its quota, and one for less.
    assert_eq!(tree.pod("1", "b-kept", 6, None), [""; 0]);
    tree.wait(1);
    assert_eq!(share(&tree, "a"), Some((0, 4000)));
    assert_eq!(tree.pod("2", "a", 2, Some("n")), [""; 0]);
    tree.wait(1);
    assert_eq!(share(&tree, "a"), Some((2000, 4000)));
    assert_eq!(share(&tree, "b"), Some((0, 6000)));
    assert_eq!(share(&tree, "c"), Some((0, 3000)));
}

#[test]
fn the_runtime_before_a_reclaim_is_that_of_the_first_queue_that_is_not_of_both() {
    let mut tree = Tree::new();
    let minutes = |queue: &str, by: &str| tree.queues.reclaim_min_runtime(queue, by);
    assert_eq!(minutes("c", "a"), Some(Duration::from_mins(3)));
    assert_eq!(minutes("a", "c"), None);
    assert_eq!(minutes("a", "b"), None);
    tree.queue("c", &leaf("top", -1));
    assert!(tree.queues.has_moved_since(tree.now));
    assert_eq!(tree.queues.levelled("c", "a"), "c");
}
