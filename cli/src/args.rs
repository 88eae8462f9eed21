//! The command tree: what can be typed, and how a typing error is answered.

mod meant;
mod refused;

use std::ffi::OsString;

use clap::error::{ContextKind, ContextValue, ErrorKind};
use clap::{CommandFactory as _, Parser, Subcommand};

use crate::commands::short::Form;
use crate::commands::{
    completion, config, delete, describe, doctor, exec, explain, help, history, install, list,
    logs, port_forward, queues, simulate, snapshot, submit, suspend, top, version, wait,
};
use crate::globals::Globals;
use crate::print::error::{Error, Exit, Problem, number};
use crate::tryout::sandbox;

const HELP: &str = "\
kubectl kai — submit AI workloads to the KAI scheduler and understand what happens to them

Run:          submit       Submit a job in any framework, or any manifest, to a queue
              wait         Wait until workloads are scheduled, running or finished
              suspend      Give the GPUs back but keep the workload
              resume       Put suspended workloads back in the queue
              delete       Delete workloads
See:          list         Workloads with their state and the reason why they wait
              describe     One workload on one screen
              explain      Why it waits, who evicted it, why this share  (also: explain KAI1203)
              queues       Queue tree, quotas, use; create, set, hold, move, delete
              top          Every GPU, and who holds what of it
              history      What ran, waited and was evicted, by whom; GPU-hours
Connect:      logs         Logs of all ranks, merged
              exec         Run a command or a shell in a rank
              port-forward Reach Jupyter, TensorBoard, the Ray dashboard
Plan:         simulate     What if? For a job, a queue's quota, more nodes, a drained one
Operate:      install      Install, check or remove the scheduler
              doctor       Find out what is broken, and how to repair it
              snapshot     What the scheduler sees of the cluster, in a file
              sandbox      A whole cluster in this process: try it without one
Settings:     config       Defaults, and where each value came from
              completion   Shell completion (also through kubectl kai <TAB>)
              version      Client and scheduler versions
              help         Pages on commands and topics; schemas of the output

Use \"kubectl kai <command> -h\" for a page with examples, \"kubectl kai help topics\" for more to read,
\"kubectl kai options\" for connection flags.
";

/// The whole command line.
#[derive(Debug, Parser)]
#[command(
    name = "kubectl-kai",
    bin_name = "kubectl kai",
    version,
    about = "Submit AI workloads to the KAI scheduler and understand what happens to them",
    max_term_width = 100,
    subcommand_required = true,
    disable_help_subcommand = true
)]
pub struct Cli {
    /// Flags that every command takes.
    #[command(flatten)]
    pub globals: Globals,
    /// What to do.
    #[command(subcommand)]
    pub command: Command,
}

/// The commands.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// Submit a job in any framework, or any manifest, to a queue
    #[command(alias = "run", alias = "create", after_help = submit::EXAMPLES)]
    Submit(Box<submit::Flags>),
    /// Wait until workloads are scheduled, running or finished
    Wait(wait::Args),
    /// Give the GPUs back but keep the workload
    Suspend(suspend::Args),
    /// Put suspended workloads back in the queue
    Resume(suspend::Args),
    /// Delete workloads
    #[command(alias = "cancel", alias = "kill", alias = "rm", alias = "scancel")]
    Delete(delete::Args),
    /// Workloads with their state and the reason why they wait
    #[command(alias = "ls", alias = "ps", alias = "get", alias = "jobs", alias = "squeue")]
    List(list::Args),
    /// One workload on one screen
    Describe(describe::Args),
    /// Why it waits, who evicted it, why this share; and what a number means
    #[command(alias = "why", alias = "pending")]
    Explain(explain::Args),
    /// Queue tree, quotas, use; create, set, hold, move, delete
    #[command(alias = "queue", alias = "q", alias = "sshare")]
    Queues(Box<queues::Args>),
    /// Every GPU, and who holds what of it
    Top(top::Args),
    /// What ran, waited and was evicted, by whom; GPU-hours
    #[command(alias = "sacct")]
    History(history::Args),
    /// GPU-hours by user, queue, kind, type of GPU or day
    #[command(hide = true)]
    Usage(history::UsageArgs),
    /// Logs of all ranks, merged
    Logs(logs::Args),
    /// Run a command or a shell in a rank
    #[command(alias = "attach", alias = "bash", alias = "shell", alias = "ssh")]
    Exec(exec::Args),
    #[expect(clippy::doc_markdown, reason = "help prints it as it stands")]
    /// Reach Jupyter, TensorBoard, the Ray dashboard
    #[command(alias = "forward", alias = "pf")]
    PortForward(port_forward::Args),
    /// What if? For a job, a queue's quota, more nodes, a drained one; nothing is changed
    #[command(alias = "whatif", alias = "plan", after_help = simulate::EXAMPLES)]
    Simulate(Box<simulate::Args>),
    /// A whole cluster in this process: try it without one
    Sandbox(sandbox::Args),
    /// Install, check or remove the scheduler
    Install(install::Args),
    /// Find out what is broken, and how to repair it
    Doctor(doctor::Args),
    /// What the scheduler sees of the cluster, in a file; and what it would do next
    Snapshot(snapshot::Args),
    /// Shell completion, also through kubectl
    Completion(completion::Args),
    /// Defaults, and where each value came from
    Config(config::Args),
    /// Client and scheduler versions
    Version(version::Args),
    /// The page of a command or of a topic
    #[command(alias = "man")]
    Help(help::Args),
    /// Connection flags that every command takes
    Options,
}

