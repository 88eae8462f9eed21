//! Checks what is kept of what is looked at again, and what becomes of what is another pool's or gone.

use super::*;
use crate::{actuate::ShareGrant, names::Number};

#[test]
fn a_device_of_an_unknown_node_is_looked_at_again_once_however_often_its_pods_change() {
    let mut names = Names::new();
    let device = names.devices.intern("g");
    let node = names.nodes.intern("n1");
    let pod = names.pods.intern("a");
    let mut sharing = Sharing::default();
    for now in 0..1_000 {
        let standing = Standing::OnNode(node);
        sharing.told(Told::Sharer { pod, devices: vec![device], standing });
        sharing.settle(now, &names);
    }
    assert_eq!(1, sharing.later.len(), "one look of one device");
    assert_eq!(Some(STRANGE_MS), sharing.wake(), "as was asked first");
}

/// Whoever schedules the pods of another node pool writes their labels for a bind that is under way.
#[test]
fn labels_of_pods_of_other_pools_are_left_alone() {
    for is_ours in [false, true] {
        let mut names = Names::new();
        let group = names.group("ml", "train").number();
        names.groups[group].presence.is_there = is_ours;
        let pod = names.pods.intern("a");
        names.pods[pod].group = Some(group);
        let mut sharing = Sharing { sweep: Sweep::Over, ..Sharing::default() };
        let standing = Standing::Pending { is_labelled: true };
        sharing.told(Told::Sharer { pod, devices: Vec::new(), standing });
        let tasks = sharing.settle(0, &names);
        let is_strip = |task: &Task| matches!(task, Task::Share(ShareTask::Strip(_)));
        assert_eq!(tasks.iter().any(is_strip), is_ours, "{tasks:?}");
    }
}

/// A node stays known by its number for as long as pods are said to be on it, and tells of no device any more.
#[test]
fn binds_that_wait_for_devices_of_a_node_that_goes_go_back() {
    let mut names = Names::new();
    let device = names.devices.intern("g");
    let node = names.nodes.intern("n1");
    names.nodes[node].presence.is_there = true;
    let group = names.group("ns", "train").number();
    let pod = names.pods.intern("a");
    names.pods[pod].group = Some(group);
    let share = ShareGrant {
        devices: vec![device],
        uuids: Vec::new(),
        portion_micro: 500_000,
        memory_mib: None,
        has_cdi: false,
        maps: None,
    };
    let bind = Bind { pod, share: Some(Box::new(share)), ..Bind::of("a", "a", "n1") };
    let mut sharing = Sharing::default();
    assert!(sharing.begin(vec![Task::Bind(bind)], &names).is_empty(), "it waits");
    sharing.settle(0, &names);
    assert!(sharing.take_failed().is_empty(), "its node is there");
    names.nodes[node].presence.is_there = false;
    sharing.settle(1, &names);
    let reasons: Vec<String> = sharing.take_failed().into_iter().map(|one| one.reason).collect();
    assert_eq!(reasons, ["its node is gone"]);
}
