//! The columns of the built-in kinds.
//!
//! # Source
//!
//! `pkg/printers/internalversion` of Kubernetes 1.36, as seen in the Tables of kube-apiserver.

use jiff::Timestamp;
use serde_json::{Map, Value, json};

use super::{Column, age, pods, since};
use crate::server::kinds::Kind;
use crate::server::object;
use crate::server::selector::Labels;

/// Name, type and priority, after the name column. `+` before a name: only with `-o wide`; `#` an integer.
fn names(kind: &Kind) -> &'static str {
    match (kind.group.as_str(), kind.plural.as_str()) {
        ("", "pods") => "Ready|Status|Restarts|Age|+IP|+Node|+Nominated Node|+Readiness Gates",
        ("", "nodes") => {
            "Status|Roles|Age|Version|+Internal-IP|+External-IP|+OS-Image|+Kernel-Version|+Container-Runtime"
        }
        ("", "namespaces") => "Status|Age",
        ("", "configmaps") => "#Data|Age",
        ("", "secrets") => "Type|#Data|Age",
        ("", "serviceaccounts") => "#Secrets|Age",
        ("", "services") => "Type|Cluster-IP|External-IP|Port(s)|Age|+Selector",
        ("", "events") => {
            "Last Seen|Type|Reason|Object|+Subobject|+Source|Message|+First Seen|+Count|+Name"
        }
        ("apps", "deployments") => "Ready|#Up-to-date|#Available|Age|+Containers|+Images|+Selector",
        ("apps", "replicasets") | ("", "replicationcontrollers") => {
            "#Desired|#Current|#Ready|Age|+Containers|+Images|+Selector"
        }
        ("apps", "statefulsets") => "Ready|Age|+Containers|+Images",
        ("apps", "daemonsets") => {
            "#Desired|#Current|#Ready|#Up-to-date|#Available|Node Selector|Age|+Containers|+Images|+Selector"
        }
        ("batch", "jobs") => "Status|Completions|Duration|Age|+Containers|+Images|+Selector",
        ("batch", "cronjobs") => {
            "Schedule|Timezone|Suspend|#Active|Last Schedule|Age|+Containers|+Images|+Selector"
        }
        ("policy", "poddisruptionbudgets") => {
            "Min Available|Max Unavailable|#Allowed Disruptions|Age"
        }
        ("scheduling.k8s.io", "priorityclasses") => "#Value|Global-Default|Age|PreemptionPolicy",
        ("coordination.k8s.io", "leases") => "Holder|Age",
        ("rbac.authorization.k8s.io", "roles" | "clusterroles")
        | ("apiextensions.k8s.io", "customresourcedefinitions") => "Created At",
        ("rbac.authorization.k8s.io", "rolebindings" | "clusterrolebindings") => {
            "Role|Age|+Users|+Groups|+ServiceAccounts"
        }
        ("resource.k8s.io", "resourceclaims") => "State|Age",
        ("", "persistentvolumeclaims") => "Status|Volume|Capacity|Access Modes|StorageClass|Age",
        _ => "Age",
    }
}

/// The columns of a built-in kind.
pub(super) fn columns(kind: &Kind) -> Vec<Column> {
    let mut columns = vec![Column::new("Name", "string", 0)];
    columns.extend(names(kind).split('|').map(|name| {
        let (name, priority) = name.strip_prefix('+').map_or((name, 0), |name| (name, 1));
        let (name, kind) = match (name.strip_prefix('#'), name) {
            (Some(name), _) => (name, "integer"),
            (None, "Created At") => (name, "date"),
            (None, _) => (name, "string"),
        };
        Column::new(name, kind, priority)
    }));
    if kind.is("", "events") {
        // The name of an event is its last column, and only shown wide.
        columns.remove(0);
    }
    columns
}

