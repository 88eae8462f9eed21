//! Registrations with the API server: whom to ask about which objects.

pub(super) mod controller;

use kai_api::names::{component, label, value};
use serde_json::{Map, Value, json};

use super::review::Hook;
use super::settings::Settings;

/// Kinds of registrations.
pub(super) const MUTATING: &str = "MutatingWebhookConfiguration";
pub(super) const VALIDATING: &str = "ValidatingWebhookConfiguration";
pub(super) const API_VERSION: &str = "admissionregistration.k8s.io/v1";
/// The label by which every namespace says its name.
const NAMESPACE_NAME: &str = "kubernetes.io/metadata.name";
/// The namespace of the cluster's own components.
const KUBE_SYSTEM: &str = "kube-system";
/// Holds where a pod is made, and where what its validation looks at changes. A label alone is none of it: each share of
/// a GPU writes one before its bind, which needs no answer of ours and goes on while nobody answers.
const ASKS_DIFFERENTLY: &str = "oldObject == null || object.spec.containers != oldObject.spec.containers || \
    has(object.spec.initContainers) != has(oldObject.spec.initContainers) || \
    (has(object.spec.initContainers) && object.spec.initContainers != oldObject.spec.initContainers) || \
    has(object.metadata.annotations) != has(oldObject.metadata.annotations) || \
    (has(object.metadata.annotations) && object.metadata.annotations != oldObject.metadata.annotations)";
/// The subresource by which containers are added to a pod that runs, to look into it; it shows the whole pod.
const EPHEMERAL: &str = "pods/ephemeralcontainers";
/// Holds where those containers change, to go behind [`ASKS_DIFFERENTLY`].
const OR_LOOKS_INTO_IT: &str = " || has(object.spec.ephemeralContainers) != has(oldObject.spec.ephemeralContainers) || \
    (has(object.spec.ephemeralContainers) && object.spec.ephemeralContainers != oldObject.spec.ephemeralContainers)";
/// Holds where a `PodGroup` is made, and where its spec changes: nothing else of it is judged. What the scheduler notes in its
/// annotations needs no answer of ours, which others may keep waiting.
const SPEC_CHANGES: &str = "oldObject == null || has(object.spec) != has(oldObject.spec) || \
    (has(object.spec) && object.spec != oldObject.spec)";
/// Names that are KAI's components', on labels and Services.
const ADMISSION: &str = "admission";
const QUEUE_CONTROLLER: &str = "queue-controller";
const POD_GROUP_CONTROLLER: &str = "podgroup-controller";

/// The Services that the API server reaches the server by.
pub(super) const SERVICES: [&str; 3] = [ADMISSION, QUEUE_CONTROLLER, POD_GROUP_CONTROLLER];

/// Way by which the API server finds the server.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Way {
    /// By Services in the system's namespace.
    Services,
    /// At an address, without a slash at its end.
    Url(String),
}

/// Everything that registrations depend on besides the settings.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Place {
    /// The system's namespace.
    pub(super) namespace: String,
    /// Its UID: with it go the registrations.
    pub(super) namespace_uid: Option<String>,
    pub(super) way: Way,
    /// The authorities of the server, base64 of PEM as the API has it.
    pub(super) bundle: Value,
}

/// One write to a registration.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Write {
    Create(Value),
    /// It carries the UID and resourceVersion that were looked at.
    Replace(Value),
    /// Kind, name and UID.
    Delete([String; 3]),
}

