//! Pods and budgets that say more than is kept or believed of one.

use super::*;

/// A pod of the API with a request of one container.
fn pod_that_asks(number: u32, request: &BTreeMap<String, &str>) -> Value {
    json!({
        "kind": "Pod",
        "metadata": { "name": "p", "uid": format!("00000000-0000-0000-0000-{number:012}") },
        "spec": { "containers": [{ "name": "main", "resources": { "requests": request } }] },
    })
}

/// Compares what is told of pods that name many resources beside GPUs, but for the resources.
fn check_many(objects: Vec<Value>, expect: &[&str]) {
    let case = Case { objects, ..Case::default() };
    let told = told(&case);
    let lines: Vec<String> = told
        .lines()
        .filter_map(|line| Some(format!("gpu={}", line.split_once(" gpu=")?.1)))
        .collect();
    assert_eq!(lines, expect);
}

/// A pod that selects namespaces in eight ways that no other pod does.
fn pod_that_selects(number: u32) -> Value {
    let term = |way: u32| {
        let expression =
            json!({ "key": "team", "operator": "NotIn", "values": [format!("{number}-{way}")] });
        json!({ "topologyKey": "host", "namespaceSelector": { "matchExpressions": [expression] } })
    };
    let terms: Vec<Value> = (0..8).map(term).collect();
    let apart = json!({ "requiredDuringSchedulingIgnoredDuringExecution": terms });
    json!({
        "kind": "Pod",
        "metadata": { "name": "p", "namespace": "ml", "uid": format!("00000000-0000-0000-0000-{number:012}") },
        "spec": { "containers": [], "affinity": { "podAntiAffinity": apart } },
    })
}

#[test]
fn pods_of_a_namespace_select_others_in_so_many_ways() {
    let mut elsewhere = pod_that_selects(9);
    elsewhere["metadata"]["namespace"] = json!("web");
    let mut objects: Vec<Value> = (1..=9).map(pod_that_selects).collect();
    // One that goes leaves room for those that come then.
    let gone = json!({ "deleted": "Pod", "metadata": objects[0]["metadata"] });
    objects.extend([objects[1].clone(), elsewhere, gone, pod_that_selects(10)]);
    let told = told(&Case { objects, ..Case::default() });
    let pods = told.lines().filter(|line| line.contains("foreign"));
    let refused: Vec<bool> = pods.map(|line| line.contains("in more than 64 ways")).collect();
    let mut expect = vec![false; 12];
    expect[8] = true;
    assert_eq!(refused, expect, "{told}");
}

/// Names are kept for as long as the process runs, and those of a pod that is refused with all others.
#[test]
fn what_is_more_than_is_compared_is_not_kept() {
    let texts = |count: u32| -> Vec<String> { (0..count).map(|at| format!("t{at}")).collect() };
    let labels: BTreeMap<String, String> =
        texts(5_000).into_iter().map(|text| (text.clone(), text)).collect();
    let of = |spec: Value| {
        json!({ "kind": "Pod", "metadata": { "name": "a", "namespace": "ml", "uid":
            "00000000-0000-0000-0000-000000000001" }, "spec": spec })
    };
    let values = json!([{ "key": "zone", "operator": "In", "values": texts(5_000) }]);
    let terms = |selector: &str| {
        json!({ "affinity": { "podAntiAffinity": { "requiredDuringSchedulingIgnoredDuringExecution": [
            { "topologyKey": "host", selector: { "matchExpressions": values } }] } } })
    };
    let keys: Vec<Value> = texts(5_000).iter().map(|key| json!({ "topologyKey": key })).collect();
    let tolerations: Vec<Value> = texts(5_000).iter().map(|key| json!({ "key": key })).collect();
    let ports: Vec<Value> = (0..5_000)
        .map(|at| json!({ "hostPort": 80, "hostIP": format!("10.0.{}.{}", at / 250, at % 250) }))
        .collect();
    let claim = json!({ "kind": "PersistentVolumeClaim", "metadata": { "name": "a", "namespace": "ml" },
        "spec": { "selector": { "matchLabels": labels } } });
    let budget = json!({ "kind": "PodDisruptionBudget", "metadata": { "name": "a", "namespace": "ml" },
        "spec": { "selector": { "matchLabels": labels } } });
    for (object, kept_max) in [
        (of(json!({ "nodeSelector": labels })), 20),
        (of(terms("labelSelector")), 20),
        (of(terms("namespaceSelector")), 20),
        (of(json!({ "topologySpreadConstraints": keys })), 20),
        (of(json!({ "tolerations": tolerations })), 300),
        (of(json!({ "containers": [{ "ports": ports }] })), 300),
        (claim, 20),
        (budget, 20),
    ] {
        let mut ingest = ingest(&Case::default());
        let before = ingest.context.names.symbol("before").number();
        apply(&mut ingest, &object);
        let kept = ingest.context.names.symbol("after").number() - before;
        assert!(kept <= kept_max, "{kept} names of {}", &object.to_string()[..150]);
    }
    let ways = told(&Case { objects: vec![of(terms("namespaceSelector"))], ..Case::default() });
    assert!(ways.contains("it has 5002 labels, values and namespaces"), "{ways}");
}

/// The API server heeds a budget whatever it names: no plan may count on what it refuses.
#[test]
fn a_budget_that_names_too_much_keeps_all_pods_of_its_namespace() {
    let budget = |count: u32| {
        let values: Vec<String> = (0..count).map(|at| format!("v{at}")).collect();
        let expressions = json!([{ "key": "k", "operator": "NotIn", "values": values }]);
        json!({ "kind": "PodDisruptionBudget", "metadata": { "name": "a", "namespace": "ml" },
            "spec": { "selector": { "matchExpressions": expressions } },
            "status": { "disruptionsAllowed": 1 } })
    };
    let objects = vec![budget(1), budget(4_096), budget(1)];
    let told = told(&Case { objects, ..Case::default() });
    let expect = [
        "budget 0 allows 1 of ml/(k:not-in[v0])",
        "budget 0 allows 0 of ml/()",
        "budget 0 allows 1 of ml/(k:not-in[v0])",
    ];
    assert_eq!(told.lines().collect::<Vec<_>>(), expect);
}

