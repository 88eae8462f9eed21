//! Rewrites an expression so that it charges before each call, for each value of a list or map and in each step of a loop.
//!
//! The interpreter has no limits of its own: it is told what to count by functions in the expression itself. A call
//! `a.f(b)` becomes `let x = a, y = b in @call("f", x, y) ? x.f(y) : false`, where the charge fails once too much is spent.
//! What decides lazily (`&&`, `||`, `?:`) stays as it is, and so does the little that costs the same for every value.

use kube_cel::cel::{
    IdedExpr,
    common::ast::{
        CallExpr, ComprehensionExpr, EntryExpr, Expr, IdedEntryExpr, ListExpr, LiteralValue,
        MapEntryExpr, MapExpr, SelectExpr, operators,
    },
};

use super::{
    cost::{CALL, ORDERED, STEP, VALUE},
    extent::count,
};

/// Functions that are named with a prefix, which is no value.
const PREFIXED: [&str; 9] =
    ["lists", "sets", "math", "optional", "format", "strings", "base64", "jsonpatch", "cel"];
/// Operators whose operands are not all evaluated.
const LAZY: [&str; 4] = [
    operators::CONDITIONAL,
    operators::LOGICAL_AND,
    operators::LOGICAL_OR,
    operators::NOT_STRICTLY_FALSE,
];

/// The expression with its charges.
pub(super) fn metered(expression: &IdedExpr) -> Result<IdedExpr, String> {
    let made = match &expression.expr {
        Expr::Literal(_) | Expr::Ident(_) => expression.expr.clone(),
        Expr::Select(select) => {
            let operand = Box::new(metered(&select.operand)?);
            let field = select.field.clone();
            let select = node(Expr::Select(SelectExpr { operand, field, test: select.test }));
            charged(select)
        }
        Expr::List(list) => {
            let elements = list.elements.iter().map(value).collect::<Result<_, _>>()?;
            let optional = list.optional_indices.clone();
            Expr::List(ListExpr::new_with_optionals(elements, optional))
        }
        Expr::Map(map) => Expr::Map(entries(map)?),
        Expr::Comprehension(looped) => Expr::Comprehension(Box::new(stepwise(looped)?)),
        Expr::Call(call) if LAZY.contains(&&*call.func_name) => {
            let args = call.args.iter().map(metered).collect::<Result<_, _>>()?;
            Expr::Call(CallExpr { args, ..call.clone() })
        }
        Expr::Call(call) => counted(call)?,
        Expr::Struct(_) => return Err(String::from("objects of a type cannot be made")),
        Expr::Unspecified => return Err(String::from("it is not complete")),
    };
    Ok(IdedExpr { id: expression.id, expr: made })
}

/// A call whose arguments are evaluated, charged for, and then given.
fn counted(call: &CallExpr) -> Result<Expr, String> {
    let is_prefixed = |target: &IdedExpr| {
        let Expr::Ident(name) = &target.expr else { return false };
        PREFIXED.contains(&&**name) || (name == "ip" && call.func_name == "isCanonical")
    };
    let target = call.target.as_deref();
    let given = target.filter(|target| !is_prefixed(target));
    let values: Vec<&IdedExpr> = given.into_iter().chain(&call.args).collect();
    // A name for each, which no user can write, and other names where calls are nested deeper.
    let names: Vec<String> = (0..values.len()).map(|at| format!("@{at}")).collect();
    let mut names_left = names.iter().map(|name| ident(name));
    let plain = CallExpr {
        func_name: call.func_name.clone(),
        target: match given {
            Some(_) => names_left.next().map(Box::new),
            None => call.target.clone(),
        },
        args: names_left.collect(),
    };
    let mut charges = vec![text(&call.func_name)];
    charges.extend(names.iter().map(|name| ident(name)));
    let mut body = guarded(function(CALL, charges), node(Expr::Call(plain)));
    for (name, value) in names.iter().zip(&values).rev() {
        body = bound(name, metered(value)?, body);
    }
    Ok(body.expr)
}

/// A loop that charges in each step.
fn stepwise(looped: &ComprehensionExpr) -> Result<ComprehensionExpr, String> {
    let nodes = i64::try_from(count(&looped.loop_step)).unwrap_or(i64::MAX);
    let charge = function(
        STEP,
        vec![
            node(Expr::Literal(LiteralValue::Int(nodes.into()))),
            ident(&looped.accu_var),
            ident(&looped.iter_var),
        ],
    );
    Ok(ComprehensionExpr {
        iter_range: function(ORDERED, vec![metered(&looped.iter_range)?]),
        accu_init: metered(&looped.accu_init)?,
        loop_cond: metered(&looped.loop_cond)?,
        loop_step: guarded(charge, metered(&looped.loop_step)?),
        result: metered(&looped.result)?,
        ..looped.clone()
    })
}

fn entries(map: &MapExpr) -> Result<MapExpr, String> {
    let entry = |entry: &IdedEntryExpr| match &entry.expr {
        EntryExpr::MapEntry(one) => {
            let (key, value) = (value(&one.key)?, value(&one.value)?);
            let expr = EntryExpr::MapEntry(MapEntryExpr { key, value, optional: one.optional });
            Ok(IdedEntryExpr { id: entry.id, expr })
        }
        EntryExpr::StructField(_) => Err(String::from("objects of a type cannot be made")),
    };
    Ok(MapExpr { entries: map.entries.iter().map(entry).collect::<Result<_, String>>()? })
}

/// A value that is kept in a list or map, charged for where it can be large.
fn value(expression: &IdedExpr) -> Result<IdedExpr, String> {
    let made = metered(expression)?;
    let is_plain = matches!(made.expr, Expr::Literal(_));
    Ok(if is_plain { made } else { node(charged(made)) })
}

fn charged(value: IdedExpr) -> Expr {
    function(VALUE, vec![value]).expr
}

/// `charge ? body : false`: the charge fails, or it is true.
fn guarded(charge: IdedExpr, body: IdedExpr) -> IdedExpr {
    let never = node(Expr::Literal(LiteralValue::Boolean(false.into())));
    function(operators::CONDITIONAL, vec![charge, body, never])
}

/// `let name = value in body`, as a loop over nothing.
fn bound(name: &str, value: IdedExpr, body: IdedExpr) -> IdedExpr {
    node(Expr::Comprehension(Box::new(ComprehensionExpr {
        iter_range: node(Expr::List(ListExpr::new(Vec::new()))),
        iter_var: String::from("@none"),
        iter_var2: None,
        accu_var: String::from(name),
        accu_init: value,
        loop_cond: node(Expr::Literal(LiteralValue::Boolean(false.into()))),
        loop_step: ident(name),
        result: body,
    })))
}

fn function(name: &str, args: Vec<IdedExpr>) -> IdedExpr {
    node(Expr::Call(CallExpr { func_name: String::from(name), target: None, args }))
}

fn ident(name: &str) -> IdedExpr {
    node(Expr::Ident(String::from(name)))
}

fn text(text: &str) -> IdedExpr {
    node(Expr::Literal(LiteralValue::String(text.into())))
}

fn node(expr: Expr) -> IdedExpr {
    IdedExpr { id: 0, expr }
}
