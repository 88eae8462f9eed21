//! Describes what evaluation costs: a step costs one, text a tenth of its bytes, and functions what their arguments are.
//!
//! Follows the estimates of Kubernetes' CEL library, but that every value is charged for each time that it is handed on,
//! as the interpreter copies it.

use std::sync::{
    Arc,
    atomic::{AtomicBool, AtomicU64, Ordering},
};

use kube_cel::cel::{Context, ExecutionError, extractors::Arguments, objects::Key, objects::Value};

/// Charges for a call: the name of the function, and its arguments.
pub(super) const CALL: &str = "@call";
/// Charges for a value and hands it on.
pub(super) const VALUE: &str = "@value";
/// Charges for what a loop goes over and hands it on, the keys of a map in their order.
pub(super) const ORDERED: &str = "@ordered";
/// Charges for one step of a loop: how many nodes the step has, what it gathered and the entry it looks at.
pub(super) const STEP: &str = "@step";

/// Says what one evaluation costs, beside its budget, so that many small ones have a price too.
pub(super) const BASE: u64 = 100;
/// Says what a regular expression costs to compile, and how large it may be: nobody selects devices by larger ones.
const REGEX: u64 = 5_000;
const REGEX_BYTES_MAX: usize = 256 * 1024;
/// Bytes of text that cost one.
const TEXT_BYTES: u64 = 10;

/// Holds what may still be spent.
#[derive(Clone, Debug)]
pub(super) struct Budget {
    max: u64,
    spent: Arc<AtomicU64>,
    is_spent: Arc<AtomicBool>,
}

impl Budget {
    /// A budget of which [`BASE`] is spent.
    pub(super) fn new(max: u64) -> Self {
        let is_spent = Arc::new(AtomicBool::new(BASE > max));
        Self { max, spent: Arc::new(AtomicU64::new(BASE)), is_spent }
    }

    /// Adds the functions that charge.
    pub(super) fn enter(&self, context: &mut Context<'_>) {
        let budget = self.clone();
        context.add_function(CALL, move |Arguments(all): Arguments| {
            let (name, arguments) = match all.split_first() {
                Some((Value::String(name), rest)) => (&***name, rest),
                Some(_) | None => ("", &all[..]),
            };
            budget.charge(call(name, arguments))?;
            check(name, arguments)?;
            Ok(Value::Bool(true))
        });
        let budget = self.clone();
        context.add_function(VALUE, move |Arguments(all): Arguments| {
            budget.charge(all.iter().map(size).sum())?;
            Ok(all.first().cloned().unwrap_or(Value::Null))
        });
        let budget = self.clone();
        context.add_function(ORDERED, move |Arguments(all): Arguments| {
            budget.charge(all.iter().map(size).sum())?;
            Ok(all.first().map_or(Value::Null, ordered))
        });
        let budget = self.clone();
        context.add_function(STEP, move |Arguments(all): Arguments| {
            let nodes = all.first().map_or(0, number);
            budget.charge(nodes + all.iter().skip(1).map(size).sum::<u64>())?;
            Ok(Value::Bool(true))
        });
    }

    fn charge(&self, cost: u64) -> Result<(), ExecutionError> {
        let before = self.spent.fetch_add(cost.min(self.max), Ordering::Relaxed);
        if before.saturating_add(cost) > self.max {
            self.is_spent.store(true, Ordering::Relaxed);
            return Err(ExecutionError::function_error("cost", "it costs too much"));
        }
        Ok(())
    }

    pub(super) fn is_spent(&self) -> bool {
        self.is_spent.load(Ordering::Relaxed)
    }

    pub(super) fn spent(&self) -> u64 {
        self.spent.load(Ordering::Relaxed)
    }
}

/// The keys of a map in their order, which the map itself does not keep; any other value as it is.
fn ordered(value: &Value) -> Value {
    let Value::Map(map) = value else { return value.clone() };
    let mut keys: Vec<&Key> = map.map.keys().collect();
    keys.sort_unstable();
    Value::from(keys.into_iter().map(Value::from).collect::<Vec<Value>>())
}

