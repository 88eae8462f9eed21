//! The `kai-scheduler` daemon.

use std::process::ExitCode;

fn main() -> ExitCode {
    kai_scheduler::program::main(std::env::args_os().collect())
}
