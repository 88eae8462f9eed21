//! Whatever a pod or an object looks like, admission answers, leaves alone what is not its own, and agrees with itself.

use kai_api::config::ConfigSpec;
use kai_podgrouper::admission::review::{
    Answer, Context, Hook, Request, Verdict, answer, read, write,
};
use kai_podgrouper::admission::settings::{Flags, Settings};
use proptest::prelude::*;
use proptest::sample::select;
use serde_json::{Map, Value, json};

fn settings(config: &Value) -> Settings {
    let config: ConfigSpec = serde_json::from_value(config.clone()).expect("a Config");
    let flags = Flags { scheduler: "kai-scheduler".into(), queue_label: "queue".into() };
    Settings::of(Some(&config), &flags)
}

fn ask(hook: Hook, object: &Value, old: Option<&Value>, settings: &Settings) -> Answer {
    let request = Request {
        uid: String::new(),
        operation: if old.is_some() { "UPDATE" } else { "CREATE" }.to_owned(),
        namespace: "ns".to_owned(),
        object: object.clone(),
        old_object: old.cloned().unwrap_or_default(),
    };
    answer(hook, &request, &Context { settings, queues: None, token: "0a1b2c3" })
}

/// Gives what the pod becomes; none where it is refused.
fn changed(pod: &Value, settings: &Settings) -> Option<Value> {
    let mut pod = pod.clone();
    match ask(Hook::MutatePod, &pod, None, settings).verdict {
        Verdict::Denied(_) => return None,
        Verdict::Allowed => {}
        Verdict::Patched(patch) => json_patch::patch(&mut pod, &patch).expect("a patch that fits"),
    }
    Some(pod)
}

/// Any JSON, a few levels deep, with the keys that are read.
fn any_json() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<f64>().prop_map(|number| json!(number)),
        select(TEXTS).prop_map(Value::from),
        ".{0,8}".prop_map(Value::from),
    ];
    leaf.prop_recursive(6, 64, 4, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
            prop::collection::btree_map(select(KEYS).prop_map(str::to_owned), inner, 0..5)
                .prop_map(|table| Value::Object(table.into_iter().collect::<Map<_, _>>())),
        ]
    })
}

const KEYS: &[&str] = &[
    "metadata",
    "spec",
    "annotations",
    "labels",
    "name",
    "generateName",
    "ownerReferences",
    "containers",
    "initContainers",
    "ephemeralContainers",
    "env",
    "envFrom",
    "volumes",
    "value",
    "valueFrom",
    "resources",
    "limits",
    "requests",
    "nvidia.com/gpu",
    "gpu-fraction",
    "gpu-memory",
    "gpu-fraction-num-devices",
    "gpu-fraction-container-name",
    "mps",
    "schedulerName",
    "runai/shared-gpu-configmap",
    "subGroups",
    "parent",
    "minMember",
    "minSubGroup",
    "levels",
    "alias",
    "nodeLabel",
    "runtimeClassName",
    "namespace",
    "configMapRef",
    "configMap",
    "",
];

const TEXTS: &[&str] = &[
    "kai-scheduler",
    "0.5",
    "NaN",
    "0x1p-1",
    "-1",
    "1e400",
    "a",
    "b",
    "ns",
    "all",
    "void",
    "a-0a1b2c3-shared-gpu",
    "NVIDIA_VISIBLE_DEVICES",
    "",
    "\u{0}",
    "ä\u{202e}",
];

const NUMBERS: &[&str] = &[
    "0.5",
    "5e-1",
    ".1",
    "1",
    "NaN",
    "0x1p-1",
    "-0.5",
    "1e400",
    "0",
    "2000",
    "2Gi",
    "",
    "9999999999999999999999",
    "1_0",
    "0.99999999999999999999",
];

/// A pod as users make them, with odd values in the places that admission reads.
fn pod() -> impl Strategy<Value = Value> {
    let numbers = select(NUMBERS);
    let annotation = (
        select(&["gpu-fraction", "gpu-memory", "gpu-fraction-num-devices", "mps", "other"][..]),
        prop_oneof![numbers, Just("true")],
    );
    let variable = prop_oneof![
        (
            select(
                &["NVIDIA_VISIBLE_DEVICES", "GPU_PORTION", "PATH", "CUDA_DEVICE_MEMORY_LIMIT"][..]
            ),
            select(&["all", "void", "none", ""][..])
        )
            .prop_map(|(name, value)| json!({"name": name, "value": value})),
        Just(
            json!({"name": "NVIDIA_VISIBLE_DEVICES", "valueFrom": {"fieldRef": {"fieldPath": "metadata.name"}}})
        ),
    ];
    let container = (prop::collection::vec(variable, 0..3), select(&["0", "1", "", "9"][..]));
    let container = container.prop_map(|(env, gpus)| {
        let mut container = json!({"image": "i", "env": env});
        if !gpus.is_empty() {
            container["resources"] = json!({"limits": {"nvidia.com/gpu": gpus}});
        }
        container
    });
    let containers = prop::collection::vec(container, 1..4);
    let name = prop_oneof!["[a-z][a-z0-9.-]{0,70}", ".{0,20}"];
    let named = prop::option::of(select(&["c0", "c1", "i0", "nosuch", ""][..]));
    let annotations = prop::collection::vec(annotation, 0..3);
    (annotations, named, name, containers.clone(), containers, any::<bool>()).prop_map(
        |(annotations, named, name, regular, init, has_init)| {
            let numbered = |rows: Vec<Value>, letter: &str| -> Vec<Value> {
                let name = |(index, mut row): (usize, Value)| {
                    row["name"] = json!(format!("{letter}{index}"));
                    row
                };
                rows.into_iter().enumerate().map(name).collect()
            };
            let mut pod = json!({"metadata": {"name": name, "annotations": {}},
                "spec": {"schedulerName": "kai-scheduler", "containers": numbered(regular, "c")}});
            for (key, value) in annotations {
                pod["metadata"]["annotations"][key] = json!(value);
            }
            if let Some(named) = named {
                pod["metadata"]["annotations"]["gpu-fraction-container-name"] = json!(named);
            }
            if has_init {
                pod["spec"]["initContainers"] = json!(numbered(init, "i"));
            }
            pod
        },
    )
}