/// The cells of an object of a built-in kind.
pub(super) fn cells(kind: &Kind, value: &Value, now: Timestamp) -> Vec<Value> {
    if matches!(kind.plural.as_str(), "events") {
        return event(value, now);
    }
    let mut cells = vec![json!(object::name(value))];
    cells.extend(match (kind.group.as_str(), kind.plural.as_str()) {
        ("", "pods") => pods::cells(value, now),
        ("", "nodes") => node(value, now),
        ("", "namespaces") => vec![text(value, "/status/phase"), json!(age(value, now))],
        ("", "configmaps") => vec![count(value, &["/data", "/binaryData"]), json!(age(value, now))],
        ("", "secrets") => {
            vec![text(value, "/type"), count(value, &["/data"]), json!(age(value, now))]
        }
        ("", "serviceaccounts") => {
            vec![json!(object::array(value, "/secrets").len()), json!(age(value, now))]
        }
        ("", "services") => service(value, now),
        ("apps", _) | ("", "replicationcontrollers") => workload(kind, value, now),
        ("batch", "jobs") => job(value, now),
        ("batch", "cronjobs") => cron_job(value, now),
        ("policy", "poddisruptionbudgets") => budget(value, now),
        ("scheduling.k8s.io", "priorityclasses") => vec![
            value.get("value").cloned().unwrap_or_default(),
            json!((value.get("globalDefault") == Some(&json!(true))).to_string()),
            json!(age(value, now)),
            text(value, "/preemptionPolicy"),
        ],
        ("coordination.k8s.io", "leases") => {
            vec![json!(object::text(value, "/spec/holderIdentity")), json!(age(value, now))]
        }
        ("rbac.authorization.k8s.io", "roles" | "clusterroles")
        | ("apiextensions.k8s.io", "customresourcedefinitions") => {
            vec![text(value, "/metadata/creationTimestamp")]
        }
        ("rbac.authorization.k8s.io", _) => binding(value, now),
        ("resource.k8s.io", "resourceclaims") => claim(value, now),
        ("", "persistentvolumeclaims") => volume_claim(value, now),
        _ => vec![json!(age(value, now))],
    });
    cells
}

fn text(value: &Value, pointer: &str) -> Value {
    json!(object::text(value, pointer))
}

fn number(value: &Value, pointer: &str) -> i64 {
    value.pointer(pointer).and_then(Value::as_i64).unwrap_or(0)
}

fn count(value: &Value, pointers: &[&str]) -> Value {
    let entries =
        |pointer: &&str| value.pointer(pointer).and_then(Value::as_object).map_or(0, Map::len);
    json!(pointers.iter().map(entries).sum::<usize>())
}

fn or_none(text: &str) -> Value {
    json!(if text.is_empty() { "<none>" } else { text })
}

fn join<'a>(items: impl Iterator<Item = &'a str>) -> String {
    items.collect::<Vec<_>>().join(",")
}

fn containers(value: &Value, pointer: &str) -> [Value; 2] {
    let list = object::array(value, pointer);
    let all = |field: &str| join(list.iter().map(|container| object::text(container, field)));
    [json!(all("/name")), json!(all("/image"))]
}

fn selector(value: &Value) -> Value {
    let text =
        value.pointer("/spec/selector").map(|selector| Labels::from_object(selector).to_string());
    or_none(&text.unwrap_or_default())
}

fn node(value: &Value, now: Timestamp) -> Vec<Value> {
    let ready = object::array(value, "/status/conditions")
        .iter()
        .find(|condition| object::text(condition, "/type") == "Ready");
    let mut status = match ready.map(|condition| object::text(condition, "/status")) {
        Some("True") => "Ready".to_owned(),
        Some(_) => "NotReady".to_owned(),
        None => "Unknown".to_owned(),
    };
    if value.pointer("/spec/unschedulable") == Some(&json!(true)) {
        status.push_str(",SchedulingDisabled");
    }
    let labels = object::labels(value);
    let mut roles: Vec<&str> = labels
        .into_iter()
        .flatten()
        .filter_map(|(key, label)| match key.strip_prefix("node-role.kubernetes.io/") {
            Some(role) => Some(role),
            None if key == "kubernetes.io/role" => label.as_str(),
            None => None,
        })
        .collect();
    roles.sort_unstable();
    let address = |kind: &str| {
        let found = object::array(value, "/status/addresses")
            .iter()
            .find(|address| object::text(address, "/type") == kind);
        or_none(found.map_or("", |address| object::text(address, "/address")))
    };
    let info = |field: &str| {
        let text = object::text(value, &format!("/status/nodeInfo/{field}"));
        json!(if text.is_empty() { "<unknown>" } else { text })
    };
    vec![
        json!(status),
        or_none(&roles.join(",")),
        json!(age(value, now)),
        json!(object::text(value, "/status/nodeInfo/kubeletVersion")),
        address("InternalIP"),
        address("ExternalIP"),
        info("osImage"),
        info("kernelVersion"),
        info("containerRuntimeVersion"),
    ]
}

