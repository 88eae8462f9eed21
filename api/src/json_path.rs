//! kubectl's `JSONPath`: what `-o jsonpath` prints, and what the columns of custom resources show.
//!
//! It is older than RFC 9535 and its own dialect: a template is text with `{expressions}`, and an expression is a path
//! (`.spec.list[?(@.k=="x")].v`), a quoted text, or `range PATH` with what is printed for each value up to `end`.
//!
//! # Source
//! `k8s.io/client-go/util/jsonpath`, and the page on its support in kubectl's reference. Where that fails while it prints, for
//! two values that cannot be compared, a filter here drops the value. Where it finds nothing since a dot in a quoted name is not
//! escaped (`['kai.scheduler/queue']`), or since nothing follows a dot (`{.}`), a path here finds what was meant.

use std::cmp::Ordering;

use serde_json::Value;

mod parse;

/// A template, read.
#[derive(Clone, Debug, PartialEq)]
pub struct Template(Vec<Part>);

/// A path, read.
#[derive(Clone, Debug, PartialEq)]
pub struct Path(Vec<Step>);

/// A template or a path that is none.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("failed to read the JSONPath: {part:?} is not understood")]
pub struct Error {
    /// The part that is not understood.
    pub part: String,
}

#[derive(Clone, Debug, PartialEq)]
enum Part {
    Text(String),
    Path(Path),
    Range(Path, Vec<Self>),
}

#[derive(Clone, Debug, PartialEq)]
enum Step {
    Field(String),
    /// `*`: each entry of a list or an object.
    Each,
    /// `..`: the value and all that is in it.
    Deep,
    /// `[..]`: entries by name or place.
    Pick(Vec<Pick>),
    Filter(Filter),
}

#[derive(Clone, Debug, PartialEq)]
enum Pick {
    Name(String),
    /// From the end where it is negative.
    At(i64),
    /// `from:to:step`; a bound that is absent is the list's own.
    Slice {
        from: Option<i64>,
        to: Option<i64>,
        step: usize,
    },
}

/// `?(left operator right)`, or `?(left)`: it is there.
#[derive(Clone, Debug, PartialEq)]
struct Filter {
    left: Operand,
    test: Option<(Operator, Operand)>,
}

#[derive(Clone, Debug, PartialEq)]
enum Operand {
    /// `@...`, from the entry.
    Entry(Path),
    /// `$...`, from the object.
    Object(Path),
    Literal(Value),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Operator {
    Equal,
    NotEqual,
    Less,
    AtMost,
    Greater,
    AtLeast,
}

impl Template {
    /// Reads a template.
    ///
    /// # Errors
    /// [`Error`] with the part that is not understood.
    pub fn parse(text: &str) -> Result<Self, Error> {
        parse::template(text).map(Self)
    }

    /// Prints an object: values of one path with spaces between them, texts without quotes, what is absent as nothing.
    pub fn apply(&self, object: &Value) -> String {
        let mut out = String::new();
        apply(&self.0, object, object, &mut out);
        out
    }
}

impl Path {
    /// Reads a path, as it stands between the braces of a template.
    ///
    /// # Errors
    /// [`Error`] with the part that is not understood.
    pub fn parse(text: &str) -> Result<Self, Error> {
        parse::path(text.trim())
    }

    /// Finds the values that the path leads to, in their order.
    pub fn find<'a>(&self, object: &'a Value) -> Vec<&'a Value> {
        self.walk(object, object)
    }

    fn walk<'a>(&self, here: &'a Value, object: &'a Value) -> Vec<&'a Value> {
        let mut found = vec![here];
        for step in &self.0 {
            found = step.take(&found, object);
        }
        found
    }
}

/// Prints parts from `here` on, in `object`.
fn apply(parts: &[Part], here: &Value, object: &Value, out: &mut String) {
    for part in parts {
        match part {
            Part::Text(text) => out.push_str(text),
            Part::Path(path) => {
                let texts: Vec<String> = path.walk(here, object).into_iter().map(shown).collect();
                out.push_str(&texts.join(" "));
            }
            Part::Range(path, body) => {
                for entry in path.walk(here, object) {
                    apply(body, entry, object, out);
                }
            }
        }
    }
}