fn any_settings() -> impl Strategy<Value = Settings> {
    (any::<bool>(), any::<bool>(), any::<bool>(), select(&["", "nvidia"][..])).prop_map(
        |(sharing, hamicore, hidden, class)| {
            settings(&json!({"admission": {"gpuSharing": sharing, "blockNvidiaVisibleDevices": hidden,
                "gpuFractionRuntimeClassName": class}, "binder": {"plugins": {"hamicore": {"enabled": hamicore}}}}))
        },
    )
}

/// A pod without all that admission may write.
fn bare(pod: &Value, pristine: &Value) -> Value {
    const OURS: [&str; 4] =
        ["NVIDIA_VISIBLE_DEVICES", "RUNAI_NUM_OF_GPUS", "GPU_PORTION", "CUDA_DEVICE_MEMORY_LIMIT"];
    let mut pod = pod.clone();
    let drop_ours = |rows: &mut Value, is_ours: &dyn Fn(&Value) -> bool| {
        if let Some(rows) = rows.as_array_mut() {
            rows.retain(|row| !is_ours(row));
        }
    };
    if let Some(table) = pod["metadata"]["annotations"].as_object_mut() {
        table.remove("runai/shared-gpu-configmap");
    }
    for list in ["containers", "initContainers"] {
        for row in pod["spec"].get_mut(list).and_then(Value::as_array_mut).into_iter().flatten() {
            drop_ours(&mut row["env"], &|row| OURS.iter().any(|name| row["name"] == *name));
            drop_ours(&mut row["envFrom"], &|_| true);
        }
    }
    drop_ours(&mut pod["spec"]["volumes"], &|_| true);
    for key in ["runtimeClassName", "volumes"] {
        pod["spec"][key] = pristine["spec"][key].clone();
    }
    pod
}

/// The same for the pod as it was, with the fields that only appear by asking for them.
fn compared(pod: &Value) -> Value {
    let mut pod = bare(pod, pod);
    for list in ["containers", "initContainers"] {
        for row in pod["spec"].get_mut(list).and_then(Value::as_array_mut).into_iter().flatten() {
            if row["envFrom"] == json!([]) {
                row["envFrom"] = Value::Null;
            }
        }
    }
    pod
}

/// A `PodGroup` with few names for its sub-groups, so that some are above others, twice there, or above themselves.
fn pod_group() -> impl Strategy<Value = Value> {
    let name = || select(&["a", "b", "c", "d", "e", "f", ""][..]);
    let parent = prop::option::weighted(0.6, name());
    let minimum = || prop::option::weighted(0.4, -1_i64..4);
    let part = (name(), parent, minimum(), minimum(), any::<bool>()).prop_map(
        |(name, parent, members, groups, is_constrained)| {
            let topology = if is_constrained { json!({"topology": "t"}) } else { Value::Null };
            json!({"name": name, "parent": parent, "minMember": members, "minSubGroup": groups,
                "topologyConstraint": topology})
        },
    );
    (prop::collection::vec(part, 0..7), minimum(), minimum()).prop_map(
        |(parts, members, groups)| {
            json!({"metadata": {"name": "g"},
            "spec": {"subGroups": parts, "minMember": members, "minSubGroup": groups}})
        },
    )
}

/// Tells whether each sub-group has a name of its own, and comes to the group on its way up.
fn is_tree(group: &Value) -> bool {
    let parts = group["spec"]["subGroups"].as_array().map_or(&[][..], Vec::as_slice);
    let parent = |name: &str| {
        let part = parts.iter().find(|part| part["name"] == name);
        part.map(|part| part["parent"].as_str().unwrap_or_default())
    };
    parts.iter().all(|part| {
        let name = part["name"].as_str().unwrap_or_default();
        let is_alone = parts.iter().filter(|other| other["name"] == name).count() == 1;
        let mut at = parent(name);
        for _ in parts {
            at = at.filter(|name| !name.is_empty()).map_or(at, parent);
        }
        is_alone && at == Some("")
    })
}

