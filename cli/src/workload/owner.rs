//! Says who made an object. The API server lets any text stand where an owner is named; here it counts only where an object
//! could be called that, since names go into commands, completion and lists.

use std::collections::BTreeMap;

use serde_json::Value;

use crate::cluster::json::text;
use crate::cluster::names;

/// The longest name of an object, and of one part of it.
const NAME_BYTES_MAX: usize = 253;
const PART_BYTES_MAX: usize = 63;

/// Stands for an owner that there is not.
static NOBODY: Value = Value::Null;

/// The UID of the controller that made the object; runs of recurring ones stand for themselves.
pub(super) fn maker(object: &Value) -> Option<&str> {
    let controller = controller(object)?;
    let is_recurring = matches!(
        text(&controller["kind"]),
        "CronJob" | "CronWorkflow" | "RayCronJob" | "ScheduledSparkApplication"
    );
    (!is_recurring).then(|| text(&controller["uid"]))
}

/// The owner that controls the object.
pub(super) fn controller(object: &Value) -> Option<&Value> {
    let owners = object["metadata"]["ownerReferences"].as_array()?;
    let controller = owners.iter().find(|owner| owner["controller"].as_bool() == Some(true));
    controller.filter(|owner| is_named(owner))
}

/// The first owner of an object.
pub(super) fn first(object: &Value) -> &Value {
    let owner = &object["metadata"]["ownerReferences"][0];
    if is_named(owner) { owner } else { &NOBODY }
}

/// The lines of the annotation that the podgrouper writes: `key: value`, values quoted where YAML needs it.
pub(super) fn top_owner(group: &Value) -> BTreeMap<String, String> {
    let annotation = text(&group["metadata"]["annotations"][names::TOP_OWNER]);
    let lines: BTreeMap<String, String> = annotation
        .lines()
        .filter_map(|line| line.split_once(": "))
        .map(|(key, value)| {
            (key.trim().to_owned(), value.trim().trim_matches(['"', '\'']).to_owned())
        })
        .collect();
    let get = |key: &str| lines.get(key).map_or("", String::as_str);
    let is_named = is_kind(get("group"), get("version"), get("kind")) && is_name(get("name"));
    if is_named { lines } else { BTreeMap::new() }
}

/// Tells whether an owner could be an object of the API; what it leaves out says nothing.
fn is_named(owner: &Value) -> bool {
    let version = text(&owner["apiVersion"]);
    let (group, version) = version.rsplit_once('/').unwrap_or(("", version));
    is_kind(group, version, text(&owner["kind"])) && is_name(text(&owner["name"]))
}

fn is_kind(group: &str, version: &str, kind: &str) -> bool {
    let is_letter = |c: char| c.is_ascii_alphanumeric() || c == '-';
    let is_word = kind.len() <= PART_BYTES_MAX && kind.chars().all(is_letter);
    is_word && !kind.starts_with('-') && is_name(group) && is_name(version)
}

/// Tells whether an object can have a name: a subdomain of DNS, or none.
fn is_name(name: &str) -> bool {
    let is_end = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit();
    let is_part = |part: &str| {
        part.chars().all(|c| is_end(c) || c == '-')
            && part.starts_with(is_end)
            && part.ends_with(is_end)
    };
    name.len() <= NAME_BYTES_MAX && (name.is_empty() || name.split('.').all(is_part))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    /// Tells whether an owner of these words counts, as a controller and in the annotation of a group.
    fn check(version: &str, kind: &str, name: &str, expect: bool) {
        let owner = json!({"apiVersion": version, "kind": kind, "name": name, "uid": "u", "controller": true});
        let object = json!({"metadata": {"ownerReferences": [owner]}});
        assert_eq!(controller(&object).is_some(), expect, "{version} {kind} {name}");
        assert_eq!(first(&object).is_object(), expect, "{version} {kind} {name}");
        let (group, version) = version.rsplit_once('/').unwrap_or(("", version));
        let lines =
            format!("group: {group}\nversion: {version}\nkind: {kind}\nname: {name}\nuid: u");
        let group = json!({"metadata": {"annotations": { names::TOP_OWNER: lines }}});
        let is_line = !name.contains('\n');
        assert_eq!(top_owner(&group).contains_key("uid"), expect || !is_line, "{lines}");
    }

    #[test]
    fn an_owner_counts_where_an_object_can_have_its_name() {
        check("batch/v1", "Job", "train", true);
        check("v1", "Pod", "a.b-c.9", true);
        check("kubeflow.org/v1", "PyTorchJob", &"n".repeat(253), true);
        check("kubeflow.org/v1", "PyTorchJob", &"n".repeat(254), false);
        check("evil.io/v1", "Foo", "$(touch${IFS}/tmp/pwned)", false);
        check("evil.io/v1", "Foo", "x -A *", false);
        check("evil.io/v1", "Foo", "x\nbatch/job/*", false);
        check("evil.io/v1", "Foo", "-x", false);
        check("evil.io/v1", "Foo", "x.", false);
        check("evil.io/v1", "Foo;id", "x", false);
        check("evil.io/v1", "-A", "x", false);
        check("evil.io/v1 *", "Foo", "x", false);
        check("$(id)/v1", "Foo", "x", false);
    }
}
