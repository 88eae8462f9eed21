//! Devices of pods by examples: the pod under test is `a/p`, what else there is stands beside it.

use serde_json::json;

use super::*;

fn yaml(text: &str) -> Value {
    serde_saphyr::from_str(text).expect("written below")
}

/// A pod of a namespace with these labels and annotations, on a node.
fn pod(name: &str, labels: &str, annotations: &str) -> Value {
    let (namespace, name) = name.split_once('/').expect("namespace/name");
    json!({
        "metadata": {"namespace": namespace, "name": name, "uid": name,
            "labels": yaml(labels), "annotations": yaml(annotations)},
        "spec": {"nodeName": "n", "containers": [{"name": "c"}]},
        "status": {"phase": "Running"},
    })
}

fn reservation(group: &str, uuid: &str) -> Value {
    let labels = format!("{{app: kai-resource-reservation, runai-gpu-group: {group}}}");
    pod(
        "kai-resource-reservation/r",
        &labels,
        &format!("{{run.ai/reserve_for_gpu_index: '{uuid}'}}"),
    )
}

/// The devices of `a/p` among some pods; `own` is what its config map names.
fn check(labels: &str, around: &[Value], own: &[&str], expect: &[&str]) {
    let subject = pod("a/p", labels, "{gpu-fraction: '0.5'}");
    let mut seen = Seen { around: around.to_vec(), is_complete: true, ..Seen::default() };
    seen.reservations = (!around.is_empty()).then(|| reservations(around));
    if !own.is_empty() {
        let own = own.iter().map(|uuid| (*uuid).to_owned()).collect();
        seen.own.insert(("a".into(), "p".into()), own);
    }
    let got: Vec<String> = of_pod(&subject, &seen)
        .iter()
        .map(|on| {
            let group = on.group.as_deref().unwrap_or("-");
            format!("{} of {} ({group}) beside [{}]", on.share, on.place(), on.beside.join(", "))
        })
        .collect();
    assert_eq!(got, expect, "{labels}");
}

#[test]
fn the_reservation_names_the_device() {
    let one = "{runai-gpu-group: g}";
    let ben = pod("b/ben", one, "{gpu-memory: '8192'}");
    let other = pod("b/other", "{runai-gpu-group: h}", "{gpu-fraction: '0.5'}");
    check(
        one,
        &[reservation("g", "GPU-1"), ben, other],
        &[],
        &["0.5 of GPU-1 on n (g) beside [b/ben 8Gi]"],
    );
    check(
        one,
        &[reservation("g", "")],
        &[],
        &["0.5 of a GPU on n, its reservation has not named the device yet (g) beside []"],
    );
    check(
        one,
        &[reservation("h", "GPU-2")],
        &[],
        &["0.5 of a GPU on n, it has no reservation (g) beside []"],
    );
    let mut failed = reservation("g", "GPU-1");
    failed["status"] = json!({"phase": "Failed", "reason": "UnexpectedAdmissionError"});
    check(
        one,
        &[failed.clone()],
        &[],
        &["0.5 of a GPU on n, its reservation failed (UnexpectedAdmissionError) (g) beside []"],
    );
    check(one, &[failed, reservation("g", "GPU-2")], &[], &["0.5 of GPU-2 on n (g) beside []"]);
    let two = "{runai-gpu-group/g: g, runai-gpu-group/h: h}";
    let both = [reservation("h", "GPU-2"), reservation("g", "GPU-1")];
    check(two, &both, &[], &["0.5 of GPU-1 on n (g) beside []", "0.5 of GPU-2 on n (h) beside []"]);
}

#[test]
fn a_pod_that_only_looks_like_a_reservation_names_nothing() {
    let mut fake = reservation("g", "GPU-9");
    fake["metadata"]["namespace"] = json!("a");
    check(
        "{runai-gpu-group: g}",
        &[fake],
        &[],
        &["0.5 of a GPU on n, it has no reservation (g) beside [a/r ?]"],
    );
}

#[test]
fn its_own_config_map_names_the_device_where_reservations_may_not_be_read() {
    check(
        "{runai-gpu-group: g}",
        &[],
        &[],
        &["0.5 of a GPU on n, device not readable (g) beside []"],
    );
    check("{runai-gpu-group: g}", &[], &["GPU-1"], &["0.5 of GPU-1 on n (g) beside []"]);
    let two = "{runai-gpu-group/g: g, runai-gpu-group/h: h}";
    check(
        two,
        &[],
        &["GPU-1", "GPU-2"],
        &["0.5 of GPU-1 on n (-) beside []", "0.5 of GPU-2 on n (-) beside []"],
    );
    check("{}", &[], &[], &["0.5 of a GPU on n, no label names the device (-) beside []"]);
}

#[test]
fn config_maps_are_named_after_the_container_that_gets_the_device() {
    let mut subject =
        pod("a/p", "{}", "{gpu-fraction: '0.5', runai/shared-gpu-configmap: x-shared-gpu}");
    let both = |prefix: &str| Some([prefix.to_owned(), format!("{prefix}-evar")]);
    assert_eq!(config_maps(&subject), both("x-shared-gpu-0"));
    subject["spec"]["initContainers"] = json!([{"name": "i"}]);
    subject["metadata"]["annotations"]["gpu-fraction-container-name"] = json!("i");
    assert_eq!(config_maps(&subject), both("x-shared-gpu-i0"));
    let map = |value: &str| visible(&json!({"data": {"NVIDIA_VISIBLE_DEVICES": value}}));
    assert_eq!(map("GPU-1,GPU-2"), ["GPU-1", "GPU-2"]);
    assert_eq!(map("k8s.device-plugin.nvidia.com/gpu=GPU-1"), ["GPU-1"]);
    assert_eq!(map("void"), [""; 0]);
}

#[test]
fn a_share_of_memory_is_limited_by_a_library_or_not_at_all() {
    let mut subject = pod("a/p", "{}", "{gpu-fraction: '0.5'}");
    assert!(is_memory_unlimited(&subject));
    assert!(
        is_memory_unlimited(&pod("a/p", "{}", "{gpu-fraction: '0.5', mps: 'true'}")),
        "it says so only"
    );
    assert!(!is_memory_unlimited(&pod("a/p", "{}", "{}")), "it shares nothing");
    for name in ["CUDA_DEVICE_MEMORY_LIMIT", "CUDA_MPS_PINNED_DEVICE_MEM_LIMIT"] {
        subject["spec"]["containers"][0]["env"] = json!([{"name": name}]);
        assert!(!is_memory_unlimited(&subject), "{name}");
    }
}
