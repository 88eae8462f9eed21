//! Makes a Helm chart of the manifests that `kubectl kai install` applies, so that both install the same objects.
//!
//! ```text
//!  install::objects ─► marks at what values change ─► YAML ─► marks to expressions ─► deploy/chart/templates/
//!  values::ROWS ────► values.yaml, values.schema.json, README.md, templates/_lists.tpl
//! ```

mod specs;
mod values;

use std::fmt::Write as _;

use kubectl_kai::install::{Component, Group, Options, objects};
use serde_json::{Map, Value, json};

use super::Generated;

const FOLDER: &str = "deploy/chart";
const NAMESPACE: &str = "kai-scheduler";
/// Namespace of reservation pods, and name of their account.
const RESERVATION: &str = "kai-resource-reservation";
const HEAD: &str = "# Generated from deploy/*.yaml by `cargo xtask generate`.\n";
/// Line of a template that refuses what the schema has to let through.
const CHECK: &str = "{{- include \"kai.checkGlobal\" . }}\n";

/// What each value does, as a table.
pub(super) fn effects() -> String {
    values::effects()
}

/// The files of the chart that have a source elsewhere; its helpers, notes and budgets have none.
pub(super) fn files() -> Vec<Generated> {
    let mut files = vec![
        file("Chart.yaml", chart()),
        file("values.yaml", values::yaml()),
        file("values.schema.json", values::schema()),
        file("README.md", values::readme()),
        file("templates/_lists.tpl", values::lists()),
    ];
    for (name, text) in kai_api::crd::files() {
        if name != "kustomization.yaml" {
            files.push(file(&format!("crds/{name}"), text));
        }
    }
    // A cluster without Prometheus' operator refuses objects for it.
    let is_part = |group: &Group| !matches!(group, Group::Crds | Group::Monitoring);
    let mut options = Options::default();
    options.components.push(Component::FlowControl);
    for group in Group::ALL.into_iter().filter(is_part) {
        let name = group.title().replace(' ', "-");
        let documents: Vec<String> = objects(&options)
            .into_iter()
            .filter(|(of, _)| *of == group)
            .map(|(_, object)| document(object))
            .collect();
        // Once is enough.
        let check = if group == Group::Daemons { CHECK } else { "" };
        let text = format!("{HEAD}{check}{}", documents.concat());
        files.push(file(&format!("templates/{name}.yaml"), text));
    }
    files
}

fn file(name: &str, text: String) -> Generated {
    Generated { path: format!("{FOLDER}/{name}"), text }
}

fn chart() -> String {
    let version = env!("CARGO_PKG_VERSION");
    format!(
        "{HEAD}apiVersion: v2\nname: kai-scheduler\ndescription: A scheduler for AI workloads, in place of NVIDIA KAI Scheduler v0.17\n\
         type: application\nversion: {version}\nappVersion: \"{version}\"\nkubeVersion: \">=1.30.0-0\"\n"
    )
}

/// The places of an object that depend on values, each with its expression.
#[derive(Default)]
struct Marks(Vec<String>);

/// Ways for an expression to become YAML.
enum Form {
    /// In place of the value.
    Inline,
    /// As further lines, which are indented below the key.
    Block,
    /// Like a block, and nothing, not even the key, where the value is empty.
    Optional,
    /// In place of the value, and nothing, not even the key, where it is empty.
    Word,
}

impl Marks {
    /// Puts a mark for an expression at a key.
    fn put(&mut self, parent: &mut Value, key: &str, form: &Form, expression: &str) {
        let letter = match form {
            Form::Inline => 'i',
            Form::Block => 'b',
            Form::Optional => 'o',
            Form::Word => 'w',
        };
        parent[key] = json!(format!("@{letter}{}@", self.0.len()));
        self.0.push(expression.to_owned());
    }

    /// Puts the expressions in place of the marks.
    fn resolve(&self, text: &str) -> String {
        text.lines().map(|line| self.line(line)).collect()
    }

    fn line(&self, line: &str) -> String {
        let Some((before, rest)) = line.split_once('@') else { return format!("{line}\n") };
        let Some((mark, after)) = rest.split_once('@') else { return format!("{line}\n") };
        let number = mark.get(1..).and_then(|number| number.parse::<usize>().ok());
        let Some(expression) = number.and_then(|number| self.0.get(number)) else {
            return format!("{line}\n");
        };
        let (before, after) =
            (before.trim_end_matches(['"', '\'']), after.trim_start_matches(['"', '\'']));
        let indent = before.len() - before.trim_start().len();
        let below = indent + 2;
        let key = before.trim_end();
        match &mark[..1] {
            "b" => format!("{key}\n{:below$}{{{{- {expression} | nindent {below} }}}}\n", ""),
            "o" => format!(
                "{:indent$}{{{{- with {expression} }}}}\n{key}\n{:below$}{{{{- toYaml . | nindent {below} }}}}\n{:indent$}{{{{- end }}}}\n",
                "", "", ""
            ),
            "w" => format!(
                "{:indent$}{{{{- with {expression} }}}}\n{key} {{{{ . }}}}\n{:indent$}{{{{- end }}}}\n",
                "", ""
            ),
            _ => format!("{before}{{{{ {expression} }}}}{after}\n"),
        }
    }
}

