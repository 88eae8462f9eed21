//! The plugin's process: threads, completion under the name `kubectl_complete-kai`, exit code.

use std::{ffi::OsString, process::ExitCode};

use crate::{Context, Exit, command, completion, run};

/// Runs the plugin with a command line, the program's name first.
pub fn main(argv: Vec<OsString>) -> ExitCode {
    kai_sandbox::end_on_panic();
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
