//! Entry point: the plugin that `kubectl kai` starts.

use std::process::ExitCode;

fn main() -> ExitCode {
    kubectl_kai::program::main(std::env::args_os().collect())
}