/// The API takes a megabyte in some fields, and any number of labels.
#[test]
fn of_long_texts_no_more_is_kept_than_names_have() {
    let long = "n".repeat(200_000);
    let meta = |annotation: &str, labels: &Value| {
        json!({ "name": "a", "namespace": "ml", "uid": "00000000-0000-0000-0000-000000000001", "labels": labels,
            "annotations": { annotation: long } })
    };
    let claim = |metadata: Value, spec: Value| json!({ "kind": "PersistentVolumeClaim", "metadata": metadata, "spec": spec });
    let group = |metadata: Value, spec: Value| json!({ "kind": "PodGroup", "metadata": metadata, "spec": spec });
    let pod = |metadata: Value, scheduler: &str, node: &str| json!({ "kind": "Pod", "metadata": metadata, "spec": { "schedulerName": scheduler, "nodeName": node } });
    let devices: BTreeMap<String, String> =
        (0..20_000).map(|at| (format!("runai-gpu-group/{at}"), format!("{at:020}"))).collect();
    let devices = json!(devices);
    let plain = json!({ "name": "a", "namespace": "ml" });
    let owned = json!({ "name": "a", "namespace": "ml", "ownerReferences": vec![json!({ "uid": long }); 40] });
    let none = json!({});
    for (object, bytes_max) in [
        (claim(plain.clone(), json!({ "volumeName": long })), 10_000),
        (claim(plain.clone(), json!({ "accessModes": vec!["ReadOnlyMany"; 20_000] })), 10_000),
        (claim(owned, none.clone()), 40_000),
        (claim(meta("volume.kubernetes.io/selected-node", &none), none.clone()), 10_000),
        (claim(meta("volume.beta.kubernetes.io/storage-class", &none), none.clone()), 10_000),
        (group(plain, json!({ "priorityClassName": long })), 10_000),
        (group(meta("kai.scheduler/explanation", &none), none.clone()), 80_000),
        (pod(meta("pod-group-name", &none), "kai-scheduler", ""), 10_000),
        (pod(meta("a", &devices), "kai-scheduler", ""), 200_000),
        (pod(meta("a", &devices), "default-scheduler", ""), 30_000),
        (pod(meta("a", &devices), "default-scheduler", "n1"), 30_000),
    ] {
        let mut ingest = ingest(&Case::default());
        let before = format!("{ingest:?}").len();
        apply(&mut ingest, &object);
        let kept = format!("{ingest:?}").len() - before;
        assert!(kept <= bytes_max, "{kept} bytes of {}", &object.to_string()[..150]);
        let devices = ingest.context.names.devices.len();
        assert_eq!(devices, 0, "a label names no device of a pod that nobody here gave one");
    }
}

#[test]
fn gpus_are_counted_whatever_else_a_pod_names() {
    let named = |from: u32, count: u32, amount| -> BTreeMap<String, &str> {
        let others = (from..from + count).map(|at| (format!("a.example/{at}"), amount));
        others.chain([(String::from("nvidia.com/gpu"), "8")]).collect()
    };
    let all = "gpu=Whole(8)";
    check_many(vec![pod_that_asks(1, &named(0, 260, "0"))], &[all]);
    let cut = "gpu=Whole(8) missing=request:a container asks for more than 256 resources, which is \
               more than are counted: ask for fewer";
    check_many(vec![pod_that_asks(1, &named(0, 260, "1"))], &[cut]);
    // Many containers name many together; what queues are there for counts, and none of the others.
    let mut many = pod_that_asks(1, &named(0, 8, "1"));
    let container =
        |at: u32| json!({ "name": "c", "resources": { "requests": named(250 * at, 250, "1") } });
    many["spec"]["initContainers"] = (0..3).map(container).collect();
    let overlong = "gpu=Whole(8) missing=request:its containers ask for more than 512 resources, which is \
                    more than are counted: ask for fewer";
    check_many(vec![many], &[overlong]);
    let pods = (0..17).map(|pod| pod_that_asks(pod, &named(pod * 250, 250, "1"))).collect();
    let unknown = "gpu=Whole(8) missing=request:resource a.example/4096 is on no node, and pods ask \
                   for too many such resources to count it: ask for one that a node has";
    let mut expect = vec![all; 16];
    expect.push(unknown);
    check_many(pods, &expect);
}

/// Tells by what is written with each bind who was bound; policies refuse it on others.
#[test]
fn who_was_put_on_a_node_past_the_scheduler_is_told_as_that() {
    for (group, node, received, expect) in [
        ("g", "n1", None, true),
        ("g", "n1", Some("Regular"), false),
        ("g", "", None, false),
        ("", "n1", None, false),
    ] {
        let mut annotations = json!({ "pod-group-name": group });
        if let Some(received) = received {
            annotations["received-resource-type"] = json!(received);
        }
        let mut ingest = ingest(&Case::default());
        let pod = json!({ "kind": "Pod", "metadata": { "name": "a", "namespace": "ml",
            "uid": "00000000-0000-0000-0000-000000000001", "annotations": annotations },
            "spec": { "schedulerName": "kai-scheduler", "nodeName": node } });
        apply(&mut ingest, &pod);
        let told = told_last(&ingest, 0).expect("the pod was told");
        assert_eq!(told.unplanned, expect, "{group} {node} {received:?}");
    }
}
