//! The `kai-reservation` program.

use std::process::ExitCode;

fn main() -> ExitCode {
    kai_reservation::program::main(std::env::args_os().collect())
}