/// All registrations as they should be.
///
/// # Source
/// docs/contract.md 3.1. The queue label is asked of pods, not of their namespaces.
pub(super) fn wanted(settings: &Settings, place: &Place) -> Vec<Value> {
    let scope = &settings.scope;
    let plan = Plan { settings, place };
    let pods = |operations: &[&str]| rule("", "v1", "pods", "Namespaced", operations);
    let both = ["CREATE", "UPDATE"];
    let own = format!("{ADMISSION}.{}.svc", place.namespace);
    let topologies = rule("kai.scheduler", "v1alpha1", "topologies", "*", &both);
    let queues = rule("scheduling.run.ai", "v2", "queues", "*", &both);
    let groups = rule("scheduling.run.ai", "v2alpha2", "podgroups", "*", &both);
    let mut mutate = plan.of_pods(&own, Hook::MutatePod, &pods(&["CREATE"]));
    mutate["reinvocationPolicy"] = json!("IfNeeded");
    let mut validate_pod = plan.of_pods(&own, Hook::ValidatePod, &pods(&both));
    let mut differs = String::from(ASKS_DIFFERENTLY);
    if settings.block_visible_devices {
        let ephemeral = rule("", "v1", EPHEMERAL, "Namespaced", &["UPDATE"]);
        for webhook in [&mut mutate, &mut validate_pod] {
            if let Some(rules) = webhook["rules"].as_array_mut() {
                rules.push(ephemeral.clone());
            }
        }
        differs.push_str(OR_LOOKS_INTO_IT);
    }
    if let Some(conditions) = validate_pod["matchConditions"].as_array_mut() {
        conditions.push(json!({"name": "asks-differently", "expression": differs}));
    }
    let validate = [
        validate_pod,
        plan.webhook(&format!("topology.{own}"), ADMISSION, Hook::ValidateTopology, &topologies),
    ];
    let queue = plan.webhook(
        "queue-validation.kai.scheduler",
        QUEUE_CONTROLLER,
        Hook::ValidateQueue,
        &queues,
    );
    let mut group = plan.webhook(
        "podgroup-validation.kai.scheduler",
        POD_GROUP_CONTROLLER,
        Hook::ValidatePodGroup,
        &groups,
    );
    group["matchConditions"] = json!([{"name": "spec-changes", "expression": SPEC_CHANGES}]);
    if let Some(conditions) = group["matchConditions"].as_array_mut() {
        conditions.push(json!({"name": "is-not-ours", "expression": is_of_others(place)}));
    }
    let rows = [
        (MUTATING, &scope.mutating, ADMISSION, json!([mutate])),
        (VALIDATING, &scope.validating, ADMISSION, json!(validate)),
        (VALIDATING, &scope.queues, QUEUE_CONTROLLER, json!([queue])),
        (VALIDATING, &scope.pod_groups, POD_GROUP_CONTROLLER, json!([group])),
    ];
    let named = rows.into_iter().filter_map(|(kind, name, app, webhooks)| {
        Some(json!({"apiVersion": API_VERSION, "kind": kind,
            "metadata": plan.metadata(name.as_deref()?, app), "webhooks": webhooks}))
    });
    named.collect()
}

/// Holds where somebody else than the podgrouper writes, which judges its `PodGroup`s before it does. They would wait behind
/// those of their namespace, and with them a worker.
fn is_of_others(place: &Place) -> String {
    let account = format!("system:serviceaccount:{}:{}", place.namespace, component::PODGROUPER);
    format!("!has(request.userInfo.username) || request.userInfo.username != '{account}'")
}

struct Plan<'a> {
    settings: &'a Settings,
    place: &'a Place,
}

