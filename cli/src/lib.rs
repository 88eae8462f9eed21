//! The `kubectl kai` plugin, as a library so that the demo and the tests run exactly what a user would type.
//!
//! ```text
//!  argv -> args (clap) -> command -> Cluster (requests) -> output (stdout: data, stderr: talk)
//!              |             |
//!          settings      pure parts: gpu, inject, phase, tree, table
//! ```

#![expect(
    clippy::wildcard_enum_match_arm,
    reason = "JSON values and the errors of clap and kube have variants that mean nothing here; our own enums are matched in full"
)]
#![expect(clippy::format_push_string, reason = "a page is put together once for a person")]

mod args;
pub mod cluster;
pub mod completion;
mod config;
mod confirm;
mod context;
mod delete;
mod demo;
mod describe;
mod devices;
mod duration;
pub mod error;
mod format;
mod gpu;
pub mod install;
mod jsonpath;
mod kinds;
mod list;
mod logs;
mod manifest;
mod names;
pub mod output;
mod queue;
mod queues;
pub mod sandbox;
mod snapshot;
mod submit;
mod suspend;
mod table;
mod time;
mod top;
mod version;
mod wait;
mod workload;
mod yaml;

use std::ffi::OsString;

use futures::FutureExt as _;
use futures::future::BoxFuture;

pub use args::{Cli, Command, Globals, command};
pub use context::Context;
pub use error::{Error, Exit, Problem};

/// Runs one command line, program name first, and prints what it has to say through the context's output.
///
/// The future is boxed, since the demo is a command that runs commands.
pub fn run(argv: Vec<OsString>, context: &mut Context) -> BoxFuture<'_, Exit> {
    async move {
        match execute(argv, context).await {
            Ok(exit) => exit,
            Err(error) => {
                context.out.error(&error);
                error.exit()
            }
        }
    }
    .boxed()
}

async fn execute(argv: Vec<OsString>, context: &mut Context) -> Result<Exit, Error> {
    let argv = config::expand_alias(argv, context);
    let cli = match args::parse(argv) {
        Ok(cli) => cli,
        Err(args::Stop::Print(text)) => return context.out.raw(&text).map(|()| Exit::Ok),
        Err(args::Stop::Error(error)) => return Err(error),
    };
    context.adopt(cli.globals)?;
    check_output(&cli.command, context.globals.output.as_deref())?;
    match cli.command {
        Command::Submit(args) => submit::run(*args, context).await,
        Command::Wait(args) => wait::run(&args, context).await,
        Command::Delete(args) => delete::run(&args, context).await,
        Command::List(args) => list::run(&args, context).await,
        Command::Describe(args) => describe::run(&args, context).await,
        Command::Logs(args) => logs::run(&args, context).await,
        Command::Queues(args) => queues::run(*args, context).await,
        Command::Top(args) => top::run(&args, context).await,
        Command::Suspend(args) => suspend::run(&args, true, context).await,
        Command::Resume(args) => suspend::run(&args, false, context).await,
        Command::Sandbox(args) => sandbox::run(args, context).await,
        Command::Install(args) => install::run(args, context).await,
        Command::Snapshot(args) => snapshot::run(&args, context).await,
        Command::Completion(args) => completion::run(&args, context),
        Command::Config(args) => config::run(&args, context),
        Command::Version(args) => version::run(&args, context).await,
        Command::Options => context.out.raw(&args::options_help()).map(|()| Exit::Ok),
    }
}

/// Refuses a form that the command would ignore.
fn check_output(command: &Command, output: Option<&str>) -> Result<(), Error> {
    let format = format::Format::read(output)?;
    let taken = match command {
        Command::Submit(_)
        | Command::List(_)
        | Command::Describe(_)
        | Command::Queues(_)
        | Command::Top(_)
        | Command::Install(_)
        | Command::Snapshot(_)
        | Command::Config(_)
        | Command::Version(_) => true,
        // They print names, whatever else is asked for.
        Command::Delete(_) | Command::Suspend(_) | Command::Resume(_) => {
            format.is_table() || format == format::Format::Name
        }
        Command::Wait(_)
        | Command::Logs(_)
        | Command::Sandbox(_)
        | Command::Completion(_)
        | Command::Options => format.is_table(),
    };
    if taken {
        return Ok(());
    }
    let what = format!("this command prints nothing in the form -o {}", output.unwrap_or_default());
    Err(Problem::new(error::number::USAGE, Exit::Usage, what).fix("leave -o out").into())
}