/// Turns an object into a document of a template.
fn document(mut object: Value) -> String {
    let kind = object["kind"].as_str().unwrap_or_default().to_owned();
    let name = object["metadata"]["name"].as_str().unwrap_or_default().to_owned();
    let mut marks = Marks::default();
    let quoted = |value: &str| format!("{value} | quote");
    let labels = &mut object["metadata"]["labels"];
    marks.put(labels, "app.kubernetes.io/managed-by", &Form::Inline, ".Release.Service");
    marks.put(labels, "app.kubernetes.io/version", &Form::Inline, &quoted(".Chart.AppVersion"));
    let mut lead = String::new();
    match kind.as_str() {
        "Deployment" => deployment(&mut object, &name, &mut marks),
        "Namespace" if name == RESERVATION => further_labels(&mut object, &mut marks),
        "Queue" => queue(&mut object, &name, &mut marks),
        "Config" => lead = composed(&mut object, &mut marks, &specs::CONFIG),
        "SchedulingShard" => lead = composed(&mut object, &mut marks, &specs::SHARD),
        _ => {}
    }
    let text = marks.resolve(&print(&object));
    // What is left of the namespace's name stands for it: accounts, policies, flags, and the namespace itself.
    let text = namespaced(&text, &kind);
    let text = format!("{lead}---\n{text}");
    match condition(&kind, &name) {
        Some(condition) => format!("{{{{- if {condition} }}}}\n{text}{{{{- end }}}}\n"),
        None => text,
    }
}

/// Puts the release's namespace in place of ours, where it is one.
fn namespaced(text: &str, kind: &str) -> String {
    let release = "{{ .Release.Namespace }}";
    let mut text = text
        .replace(&format!("namespace: {NAMESPACE}\n"), &format!("namespace: {release}\n"))
        .replace(&format!("--namespace={NAMESPACE}"), &format!("--namespace={release}"))
        .replace(&format!("serviceaccounts:{NAMESPACE}'"), &format!("serviceaccounts:{release}'"))
        .replace(&format!("serviceaccount:{NAMESPACE}:"), &format!("serviceaccount:{release}:"));
    if kind == "Namespace" {
        text = text.replace(&format!("  name: {NAMESPACE}\n"), &format!("  name: {release}\n"));
    }
    if matches!(kind, "ValidatingAdmissionPolicy" | "FlowSchema") {
        // In the lists of namespaces, and nowhere else.
        text = text.replace(&format!("- {NAMESPACE}\n"), &format!("- {release}\n"));
    }
    text
}

/// The value that an object is there for.
fn condition(kind: &str, name: &str) -> Option<&'static str> {
    Some(match (kind, name) {
        ("Namespace", NAMESPACE) => ".Values.global.createNamespace",
        ("Namespace", RESERVATION) => ".Values.global.resourceReservation.createNamespace",
        ("ServiceAccount", RESERVATION) => {
            ".Values.global.resourceReservation.createServiceAccount"
        }
        ("PriorityClass", _) => ".Values.defaultPriorityClasses.enabled",
        ("PriorityLevelConfiguration" | "FlowSchema", _) => ".Values.flowControl.enabled",
        ("Queue", _) => ".Values.defaultQueue.createDefaultQueue",
        ("SchedulingShard", _) => ".Values.defaultShard.enabled",
        ("Config", _) => {
            "or .Values.kaiConfig.render (.Values.kaiConfigDeployer).enabled \
             (and (kindIs \"invalid\" .Values.kaiConfig.render) (kindIs \"invalid\" (.Values.kaiConfigDeployer).enabled))"
        }
        _ => return None,
    })
}