/// Prints one value: a text without quotes, and the keys of objects in the order of the alphabet.
fn shown(value: &Value) -> String {
    if let Some(text) = value.as_str() {
        return text.to_owned();
    }
    let mut value = value.clone();
    value.sort_all_objects();
    value.to_string()
}

/// Lists what is directly in a value.
fn children(value: &Value) -> Vec<&Value> {
    match value {
        Value::Array(entries) => entries.iter().collect(),
        Value::Object(fields) => fields.values().collect(),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => Vec::new(),
    }
}

/// A value and all that is in it, the outer before the inner.
fn deep<'a>(value: &'a Value, all: &mut Vec<&'a Value>) {
    all.push(value);
    for child in children(value) {
        deep(child, all);
    }
}

impl Step {
    /// Gives what it finds in several values; of several picks, the first of every value and then the next, as kubectl has it.
    fn take<'a>(&self, found: &[&'a Value], object: &'a Value) -> Vec<&'a Value> {
        let found = found.iter().copied();
        match self {
            Self::Field(name) => found.filter_map(|value| value.get(name)).collect(),
            Self::Each => found.flat_map(children).collect(),
            Self::Deep => {
                let mut all = Vec::new();
                found.for_each(|value| deep(value, &mut all));
                all
            }
            Self::Pick(picks) => picks
                .iter()
                .flat_map(|pick| found.clone().flat_map(|value| pick.take(value)))
                .collect(),
            Self::Filter(filter) => {
                found.flat_map(children).filter(|entry| filter.keeps(entry, object)).collect()
            }
        }
    }
}

impl Pick {
    fn take<'a>(&self, value: &'a Value) -> Vec<&'a Value> {
        let entries = value.as_array().map_or(&[][..], Vec::as_slice);
        // A place in the list, counted from the end where it is negative.
        let place = |at: i64| {
            let from_end = usize::try_from(at.unsigned_abs()).unwrap_or(usize::MAX);
            usize::try_from(at).ok().or_else(|| entries.len().checked_sub(from_end))
        };
        match self {
            Self::Name(name) => value.get(name).into_iter().collect(),
            Self::At(at) => place(*at).and_then(|at| entries.get(at)).into_iter().collect(),
            Self::Slice { from, to, step } => {
                let from = from.map_or(0, |at| place(at).unwrap_or(0));
                let to = to.map_or(entries.len(), |at| place(at).unwrap_or(0)).min(entries.len());
                entries.get(from..to).unwrap_or_default().iter().step_by(*step).collect()
            }
        }
    }
}

impl Filter {
    fn keeps(&self, entry: &Value, object: &Value) -> bool {
        let left = self.left.values(entry, object);
        let Some((operator, right)) = &self.test else { return !left.is_empty() };
        match (&left[..], &right.values(entry, object)[..]) {
            ([left], [right]) => operator.holds(left, right),
            _ => false,
        }
    }
}

impl Operand {
    fn values<'a>(&'a self, entry: &'a Value, object: &'a Value) -> Vec<&'a Value> {
        match self {
            Self::Entry(path) => path.walk(entry, object),
            Self::Object(path) => path.walk(object, object),
            Self::Literal(value) => vec![value],
        }
    }
}

impl Operator {
    fn holds(self, left: &Value, right: &Value) -> bool {
        let order = match (left, right) {
            (Value::String(left), Value::String(right)) => Some(left.cmp(right)),
            (Value::Bool(left), Value::Bool(right)) => Some(left.cmp(right)),
            (Value::Number(left), Value::Number(right)) => match (left.as_i64(), right.as_i64()) {
                (Some(left), Some(right)) => Some(left.cmp(&right)),
                _ => left.as_f64().zip(right.as_f64()).and_then(|(one, two)| one.partial_cmp(&two)),
            },
            _ => None,
        };
        order.is_some_and(|order| match self {
            Self::Equal => order == Ordering::Equal,
            Self::NotEqual => order != Ordering::Equal,
            Self::Less => order == Ordering::Less,
            Self::AtMost => order != Ordering::Greater,
            Self::Greater => order == Ordering::Greater,
            Self::AtLeast => order != Ordering::Less,
        })
    }
}

#[cfg(test)]
mod tests;
