//! Entry point: the plugin that `kubectl kai` starts, and its completion under the name `kubectl_complete-kai`.

use std::process::ExitCode;

use kubectl_kai::{Context, Exit, command, completion, run};

fn main() -> ExitCode {
    let argv: Vec<_> = std::env::args_os().collect();
    let mut context = Context::process();
    let runtime = match tokio::runtime::Builder::new_multi_thread().enable_all().build() {
        Ok(runtime) => runtime,
        Err(e) => {
            context.out.talk(&format!("error[KAI1000]: failed to start threads: {e}"));
            return Exit::Failure.into();
        }
    };
    let exit = if completion::is_asked(&argv) {
        runtime.block_on(completion::answer(argv, command(), &mut context))
    } else {
        runtime.block_on(run(argv, &mut context))
    };
    // Nothing that is still in flight may hold the prompt back.
    runtime.shutdown_background();
    exit.into()
}
