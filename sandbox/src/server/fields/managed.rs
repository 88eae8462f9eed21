//! `metadata.managedFields`: who owns which field.

use serde_json::{Value, json};

use super::{FieldSet, Intent, compare};
use crate::server::object;
use crate::server::refusal::{ApiResult, Cause, Refusal};
use crate::server::route::Target;
use crate::server::schema::Schema;

/// One owner of fields.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Manager {
    name: String,
    /// `Apply` or `Update`.
    operation: String,
    api_version: String,
    subresource: String,
    time: String,
    set: FieldSet,
}

impl Manager {
    fn from_json(value: &Value) -> Self {
        let text = |pointer: &str| object::text(value, pointer).to_owned();
        Self {
            name: text("/manager"),
            operation: text("/operation"),
            api_version: text("/apiVersion"),
            subresource: text("/subresource"),
            time: text("/time"),
            set: value.get("fieldsV1").map(FieldSet::from_json).unwrap_or_default(),
        }
    }

    fn to_json(&self) -> Value {
        let mut value = json!({
            "manager": self.name,
            "operation": self.operation,
            "apiVersion": self.api_version,
            "time": self.time,
            "fieldsType": "FieldsV1",
            "fieldsV1": self.set.to_json(),
        });
        if !self.subresource.is_empty() {
            value["subresource"] = json!(self.subresource);
        }
        value
    }

    fn is(&self, other: &Self) -> bool {
        self.name == other.name
            && self.operation == other.operation
            && self.subresource == other.subresource
            && (self.operation == "Apply" || self.api_version == other.api_version)
    }

    fn described(&self) -> String {
        let subresource = match self.subresource.as_str() {
            "" => String::new(),
            name => format!(" with subresource {name:?}"),
        };
        let using = match self.operation.as_str() {
            "Apply" => String::new(),
            _ => format!(" using {}", self.api_version),
        };
        format!("{:?}{subresource}{using}", self.name)
    }
}

fn managers(value: &Value) -> Vec<Manager> {
    object::array(value, "/metadata/managedFields").iter().map(Manager::from_json).collect()
}

fn new_manager(target: &Target, intent: &Intent<'_>) -> Manager {
    Manager {
        name: intent.manager.clone(),
        operation: if intent.applied.is_some() { "Apply" } else { "Update" }.to_owned(),
        api_version: target.kind.api_version(&target.version),
        subresource: target.subresource.clone(),
        time: object::now_text(),
        set: FieldSet::default(),
    }
}

/// The schema of the target's objects.
pub(crate) fn schema(target: &Target) -> Option<&Schema> {
    let version = target.kind.version(&target.version)?;
    version.schema.as_deref().map(|compiled| &compiled.schema)
}

/// Gives what the manager of this intent applied before, and what all others own.
pub(crate) fn applied_before(
    old: &Value,
    target: &Target,
    intent: &Intent<'_>,
) -> (FieldSet, FieldSet) {
    let me = Manager { operation: "Apply".to_owned(), ..new_manager(target, intent) };
    let (mine, others): (Vec<Manager>, Vec<Manager>) =
        managers(old).into_iter().partition(|manager| manager.is(&me));
    let union = |managers: Vec<Manager>| {
        managers.into_iter().fold(FieldSet::default(), |set, manager| set.union(&manager.set))
    };
    (union(mine), union(others))
}

/// Writes down who owns what after a write; refuses an apply that takes fields from others without force.
pub(crate) fn track(
    target: &Target,
    old: Option<&Value>,
    new: &mut Value,
    intent: &Intent<'_>,
) -> ApiResult<()> {
    let before = zero(target);
    let mut compared = compare(old.unwrap_or(&before), new, schema(target));
    if target.subresource.is_empty() {
        // The status belongs to who writes it through its subresource.
        compared.written = compared.written.without(&["f:status"]);
    }
    let mut all = current(old, new);
    let me = new_manager(target, intent);
    let at = all.iter().position(|manager| manager.is(&me));
    let mut mine = at.map_or(me, |at| all.remove(at));
    if intent.applied.is_some() && !intent.params.force {
        refuse_conflicts(&all, &compared.written)?;
    }
    for other in &mut all {
        let set = std::mem::take(&mut other.set);
        other.set = set.difference(&compared.removed).difference(&compared.written);
    }
    let set = match &intent.applied {
        Some(applied) => applied.clone(),
        None => mine.set.clone().union(&compared.written).difference(&compared.removed),
    };
    if set != mine.set || !compared.written.is_empty() || !compared.removed.is_empty() {
        mine.time = object::now_text();
    }
    mine.set = set;
    all.push(mine);
    all.retain(|manager| !manager.set.is_empty());
    all.sort_by(|a, b| (&a.operation, &a.time, &a.name).cmp(&(&b.operation, &b.time, &b.name)));
    let entries: Vec<Value> = all.iter().map(Manager::to_json).collect();
    object::set_metadata(new, "managedFields", Value::Array(entries));
    Ok(())
}

/// The owners to start from: those that the client sent, when it sent some, else those of the old state.
fn current(old: Option<&Value>, new: &Value) -> Vec<Manager> {
    let sent = object::array(new, "/metadata/managedFields");
    match (old, sent) {
        (Some(old), []) => managers(old),
        // One empty entry asks to forget all owners.
        (_, [one]) if one.as_object().is_some_and(serde_json::Map::is_empty) => Vec::new(),
        (Some(_), _) => managers(new),
        (None, _) => Vec::new(),
    }
}

/// Makes what a new object is compared with: the empty parts that every object of a built-in kind has.
fn zero(target: &Target) -> Value {
    if target.kind.custom {
        return json!({ "metadata": {} });
    }
    let pod = json!({ "metadata": {}, "spec": { "containers": null } });
    json!({
        "metadata": {},
        "status": {},
        "spec": { "containers": null, "selector": null, "template": pod, "strategy": {}, "updateStrategy": {} },
    })
}

fn refuse_conflicts(others: &[Manager], written: &FieldSet) -> ApiResult<()> {
    let mut causes = Vec::new();
    let mut lines = Vec::new();
    for other in others {
        let paths = other.set.intersection(written).paths();
        let who = other.described();
        match paths.as_slice() {
            [] => continue,
            [one] => lines.push(format!("conflict with {who}: {one}")),
            many => lines.push(format!("conflicts with {who}:\n- {}", many.join("\n- "))),
        }
        causes.extend(paths.into_iter().map(|path| Cause {
            field: path,
            reason: "FieldManagerConflict",
            message: format!("conflict with {who}"),
        }));
    }
    if causes.is_empty() {
        return Ok(());
    }
    let plural = if causes.len() == 1 { "" } else { "s" };
    let message =
        format!("Apply failed with {} conflict{plural}: {}", causes.len(), lines.join("\n"));
    Err(Refusal::new(409, "Conflict", message).causes(&causes))
}
