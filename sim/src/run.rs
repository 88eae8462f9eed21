//! Runs a scenario: prints its cycles, carries them out, and sees that the cluster then comes to rest.

use std::fmt::Write;

use kai_engine::GroupId;

use crate::{
    build::build,
    render,
    scenario::{Scenario, ScenarioError},
    world::{Evicted, World},
};

/// Number of cycles that a cluster may need to come to rest: a few moves follow from the first, more is a ping-pong.
const SETTLE_MAX: u32 = 8;

/// Number of cycles in which nothing may happen once it is at rest.
const IDLE: u32 = 5;

/// Outcome of a scenario.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Report {
    /// The plans as text; each cycle but the first starts with `cycle N`.
    pub text: String,
    /// After them, of each group that waits: its name, the number of the reason, and what would help.
    pub help: String,
    /// Things that must never be: wrong books, or no rest.
    pub faults: Vec<String>,
}

/// Runs `scenario`.
///
/// # Errors
///
/// Names the key of the first value that names what is not there or makes no sense.
pub fn run(scenario: &Scenario) -> Result<Report, ScenarioError> {
    let mut world = build(scenario)?;
    let mut report = Report::default();
    check(&world, &mut report);
    for cycle in 1..=scenario.cycles.unwrap_or(1) {
        let plan = world.plan();
        if cycle > 1 {
            let _ = writeln!(report.text, "cycle {cycle}");
        }
        report.text += &render::plan(&plan, &world.names);
        check(&world, &mut report);
        world.carry_out(&plan, Evicted::Recreated);
        check(&world, &mut report);
    }
    report.help = help(&world);
    rest(&mut world, &mut report);
    Ok(report)
}

fn help(world: &World) -> String {
    let mut lines: Vec<String> = (0..world.names.groups())
        .filter_map(|row| {
            let group = GroupId::new(u32::try_from(row).ok()?);
            let help = render::help(world.cluster.verdict(group)?, &world.names)?;
            Some(format!("{} {help}\n", world.names.of_group(group)))
        })
        .collect();
    lines.sort_unstable();
    lines.concat()
}

/// Lets the cluster come to rest and watches it idle.
fn rest(world: &mut World, report: &mut Report) {
    let mut last = String::new();
    for _ in 0..SETTLE_MAX {
        let plan = world.plan();
        if plan.changes.is_empty() {
            idle(world, report);
            return;
        }
        last = render::plan(&plan, &world.names);
        world.carry_out(&plan, Evicted::Recreated);
        check(world, report);
    }
    report
        .faults
        .push(format!("no rest after {SETTLE_MAX} more cycles, the last of them:\n{last}"));
}

fn idle(world: &mut World, report: &mut Report) {
    for round in 1..=IDLE {
        let plan = world.plan();
        if !plan.changes.is_empty() {
            let text = render::plan(&plan, &world.names);
            report.faults.push(format!("idle round {round} changed something:\n{text}"));
        }
        world.carry_out(&plan, Evicted::Recreated);
        check(world, report);
    }
}

fn check(world: &World, report: &mut Report) {
    let findings = world.cluster.check().into_iter();
    report.faults.extend(findings.map(|finding| format!("wrong books: {finding}")));
}
