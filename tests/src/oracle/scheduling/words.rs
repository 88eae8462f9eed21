//! Words that we say of jobs that wait, against the words that KAI's tables keep.

use anyhow::Context;
use kai_engine::{GroupId, Symbol, TopologyId, ids::Id};
use kai_scheduler::{
    message::{self, Waiting},
    names::Names,
};
use kai_sim::world::World;
use serde_json::Value;

use super::{case::Case, setup};

/// For each job of a case of which a text is kept: its name, KAI's text and ours, both in the detailed form.
///
/// # Errors
///
/// Names what of the case cannot be read.
pub fn texts(case: &Value) -> anyhow::Result<Vec<[String; 3]>> {
    let mut texts = Vec::new();
    for (job, expect) in case["expect"]["jobs"].as_object().into_iter().flatten() {
        let Some(peer) = expect["peerMessage"].as_str() else { continue };
        let parsed: Case = serde_json::from_value(case.clone())?;
        let mut world = setup::world(&parsed)?;
        world.plan();
        let group =
            world.names.find_group(job).with_context(|| format!("there is no job {job}"))?;
        let why =
            world.cluster.verdict(group).with_context(|| format!("nothing is said of {job}"))?;
        let number = u32::try_from(group.row())?;
        let names = names(&mut world.clone(), parsed.topologies.len());
        let waiting = Waiting { group: number, facts: None, names: &names };
        let told = message::told(why, waiting)
            .with_context(|| format!("there are no words for {why:?}"))?;
        texts.push([job.clone(), peer.to_owned(), told.text()]);
    }
    Ok(texts)
}

/// The names of a world as the scheduler has them, by the same numbers.
fn names(world: &mut World, topologies: usize) -> Names {
    let mut names = Names::new();
    names.is_detailed = true;
    let symbols = world.names.symbol("the one after the last").number();
    for row in 1..symbols {
        names.symbol(world.names.of_symbol(Symbol::new(row)));
    }
    for row in 0..topologies {
        names.topology(world.names.of_topology(TopologyId::of_row(row)));
    }
    for row in 0..world.names.groups() {
        names.group("", world.names.of_group(GroupId::of_row(row)));
    }
    names
}