/// Works out what a call costs, by its arguments.
fn call(name: &str, arguments: &[Value]) -> u64 {
    let sum: u64 = arguments.iter().map(size).sum();
    let product = || {
        let lengths = arguments.iter().map(|one| length(one).max(1));
        lengths.fold(1_u64, u64::saturating_mul)
    };
    let more = match name {
        "matches" | "find" | "findAll" => REGEX + product() / TEXT_BYTES,
        // What comes out may be as large as one argument for each byte of another, or each entry of one is compared with
        // each of another.
        "replace" | "join" | "split" | "format" | "flatten" | "contains" | "equivalent"
        | "intersects" | "@in" => product() / TEXT_BYTES,
        // Each entry is compared with each other.
        "distinct" | "sort" | "isSorted" => product().saturating_mul(product()) / TEXT_BYTES,
        // The only number that is an amount of work.
        "range" => arguments.iter().map(number).fold(0, u64::saturating_add),
        _ => 0,
    };
    (1 + sum).saturating_add(more)
}

/// Refuses regular expressions that are large once they are compiled, whatever their text, and to print a map, whose
/// entries would come in any order.
fn check(name: &str, arguments: &[Value]) -> Result<(), ExecutionError> {
    if name == "format" && arguments.iter().any(has_map) {
        return Err(ExecutionError::function_error(name, "it prints no map"));
    }
    let is_regex = matches!(name, "matches" | "find" | "findAll");
    if let (true, Some(Value::String(pattern))) = (is_regex, arguments.get(1)) {
        let built = regex::RegexBuilder::new(pattern).size_limit(REGEX_BYTES_MAX).build();
        built.map_err(|error| ExecutionError::function_error(name, error))?;
    }
    Ok(())
}

/// Tells whether a map of several entries is in a value.
fn has_map(value: &Value) -> bool {
    if let Value::Map(map) = value {
        return map.map.len() > 1 || map.map.values().any(has_map);
    }
    matches!(value, Value::List(all) if all.iter().any(has_map))
}

/// Steps that handing a value on takes.
fn size(value: &Value) -> u64 {
    1 + match value {
        Value::List(all) => all.iter().map(size).sum(),
        Value::Map(map) => map.map.iter().map(|(key, value)| of_key(key) + size(value)).sum(),
        Value::String(text) => text.len() as u64 / TEXT_BYTES,
        Value::Bytes(bytes) => bytes.len() as u64 / TEXT_BYTES,
        Value::Function(..)
        | Value::Int(_)
        | Value::UInt(_)
        | Value::Float(_)
        | Value::Bool(_)
        | Value::Duration(_)
        | Value::Timestamp(_)
        | Value::Opaque(_)
        | Value::Null => 0,
    }
}

fn of_key(key: &Key) -> u64 {
    if let Key::String(text) = key { 1 + text.len() as u64 / TEXT_BYTES } else { 1 }
}

/// Bytes or entries of a value, deep.
fn length(value: &Value) -> u64 {
    match value {
        Value::List(all) => all.iter().map(|one| length(one).max(1)).sum(),
        Value::Map(map) => map.map.values().map(|one| length(one).max(1)).sum(),
        Value::String(text) => text.len() as u64,
        Value::Bytes(bytes) => bytes.len() as u64,
        Value::Function(..)
        | Value::Int(_)
        | Value::UInt(_)
        | Value::Float(_)
        | Value::Bool(_)
        | Value::Duration(_)
        | Value::Timestamp(_)
        | Value::Opaque(_)
        | Value::Null => 1,
    }
}

fn number(value: &Value) -> u64 {
    if let Value::Int(number) = value {
        return u64::try_from(*number).unwrap_or(0);
    }
    if let Value::UInt(number) = value { *number } else { 0 }
}