impl Command {
    /// The names of workloads on the command line, and how the command takes them.
    pub(crate) fn words(&mut self) -> (Vec<&mut String>, Form) {
        let words = match self {
            Self::Submit(args) => args.work.from.iter_mut().collect(),
            Self::Wait(args) => args.names.iter_mut().collect(),
            Self::Suspend(args) | Self::Resume(args) => args.names.iter_mut().collect(),
            Self::Delete(args) => args.names.iter_mut().collect(),
            Self::List(args) => args.names.iter_mut().collect(),
            Self::Describe(args) => vec![&mut args.name],
            Self::Explain(args) => args.name.iter_mut().collect(),
            Self::History(args) => return (args.words(), Form::Plain),
            Self::Usage(args) => return (args.names.iter_mut().collect(), Form::Plain),
            Self::Logs(args) => vec![&mut args.name],
            Self::Exec(args) => vec![&mut args.name],
            Self::PortForward(args) => vec![&mut args.name],
            Self::Simulate(args) => args.words(),
            Self::Queues(_)
            | Self::Top(_)
            | Self::Sandbox(_)
            | Self::Install(_)
            | Self::Doctor(_)
            | Self::Snapshot(_)
            | Self::Completion(_)
            | Self::Config(_)
            | Self::Version(_)
            | Self::Help(_)
            | Self::Options => Vec::new(),
        };
        (words, Form::WithKind)
    }
}

/// Says why there is nothing to run.
#[derive(Debug)]
pub(crate) enum Stop {
    /// Help or the version was asked for: the text for stdout.
    Print(String),
    /// The command line is wrong.
    Error(Error),
}

/// The command tree as clap has it, for completion and documents.
pub fn command() -> clap::Command {
    Cli::command().override_help(HELP)
}

/// Reads a command line, program name first.
pub(crate) fn parse(argv: Vec<OsString>) -> Result<Cli, Stop> {
    use clap::FromArgMatches as _;
    let mut argv = argv;
    if argv.len() <= 1 {
        argv.push("--help".into());
    }
    command()
        .try_get_matches_from(&argv)
        .and_then(|matches| Cli::from_arg_matches(&matches))
        .map_err(|error| stop(&error, &meant::path(&argv)))
}

fn stop(error: &clap::Error, typed: &str) -> Stop {
    match error.kind() {
        ErrorKind::DisplayHelp | ErrorKind::DisplayVersion => {
            Stop::Print(error.render().ansi().to_string())
        }
        _ => Stop::Error(problem(error, typed).into()),
    }
}

/// Flags that other tools use for what ours call differently: (typed, ours).
const FOREIGN_FLAGS: &[(&str, &str)] = &[
    ("--gpus", "--gpu"),
    ("--gpu-devices-request", "--gpu"),
    ("--gpu-portion-request", "--gpu 0.5"),
    ("--gpu-memory-request", "--gpu-memory"),
    ("--replicas", "--workers"),
    ("--num-workers", "--workers"),
    ("--cpus", "--cpu"),
    ("--mem", "--memory"),
    ("--project", "--queue"),
    ("--partition", "--queue"),
];