impl Plan<'_> {
    fn metadata(&self, name: &str, app: &str) -> Value {
        let mut metadata = json!({"name": name, "labels": {label::APP: app,
            label::PART_OF: value::PRODUCT, label::MANAGED_BY: component::PODGROUPER}});
        if let Some(uid) = &self.place.namespace_uid {
            // A registration that outlives its server keeps every pod from being made.
            metadata["ownerReferences"] = json!([{"apiVersion": "v1", "kind": "Namespace",
                "name": self.place.namespace, "uid": uid}]);
        }
        metadata
    }

    /// A webhook for pods of our scheduler, outside of the namespaces that must never wait for us.
    fn of_pods(&self, name: &str, hook: Hook, rule: &Value) -> Value {
        let scope = &self.settings.scope;
        let mut webhook = self.webhook(name, ADMISSION, hook, rule);
        let never = json!([KUBE_SYSTEM, self.place.namespace]);
        webhook["namespaceSelector"] = selector(
            json!([{"key": NAMESPACE_NAME, "operator": "NotIn", "values": never}]),
            json!(scope.namespace_labels),
        );
        let labelled =
            scope.queue_label.iter().map(|key| json!({"key": key, "operator": "Exists"}));
        webhook["objectSelector"] =
            selector(Value::Array(labelled.collect()), json!(scope.pod_labels));
        let scheduler = &self.settings.scheduler;
        webhook["matchConditions"] = json!([{"name": "scheduler-name-match",
            "expression": format!("object.spec.schedulerName == '{scheduler}'")}]);
        webhook
    }

    /// A webhook with every field that the API server would fill in.
    fn webhook(&self, name: &str, service: &str, hook: Hook, rule: &Value) -> Value {
        let mut client = match &self.place.way {
            Way::Services => json!({"service": {"namespace": self.place.namespace, "name": service,
                "path": hook.path(), "port": 443}}),
            Way::Url(url) => json!({"url": format!("{url}{}", hook.path())}),
        };
        client["caBundle"] = self.place.bundle.clone();
        json!({"name": name, "clientConfig": client, "rules": [rule], "failurePolicy": "Fail",
            "matchPolicy": "Equivalent", "namespaceSelector": {}, "objectSelector": {},
            "sideEffects": "None", "timeoutSeconds": hook.timeout(), "admissionReviewVersions": ["v1"]})
    }
}

fn rule(group: &str, version: &str, resource: &str, scope: &str, operations: &[&str]) -> Value {
    json!({"apiGroups": [group], "apiVersions": [version], "resources": [resource],
        "scope": scope, "operations": operations})
}

/// A selector without the parts that are empty, as the API server gives it back.
fn selector(expressions: Value, labels: Value) -> Value {
    let parts = [("matchExpressions", expressions), ("matchLabels", labels)];
    let is_empty = |value: &Value| *value == json!([]) || *value == json!({});
    let parts = parts.into_iter().filter(|(_, value)| !is_empty(value));
    Value::Object(parts.map(|(key, value)| (key.to_owned(), value)).collect::<Map<_, _>>())
}

/// Plans what is to be written so that the registrations of `stored` become those that are wanted. Those that were ours
/// under other names go.
pub(super) fn plan(wanted: &[Value], stored: &[&Value]) -> Vec<Write> {
    let is_same = |one: &Value, other: &Value| {
        one["kind"] == other["kind"] && one["metadata"]["name"] == other["metadata"]["name"]
    };
    let mut writes = Vec::new();
    for wanted in wanted {
        match stored.iter().find(|stored| is_same(stored, wanted)) {
            None => writes.push(Write::Create(wanted.clone())),
            Some(stored) => {
                let merged = merge(stored, wanted);
                if merged != **stored {
                    writes.push(Write::Replace(merged));
                }
            }
        }
    }
    for stored in stored {
        let is_ours = stored["metadata"]["labels"][label::MANAGED_BY] == component::PODGROUPER;
        if is_ours && !wanted.iter().any(|wanted| is_same(wanted, stored)) {
            let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
            let metadata = &stored["metadata"];
            writes.push(Write::Delete(
                [&stored["kind"], &metadata["name"], &metadata["uid"]].map(text),
            ));
        }
    }
    writes
}

/// Puts what is wanted into what is stored. Annotations, labels, and the conditions that a cloud provider puts on
/// namespaces stay: it would put them there again.
fn merge(stored: &Value, wanted: &Value) -> Value {
    let mut merged = stored.clone();
    for (key, text) in wanted["metadata"]["labels"].as_object().into_iter().flatten() {
        merged["metadata"]["labels"][key] = text.clone();
    }
    let owners = wanted["metadata"]["ownerReferences"].as_array().into_iter().flatten();
    for owner in owners {
        let mut rows =
            merged["metadata"]["ownerReferences"].as_array().cloned().unwrap_or_default();
        if !rows.iter().any(|row| row["uid"] == owner["uid"]) {
            rows.push(owner.clone());
            merged["metadata"]["ownerReferences"] = Value::Array(rows);
        }
    }
    let before = stored["webhooks"].as_array().map_or(&[][..], Vec::as_slice);
    let mut webhooks = wanted["webhooks"].as_array().cloned().unwrap_or_default();
    for webhook in &mut webhooks {
        let Some(before) = before.iter().find(|row| row["name"] == webhook["name"]) else {
            continue;
        };
        let rows = before["namespaceSelector"]["matchExpressions"].as_array();
        let foreign = rows.into_iter().flatten().filter(|row| row["key"] != NAMESPACE_NAME);
        let foreign: Vec<Value> = foreign.cloned().collect();
        if foreign.is_empty() {
            continue;
        }
        let rows = &mut webhook["namespaceSelector"]["matchExpressions"];
        let mut all = rows.as_array().cloned().unwrap_or_default();
        all.extend(foreign);
        *rows = Value::Array(all);
    }
    merged["webhooks"] = Value::Array(webhooks);
    merged
}

