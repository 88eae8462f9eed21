//! `ValidatingAdmissionPolicy` and its bindings.

use kube_cel::cel::Context;
use serde_json::{Value, json};

use super::expression::{self, Expression, Named};
use super::rules::Scope;
use super::{Attributes, Question};
use crate::server::object;
use crate::server::refusal::{ApiResult, Refusal};

/// A policy, compiled.
#[derive(Debug)]
pub(super) struct Policy {
    pub(super) name: String,
    pub(super) scope: Scope,
    /// True if it asks what the user of a request may do.
    pub(super) asks_rights: bool,
    conditions: Vec<Named>,
    variables: Vec<Named>,
    validations: Vec<Validation>,
    /// True if an expression that cannot be evaluated lets the request pass.
    fails_open: bool,
}

#[derive(Debug)]
struct Validation {
    expression: Expression,
    message: String,
    message_expression: Option<Expression>,
    reason: String,
}

impl Validation {
    fn asks_rights(&self) -> bool {
        let message = self.message_expression.as_ref();
        self.expression.asks_rights || message.is_some_and(|message| message.asks_rights)
    }
}

/// A binding, which says where a policy holds, and how.
#[derive(Debug)]
pub(super) struct Binding {
    name: String,
    pub(super) policy: String,
    pub(super) scope: Scope,
    denies: bool,
    warns: bool,
}

/// An objection of a policy to a request.
struct Violation {
    message: String,
    reason: String,
}

impl Policy {
    /// Reads a `ValidatingAdmissionPolicy`; its expressions were compiled once when it was written.
    pub(super) fn read(value: &Value) -> Self {
        let spec = value.get("spec").unwrap_or(&Value::Null);
        let validations = object::array(spec, "/validations").iter().filter_map(|one| {
            let text = object::text(one, "/messageExpression");
            Some(Validation {
                expression: Expression::compile(object::text(one, "/expression")).ok()?,
                message: object::text(one, "/message").trim().to_owned(),
                message_expression: Expression::compile(text).ok().filter(|_| !text.is_empty()),
                reason: object::text(one, "/reason").to_owned(),
            })
        });
        let validations: Vec<Validation> = validations.collect();
        let conditions = Named::list(spec, "/matchConditions");
        let variables = Named::list(spec, "/variables");
        Self {
            name: object::name(value).to_owned(),
            scope: Scope::of_policy(spec.get("matchConstraints").unwrap_or(&Value::Null)),
            asks_rights: Named::ask_rights(&conditions)
                || Named::ask_rights(&variables)
                || validations.iter().any(Validation::asks_rights),
            conditions,
            variables,
            validations,
            fails_open: object::text(spec, "/failurePolicy") == "Ignore",
        }
    }

    /// Lists what the policy says against a request.
    fn violations(&self, request: &Context<'_>) -> Vec<Violation> {
        match expression::all_hold(&self.conditions, request) {
            Ok(true) => {}
            Ok(false) => return Vec::new(),
            Err(why) => return self.failure(why).into_iter().collect(),
        }
        let mut context = request.new_inner_scope();
        expression::add_variables(&mut context, &self.variables);
        self.validations.iter().filter_map(|one| self.violation(one, &context)).collect()
    }

    fn violation(&self, one: &Validation, context: &Context<'_>) -> Option<Violation> {
        match one.expression.holds(context) {
            Ok(true) => None,
            Ok(false) => {
                let made = one.message_expression.as_ref().and_then(|text| text.message(context));
                let message = made.unwrap_or_else(|| match one.message.as_str() {
                    "" => format!("failed expression: {}", one.expression.text),
                    message => message.to_owned(),
                });
                Some(Violation { message, reason: one.reason.clone() })
            }
            Err(why) => self
                .failure(format!("expression '{}' resulted in error: {why}", one.expression.text)),
        }
    }

    fn failure(&self, message: String) -> Option<Violation> {
        (!self.fails_open).then_some(Violation { message, reason: String::new() })
    }
}

impl Binding {
    /// Reads a `ValidatingAdmissionPolicyBinding`.
    pub(super) fn read(value: &Value) -> Self {
        let spec = value.get("spec").unwrap_or(&Value::Null);
        let actions = object::array(spec, "/validationActions");
        Self {
            name: object::name(value).to_owned(),
            policy: object::text(spec, "/policyName").to_owned(),
            scope: Scope::of_binding(spec.get("matchResources").unwrap_or(&Value::Null)),
            denies: actions.contains(&json!("Deny")),
            warns: actions.contains(&json!("Warn")),
        }
    }
}

/// Request as the expressions of policies see it in one version, made once for all that ask for it.
#[derive(Default)]
pub(super) struct Seen(Option<(String, Context<'static>)>);

impl Seen {
    fn get(&mut self, asked: &Attributes<'_>, question: &Question<'_>) -> &Context<'static> {
        let kept = self.0.take().filter(|(version, _)| version == question.version);
        let made = || (question.version.to_owned(), expression::context(asked, question));
        &self.0.insert(kept.unwrap_or_else(made)).1
    }
}

/// Applies a policy under one of its bindings; gives its warnings.
///
/// # Errors
/// The refusal of the request.
pub(super) fn apply(
    policy: &Policy,
    binding: &Binding,
    asked: &Attributes<'_>,
    question: &Question<'_>,
    seen: &mut Seen,
) -> ApiResult<Vec<String>> {
    let selects = |scope: &Scope| scope.has_object(question.object, question.old);
    if !selects(&policy.scope) || !selects(&binding.scope) {
        return Ok(Vec::new());
    }
    let (mut denial, mut warnings) = (None, Vec::new());
    for violation in policy.violations(seen.get(asked, question)) {
        let who =
            format!("ValidatingAdmissionPolicy '{}' with binding '{}'", policy.name, binding.name);
        if binding.warns {
            warnings.push(format!("Validation failed for {who}: {}", violation.message));
        }
        if binding.denies && denial.is_none() {
            let message = format!("{who} denied request: {}", violation.message);
            denial = Some(denied(asked, &message, &violation.reason));
        }
    }
    denial.map_or(Ok(warnings), Err)
}

fn denied(asked: &Attributes<'_>, message: &str, reason: &str) -> Refusal {
    let reason = if reason.is_empty() { "Invalid" } else { reason };
    let code = match reason {
        "Unauthorized" => 401,
        "Forbidden" => 403,
        "RequestEntityTooLarge" => 413,
        "Invalid" => 422,
        _ => 500,
    };
    let refusal = Refusal::forbidden(asked.target.kind.resource(), &asked.name, message);
    refusal.because(code, reason, message)
}
