//! Structural schemas of custom resources: parsing, pruning, defaulting, validation.

pub(crate) mod clean;
pub(crate) mod definitions;
mod parse;
pub(crate) mod validation;

use std::collections::BTreeMap;

use kube_cel::{CompiledSchema, compile_schema};
use regex::Regex;
use serde_json::Value;

use super::refusal::Cause;

/// A parsed `OpenAPI` v3 schema with the extensions of Kubernetes.
#[derive(Debug, Default)]
#[expect(clippy::struct_excessive_bools, reason = "independent keywords of a schema")]
pub(crate) struct Schema {
    pub(crate) kind: Type,
    pub(crate) nullable: bool,
    pub(crate) int_or_string: bool,
    pub(crate) preserve_unknown: bool,
    pub(crate) embedded_resource: bool,
    pub(crate) properties: BTreeMap<String, Self>,
    pub(crate) additional: Option<Box<Self>>,
    /// `additionalProperties: true`.
    pub(crate) additional_any: bool,
    pub(crate) items: Option<Box<Self>>,
    pub(crate) required: Vec<String>,
    pub(crate) default: Option<Value>,
    pub(crate) allowed: Option<Vec<Value>>,
    pub(crate) format: String,
    pub(crate) pattern: Option<Regex>,
    pub(crate) limits: Limits,
    pub(crate) all_of: Vec<Self>,
    pub(crate) any_of: Vec<Self>,
    pub(crate) one_of: Vec<Self>,
    pub(crate) not: Option<Box<Self>>,
    pub(crate) list_type: ListType,
    pub(crate) map_atomic: bool,
    /// True if CEL rules are here or below.
    pub(crate) has_rules: bool,
    /// The name of the built-in type that says the rest.
    pub(crate) reference: Option<String>,
    /// A Kubernetes quantity: a number or a text.
    pub(crate) quantity: bool,
    /// The merge key of a list in a strategic merge patch.
    pub(crate) merge_key: Option<String>,
    /// True if a strategic merge patch merges a list of plain values as a set.
    pub(crate) merges_set: bool,
    /// The value of an absent field that is a key of its list.
    pub(crate) key_default: Option<Value>,
}

impl Schema {
    /// This schema, or the built-in type that it names.
    pub(crate) fn resolved(&self) -> &Self {
        match self.reference.as_deref() {
            Some(name) => definitions::schema(name),
            None => self,
        }
    }

    /// The schema of a field: its own, or that of all fields of a map.
    pub(crate) fn field(&self, name: &str) -> Option<&Self> {
        let here = self.resolved();
        here.properties.get(name).or(here.additional.as_deref())
    }
}

/// The JSON type that a schema asks for.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Type {
    /// No type given.
    #[default]
    Any,
    Object,
    Array,
    String,
    Integer,
    Number,
    Boolean,
}

/// `x-kubernetes-list-type`.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub(crate) enum ListType {
    /// Replaced as a whole; the default.
    #[default]
    Atomic,
    /// Of unique plain values.
    Set,
    /// Of objects with unique keys.
    Map(Vec<String>),
}

/// Numeric bounds.
#[derive(Debug, Default)]
pub(crate) struct Limits {
    pub(crate) minimum: Option<f64>,
    pub(crate) maximum: Option<f64>,
    pub(crate) exclusive_minimum: bool,
    pub(crate) exclusive_maximum: bool,
    pub(crate) multiple_of: Option<f64>,
    pub(crate) min_length: Option<u64>,
    pub(crate) max_length: Option<u64>,
    pub(crate) min_items: Option<u64>,
    pub(crate) max_items: Option<u64>,
    pub(crate) unique_items: bool,
    pub(crate) min_properties: Option<u64>,
    pub(crate) max_properties: Option<u64>,
}

/// A parsed schema and its compiled rules.
pub(crate) struct Compiled {
    /// The parsed schema.
    pub(crate) schema: Schema,
    /// The compiled CEL rules, when there are any.
    pub(crate) rules: Option<CompiledSchema>,
    /// The schema as a `CustomResourceDefinition` gives it.
    pub(crate) source: Option<Value>,
}

impl std::fmt::Debug for Compiled {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Compiled").field("rules", &self.rules.is_some()).finish_non_exhaustive()
    }
}

impl Compiled {
    /// The schema of a built-in type.
    pub(crate) fn builtin(name: &str) -> Self {
        let schema = Schema { reference: Some(name.to_owned()), ..Schema::default() };
        Self { schema, rules: None, source: None }
    }

    /// Parses a CRD's `openAPIV3Schema`.
    pub(crate) fn new(source: &Value) -> Result<Self, Cause> {
        let schema = parse::parse(source, "")?;
        let rules = schema.has_rules.then(|| compile_schema(source));
        if let Some(error) =
            rules.as_ref().and_then(|rules| rules.compilation_errors().first().copied())
        {
            let why = format!("compilation failed: {error}");
            return Err(Cause::invalid("x-kubernetes-validations", &Value::Null, &why));
        }
        Ok(Self { schema, rules, source: Some(source.clone()) })
    }
}
