//! Checks that an object has the form of its kind: unknown fields, types, the schema of a custom resource.

use serde_json::Value;

use super::fields::Intent;
use super::params::FieldValidation;
use super::refusal::{ApiResult, Cause, Refusal};
use super::route::Target;
use super::schema::{Compiled, clean, validation};

fn of(target: &Target) -> Option<&Compiled> {
    target.kind.version(&target.version)?.schema.as_deref()
}

/// Checks types of built-in kinds, drops or refuses unknown fields, then fills in the defaults of custom ones.
pub(crate) fn clean(target: &Target, value: &mut Value, intent: &mut Intent<'_>) -> ApiResult<()> {
    let Some(compiled) = of(target) else { return Ok(()) };
    let kind = &target.kind.kind;
    let handled = format!("{kind} in version {:?} cannot be handled as a {kind}", target.version);
    if !target.kind.custom {
        clean::coerce(&compiled.schema, value, "")
            .map_err(|why| unread(&format!("{handled}: {why}"), intent))?;
    }
    drop_empty_metadata(value);
    let mut unknown = Vec::new();
    clean::prune_object(&compiled.schema, value, &mut unknown);
    match intent.params.field_validation {
        FieldValidation::Strict if !unknown.is_empty() => {
            let list: Vec<String> =
                unknown.iter().map(|path| format!("unknown field {path:?}")).collect();
            let message = format!("{handled}: strict decoding error: {}", list.join(", "));
            return Err(unread(&message, intent));
        }
        FieldValidation::Warn => {
            intent.warnings.extend(unknown.iter().map(|path| format!("unknown field {path:?}")));
        }
        FieldValidation::Strict | FieldValidation::Ignore => {}
    }
    if target.kind.custom {
        clean::default(&compiled.schema, value);
    }
    Ok(())
}

/// Lists and tables of the metadata that hold nothing are not there.
fn drop_empty_metadata(value: &mut Value) {
    let Some(metadata) = value.get_mut("metadata").and_then(Value::as_object_mut) else { return };
    let is_empty = |value: &Value| match value {
        Value::Array(rows) => rows.is_empty(),
        Value::Object(table) => table.is_empty(),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => false,
    };
    for field in ["labels", "annotations", "finalizers", "ownerReferences"] {
        if metadata.get(field).is_some_and(is_empty) {
            metadata.shift_remove(field);
        }
    }
}

/// Refuses what is no object of the kind: a bad request, or a patch that is not valid.
fn unread(why: &str, intent: &Intent<'_>) -> Refusal {
    if intent.is_patch && intent.applied.is_none() {
        return Refusal::unfit_patch(why);
    }
    Refusal::bad_request(why)
}

/// Brings what a webhook made of an object into the form in which it is stored; unknown fields are dropped silently.
pub(crate) fn tidy(target: &Target, value: &mut Value) -> ApiResult<()> {
    let Some(compiled) = of(target) else { return Ok(()) };
    if !target.kind.custom {
        clean::coerce(&compiled.schema, value, "").map_err(|why| {
            Refusal::internal(&format!(
                "a webhook made a {} of the wrong form: {why}",
                target.kind.kind
            ))
        })?;
    }
    clean::prune_object(&compiled.schema, value, &mut Vec::new());
    if target.kind.custom {
        clean::default(&compiled.schema, value);
    }
    Ok(())
}

/// Validates a custom resource against its schema and rules.
pub(crate) fn check(target: &Target, value: &Value, old: Option<&Value>) -> ApiResult<()> {
    let Some(compiled) = of(target).filter(|_| target.kind.custom) else { return Ok(()) };
    let mut causes = Vec::new();
    validation::validate(&compiled.schema, value, "", &mut causes);
    match &compiled.rules {
        Some(rules) if causes.is_empty() => causes.extend(validation::rules(rules, value, old)),
        Some(_) => {
            let detail = "some validation rules were not checked because the object was invalid; correct the \
                          existing errors to complete validation";
            causes.push(Cause::invalid("<nil>", &Value::Null, detail));
        }
        None => {}
    }
    target.refuse(value, &causes)
}
