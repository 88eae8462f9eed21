//! CEL expressions of match conditions and policies.
//!
//! Objects are dynamic maps in these expressions, unlike in the rules of custom resources: keys are as in JSON.

use std::collections::HashMap;

use kube_cel::KubeCelExt;
use kube_cel::cel::objects::Key;
use kube_cel::cel::{Context, ExecutionError, Program, Value as Cel};
use serde_json::Value;

use super::authorizer;
use super::review;
use super::{Attributes, Question};
use crate::server::object;

/// A compiled expression.
#[derive(Debug)]
pub(super) struct Expression {
    /// As it was written, without spaces around.
    pub(super) text: String,
    /// True if it asks what the user of the request may do.
    pub(super) asks_rights: bool,
    program: Program,
}

impl Expression {
    /// Compiles an expression.
    ///
    /// # Errors
    /// What is wrong with it, or which variable this server does not have.
    pub(super) fn compile(text: &str) -> Result<Self, String> {
        let program =
            Program::compile(text).map_err(|error| format!("compilation failed: {error}"))?;
        if program.references().has_variable("params") {
            let why = "the variable params is not implemented by the kai sandbox API server";
            return Err(why.to_owned());
        }
        let asks_rights = authorizer::is_asked(&program, text)?;
        Ok(Self { text: text.trim().to_owned(), asks_rights, program })
    }

    /// The value of the expression.
    ///
    /// # Errors
    /// What went wrong, for example a key that is not there.
    pub(super) fn value(&self, context: &Context<'_>) -> Result<Cel, String> {
        self.program.execute(context).map_err(|error| error.to_string())
    }

    /// Tells whether the expression holds.
    ///
    /// # Errors
    /// What went wrong, or that the value is no boolean.
    pub(super) fn holds(&self, context: &Context<'_>) -> Result<bool, String> {
        let Cel::Bool(holds) = self.value(context)? else {
            return Err("the expression does not evaluate to a boolean".to_owned());
        };
        Ok(holds)
    }

    /// The text that the expression makes, when it makes one.
    pub(super) fn message(&self, context: &Context<'_>) -> Option<String> {
        match self.value(context) {
            Ok(Cel::String(text)) => Some(text.trim().to_owned()),
            Ok(_) | Err(_) => None,
        }
        .filter(|text| !text.is_empty() && !text.contains('\n'))
    }
}

/// A named expression: a match condition or a variable.
#[derive(Debug)]
pub(super) struct Named {
    pub(super) name: String,
    pub(super) expression: Expression,
}

impl Named {
    /// The list at a JSON pointer; entries that do not compile are refused when they are written.
    pub(super) fn list(value: &Value, pointer: &str) -> Vec<Self> {
        let entries = object::array(value, pointer).iter();
        entries
            .filter_map(|entry| {
                let expression = Expression::compile(object::text(entry, "/expression")).ok()?;
                Some(Self { name: object::text(entry, "/name").to_owned(), expression })
            })
            .collect()
    }

    /// Tells whether one of them asks what the user of the request may do.
    pub(super) fn ask_rights(list: &[Self]) -> bool {
        list.iter().any(|one| one.expression.asks_rights)
    }
}

/// Tells whether all match conditions hold: one that does not ends it, whatever others say.
///
/// # Errors
/// The first condition that cannot be evaluated, when none is false.
pub(super) fn all_hold(conditions: &[Named], context: &Context<'_>) -> Result<bool, String> {
    let mut failure = None;
    for condition in conditions {
        match condition.expression.holds(context) {
            Ok(false) => return Ok(false),
            Err(why) if failure.is_none() => {
                failure = Some(format!(
                    "expression '{}' resulted in error: {why}",
                    condition.expression.text
                ));
            }
            Ok(true) | Err(_) => {}
        }
    }
    failure.map_or(Ok(true), Err)
}

/// Makes what expressions see of a request.
pub(super) fn context(asked: &Attributes<'_>, question: &Question<'_>) -> Context<'static> {
    let mut context = Context::default().with_all();
    // All values are dynamic here: it hides a type from a check that this server does not make.
    context.add_function("dyn", |value: Cel| Ok::<Cel, ExecutionError>(value));
    let mut request = review::about(asked, question.version);
    if let Some(fields) = request.as_object_mut() {
        fields.shift_remove("uid");
    }
    context.add_variable_from_value("object", cel(question.object));
    context.add_variable_from_value("oldObject", cel(question.old));
    context.add_variable_from_value("request", cel(&request));
    context.add_variable_from_value("namespaceObject", cel(question.namespace));
    if let Some(rights) = question.rights {
        authorizer::add(&mut context, rights.clone());
    }
    context
}

/// JSON as CEL sees it: whole numbers are `int`.
fn cel(value: &Value) -> Cel {
    match value {
        Value::Null => Cel::Null,
        Value::Bool(flag) => Cel::Bool(*flag),
        Value::Number(number) => match (number.as_i64(), number.as_f64()) {
            (Some(whole), _) => Cel::Int(whole),
            (None, Some(number)) => Cel::Float(number),
            (None, None) => Cel::Null,
        },
        Value::String(text) => Cel::from(text.as_str()),
        Value::Array(items) => Cel::from(items.iter().map(cel).collect::<Vec<_>>()),
        Value::Object(fields) => {
            let fields = fields.iter().map(|(key, value)| (Key::from(key.as_str()), cel(value)));
            Cel::from(fields.collect::<HashMap<Key, Cel>>())
        }
    }
}

/// Adds the variables of a policy, each of which may use those before it. One that cannot be evaluated is absent, so
/// that only what uses it fails.
pub(super) fn add_variables(context: &mut Context<'_>, variables: &[Named]) {
    let mut values: HashMap<Key, Cel> = HashMap::new();
    context.add_variable_from_value("variables", Cel::from(values.clone()));
    for variable in variables {
        let Ok(value) = variable.expression.value(context) else { continue };
        values.insert(Key::from(variable.name.as_str()), value);
        context.add_variable_from_value("variables", Cel::from(values.clone()));
    }
}
