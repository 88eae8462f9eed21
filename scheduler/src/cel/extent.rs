//! Describes how large expressions are.

use kube_cel::cel::{
    IdedExpr,
    common::ast::{EntryExpr, Expr, IdedEntryExpr, MapEntryExpr},
};

/// Nodes of an expression without those of loops in it, which charge themselves.
pub(super) fn count(expression: &IdedExpr) -> usize {
    match &expression.expr {
        Expr::Call(call) => {
            1 + call.target.as_deref().into_iter().chain(&call.args).map(count).sum::<usize>()
        }
        Expr::Select(select) => 1 + count(&select.operand),
        Expr::List(list) => 1 + list.elements.iter().map(count).sum::<usize>(),
        Expr::Map(map) => 1 + map.entries.len(),
        Expr::Comprehension(_)
        | Expr::Ident(_)
        | Expr::Literal(_)
        | Expr::Struct(_)
        | Expr::Unspecified => 1,
    }
}

/// Levels of an expression.
pub(super) fn depth(expression: &IdedExpr) -> usize {
    let deepest = |all: &mut dyn Iterator<Item = &IdedExpr>| all.map(depth).max().unwrap_or(0);
    1 + match &expression.expr {
        Expr::Call(call) => deepest(&mut call.target.as_deref().into_iter().chain(&call.args)),
        Expr::Select(select) => depth(&select.operand),
        Expr::List(list) => deepest(&mut list.elements.iter()),
        Expr::Map(map) => deepest(
            &mut map.entries.iter().filter_map(entry).flat_map(|one| [&one.key, &one.value]),
        ),
        Expr::Comprehension(one) => {
            let parts =
                [&one.iter_range, &one.accu_init, &one.loop_cond, &one.loop_step, &one.result];
            deepest(&mut parts.into_iter())
        }
        Expr::Ident(_) | Expr::Literal(_) | Expr::Struct(_) | Expr::Unspecified => 0,
    }
}

fn entry(entry: &IdedEntryExpr) -> Option<&MapEntryExpr> {
    match &entry.expr {
        EntryExpr::MapEntry(entry) => Some(entry),
        EntryExpr::StructField(_) => None,
    }
}
