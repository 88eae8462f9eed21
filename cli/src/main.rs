//! Entry point: the plugin that `kubectl kai` starts.

use std::process::ExitCode;

/// Allocates what is read of a cluster, which is a hundred objects on the heap for each pod: a quarter of the time of a list
/// went there with the allocator of libc.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> ExitCode {
    kubectl_kai::program::main(std::env::args_os().collect())
}