fn service(value: &Value, now: Timestamp) -> Vec<Value> {
    let ports = object::array(value, "/spec/ports").iter().map(|port| {
        let node = number(port, "/nodePort");
        let protocol = object::text(port, "/protocol");
        match node {
            0 => format!("{}/{protocol}", number(port, "/port")),
            node => format!("{}:{node}/{protocol}", number(port, "/port")),
        }
    });
    let ports = ports.collect::<Vec<_>>().join(",");
    let selector = json!({ "matchLabels": value.pointer("/spec/selector") });
    vec![
        text(value, "/spec/type"),
        or_none(object::text(value, "/spec/clusterIP")),
        json!("<none>"),
        or_none(&ports),
        json!(age(value, now)),
        or_none(&Labels::from_object(&selector).to_string()),
    ]
}

fn event(value: &Value, now: Timestamp) -> Vec<Value> {
    let involved = |field: &str| object::text(value, &format!("/involvedObject/{field}"));
    let first_of = |pointers: &[&str]| {
        pointers
            .iter()
            .map(|pointer| object::text(value, pointer))
            .find(|text| !text.is_empty())
            .unwrap_or("")
    };
    let first = first_of(&["/firstTimestamp", "/eventTime"]);
    let last = first_of(&["/series/lastObservedTime", "/lastTimestamp", "/eventTime"]);
    let component = first_of(&["/source/component", "/reportingComponent"]);
    let host = first_of(&["/source/host"]);
    let source =
        if host.is_empty() { component.to_owned() } else { format!("{component}, {host}") };
    let count =
        [number(value, "/series/count"), number(value, "/count"), 1].into_iter().find(|n| *n > 0);
    vec![
        json!(since(last, now)),
        text(value, "/type"),
        text(value, "/reason"),
        json!(format!("{}/{}", involved("kind").to_lowercase(), involved("name"))),
        json!(involved("fieldPath")),
        json!(source),
        json!(object::text(value, "/message").trim()),
        json!(since(first, now)),
        json!(count),
        json!(object::name(value)),
    ]
}

fn workload(kind: &Kind, value: &Value, now: Timestamp) -> Vec<Value> {
    let [names, images] = containers(value, "/spec/template/spec/containers");
    let wanted = number(value, "/spec/replicas");
    let age = json!(age(value, now));
    match kind.plural.as_str() {
        "deployments" => vec![
            json!(format!("{}/{wanted}", number(value, "/status/readyReplicas"))),
            json!(number(value, "/status/updatedReplicas")),
            json!(number(value, "/status/availableReplicas")),
            age,
            names,
            images,
            selector(value),
        ],
        "statefulsets" => {
            vec![
                json!(format!("{}/{wanted}", number(value, "/status/readyReplicas"))),
                age,
                names,
                images,
            ]
        }
        "daemonsets" => {
            let counts = [
                "desiredNumberScheduled",
                "currentNumberScheduled",
                "numberReady",
                "updatedNumberScheduled",
                "numberAvailable",
            ];
            let mut cells: Vec<Value> = counts
                .iter()
                .map(|field| json!(number(value, &format!("/status/{field}"))))
                .collect();
            let nodes = json!({ "matchLabels": value.pointer("/spec/template/spec/nodeSelector") });
            let nodes = or_none(&Labels::from_object(&nodes).to_string());
            cells.extend([nodes, age, names, images, selector(value)]);
            cells
        }
        "controllerrevisions" => vec![age],
        _ => vec![
            json!(wanted),
            json!(number(value, "/status/replicas")),
            json!(number(value, "/status/readyReplicas")),
            age,
            names,
            images,
            selector(value),
        ],
    }
}

