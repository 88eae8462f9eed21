//! One command line: read, its settings taken over, handed to its command.

use std::ffi::OsString;

use futures::FutureExt as _;
use futures::future::BoxFuture;

use crate::args::{self, Command, command};
use crate::commands::{
    completion, config, delete, describe, doctor, exec, explain, help, history, install, list,
    logs, port_forward, queues, short, simulate, snapshot, submit, suspend, top, version, wait,
};
use crate::context::Context;
use crate::globals::Globals;
use crate::print::error::{Error, Exit, Problem, number};
use crate::print::format::Format;
use crate::settings::Settings;
use crate::tryout;

/// Runs one command line, program name first, and prints what it has to say through the context's output.
///
/// The future is boxed, since the demo is a command that runs commands.
pub fn run(argv: Vec<OsString>, context: &mut Context) -> BoxFuture<'_, Exit> {
    async move {
        let done = Box::pin(execute(argv, context)).await;
        context.warn_of_cut();
        match done {
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
    let argv = expand_alias(argv, context)?;
    let mut cli = match args::parse(argv) {
        Ok(cli) => cli,
        Err(args::Stop::Print(text)) => return context.out.raw(&text).map(|()| Exit::Ok),
        Err(args::Stop::Error(error)) => return Err(error),
    };
    context.adopt(cli.globals)?;
    if let Some(why) = &context.settings.distrust {
        context.out.warn(&format!("the settings of this folder were not read: {why}"));
    }
    check_output(&cli.command, context.globals.output.as_deref())?;
    check_namespaces(&cli.command, &context.globals)?;
    check_cluster(&cli.command, &context.globals)?;
    let (words, form) = cli.command.words();
    short::resolve(words, form, context).await?;
    match cli.command {
        Command::Submit(args) => Box::pin(submit::run(*args, context)).await,
        Command::Wait(args) => wait::run(&args, context).await,
        Command::Delete(args) => delete::run(&args, context).await,
        Command::List(args) => list::run(&args, context).await,
        Command::Describe(args) => describe::run(&args, context).await,
        Command::Explain(args) => explain::run(&args, context).await,
        Command::Logs(args) => logs::run(&args, context).await,
        Command::Exec(args) => Box::pin(exec::run(&args, context)).await,
        Command::PortForward(args) => Box::pin(port_forward::run(&args, context)).await,
        Command::Queues(args) => queues::run(*args, context).await,
        Command::Top(args) => Box::pin(top::run(&args, context, run)).await,
        Command::History(args) => history::run(&args, context).await,
        Command::Usage(args) => history::run_usage(&args, context).await,
        Command::Suspend(args) => suspend::run(&args, true, context).await,
        Command::Resume(args) => suspend::run(&args, false, context).await,
        Command::Simulate(args) => Box::pin(simulate::run(&args, context)).await,
        Command::Sandbox(args) => tryout::run(args, context, run).await,
        Command::Install(args) => install::run(args, context).await,
        Command::Doctor(args) => doctor::run(&args, context).await,
        Command::Snapshot(args) => snapshot::run(&args, context).await,
        Command::Completion(args) => completion::run(&args, command(), context),
        Command::Config(args) => config::run(&args, context).await,
        Command::Version(args) => version::run(&args, context).await,
        Command::Help(args) => help_on(&args, context).map(|()| Exit::Ok),
        Command::Options => context.out.raw(&args::options_help()).map(|()| Exit::Ok),
    }
}

/// Prints a page: of a topic, or of a command as `--help` prints it.
fn help_on(args: &help::Args, context: &mut Context) -> Result<(), Error> {
    if matches!(help::run(args, &mut context.out)?, help::Asked::Printed) {
        return Ok(());
    }
    let words = args.words.iter().map(OsString::from);
    let argv = [OsString::from("kubectl-kai")].into_iter().chain(words);
    match args::parse(argv.chain([OsString::from("--help")]).collect()) {
        Err(args::Stop::Print(text)) => context.out.raw(&text),
        Ok(_) | Err(args::Stop::Error(_)) => Err(help::unknown(&args.words)),
    }
}

/// Refuses a form that the command would ignore.
fn check_output(command: &Command, output: Option<&str>) -> Result<(), Error> {
    let format = Format::read(output)?;
    let taken = match command {
        Command::List(_)
        | Command::Queues(_)
        | Command::History(_)
        | Command::Usage(_)
        | Command::Install(_)
        | Command::Doctor(_)
        | Command::Simulate(_)
        | Command::Config(_) => true,
        Command::Top(args) => !args.interactive() || format.is_table(),
        Command::Explain(args) => args.is_table() || format != Format::Csv,
        Command::Snapshot(args) => args.is_table() || format != Format::Csv,
        Command::Submit(_) | Command::Describe(_) | Command::Delete(_) | Command::Version(_) => {
            format != Format::Csv
        }
        // They print names, whatever else is asked for.
        Command::Suspend(_) | Command::Resume(_) => format.is_table() || format == Format::Name,
        Command::Wait(_)
        | Command::Logs(_)
        | Command::Exec(_)
        | Command::PortForward(_)
        | Command::Sandbox(_)
        | Command::Completion(_)
        | Command::Help(_)
        | Command::Options => format.is_table(),
    };
    if taken {
        return Ok(());
    }
    let what = format!("this command prints nothing in the form -o {}", output.unwrap_or_default());
    Err(Problem::new(number::USAGE, Exit::Usage, what).fix("leave -o out").into())
}

/// Refuses -A where the command works in one namespace, and beside -n where it changes what it finds: one of the two may
/// have come of a list of names.
fn check_namespaces(command: &Command, globals: &Globals) -> Result<(), Error> {
    let all = globals.all_namespaces;
    let changes = matches!(command, Command::Delete(_) | Command::Suspend(_) | Command::Resume(_));
    if let (true, true, Some(namespace)) = (all, changes, &globals.namespace) {
        let what = format!("-n {namespace} means one namespace, and -A means all");
        return Err(Problem::new(number::FLAGS_CONFLICT, Exit::Usage, what)
            .fix("leave one of them out")
            .into());
    }
    let works_in_one = match command {
        Command::Submit(_)
        | Command::PortForward(_)
        | Command::Exec(_)
        | Command::Sandbox(_)
        | Command::Install(_)
        | Command::Completion(_)
        | Command::Config(_)
        | Command::Version(_) => true,
        Command::Wait(_)
        | Command::Delete(_)
        | Command::List(_)
        | Command::Describe(_)
        | Command::Explain(_)
        | Command::Logs(_)
        | Command::Queues(_)
        | Command::Top(_)
        | Command::History(_)
        | Command::Usage(_)
        | Command::Suspend(_)
        | Command::Resume(_)
        | Command::Simulate(_)
        | Command::Doctor(_)
        | Command::Snapshot(_)
        | Command::Help(_)
        | Command::Options => false,
    };
    if !all || !works_in_one {
        return Ok(());
    }
    let what = "this command works in one namespace, and -A means all";
    Err(Problem::new(number::FLAGS_CONFLICT, Exit::Usage, what).fix("-n NAMESPACE").into())
}

/// Refuses what says which cluster is meant where the command makes one of its own.
fn check_cluster(command: &Command, globals: &Globals) -> Result<(), Error> {
    let Command::Sandbox(sandbox) = command else { return Ok(()) };
    let given = [
        ("--kubeconfig", globals.kubeconfig.is_some() && sandbox.attach.is_none()),
        ("--context", globals.context.is_some()),
        ("--namespace", globals.namespace.is_some()),
    ];
    let Some((flag, _)) = given.iter().find(|(_, is_given)| *is_given) else { return Ok(()) };
    let what =
        format!("{flag} names a cluster or a part of it, and the sandbox makes one of its own");
    Err(Problem::new(number::FLAGS_CONFLICT, Exit::Usage, what)
        .line("it prints where its kubeconfig is")
        .fix("leave it out; for nodes in a cluster that runs already: --attach CONTEXT")
        .into())
}

/// Replaces an alias of the configuration at the command's place by the words it stands for.
///
/// # Errors
/// The word is no command, and a file that could say what it stands for is wrong.
fn expand_alias(argv: Vec<OsString>, context: &Context) -> Result<Vec<OsString>, Error> {
    let Some(word) = argv.get(1).and_then(|w| w.to_str()) else { return Ok(argv) };
    if context.is_given() || word.starts_with('-') {
        return Ok(argv);
    }
    // Asked last: the tree of all commands takes longer to build than the settings to read.
    let is_command = || command().find_subcommand(word).is_some();
    let settings = match Settings::load(&context.env, &context.dir, &|| None) {
        Ok(settings) => settings,
        // The command itself reports a broken file.
        Err(_) if is_command() => return Ok(argv),
        Err(error) => return Err(error),
    };
    let Some(expansion) = settings.alias(word) else { return Ok(argv) };
    if is_command() {
        return Ok(argv);
    }
    let words = expansion.split_whitespace().map(OsString::from);
    Ok(argv[..1].iter().cloned().chain(words).chain(argv[2..].iter().cloned()).collect())
}
