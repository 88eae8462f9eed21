//! Pods that hold shared GPUs, and pods that use them: which of them count, and which go.

use kai_api::names::annotation;

use super::*;

/// Asks which of two GPUs is shared by the pods of a group on a node.
fn ask() -> Ask {
    let template = Template {
        namespace: Box::from("ns"),
        scheduler_name: Box::from("kai-scheduler"),
        ..Template::default()
    };
    Ask {
        device: 0,
        place: Place { group: Arc::from("g"), node: Box::from("n") },
        among: vec![Box::from("GPU-a"), Box::from("GPU-b")],
        template: Arc::new(template),
    }
}

/// A pod of the name that goes, has ended, or is of another GPU holds this one for nobody.
#[tokio::test(start_paused = true)]
async fn a_reservation_that_is_there_is_one_that_holds_its_gpu() {
    let pod = |group: &str, node: &str| {
        let labels = json!({"runai-gpu-group": group});
        json!({"metadata": {"uid": "r", "labels": labels}, "spec": {"nodeName": node}})
    };
    let (mut leaves, mut has_ended) = (pod("g", "n"), pod("g", "n"));
    leaves["metadata"]["deletionTimestamp"] = json!("2026-01-01T00:00:00Z");
    has_ended["status"] = json!({"phase": "Failed"});
    for (found, is_there) in [
        (pod("g", "n"), true),
        (leaves, false),
        (has_ended, false),
        (pod("other", "n"), false),
        (pod("g", "other"), false),
    ] {
        let said = found.to_string();
        let (outcome, sent) = carry_out(reserve(), found, 409).await;
        let Some(Outcome::Shared(ShareOutcome::Reserved { refused, .. })) = outcome else {
            panic!("{outcome:?}");
        };
        assert_eq!(refused.is_none(), is_there, "{said}");
        let deleted = sent.iter().find(|line| line.starts_with("DELETE"));
        let is_this_one = deleted.is_some_and(|line| line.ends_with(" uid=r"));
        assert_eq!(is_this_one, !is_there, "{said}: {sent:?}");
    }
}

/// Labels are for everyone to write: a pod that another scheduler placed uses no device of ours.
#[tokio::test(start_paused = true)]
async fn pods_that_have_ended_or_are_of_others_use_no_device() {
    for (phase, scheduler, expect) in [
        ("Running", "kai-scheduler", Ending::InUse),
        ("Pending", "kai-scheduler", Ending::InUse),
        ("Succeeded", "kai-scheduler", Ending::Gone(None)),
        ("Running", "default-scheduler", Ending::Gone(None)),
    ] {
        let pod = json!({"metadata": {"uid": "u", "namespace": "ml", "name": "p"},
            "spec": {"schedulerName": scheduler}, "status": {"phase": phase}});
        let place = Place { group: Arc::from("g"), node: Box::default() };
        let template = Arc::new(Template {
            namespace: Box::from("ns"),
            scheduler_name: Box::from("kai-scheduler"),
            ..Template::default()
        });
        let unreserve = Unreserve { device: 0, place, has_failed: false, template };
        let task = Task::Share(ShareTask::Unreserve(unreserve));
        let (outcome, _) = carry_out(task, json!({"items": [pod]}), 200).await;
        let Some(Outcome::Shared(ShareOutcome::Unreserved { ending, .. })) = outcome else {
            panic!("{outcome:?}");
        };
        assert_eq!(ending, expect, "{phase} of {scheduler}");
    }
}

/// Groups are named by whoever labels pods, and two nodes may have one of the same name.
#[tokio::test(start_paused = true)]
async fn only_the_reservation_of_its_node_goes() {
    let on =
        |node: &str| json!({"metadata": {"uid": node, "name": node}, "spec": {"nodeName": node}});
    let (_, sent) = carry_out(unreserve("n"), json!({"items": [on("m"), on("n")]}), 200).await;
    assert_eq!(sent, ["DELETE /api/v1/namespaces/ns/pods/n uid=n"]);
}

