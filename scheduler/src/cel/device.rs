//! A device as expressions see it.

use std::collections::{BTreeSet, HashMap};

use kube_cel::cel::{
    Context, Program,
    objects::{Key, Value},
};

use super::{Attribute, Described};

/// The variable `device`. A domain that the expression names and the device does not have is empty.
pub(super) fn value(device: &Described, expression: &str, context: &Context<'_>) -> Value {
    let domains = literals(expression);
    let empty = || -> HashMap<String, HashMap<Key, Value>> {
        let known = domains.iter().cloned().chain([device.driver.to_string()]);
        known.map(|domain| (domain, HashMap::new())).collect()
    };
    let version = Program::compile("semver(text)").ok();
    let quantity = Program::compile("quantity(text)").ok();
    let mut attributes = empty();
    for (domain, name, value) in &device.attributes {
        let value = match value {
            Attribute::Bool(value) => Value::Bool(*value),
            Attribute::Int(value) => Value::Int(*value),
            Attribute::Text(value) => Value::from(&**value),
            Attribute::Version(value) => parsed(version.as_ref(), value, context),
        };
        attributes.entry(domain.to_string()).or_default().insert(Key::from(&**name), value);
    }
    let mut capacity = empty();
    for (domain, name, amount) in &device.capacity {
        let value = parsed(quantity.as_ref(), amount, context);
        capacity.entry(domain.to_string()).or_default().insert(Key::from(&**name), value);
    }
    let fields: HashMap<Key, Value> = HashMap::from([
        (Key::from("driver"), Value::from(&*device.driver)),
        (Key::from("attributes"), Value::from(attributes)),
        (Key::from("capacity"), Value::from(capacity)),
    ]);
    Value::from(fields)
}

/// A value that has no literal, read from text; null where it is none.
fn parsed(program: Option<&Program>, text: &str, context: &Context<'_>) -> Value {
    let mut context = context.new_inner_scope();
    context.add_variable_from_value("text", Value::from(text));
    program.and_then(|program| program.execute(&context).ok()).unwrap_or(Value::Null)
}

/// Every piece of text in quotes: one that is a domain has to be there, if only empty.
fn literals(expression: &str) -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    let mut rest = expression;
    while let Some(start) = rest.find(['"', '\'']) {
        let quote = &rest[start..=start];
        let after = &rest[start + 1..];
        let Some(end) = after.find(quote) else { break };
        found.insert(after[..end].to_owned());
        rest = &after[end + 1..];
    }
    found
}