/// Flags of `submit` that people look for, which would need something in the cluster that is not there: (typed, why, the way instead).
const ABSENT_FLAGS: &[(&str, &str, &str)] = &[
    (
        "--after",
        "nothing in the cluster starts work when other work ends",
        "kubectl kai wait NAME && kubectl kai submit …   or a workflow: kubectl kai submit -f workflow.yaml",
    ),
    ("--idle-timeout", "nothing in the cluster tells whether work is idle", "--max-runtime 8h"),
    (
        "--notify",
        "nothing in the cluster sends messages",
        "kubectl kai wait NAME --exec 'notify \"$KAI_NAME $KAI_STATE\"'",
    ),
    (
        "--on-evict",
        "whether evicted pods are made anew is for their kind to decide: a Job makes them, a Pod does not",
        "submit job NAME --retries 3",
    ),
    (
        "--max-pending",
        "nothing in the cluster gives up waiting",
        "--wait=running --timeout 30m, and on code 6: kubectl kai delete NAME",
    ),
    (
        "--no-preempt-before",
        "how long work is kept is a rule of its queue",
        "(admin) kubectl kai queues set QUEUE --preempt-min-runtime 30m",
    ),
    (
        "--failed-only",
        "a Job tells no other which of its tasks failed",
        "--retries 3 with --array, so that each task is tried again by itself",
    ),
    (
        "--open",
        "a browser is not for this program to start",
        "kubectl kai port-forward NAME   which waits until it runs, and prints the address",
    ),
];

/// The problem that an error tells of; `path` is the command that was typed, with a blank before each word.
fn problem(error: &clap::Error, path: &str) -> Problem {
    let text = |kind| match error.get(kind) {
        Some(ContextValue::String(s)) => Some(s.clone()),
        Some(ContextValue::Strings(many)) => Some(many.join(", ")),
        _ => None,
    };
    let help = format!("kubectl kai{path} -h");
    match error.kind() {
        ErrorKind::UnknownArgument => {
            let typed = text(ContextKind::InvalidArg).unwrap_or_default();
            let what = if typed.starts_with('-') { "flag" } else { "argument" };
            let known = FOREIGN_FLAGS.iter().find(|(foreign, _)| *foreign == typed);
            let near = known.map(|(_, ours)| (*ours).to_owned());
            let near = near.or_else(|| meant::flag(&typed, path));
            let problem =
                Problem::new(number::USAGE, Exit::Usage, format!("unknown {what} \"{typed}\""));
            let absent = ABSENT_FLAGS.iter().find(|(flag, ..)| *flag == typed);
            if let Some((_, why, way)) = absent.filter(|_| path == " submit") {
                return problem.line(*why).fix(*way);
            }
            match near {
                Some(near) => problem.line(format!("did you mean {near}?")).fix(help),
                None => problem.fix(help),
            }
        }
        ErrorKind::InvalidSubcommand => {
            let typed = text(ContextKind::InvalidSubcommand).unwrap_or_default();
            let problem =
                Problem::new(number::USAGE, Exit::Usage, format!("unknown command \"{typed}\""));
            if let Some((why, way)) = meant::absent(&typed, path) {
                return problem.line(why).fix(way);
            }
            match meant::command(&typed, path) {
                Some(near) => problem.line(format!("did you mean {near}?")).fix(help),
                None => problem.fix(help),
            }
        }
        _ if let Some(problem) = refused::of(error, path) => problem.fix(help),
        _ => {
            let rendered = error.render().to_string();
            let first = rendered.lines().next().unwrap_or_default();
            let what = first.strip_prefix("error: ").unwrap_or(first);
            let mut problem = Problem::new(number::USAGE, Exit::Usage, what);
            let more = rendered.lines().skip(1).take_while(|line| !line.starts_with("Usage"));
            let more = more.map(str::trim).filter(|line| !line.is_empty());
            // The page that explains is named below, by the name that kubectl gives it.
            for line in more.filter(|line| !line.starts_with("For more information")).take(3) {
                problem = problem.line(line);
            }
            problem.fix(help)
        }
    }
}

/// The page of `kubectl kai options`.
pub(crate) fn options_help() -> String {
    let mut page = String::from("These flags can be given to every command:\n\n");
    for arg in Cli::command().get_arguments() {
        let long = arg.get_long().unwrap_or_default();
        if matches!(long, "help" | "version") {
            continue;
        }
        let short = arg.get_short().map_or_else(|| "    ".to_owned(), |c| format!("-{c}, "));
        let takes = arg.get_action().takes_values();
        let value = arg
            .get_value_names()
            .filter(|_| takes)
            .map_or_else(String::new, |n| format!("={}", n[0]));
        let help = arg.get_help().map(ToString::to_string).unwrap_or_default();
        let flag = format!("{short}--{long}{value}");
        page += &format!("  {flag:<38} {help}\n");
    }
    page
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(command: &clap::Command) {
        let page = command.clone().render_long_help().to_string();
        assert!(!page.contains('`'), "{}:\n{page}", command.get_name());
        command.get_subcommands().for_each(check);
    }

    #[test]
    fn a_page_is_plain_text() {
        assert!(!HELP.contains('`') && !options_help().contains('`'));
        let mut tree = Cli::command();
        tree.build();
        check(&tree);
    }
}