/// Tells which reservation pods hold nothing, and that users who leave already are left alone.
#[tokio::test(start_paused = true)]
async fn users_are_ended_where_no_reservation_holds_their_gpu() {
    let holder = |says: Option<&str>, phase: &str| {
        let says = says.map_or(json!({}), |uuid| json!({annotation::RESERVED_GPU: uuid}));
        json!({"metadata": {"uid": "r", "annotations": says}, "status": {"phase": phase}})
    };
    let held = || holder(Some("GPU-a"), "Running");
    let user = |goes_at: Option<&str>| json!({"metadata": {"uid": "u", "namespace": "ml", "name": "p", "deletionTimestamp": goes_at}});
    let leaves = || user(Some("2026-01-01T00:00:00Z"));
    for (holders, user, code, are_ended, is_done) in [
        (vec![], user(None), 200, true, true),
        (vec![held()], user(None), 200, false, false),
        (vec![holder(None, "Pending")], user(None), 200, false, false),
        (vec![holder(Some("GPU-b"), "Running")], user(None), 200, true, true),
        (vec![holder(Some("GPU-a"), "Failed")], user(None), 200, true, true),
        (vec![holder(Some("GPU-b"), "Running"), held()], user(None), 200, false, false),
        (vec![], leaves(), 200, false, true),
        (vec![], user(None), 404, true, true),
        (vec![], user(None), 403, true, false),
    ] {
        let said = format!("{holders:?}, {user}, {code}");
        let find = move |path: &str| match path {
            "/api/v1/pods" => json!({"items": [user]}),
            _ => json!({"items": holders}),
        };
        let (write, sent) = server_that_finds(find, code).await;
        let place = Place { group: Arc::from("g"), node: Box::from("n") };
        let template = Arc::new(Template { namespace: Box::from("ns"), ..Template::default() });
        let given = Some(Box::from("GPU-a"));
        let unprotected = Unprotected { device: 0, place, given, template };
        let task = Task::Share(ShareTask::Unprotected(unprotected));
        let outcome = task.carry_out(&write).await;
        let Some(Outcome::Shared(ShareOutcome::Unprotected { done, .. })) = outcome else {
            panic!("{outcome:?}");
        };
        assert_eq!(done, is_done, "{said}");
        let sent = sent.lock().expect("nobody panics with it");
        let mut deleted = sent.iter().filter(|line| line.starts_with("DELETE"));
        let is_it = |line: &String| line == "DELETE /api/v1/namespaces/ml/pods/p uid=u";
        assert_eq!(deleted.any(is_it), are_ended, "{said}: {sent:?}");
    }
}

/// A user may edit its own config map, and that must not decide which GPU others are taken to have.
#[tokio::test(start_paused = true)]
async fn a_gpu_counts_where_all_config_maps_that_name_one_agree() {
    for (first, second, expect) in [
        (Some("GPU-b"), None, Some("GPU-b")),
        (Some("GPU-b"), Some("GPU-b"), Some("GPU-b")),
        (Some("GPU-other"), Some("GPU-b"), Some("GPU-b")),
        (Some("GPU-b"), Some("GPU-a"), None),
        (None, None, None),
    ] {
        let user = |name: &str| {
            json!({"metadata": {"uid": name, "namespace": "ml", "name": name,
                "annotations": {annotation::SHARED_GPU_CONFIG_MAP: name}},
                "spec": {"schedulerName": "kai-scheduler", "containers": [{"name": "main"}]}})
        };
        let users = json!({"items": [user("first"), user("second")]});
        let map = |uuid: Option<&str>| {
            uuid.map_or(Value::Null, |uuid| json!({"data": {"NVIDIA_VISIBLE_DEVICES": uuid}}))
        };
        let find = move |path: &str| match path {
            "/api/v1/pods" => users.clone(),
            "/api/v1/namespaces/ml/configmaps/first-0-evar" => map(first),
            "/api/v1/namespaces/ml/configmaps/second-0-evar" => map(second),
            _ => Value::Null,
        };
        let (write, _) = server_that_finds(find, 200).await;
        let outcome = Task::Share(ShareTask::Ask(ask())).carry_out(&write).await;
        let Some(Outcome::Shared(ShareOutcome::Asked { told, done, .. })) = outcome else {
            panic!("{outcome:?}");
        };
        assert_eq!((told.as_deref(), done), (expect, true), "{first:?}, {second:?}");
    }
}

/// The reservation pod would be taken away under pods that use its GPU.
#[tokio::test(start_paused = true)]
async fn a_reservation_stays_where_nobody_says_who_uses_its_gpu() {
    let metadata = json!({"uid": "r", "namespace": "ns", "name": "r"});
    let reservation = json!({ "metadata": metadata, "spec": {"nodeName": "n"} });
    let find = move |path: &str| match path {
        "/api/v1/pods" => json!("not now"),
        _ => json!({"items": [reservation]}),
    };
    let (write, sent) = server_that_finds(find, 200).await;
    let place = Place { group: Arc::from("g"), node: Box::from("n") };
    let template = Arc::new(Template { namespace: Box::from("ns"), ..Template::default() });
    let unreserve = Unreserve { device: 0, place, has_failed: false, template };
    let outcome = Task::Share(ShareTask::Unreserve(unreserve)).carry_out(&write).await;
    let Some(Outcome::Shared(ShareOutcome::Unreserved { ending, .. })) = outcome else {
        panic!("{outcome:?}");
    };
    assert_eq!(ending, Ending::Refused);
    let sent = sent.lock().expect("nobody panics with it");
    assert!(sent.is_empty(), "{sent:?}");
}

/// The map may name another GPU than the first: pods that come later would not be told the one that is shared.
#[tokio::test(start_paused = true)]
async fn users_whose_map_cannot_be_read_are_asked_again() {
    let user = json!({"metadata": {"uid": "u", "namespace": "ml", "name": "p",
        "annotations": {annotation::SHARED_GPU_CONFIG_MAP: "p"}},
        "spec": {"schedulerName": "kai-scheduler", "containers": [{"name": "main"}]}});
    let find = move |path: &str| match path {
        "/api/v1/pods" => json!({"items": [user]}),
        _ => json!("not now"),
    };
    let (write, _) = server_that_finds(find, 200).await;
    let outcome = Task::Share(ShareTask::Ask(ask())).carry_out(&write).await;
    let is_open = matches!(
        outcome,
        Some(Outcome::Shared(ShareOutcome::Asked { told: None, done: false, .. }))
    );
    assert!(is_open, "{outcome:?}");
}