#[cfg(test)]
mod tests {
    use kai_api::config::ConfigSpec;

    use super::super::settings::Flags;
    use super::*;

    fn place(way: Way) -> Place {
        Place {
            namespace: "kai-scheduler".into(),
            namespace_uid: Some("n-1".into()),
            way,
            bundle: json!("Y2E="),
        }
    }

    fn settings(config: Value) -> Settings {
        let config: ConfigSpec = serde_json::from_value(config).expect("a Config");
        let flags =
            Flags { scheduler: "kai-scheduler".into(), queue_label: "kai.scheduler/queue".into() };
        Settings::of(Some(&config), &flags)
    }

    fn of_config(config: Value) -> Vec<Value> {
        wanted(&settings(config), &place(Way::Services))
    }

    #[test]
    fn registrations_have_the_names_paths_and_rules_of_the_contract() {
        let found = of_config(json!({}));
        let rows: Vec<String> = found
            .iter()
            .flat_map(|object| {
                let name = object["metadata"]["name"].as_str().unwrap_or_default();
                let app = object["metadata"]["labels"]["app"].as_str().unwrap_or_default();
                object["webhooks"].as_array().into_iter().flatten().map(move |webhook| {
                    let service = &webhook["clientConfig"]["service"];
                    format!(
                        "{name} {app} {} {}{} {} {}",
                        webhook["name"],
                        service["name"],
                        service["path"],
                        webhook["rules"][0]["resources"][0],
                        webhook["rules"][0]["operations"],
                    )
                    .replace('"', "")
                })
            })
            .collect();
        assert_eq!(
            rows,
            [
                "mutating-kai-admission admission admission.kai-scheduler.svc admission/mutate--v1-pod pods [CREATE]",
                "validating-kai-admission admission admission.kai-scheduler.svc admission/validate--v1-pod pods [CREATE,UPDATE]",
                "validating-kai-admission admission topology.admission.kai-scheduler.svc admission/validate-kai-scheduler-v1alpha1-topology topologies [CREATE,UPDATE]",
                "kai-queue-validation-v2 queue-controller queue-validation.kai.scheduler queue-controller/validate-scheduling-run-ai-v2-queue queues [CREATE,UPDATE]",
                "kai-podgroup-validation-v2alpha2 podgroup-controller podgroup-validation.kai.scheduler podgroup-controller/validate-scheduling-run-ai-v2alpha2-podgroup podgroups [CREATE,UPDATE]",
            ]
        );
        let all =
            found.iter().flat_map(|object| object["webhooks"].as_array().into_iter().flatten());
        for webhook in all {
            assert_eq!(webhook["failurePolicy"], "Fail");
            assert_eq!(webhook["sideEffects"], "None");
            let is_group = webhook["rules"][0]["resources"][0] == "podgroups";
            assert_eq!(webhook["timeoutSeconds"], if is_group { 5 } else { 10 });
            assert_eq!(webhook["clientConfig"]["caBundle"], "Y2E=");
        }
        let mutate = &found[0]["webhooks"][0];
        assert_eq!(mutate["reinvocationPolicy"], "IfNeeded");
        assert_eq!(
            mutate["namespaceSelector"],
            json!({"matchExpressions": [{"key": "kubernetes.io/metadata.name", "operator": "NotIn",
                "values": ["kube-system", "kai-scheduler"]}]})
        );
        assert_eq!(
            mutate["matchConditions"],
            json!([{"name": "scheduler-name-match",
                "expression": "object.spec.schedulerName == 'kai-scheduler'"}])
        );
        // Changes that no rule looks at are not asked about.
        let conditions = found[1]["webhooks"][0]["matchConditions"].as_array();
        let names: Vec<_> = conditions.into_iter().flatten().map(|one| &one["name"]).collect();
        assert_eq!(names, ["scheduler-name-match", "asks-differently"]);
        let group = &found[3]["webhooks"][0];
        assert_eq!(group["matchConditions"][0]["expression"], SPEC_CHANGES);
    }

