//! Measures how often work starts when it was told that it would, over a trace of jobs.
//!
//! `cargo bench -p kai-sim --bench eta -- FILE [--nodes N] [--every N]` plays the trace in FILE through the scheduler's
//! own decisions, on N nodes of eight GPUs with a queue for each of the trace's. Each N'th job that has to wait is told
//! when it will start, by [`kai_sim::forecast`] and by what ended before, as `kubectl kai list --eta` tells it. A JSON
//! line then says of how many starts the range held, and how wide it was. FILE has lines of
//! `timestamp,duration,num_gpus,..,queue`: the Philly trace (ATC'19) as the Sia artifact has it. Without FILE nothing runs.

mod replay;
mod trace;

use std::io::{self, Write};

use kai_engine::Millis;
use replay::{Play, Played, Told};

/// Nodes on which about a sixth of the Philly trace's jobs wait.
const NODES: u32 = 100;
/// Of the jobs that wait so many'th are foretold.
const EVERY: usize = 20;

/// Time by which a start may be outside and count as inside: that of a cycle.
const GRAIN: Millis = 1000;

#[expect(clippy::disallowed_methods, reason = "a benchmark is a caller, and hands over the text")]
fn main() -> io::Result<()> {
    let args: Vec<String> = std::env::args().skip(1).filter(|arg| arg != "--bench").collect();
    let option = |name: &str| {
        let at = args.iter().position(|arg| arg == name)?;
        args.get(at + 1)?.parse::<u32>().ok().filter(|number| *number > 0)
    };
    let Some(file) = args.first().filter(|arg| !arg.starts_with("--")) else {
        return writeln!(io::stderr(), "usage: eta FILE [--nodes N] [--every N]");
    };
    let wrong = |what: String| io::Error::new(io::ErrorKind::InvalidData, what);
    let jobs = trace::read(&std::fs::read_to_string(file)?).map_err(wrong)?;
    let nodes = option("--nodes").unwrap_or(NODES);
    let every = option("--every").and_then(|every| usize::try_from(every).ok()).unwrap_or(EVERY);
    let played = replay::play(&Play { jobs: &jobs, nodes, every });
    writeln!(io::stdout(), "{}", told(&played, nodes))
}

fn told(played: &Played, nodes: u32) -> String {
    let inside = |one: &&Told| {
        one.range.is_some_and(|range| {
            one.started.0 + GRAIN >= range.earliest.0
                && range.latest.is_none_or(|latest| one.started.0 - GRAIN <= latest.0)
        })
    };
    let too_early =
        |one: &&Told| one.range.is_some_and(|range| one.started.0 + GRAIN < range.earliest.0);
    let all = &played.told;
    let count = |is: &dyn Fn(&&Told) -> bool| all.iter().filter(is).count();
    let open_ended = count(&|one| one.range.is_none_or(|range| range.latest.is_none()));
    let minutes = |mut spans: Vec<Millis>| {
        spans.sort_unstable();
        spans.get(spans.len() / 2).copied().unwrap_or(0) / 60_000
    };
    // A range without an end is wider than any.
    let width = |one: &Told| {
        let range = one.range?;
        range.latest.map(|latest| latest.0 - range.earliest.0)
    };
    let widths = all.iter().map(|one| width(one).unwrap_or(Millis::MAX)).collect();
    let waits = all.iter().map(|one| one.started.0 - one.at.0).collect();
    let held = count(&inside);
    format!(
        "{{\"id\":\"ETA\",\"nodes\":{nodes},\"at_once\":{},\"waited\":{},\"told\":{},\"open\":{},\"inside_per_mille\":{},\
         \"before\":{},\"after\":{},\"open_ended\":{open_ended},\"width_minutes\":{},\"wait_minutes\":{}}}",
        played.at_once,
        played.waited,
        all.len(),
        played.open,
        held * 1000 / all.len().max(1),
        count(&too_early),
        all.len() - held - count(&too_early),
        minutes(widths),
        minutes(waits),
    )
}