fn review(object: &Value) -> Vec<u8> {
    let request = json!({"uid": "u-1", "operation": "CREATE", "namespace": "ns", "object": object});
    let review =
        json!({"apiVersion": "admission.k8s.io/v1", "kind": "AdmissionReview", "request": request});
    review.to_string().into_bytes()
}

proptest! {
    #[test]
    fn groups_are_judged_whatever_their_order(group in pod_group()) {
        let settings = settings(&json!({}));
        let answer = ask(Hook::ValidatePodGroup, &group, None, &settings);
        let mut reversed = group.clone();
        if let Some(parts) = reversed["spec"]["subGroups"].as_array_mut() {
            parts.reverse();
        }
        prop_assert_eq!(&ask(Hook::ValidatePodGroup, &reversed, None, &settings), &answer);
        if answer.verdict == Verdict::Allowed {
            prop_assert!(is_tree(&group), "{group}");
            let later = ask(Hook::ValidatePodGroup, &group, Some(&group), &settings);
            prop_assert_eq!(later.verdict, Verdict::Allowed);
        }
    }

    #[test]
    fn any_review_is_read_or_refused(
        object in any_json(), at: prop::sample::Index, length in 0_usize..4, letter: u8, settings in any_settings(),
    ) {
        let mut body = review(&object);
        prop_assert_eq!(read(Hook::MutatePod, &body).is_ok(), object.is_object());
        let at = at.index(body.len());
        let end = body.len().min(at + length);
        drop(body.splice(at..end, [letter]));
        for hook in Hook::ALL {
            match read(hook, &body) {
                Ok(request) => {
                    let context = Context { settings: &settings, queues: None, token: "0a1b2c3" };
                    let written = write(&request.uid, &answer(hook, &request, &context));
                    prop_assert_eq!(&written["response"]["uid"], &request.uid);
                }
                Err(error) => prop_assert!(!error.to_string().is_empty()),
            }
        }
    }

    #[test]
    fn any_object_is_answered(
        object in any_json(), old in prop::option::of(any_json()), settings in any_settings(),
    ) {
        for hook in Hook::ALL {
            let answer = ask(hook, &object, old.as_ref(), &settings);
            let body = write("u", &answer);
            prop_assert_eq!(&body["response"]["uid"], "u");
        }
    }

    #[test]
    fn any_body_is_read_or_refused(body in prop::collection::vec(any::<u8>(), 0..200)) {
        prop_assert!(read(Hook::MutatePod, &body).is_err());
    }

    #[test]
    fn asked_again_nothing_changes_and_what_was_right_stays_right(
        pod in pod(), settings in any_settings(),
    ) {
        let Some(once) = changed(&pod, &settings) else { return Ok(()) };
        let twice = changed(&once, &settings);
        prop_assert_eq!(twice.as_ref(), Some(&once));
        let is_right = |pod: &Value| ask(Hook::ValidatePod, pod, None, &settings).verdict == Verdict::Allowed;
        if is_right(&pod) {
            prop_assert!(is_right(&once), "{once}");
        }
        // A label later is no reason to judge it again.
        let mut labelled = once.clone();
        labelled["metadata"]["labels"] = json!({"a": "b"});
        let verdict = ask(Hook::ValidatePod, &labelled, Some(&once), &settings).verdict;
        prop_assert_eq!(verdict, Verdict::Allowed);
    }

    #[test]
    fn what_is_not_ours_is_untouched(pod in pod(), settings in any_settings()) {
        let mut foreign = pod.clone();
        foreign["spec"]["schedulerName"] = json!("default-scheduler");
        prop_assert_eq!(changed(&foreign, &settings), Some(foreign));
        let Some(once) = changed(&pod, &settings) else { return Ok(()) };
        let once = compared(&bare(&once, &pod));
        prop_assert_eq!(once, compared(&pod));
    }
}

#[test]
fn trees_that_are_too_wide_are_refused() {
    let refusal = |count: usize, each: &Value| {
        let part = |at| {
            let mut part = each.clone();
            part["name"] = json!(format!("s{at}"));
            part
        };
        let parts: Vec<Value> = (0..count).map(part).collect();
        let group = json!({"metadata": {"name": "g"}, "spec": {"subGroups": parts}});
        match ask(Hook::ValidatePodGroup, &group, None, &settings(&json!({}))).verdict {
            Verdict::Denied(denial) => Some(denial),
            Verdict::Allowed | Verdict::Patched(_) => None,
        }
    };
    let plain = json!({"minMember": 1});
    let constrained = json!({"minMember": 1, "topologyConstraint": {"topology": "t"}});
    assert_eq!(refusal(10_000, &plain), None);
    let many = refusal(10_001, &plain).expect("refused");
    assert!(many.contains("10001 subgroups are more than a PodGroup may have: 10000"), "{many}");
    assert_eq!(refusal(1_024, &constrained), None);
    let many = refusal(1_025, &constrained).expect("refused");
    assert!(many.contains("1025 subgroups with a topology constraint are more"), "{many}");
}