    #[test]
    fn groups_of_the_podgrouper_are_not_asked_about() {
        let elsewhere = Place { namespace: "elsewhere".into(), ..place(Way::Services) };
        let found = wanted(&settings(json!({})), &elsewhere);
        let expect = "!has(request.userInfo.username) || request.userInfo.username != \
            'system:serviceaccount:elsewhere:kai-podgrouper'";
        let conditions = found[3]["webhooks"][0]["matchConditions"].as_array().expect("conditions");
        assert!(conditions.iter().any(|one| one["expression"] == expect), "{conditions:?}");
    }

    #[test]
    fn ephemeral_containers_are_asked_about_while_devices_are_hidden() {
        for blocks in [false, true] {
            let found = of_config(json!({"admission": {"blockNvidiaVisibleDevices": blocks}}));
            for object in &found[..2] {
                let rules = object["webhooks"][0]["rules"].as_array().expect("rules");
                assert_eq!(rules.len(), 1 + usize::from(blocks), "{object}");
                let last = &rules[rules.len() - 1];
                assert_eq!(last["resources"] == json!(["pods/ephemeralcontainers"]), blocks);
                assert_eq!(last["operations"] == json!(["UPDATE"]), blocks, "{object}");
            }
            let condition = &found[1]["webhooks"][0]["matchConditions"][1]["expression"];
            let condition = condition.as_str().expect("an expression");
            assert_eq!(condition.contains("object.spec.ephemeralContainers"), blocks);
        }
    }

    #[test]
    fn the_services_are_installed_and_lead_to_every_replica() {
        let manifest = include_str!("../../../deploy/podgrouper.yaml");
        let objects: Vec<Value> = manifest
            .split("\n---\n")
            .map(|text| serde_saphyr::from_str(text).expect("an object"))
            .collect();
        let of_kind = |kind: &'static str| objects.iter().filter(move |one| one["kind"] == kind);
        let deployment = of_kind("Deployment").next().expect("a Deployment");
        let template = &deployment["spec"]["template"];
        let ports = &template["spec"]["containers"][0]["ports"];
        assert!(
            ports.as_array().expect("ports").iter().any(|port| port["name"] == "webhook"),
            "{ports}"
        );
        let mut found = Vec::new();
        for service in of_kind("Service") {
            let ports = service["spec"]["ports"].as_array().expect("ports");
            let Some(port) = ports.iter().find(|port| port["name"] == "webhook") else { continue };
            assert_eq!((&port["port"], &port["targetPort"]), (&json!(443), &json!("webhook")));
            let selector = service["spec"]["selector"].as_object().expect("a selector");
            for (key, value) in selector {
                assert_eq!(template["metadata"]["labels"][key], *value, "{service}");
            }
            assert_eq!(service["metadata"]["namespace"], deployment["metadata"]["namespace"]);
            found.push(service["metadata"]["name"].as_str().expect("a name"));
        }
        found.sort_unstable();
        let mut services = SERVICES;
        services.sort_unstable();
        assert_eq!(found, services);
    }

    #[test]
    fn the_config_narrows_what_is_asked_about() {
        let found = of_config(json!({"admission": {"queueLabelSelector": true},
            "global": {"schedulerName": "other", "namespaceLabelSelector": {"team": "a"}, "podLabelSelector": {"x": "y"}}}));
        for object in &found[..2] {
            let webhook = &object["webhooks"][0];
            assert_eq!(webhook["namespaceSelector"]["matchLabels"], json!({"team": "a"}));
            // D21: of pods, not of namespaces.
            assert_eq!(
                webhook["objectSelector"],
                json!({"matchExpressions": [{"key": "kai.scheduler/queue", "operator": "Exists"}],
                    "matchLabels": {"x": "y"}})
            );
            let condition = &webhook["matchConditions"][0]["expression"];
            assert_eq!(*condition, "object.spec.schedulerName == 'other'");
        }
        assert_eq!(found[2]["webhooks"][0]["objectSelector"], json!({}));
    }

