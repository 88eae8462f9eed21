//! Arguments that a shard's `spec.args` may name: the scheduler takes each of them.

use anyhow::{Context, Result, ensure};
use clap::CommandFactory;

#[test]
fn every_flag_of_a_shard_is_one_of_the_scheduler() -> Result<()> {
    let command = kai_scheduler::Args::command();
    for flag in kai_podgrouper::KNOWN_FLAGS {
        let argument = command.get_arguments().find(|argument| argument.get_long() == Some(flag));
        argument.with_context(|| format!("the scheduler has no --{flag}"))?;
    }
    let is_known = |name: &str| kai_podgrouper::KNOWN_FLAGS.contains(&name);
    // A shard may set neither: the one is the pod's own affair, the other is not read.
    let left_out = ["kubeconfig", "scheduler-conf", "version", "help"];
    for argument in command.get_arguments() {
        let name = argument.get_long().unwrap_or_default();
        ensure!(is_known(name) != left_out.contains(&name), "--{name} of the scheduler");
    }
    Ok(())
}
