//! Kinds without a rule here that a Karta definition describes (`docs/grouping.md` 7.18).

mod jq;

use std::sync::Arc;

use serde_json::Value;

use crate::desired::{Desired, Subgroup, Topology};
use crate::facts::{Answer, Part, Read, Stop};
use crate::group::{Case, base};
use crate::object::{self, Gvk, Object};
use crate::slim::is_unread;
use crate::sought::Sought;

/// The `PodGroup` by the one Karta that fits the top owner's kind; `None` without such a Karta.
pub(crate) fn group(case: &Case<'_>) -> Result<Option<Desired>, Stop> {
    if !case.settings.karta {
        return Ok(None);
    }
    let gvk = case.top.gvk();
    let answer = case.facts.ask(definitions(&gvk))?;
    let Answer::List(found) = answer else { return Ok(None) };
    let usable: Vec<&Object> =
        found.iter().map(AsRef::as_ref).filter(|karta| is_usable(karta, &gvk)).collect();
    match usable[..] {
        [karta] => by_definition(case, karta).map(Some),
        [] if case.settings.is_kai_v017() => {
            Err(Stop::bad(format!("no Karta describes {gvk}; KAI fails here")))
        }
        _ => Ok(None),
    }
}

/// A read of the Kartas that describe a kind.
pub(crate) fn definitions(gvk: &Gvk) -> Read {
    let label = |key: &str, value: &str| (key.to_owned(), value.to_owned());
    Read::List {
        api_version: "run.ai/v1alpha1".to_owned(),
        kind: "Karta".to_owned(),
        namespace: String::new(),
        prefix: String::new(),
        labels: vec![
            label("run.ai/karta-group", &gvk.group),
            label("run.ai/karta-version", &gvk.version),
            label("run.ai/karta-kind", &gvk.kind),
        ],
        sought: Sought::All,
    }
}

/// Gives the part of a top owner that the Kartas of its kind read: all of it where one names fields outside of the spec, or may
/// come by those that are left out of that.
pub(crate) fn part(kartas: &[Arc<Object>]) -> Part {
    if kartas.is_empty() {
        return Part::Metadata;
    }
    let mut asked = kartas.iter().flat_map(|karta| Structure { karta }.all()).flat_map(paths);
    if asked.all(is_of_spec) { Part::Spec } else { Part::Whole }
}

/// The expressions that are asked of the top owner.
fn paths(component: &Value) -> impl Iterator<Item = &str> {
    let scale = &component["scaleDefinition"];
    let all = [&scale["minReplicasPath"], &scale["replicasPath"], &component["instanceIdPath"]];
    all.into_iter().filter_map(Value::as_str)
}

/// Tells whether an expression is a plain path into the spec, as `.spec.tasks[].replicas`.
fn is_of_spec(path: &str) -> bool {
    let Some(path) = path.strip_prefix(".spec.") else { return false };
    let is_name = |name: &str| {
        !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
    };
    path.split('.').all(|name| {
        let name = name.trim_end_matches("[]");
        is_name(name) && !is_unread(name)
    })
}

/// Gives what a Karta says of gangs.
///
/// The definition of Karta has it below `spec.optimizationInstructions`; below `spec.instructions`, as the rule is
/// written down, it is read as well.
fn gang(karta: &Object) -> &Value {
    let spec = &karta.value()["spec"];
    let places =
        ["optimizationInstructions", "instructions"].map(|key| &spec[key]["gangScheduling"]);
    places.into_iter().find(|gang| gang.is_object()).unwrap_or(&Value::Null)
}

fn is_usable(karta: &Object, gvk: &Gvk) -> bool {
    let structure = Structure { karta };
    let Some(root) = structure.root() else { return false };
    let text = |key: &str| root["kind"][key].as_str().unwrap_or_default();
    let is_same =
        text("group") == gvk.group && text("version") == gvk.version && text("kind") == gvk.kind;
    let gang = gang(karta);
    let has_gang = gang["podGroup"].is_object()
        || gang["podGroups"].as_array().is_some_and(|groups| !groups.is_empty());
    is_same && has_gang && !karta.is_terminating()
}

/// The component tree of a Karta.
#[derive(Debug, Clone, Copy)]
struct Structure<'a> {
    karta: &'a Object,
}