    #[test]
    fn a_url_takes_the_place_of_services() {
        let url = Way::Url("https://127.0.0.1:9443".into());
        let found = wanted(&settings(json!({})), &place(url));
        let client = &found[0]["webhooks"][0]["clientConfig"];
        assert_eq!(client["url"], "https://127.0.0.1:9443/mutate--v1-pod");
        assert!(client["service"].is_null());
    }

    #[test]
    fn the_same_thing_twice_changes_nothing_and_edits_are_undone() {
        let wanted = of_config(json!({}));
        let stored: Vec<Value> = wanted
            .iter()
            .map(|object| {
                let mut object = object.clone();
                object["metadata"]["uid"] = json!("u");
                object["metadata"]["annotations"] = json!({"of": "somebody"});
                object
            })
            .collect();
        let views = |stored: &[Value]| plan(&wanted, &stored.iter().collect::<Vec<_>>());
        assert_eq!(views(&stored), []);
        let mut edited = stored.clone();
        edited[0]["webhooks"][0]["failurePolicy"] = json!("Ignore");
        assert_eq!(views(&edited), [Write::Replace(stored[0].clone())]);
        // Those that KAI made become ours, and go with us.
        let mut taken_over = stored.clone();
        taken_over[0]["metadata"]["labels"] = json!({"app": "kai"});
        taken_over[1]["metadata"]["ownerReferences"] = Value::Null;
        let writes = stored[..2].iter().map(|object| Write::Replace(object.clone()));
        assert_eq!(views(&taken_over), writes.collect::<Vec<_>>());
        assert_eq!(views(&stored[1..]), [Write::Create(wanted[0].clone())]);
    }

    #[test]
    fn conditions_of_a_cloud_provider_stay() {
        let wanted = of_config(json!({}));
        let mut stored = wanted[0].clone();
        stored["webhooks"][0]["namespaceSelector"]["matchExpressions"]
            .as_array_mut()
            .expect("expressions")
            .push(json!({"key": "control-plane", "operator": "DoesNotExist"}));
        assert_eq!(plan(&wanted[..1], &[&stored]), []);
        // KAI's own, which excludes other namespaces, becomes ours.
        let key = "kubernetes.io/metadata.name";
        stored["webhooks"][0]["namespaceSelector"]["matchExpressions"][0] =
            json!({"key": key, "operator": "NotIn", "values": ["kube-system"]});
        let [Write::Replace(merged)] = &plan(&wanted[..1], &[&stored])[..] else {
            panic!("one write");
        };
        let rows = &merged["webhooks"][0]["namespaceSelector"]["matchExpressions"];
        assert_eq!(rows[0], wanted[0]["webhooks"][0]["namespaceSelector"]["matchExpressions"][0]);
        assert_eq!(rows[1]["key"], "control-plane");
    }

    #[test]
    fn what_is_switched_off_or_renamed_goes_if_it_is_ours() {
        let before = of_config(json!({}));
        let off = of_config(json!({"admission": {"service": {"enabled": false}},
            "queueController": {"webhooks": {"enableValidation": false}}}));
        assert_eq!(off.len(), 1);
        let mut foreign = before[0].clone();
        foreign["metadata"]["labels"] = json!({"app": "admission"});
        let stored = [&foreign, &before[1], &before[2], &before[3]];
        let names: Vec<String> =
            plan(&off, &stored)
                .into_iter()
                .map(|write| {
                    if let Write::Delete([_, name, _]) = write {
                        name
                    } else {
                        format!("{write:?}")
                    }
                })
                .collect();
        assert_eq!(names, ["validating-kai-admission", "kai-queue-validation-v2"]);
    }
}
