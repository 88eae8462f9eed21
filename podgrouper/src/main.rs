//! The `kai-podgrouper` daemon.

use std::process::ExitCode;

fn main() -> ExitCode {
    kai_podgrouper::program::main(std::env::args_os().collect())
}