fn job(value: &Value, now: Timestamp) -> Vec<Value> {
    let has = |kind: &str| {
        object::array(value, "/status/conditions").iter().any(|condition| {
            object::text(condition, "/type") == kind && object::text(condition, "/status") == "True"
        })
    };
    let status = if has("Complete") {
        "Complete"
    } else if has("Failed") {
        "Failed"
    } else if object::is_deleting(value) {
        "Terminating"
    } else if has("Suspended") {
        "Suspended"
    } else if has("FailureTarget") {
        "FailureTarget"
    } else if has("SuccessCriteriaMet") {
        "SuccessCriteriaMet"
    } else {
        "Running"
    };
    let done = number(value, "/status/succeeded");
    let completions = match value.pointer("/spec/completions").and_then(Value::as_i64) {
        Some(all) => format!("{done}/{all}"),
        None if number(value, "/spec/parallelism") > 1 => {
            format!("{done}/1 of {}", number(value, "/spec/parallelism"))
        }
        None => format!("{done}/1"),
    };
    let started = object::text(value, "/status/startTime").parse::<Timestamp>().ok();
    let ended = object::text(value, "/status/completionTime").parse::<Timestamp>().ok();
    let duration = started
        .map(|start| super::human(ended.unwrap_or(now).duration_since(start).as_secs()))
        .unwrap_or_default();
    let [names, images] = containers(value, "/spec/template/spec/containers");
    vec![
        json!(status),
        json!(completions),
        json!(duration),
        json!(age(value, now)),
        names,
        images,
        selector(value),
    ]
}

fn cron_job(value: &Value, now: Timestamp) -> Vec<Value> {
    let last = object::text(value, "/status/lastScheduleTime");
    let [names, images] = containers(value, "/spec/jobTemplate/spec/template/spec/containers");
    let suspended = value.pointer("/spec/suspend") == Some(&json!(true));
    vec![
        text(value, "/spec/schedule"),
        or_none(object::text(value, "/spec/timeZone")),
        json!(if suspended { "True" } else { "False" }),
        json!(object::array(value, "/status/active").len()),
        json!(if last.is_empty() { "<none>".to_owned() } else { since(last, now) }),
        json!(age(value, now)),
        names,
        images,
        json!("<none>"),
    ]
}

fn budget(value: &Value, now: Timestamp) -> Vec<Value> {
    let amount = |pointer: &str| match value.pointer(pointer) {
        None | Some(Value::Null) => json!("N/A"),
        Some(Value::String(text)) => json!(text),
        Some(other) => json!(other.to_string()),
    };
    vec![
        amount("/spec/minAvailable"),
        amount("/spec/maxUnavailable"),
        json!(number(value, "/status/disruptionsAllowed")),
        json!(age(value, now)),
    ]
}

fn binding(value: &Value, now: Timestamp) -> Vec<Value> {
    let role = format!(
        "{}/{}",
        object::text(value, "/roleRef/kind"),
        object::text(value, "/roleRef/name")
    );
    let of = |kind: &str| {
        let subjects = object::array(value, "/subjects").iter();
        let names =
            subjects.filter(|subject| object::text(subject, "/kind") == kind).map(|subject| {
                let name = object::text(subject, "/name");
                match object::text(subject, "/namespace") {
                    "" => name.to_owned(),
                    namespace => format!("{namespace}/{name}"),
                }
            });
        json!(names.collect::<Vec<_>>().join(", "))
    };
    vec![json!(role), json!(age(value, now)), of("User"), of("Group"), of("ServiceAccount")]
}

fn claim(value: &Value, now: Timestamp) -> Vec<Value> {
    let mut states = Vec::new();
    if object::is_deleting(value) {
        states.push("deleted");
    }
    if value.pointer("/status/allocation").is_none() {
        if states.is_empty() {
            states.push("pending");
        }
    } else {
        states.push("allocated");
        states.push(if object::array(value, "/status/reservedFor").is_empty() {
            ""
        } else {
            "reserved"
        });
    }
    states.retain(|state| !state.is_empty());
    vec![json!(states.join(",")), json!(age(value, now))]
}

fn volume_claim(value: &Value, now: Timestamp) -> Vec<Value> {
    let modes =
        object::array(value, "/status/accessModes").iter().filter_map(Value::as_str).map(|mode| {
            match mode {
                "ReadWriteOnce" => "RWO",
                "ReadOnlyMany" => "ROX",
                "ReadWriteMany" => "RWX",
                "ReadWriteOncePod" => "RWOP",
                other => other,
            }
        });
    let phase = if object::is_deleting(value) {
        "Terminating"
    } else {
        object::text(value, "/status/phase")
    };
    vec![
        json!(phase),
        text(value, "/spec/volumeName"),
        text(value, "/status/capacity/storage"),
        json!(join(modes)),
        text(value, "/spec/storageClassName"),
        json!(age(value, now)),
    ]
}