fn deployment(object: &mut Value, name: &str, marks: &mut Marks) {
    let part = if name == "kai-podgrouper" { "podgrouper" } else { "scheduler" };
    let of = |field: &str| format!(".Values.{part}.{field}");
    let replicas = object["spec"]["replicas"].clone();
    marks.put(
        &mut object["spec"],
        "replicas",
        &Form::Inline,
        &format!(".Values.operator.replicaCount | default {replicas}"),
    );
    let spec = &mut object["spec"]["template"]["spec"];
    let global = |field: &str| format!(".Values.global.{field}");
    let yaml = |value: &str| format!("toYaml {value}");
    let secured =
        |field: &str| format!("include \"kai.securityContext\" (list . {})", global(field));
    marks.put(spec, "priorityClassName", &Form::Inline, &global("priorityClassName"));
    marks.put(spec, "securityContext", &Form::Block, &secured("podSecurityContext"));
    marks.put(spec, "tolerations", &Form::Block, &yaml(&global("tolerations")));
    marks.put(spec, "nodeSelector", &Form::Optional, &global("nodeSelector"));
    let own = format!("({} | default .Values.global.affinity)", of("affinity"));
    if spec["affinity"].is_object() {
        let shipped = serde_json::to_string(&spec["affinity"]).expect("JSON is JSON");
        let expression = format!("toYaml ({own} | default (fromJson `{shipped}`))");
        marks.put(spec, "affinity", &Form::Block, &expression);
    } else {
        marks.put(spec, "affinity", &Form::Optional, &own);
    }
    let secrets = "(include \"kai.pullSecrets\" .Values.global.imagePullSecrets | fromYamlArray)";
    marks.put(spec, "imagePullSecrets", &Form::Optional, secrets);
    let container = &mut spec["containers"][0];
    let image = format!("include \"kai.image\" (list . .Values.{part})");
    marks.put(container, "image", &Form::Inline, &image);
    let policy = format!("(({}).pullPolicy | default .Values.global.imagePullPolicy)", of("image"));
    marks.put(container, "imagePullPolicy", &Form::Word, &policy);
    marks.put(container, "resources", &Form::Block, &yaml(&of("resources")));
    marks.put(container, "securityContext", &Form::Block, &secured("securityContext"));
    for word in container["args"].as_array_mut().into_iter().flatten() {
        if *word == "--log-json=true" {
            *word = json!("--log-json={{ .Values.global.jsonLog }}");
        } else if *word == "--zap-encoder=json" {
            let encoder = "{{ .Values.global.jsonLog | ternary \"json\" \"console\" }}";
            *word = json!(format!("--zap-encoder={encoder}"));
        }
    }
}

/// Lets labels be added to those that the manifest has, whose marks the expression says anew.
fn further_labels(object: &mut Value, marks: &mut Marks) {
    let is_shipped = |value: &Value| value.as_str().is_some_and(|text| !text.starts_with('@'));
    let labels = object["metadata"]["labels"].as_object().into_iter().flatten();
    let shipped: Map<String, Value> = labels
        .filter(|(_, value)| is_shipped(value))
        .map(|(key, value)| (key.clone(), value.clone()))
        .collect();
    let shipped = serde_json::to_string(&shipped).expect("JSON is JSON");
    let expression = format!(
        "toYaml (merge (dict) (.Values.global.resourceReservation.namespaceLabels | default dict) (fromJson `{shipped}`) \
         (dict \"app.kubernetes.io/managed-by\" .Release.Service \"app.kubernetes.io/version\" .Chart.AppVersion))"
    );
    marks.put(&mut object["metadata"], "labels", &Form::Block, &expression);
}

fn queue(object: &mut Value, name: &str, marks: &mut Marks) {
    let (own, resources) = if name == "default-queue" {
        ("childName", "childResources")
    } else {
        ("parentName", "parentResources")
    };
    let of = |field: &str| format!(".Values.defaultQueue.{field}");
    marks.put(&mut object["metadata"], "name", &Form::Inline, &of(own));
    if object["spec"].get("parentQueue").is_some() {
        marks.put(&mut object["spec"], "parentQueue", &Form::Inline, &of("parentName"));
    }
    marks.put(&mut object["spec"], "resources", &Form::Block, &format!("toYaml {}", of(resources)));
}

/// Lets a spec be put together from values: returns the lines that do it.
fn composed(object: &mut Value, marks: &mut Marks, rows: &[(&str, &str)]) -> String {
    marks.put(object, "spec", &Form::Block, "toYaml $spec");
    let mut lines = String::from("{{- $spec := dict }}\n");
    for (path, value) in rows {
        let _ = writeln!(lines, "{{{{- include \"kai.put\" (list $spec \"{path}\" {value}) }}}}");
    }
    lines
}

/// Prints an object with every word quoted that might be read as something else, and no line folded.
fn print(object: &Value) -> String {
    let options = serde_saphyr::ser_options! {
        compact_list_indent: true,
        prefer_block_scalars: true,
        min_fold_chars: usize::MAX,
        folded_wrap_chars: usize::MAX,
    };
    let mut text = String::new();
    serde_saphyr::to_fmt_writer_with_options(&mut text, object, options)
        .expect("JSON values are YAML");
    text
}

/// A table for `path`, a dotted one, in a table of tables.
fn table<'a>(root: &'a mut Map<String, Value>, path: &[&str]) -> &'a mut Map<String, Value> {
    let mut at = root;
    for key in path {
        let below = at.entry((*key).to_owned()).or_insert_with(|| json!({}));
        at = below.as_object_mut().expect("a value is not above another");
    }
    at
}
