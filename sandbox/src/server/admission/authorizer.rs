//! The variable `authorizer` of expressions: rights of who makes the request.
//!
//! `authorizer.group('apps').resource('deployments').check('create').allowed()` is a question that grows step by step. Here
//! it is about objects of the cluster, or those of all namespaces.

use std::sync::Arc;

use kube_cel::cel::extractors::This;
use kube_cel::cel::objects::Opaque;
use kube_cel::cel::{Context, ExecutionError, Program, Value as Cel};

use crate::server::grants::{Attributes, Rights};

/// The name of the variable.
const NAME: &str = "authorizer";
/// Steps of kube-apiserver that this server does not have.
const MISSING: &[&str] = &[
    "error",
    "errored",
    "fieldSelector",
    "labelSelector",
    "namespace",
    "path",
    "reason",
    "serviceAccount",
];

/// Right that is asked for, as far as it was said.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
struct Wish {
    group: String,
    resource: String,
    subresource: String,
    name: String,
}

impl Opaque for Wish {
    fn runtime_type_name(&self) -> &'static str {
        "kai.authorizer.Wish"
    }
}

/// Answer to such a question.
#[derive(Debug, PartialEq, Eq)]
struct Decision(bool);

impl Opaque for Decision {
    fn runtime_type_name(&self) -> &'static str {
        "kai.authorizer.Decision"
    }
}

/// Tells whether an expression asks about rights.
///
/// # Errors
/// What of it this server does not have.
pub(super) fn is_asked(program: &Program, text: &str) -> Result<bool, String> {
    let references = program.references();
    if !references.has_variable(NAME) {
        return Ok(false);
    }
    let step = MISSING.iter().copied().find(|step| references.has_function(step));
    let own = text.contains("authorizer.requestResource").then_some("requestResource");
    match step.or(own) {
        Some(missing) => Err(format!(
            "{missing} of the variable {NAME} is not implemented by the kai sandbox API server"
        )),
        None => Ok(true),
    }
}

/// Adds the variable, with the rights that it tells of.
pub(super) fn add(context: &mut Context<'_>, rights: Rights) {
    context.add_variable_from_value(NAME, Cel::Opaque(Arc::new(Wish::default())));
    add_step(context, "group", |wish, text| wish.group = text);
    add_step(context, "resource", |wish, text| wish.resource = text);
    add_step(context, "subresource", |wish, text| wish.subresource = text);
    add_step(context, "name", |wish, text| wish.name = text);
    context.add_function("check", move |This(wish): This<Cel>, verb: Arc<String>| {
        let wish: &Wish = known("check", &wish)?;
        let is_allowed = rights.allow(&Attributes {
            verb: &verb,
            group: &wish.group,
            resource: &wish.resource,
            subresource: &wish.subresource,
            namespace: "",
            name: &wish.name,
        });
        Ok::<Cel, ExecutionError>(Cel::Opaque(Arc::new(Decision(is_allowed))))
    });
    context.add_function("allowed", |This(answer): This<Cel>| {
        let decision: &Decision = known("allowed", &answer)?;
        Ok::<Cel, ExecutionError>(Cel::Bool(decision.0))
    });
}

/// Adds a function that says one thing more of a right.
fn add_step(context: &mut Context<'_>, name: &'static str, say: fn(&mut Wish, String)) {
    context.add_function(name, move |This(wish): This<Cel>, text: Arc<String>| {
        let mut wish = known::<Wish>(name, &wish)?.clone();
        say(&mut wish, text.as_str().to_owned());
        Ok::<Cel, ExecutionError>(Cel::Opaque(Arc::new(wish)))
    });
}

/// The value as what a function is called on.
fn known<'v, T: 'static>(function: &str, value: &'v Cel) -> Result<&'v T, ExecutionError> {
    let refused = || ExecutionError::function_error(function, "not a step of the authorizer");
    let Cel::Opaque(value) = value else { return Err(refused()) };
    value.downcast_ref::<T>().ok_or_else(refused)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_missing_is_refused_by_name() {
        let asked = |text: &str| is_asked(&Program::compile(text).expect("it compiles"), text);
        assert_eq!(asked("request.namespace == object.metadata.namespace"), Ok(false));
        let known = "authorizer.group('').resource('pods').subresource('log').name('a').check('get').allowed()";
        assert_eq!(asked(known), Ok(true));
        for (missing, text) in [
            (
                "namespace",
                "authorizer.group('').resource('pods').namespace('a').check('get').allowed()",
            ),
            ("path", "authorizer.path('/healthz').check('get').allowed()"),
            ("requestResource", "authorizer.requestResource.check('get').allowed()"),
        ] {
            let why = asked(text).expect_err("it is refused");
            assert!(why.starts_with(&format!("{missing} of the variable authorizer")), "{why}");
        }
    }
}
