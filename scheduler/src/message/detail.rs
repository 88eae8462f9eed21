//! Says why no node takes a pod, node by node: the detailed form.
//!
//! Source: docs/behaviour.md 12.3.

use std::fmt::Write as _;

use kai_engine::{Amounts, Lane, Misfit, NoRoom};

use super::misfit::{amount, on_node, overhead, resource};
use crate::names::{Names, Number};

/// A line for each node that the verdict names, with the line's break before it, and how many more there are.
pub(super) fn nodes(no_room: &NoRoom, names: &Names) -> String {
    let mut text = String::new();
    for refusal in &no_room.nodes {
        let number = refusal.node.number();
        if names.nodes.row(number).is_none() {
            continue;
        }
        let name = names.nodes.key(number);
        let reason = |(misfit, amounts): &(Misfit, Option<Amounts>)| match amounts {
            Some(amounts) => shortage(*misfit, *amounts, no_room, names),
            None => on_node(*misfit, no_room, refusal.node, names),
        };
        let reasons: Vec<String> = refusal.reasons.iter().map(reason).collect();
        let _ = write!(text, "\n<{name}>: {}.", reasons.join("; "));
    }
    let all: usize = no_room.misfits.iter().map(|(_, count)| *count as usize).sum();
    let more = all.saturating_sub(no_room.nodes.len());
    if more > 0 {
        let _ = write!(text, "\n{more} nodes more refused it as well.");
    }
    text
}

/// Says how much a node has of what it has too little of.
fn shortage(misfit: Misfit, amounts: Amounts, no_room: &NoRoom, names: &Names) -> String {
    // Parts of GPUs are measured in GPUs.
    let (mut lane, mut suffix) = (Lane::GPU, String::new());
    if let Misfit::Short(short) = misfit {
        lane = short;
    } else if let Misfit::Overhead(short) = misfit {
        (lane, suffix) = (short, overhead(no_room, names));
    }
    let Amounts { requested, used, capacity } = amounts;
    let [requested, used, capacity] = [requested, used, capacity].map(|of_it| amount(lane, of_it));
    let gang = if no_room.gang && no_room.min > 1 {
        ", taking all considerations into account"
    } else {
        ""
    };
    format!(
        "Node didn't have enough resources: {}, requested: {requested}, used: {used}, capacity: \
         {capacity}{gang}{suffix}",
        resource(lane, names)
    )
}