impl<'a> Structure<'a> {
    fn root(self) -> Option<&'a Value> {
        let root = &self.karta.value()["spec"]["structureDefinition"]["rootComponent"];
        root.is_object().then_some(root)
    }

    fn children(self) -> &'a [Value] {
        let list = &self.karta.value()["spec"]["structureDefinition"]["childComponents"];
        list.as_array().map_or(&[], Vec::as_slice)
    }

    fn all(self) -> impl Iterator<Item = &'a Value> {
        self.root().into_iter().chain(self.children())
    }

    fn get(self, name: &str) -> Option<&'a Value> {
        self.all().find(|component| component["name"] == name)
    }

    fn below(self, component: &'a Value) -> impl Iterator<Item = &'a Value> {
        let name = component["name"].as_str().unwrap_or_default();
        self.children().iter().filter(move |child| child["ownerRef"] == name)
    }

    /// A component and everything below it; a cycle is walked once.
    fn subtree(self, component: &'a Value) -> Vec<&'a Value> {
        let mut found = vec![component];
        let mut next = 0;
        while next < found.len() {
            for child in self.below(found[next]) {
                if !found.iter().any(|seen| std::ptr::eq(*seen, child)) {
                    found.push(child);
                }
            }
            next += 1;
        }
        found
    }

    /// The component and its ancestors, nearest first.
    fn lineage(self, component: &'a Value) -> Vec<&'a Value> {
        let mut found = vec![component];
        while let Some(parent) =
            found[found.len() - 1]["ownerRef"].as_str().and_then(|name| self.get(name))
        {
            if found.iter().any(|seen| std::ptr::eq(*seen, parent)) {
                break;
            }
            found.push(parent);
        }
        found
    }
}

fn by_definition(case: &Case<'_>, karta: &Object) -> Result<Desired, Stop> {
    let structure = Structure { karta };
    let root = structure.root().ok_or_else(|| Stop::bad("the Karta has no rootComponent"))?;
    let mut desired = base(case, &[])?;
    let gang = gang(karta);
    if gang["podGroup"].is_object() {
        let name = object::text(&gang["podGroup"], "name")?.unwrap_or_default();
        desired.name = format!("pg-{}-{name}", case.top.uid());
        one_group(case, structure, root, &gang["podGroup"], &mut desired)?;
    } else {
        member_group(case, structure, gang, &mut desired)?;
    }
    Ok(desired)
}

/// The `podGroup` form: one `PodGroup`, a subgroup per listed component.
fn one_group(
    case: &Case<'_>,
    structure: Structure<'_>,
    root: &Value,
    group: &Value,
    desired: &mut Desired,
) -> Result<(), Stop> {
    if let Some(topology) = topology(group)? {
        desired.topology = topology;
    }
    let rows = object::list(group, "subGroups")?;
    if rows.is_empty() {
        desired.min_member = subtree_scale(case, structure, root, None)?;
        return Ok(());
    }
    let pod = case.pod.to_object();
    for row in rows {
        let name = object::text(row, "componentName")?.unwrap_or_default();
        let component = structure
            .get(name)
            .ok_or_else(|| Stop::bad(format!("the Karta has no component {name:?}")))?;
        let members = subtree_scale(case, structure, component, None)?;
        if members == 0 {
            return Err(Stop::bad(format!("component {name:?} has no pods")));
        }
        desired.subgroups.push(Subgroup::leaf(name, members).with_topology(topology(row)?));
        for part in structure.subtree(component) {
            if matches(part, &pod)? {
                desired.route(&case.pod.name, name);
            }
        }
    }
    desired.min_subgroups = Some(i64::try_from(rows.len()).unwrap_or(i64::MAX));
    Ok(())
}

/// The older `podGroups` form: one `PodGroup` per value of the grouping keys.
fn member_group(
    case: &Case<'_>,
    structure: Structure<'_>,
    gang: &Value,
    desired: &mut Desired,
) -> Result<(), Stop> {
    let pod = case.pod.to_object();
    let mut own = None;
    for component in structure.all() {
        if own.is_none() && matches(component, &pod)? {
            own = Some(component);
        }
    }
    let own = own.or(structure.root().filter(|_| structure.children().is_empty()));
    let none = || {
        Stop::bad(format!(
            "pod {} does not match any Karta pod group member definition",
            case.pod.name
        ))
    };
    let own = own.ok_or_else(none)?;
    for component in structure.lineage(own) {
        for group in object::list(gang, "podGroups")? {
            for member in object::list(group, "members")? {
                if member["componentName"] == component["name"] && passes(member, &pod)? {
                    let instance =
                        if std::ptr::eq(own, component) { instance_of(own, &pod)? } else { None };
                    desired.name = member_name(case, member, &pod)?;
                    desired.min_member =
                        subtree_scale(case, structure, component, instance.as_ref())?;
                    return Ok(());
                }
            }
        }
    }
    Err(none())
}

fn passes(member: &Value, pod: &Object) -> Result<bool, Stop> {
    for filter in object::list(member, "filters")? {
        let found = jq::values(filter.as_str().unwrap_or_default(), pod.value())?;
        if found.first() != Some(&Value::Bool(true)) {
            return Ok(false);
        }
    }
    Ok(true)
}

fn member_name(case: &Case<'_>, member: &Value, pod: &Object) -> Result<String, Stop> {
    let mut name = format!("pg-{}", case.top.uid());
    let keys = object::list(member, "groupByKeyPaths")?;
    for path in keys {
        let found = jq::values(path.as_str().unwrap_or_default(), pod.value())?;
        let key = match found.first() {
            Some(Value::String(text)) => text.clone(),
            None | Some(Value::Null) => {
                return Err(Stop::bad(format!("the pod has no value at Karta key {path}")));
            }
            Some(other) => other.to_string(),
        };
        name = format!("{name}-{key}");
    }
    if !keys.is_empty() && !is_subdomain(&name) {
        return Err(Stop::bad(format!(
            "PodGroup name {name:?} is not valid: a lowercase RFC 1123 subdomain must consist of lower case letters, digits, '-' or '.'"
        )));
    }
    Ok(name)
}

fn is_subdomain(name: &str) -> bool {
    let is_edge = |b: u8| b.is_ascii_lowercase() || b.is_ascii_digit();
    let is_label = |label: &str| {
        let bytes = label.as_bytes();
        bytes.first().is_some_and(|b| is_edge(*b))
            && bytes.last().is_some_and(|b| is_edge(*b))
            && bytes.iter().all(|b| is_edge(*b) || *b == b'-')
    };
    name.len() <= 253 && name.split('.').all(is_label)
}

/// Tells whether a component's type selector picks the pod.
fn matches(component: &Value, pod: &Object) -> Result<bool, Stop> {
    let selector = &component["podSelector"]["componentTypeSelector"];
    let Some(path) = object::text(selector, "keyPath")? else { return Ok(false) };
    let found = jq::values(path, pod.value())?;
    Ok(match found.first() {
        None | Some(Value::Null) => false,
        Some(found) => selector["value"].is_null() || *found == selector["value"],
    })
}

/// The value that tells the pod's instance of a component from others.
fn instance_of(component: &Value, pod: &Object) -> Result<Option<Value>, Stop> {
    let selector = &component["podSelector"]["componentInstanceSelector"];
    let Some(path) = object::text(selector, "idPath")? else { return Ok(None) };
    Ok(jq::values(path, pod.value())?.into_iter().next().filter(|id| !id.is_null()))
}

/// Pods of a component and everything below it. Without any scale definition: its leaves.
fn subtree_scale(
    case: &Case<'_>,
    structure: Structure<'_>,
    component: &Value,
    instance: Option<&Value>,
) -> Result<i64, Stop> {
    let subtree = structure.subtree(component);
    let is_defined = |part: &&Value| part["scaleDefinition"].is_object();
    if !subtree.iter().any(is_defined) {
        let leaves = subtree.iter().filter(|part| structure.below(part).next().is_none()).count();
        return Ok(i64::try_from(leaves).unwrap_or(i64::MAX));
    }
    scale(case, structure, component, instance, subtree.len())
}

fn scale(
    case: &Case<'_>,
    structure: Structure<'_>,
    component: &Value,
    instance: Option<&Value>,
    depth_left: usize,
) -> Result<i64, Stop> {
    let own = own_scale(case, component, instance)?;
    let mut children = 0_i64;
    if depth_left > 0 {
        for child in structure.below(component) {
            let part = scale(case, structure, child, None, depth_left - 1)?;
            children = children.saturating_add(part);
        }
    }
    Ok(match (own, children) {
        (0, only) | (only, 0) => only,
        (own, children) => own.saturating_mul(children),
    })
}

fn own_scale(case: &Case<'_>, component: &Value, instance: Option<&Value>) -> Result<i64, Stop> {
    let definition = &component["scaleDefinition"];
    let read = |key: &str| -> Result<i64, Stop> {
        let Some(path) = object::text(definition, key)? else { return Ok(0) };
        let counts = jq::values(path, case.top.value())?;
        let at = match (instance, object::text(component, "instanceIdPath")?) {
            (Some(id), Some(path)) => {
                jq::values(path, case.top.value())?.iter().position(|found| found == id)
            }
            _ => None,
        };
        let count = |value: &Value| {
            if value.is_null() {
                return Ok(0);
            }
            value.as_i64().filter(|count| i32::try_from(*count).is_ok()).ok_or_else(|| {
                Stop::bad(format!("Karta path {path:?} gives {value}, want a whole number"))
            })
        };
        match at.and_then(|at| counts.get(at)) {
            Some(value) => count(value),
            None => counts.iter().map(count).sum(),
        }
    };
    let min = read("minReplicasPath")?;
    if min > 0 { Ok(min) } else { read("replicasPath") }
}

/// The `topology` of a `podGroup` or of one of its `subGroups`; it needs a name and a level.
///
/// The definition of Karta requires all three fields, so what is not wanted is an empty text.
/// Source: the definition `kartas.run.ai`, `gangScheduling.podGroup.topology`.
fn topology(row: &Value) -> Result<Option<Topology>, Stop> {
    let Some(constraint) = object::table(row, "topology")? else { return Ok(None) };
    let text = |key: &str| {
        let text = constraint.get(key).and_then(Value::as_str);
        text.unwrap_or_default().to_owned()
    };
    let topology = Topology {
        name: text("topologyName"),
        required: text("requiredTopologyLevel"),
        preferred: text("preferredTopologyLevel"),
    };
    if !topology.is_complete() {
        return Err(Stop::bad("a topology of the Karta has no topologyName or no level"));
    }
    Ok(Some(topology))
}
