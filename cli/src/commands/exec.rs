//! `kubectl kai exec`: a command or a shell in the container of a rank.

mod converse;
mod terminal;

use std::pin::pin;

use futures::future::{self, BoxFuture};
use futures::{FutureExt as _, StreamExt as _};
use k8s_openapi::api::core::v1::Pod;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::Status;
use kube::Api;
use kube::api::{AttachParams, AttachedProcess};
use tokio::io::AsyncRead;

use crate::cluster::{Call, Cluster, Failure, Resource};
use crate::commands::in_flight::{self, PIECE_BYTES_MAX, Sender, take_part_of_char};
use crate::commands::logs::{Source, chosen, not_begun, sources};
use crate::context::Context;
use crate::print::error::{Error, Exit, Problem, number};
use crate::print::output::{Style, clean, clean_log};
use crate::workload::load_readable;
pub(crate) use converse::converse;

/// Bash where the image has it, else its plain shell.
const SHELL: [&str; 3] = ["sh", "-c", "command -v bash >/dev/null && exec bash || exec sh"];
/// Ranks that run the command at once.
const CONCURRENCY: usize = 32;
/// Lines that wait to be printed.
const LINES_IN_FLIGHT: usize = 16 * 1024;

/// Flags of `exec`.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// Name of the workload
    #[arg(value_name = "NAME")]
    pub(crate) name: String,
    /// Rank, as 0 (the master is 0) or worker-3; without it the first
    #[arg(long, value_name = "RANK", conflicts_with = "all_ranks")]
    rank: Option<String>,
    /// Run the command in every rank, and print their lines with the rank before each
    #[arg(long, requires = "command", conflicts_with_all = ["stdin", "tty"])]
    all_ranks: bool,
    /// Container, when it is not the one that works
    #[arg(short, long, value_name = "NAME")]
    container: Option<String>,
    /// Hand stdin on to the command
    #[arg(short = 'i', long)]
    stdin: bool,
    /// Give the command a terminal
    #[arg(short = 't', long)]
    tty: bool,
    /// Command with its arguments; without it a shell
    #[arg(last = true, value_name = "COMMAND")]
    command: Vec<String>,
}

/// Runs `exec`; ends with the code of the command.
pub(crate) async fn run(args: &Args, context: &mut Context) -> Result<Exit, Error> {
    let cluster = context.cluster().await?;
    let scope = context.scope(&cluster).map(str::to_owned);
    let loaded = load_readable(&cluster, scope.as_deref()).await?;
    let place =
        scope.as_deref().map_or_else(|| "any namespace".to_owned(), |ns| format!("namespace {ns}"));
    let workload = loaded.one(&args.name, &place)?;
    let is_pod = |pod: &serde_json::Value| pod["metadata"]["name"] == args.name.as_str();
    let ranks: Vec<String> = match &args.rank {
        Some(rank) => vec![rank.clone()],
        None if workload.name != args.name && workload.pods.iter().any(is_pod) => {
            vec![args.name.clone()]
        }
        None => Vec::new(),
    };
    let all = sources(workload, &cluster).await?;
    let has_no_pods = all.is_empty();
    let mut chosen = chosen(&ranks, args.container.as_deref(), all, has_no_pods)?;
    chosen.retain(|source| source.runs);
    let Some(first) = chosen.first() else {
        let state = workload.state();
        if !state.phase.is_over() {
            return Err(not_begun(workload, has_no_pods, "exec"));
        }
        let what = format!("{} has ended: {}", clean(&workload.name), clean(&state.show()));
        return Err(Problem::new(number::WORKLOAD_NOT_FOUND, Exit::NotFound, what)
            .fix(format!("kubectl kai logs {}", workload.name))
            .into());
    };
    let first = first.clone();
    let session = Session { args, cluster };
    tokio::select! {
        biased;
        // A terminal sends Ctrl-C to the command, and no signal.
        _ = tokio::signal::ctrl_c() => Err(Error::Quiet(Exit::Interrupted)),
        exit = async {
            if args.all_ranks {
                session.everywhere(&chosen, context).await
            } else {
                session.here(&first, context).await
            }
        } => exit,
    }
}

/// Holds what is run.
struct Session<'a> {
    args: &'a Args,
    cluster: Cluster,
}

impl Session<'_> {
    async fn open(
        &self,
        source: &Source,
        command: &[&str],
        params: AttachParams,
    ) -> Result<AttachedProcess, Error> {
        let pods: Api<Pod> = Api::namespaced(self.cluster.client(), &source.namespace);
        let container = self.args.container.as_deref().unwrap_or(&source.container);
        let params = params.container(container);
        tracing::debug!(pod = source.pod, container, ?command, "running a command");
        let opened = pods.exec(&source.pod, command.iter().copied(), &params).await;
        opened.map_err(|error| {
            let resource = Resource::new("v1", "Pod", "pods/exec");
            let call =
                Call::new("create", &resource).namespace(Some(&source.namespace)).name(&source.pod);
            self.cluster.explain(&call, &Failure::from(error))
        })
    }

    /// Runs the command in one rank, with what is typed and the size of the terminal.
    async fn here(&self, source: &Source, context: &mut Context) -> Result<Exit, Error> {
        let is_shell = self.args.command.is_empty();
        let wants_terminal = self.args.tty || (is_shell && context.answers);
        let tty = wants_terminal && context.answers && context.out.is_terminal();
        if self.args.tty && !tty {
            context.out.warn("-t has no effect: stdin and stdout are not both a terminal");
        }
        let stdin = self.args.stdin || is_shell;
        let command: Vec<&str> = if is_shell {
            SHELL.to_vec()
        } else {
            self.args.command.iter().map(String::as_str).collect()
        };
        let params = AttachParams::default().stdin(stdin).stdout(true).stderr(!tty).tty(tty);
        let process = self.open(source, &command, params).await?;
        let status = converse(process, stdin, tty, context).await?;
        ended(status, source)
    }

    /// Runs the command in all ranks, and ends with the first code that is not 0.
    async fn everywhere(&self, sources: &[Source], context: &mut Context) -> Result<Exit, Error> {
        let (send, mut lines) = in_flight::channel::<(String, String)>(LINES_IN_FLIGHT);
        // All of the ranks, in their order; so many at once.
        let each: Vec<BoxFuture<'_, Result<Exit, Error>>> =
            sources.iter().map(|source| self.one_of_all(source, send.clone()).boxed()).collect();
        drop(send);
        let all = futures::stream::iter(each).buffered(CONCURRENCY).collect::<Vec<_>>();
        let out = &mut context.out;
        let print = async {
            while let Some((rank, line)) = lines.recv().await {
                let head = Style::of_rank(&rank).paint(&format!("[{}]", clean(&rank)));
                out.data(&format!("{head} {}", clean_log(&line)))?;
            }
            Ok::<_, Error>(())
        };
        let (exits, printed) = tokio::join!(all, print);
        printed?;
        let exits = exits.into_iter().collect::<Result<Vec<Exit>, Error>>()?;
        Ok(exits.into_iter().find(|exit| *exit != Exit::Ok).unwrap_or(Exit::Ok))
    }

    async fn one_of_all(
        &self,
        source: &Source,
        lines: Sender<(String, String)>,
    ) -> Result<Exit, Error> {
        let command: Vec<&str> = self.args.command.iter().map(String::as_str).collect();
        let params = AttachParams::default().stdin(false).stdout(true).stderr(true);
        let mut process = self.open(source, &command, params).await?;
        let mut status = pin!(converse::said(process.take_status()));
        let (stdout, stderr) = (process.stdout(), process.stderr());
        let passed = future::join(pass(stdout, source, lines.clone()), pass(stderr, source, lines));
        let mut passed = pin!(passed);
        let status = tokio::select! {
            _ = &mut passed => status.await,
            status = &mut status => {
                // Where the connection breaks, nothing ends what is read of it.
                if status.is_none() {
                    let _some = tokio::time::timeout(converse::LEFT, passed).await;
                } else {
                    passed.await;
                }
                status
            }
        };
        ended(status, source)
    }
}

/// Sends what comes, a line at a time; one without an end in pieces, which stand on lines of their own.
async fn pass<R: AsyncRead + Unpin>(
    reader: Option<R>,
    source: &Source,
    to: Sender<(String, String)>,
) {
    use tokio::io::{AsyncBufReadExt as _, AsyncReadExt as _};
    let Some(reader) = reader else { return };
    let mut reader = tokio::io::BufReader::new(reader);
    let mut line = Vec::new();
    loop {
        let mut some = (&mut reader).take(PIECE_BYTES_MAX);
        let read = some.read_until(b'\n', &mut line).await;
        if read.is_err() || line.is_empty() {
            return;
        }
        let goes_on = some.limit() == 0 && !line.ends_with(b"\n");
        let rest = if goes_on { take_part_of_char(&mut line) } else { Vec::new() };
        let text = String::from_utf8_lossy(&line).trim_end_matches(['\n', '\r']).to_owned();
        line = rest;
        let bytes = text.len();
        if !to.send((source.rank.clone(), text), bytes).await {
            return;
        }
    }
}

/// Says how the command ended.
fn ended(status: Option<Status>, source: &Source) -> Result<Exit, Error> {
    let pod = clean(&source.pod);
    let Some(status) = status else {
        let what =
            format!("the connection to {pod} broke off, and how the command ended is not known");
        return Err(Problem::new(number::UNREACHABLE, Exit::Unreachable, what)
            .fix("look whether it still runs: kubectl kai list")
            .into());
    };
    if status.status.as_deref() == Some("Success") {
        return Ok(Exit::Ok);
    }
    let causes = status.details.and_then(|details| details.causes).unwrap_or_default();
    let code = causes.iter().find(|cause| cause.reason.as_deref() == Some("ExitCode"));
    let code = code.and_then(|cause| cause.message.as_deref()?.parse().ok());
    if let Some(code) = code {
        return Ok(Exit::Command(code));
    }
    let message = status.message.unwrap_or_else(|| "no reason was given".to_owned());
    let what = format!("the command could not be run in {pod}: {}", clean(&message));
    Err(Problem::new(number::REFUSED, Exit::Failure, what).into())
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    /// Says what a status means: the code, or a part of what is said.
    fn check(status: serde_json::Value, expect: Result<u8, &str>) {
        let status = serde_json::from_value(status).expect("a status or null");
        let source = Source::default();
        match (ended(status, &source), expect) {
            (Ok(exit), Ok(code)) => assert_eq!(exit.code(), code),
            (Err(error), Err(part)) => assert!(error.to_string().contains(part), "{error}"),
            (ended, _) => panic!("{ended:?}, not {expect:?}"),
        }
    }

    #[test]
    fn the_code_is_the_commands_own() {
        let failed = |causes| json!({"status": "Failure", "reason": "NonZeroExitCode", "details": {"causes": causes}});
        check(json!({"status": "Success"}), Ok(0));
        check(failed(json!([{"reason": "ExitCode", "message": "3"}])), Ok(3));
        check(failed(json!([{"reason": "ExitCode", "message": "127"}])), Ok(127));
        check(
            json!({"status": "Failure", "message": "no such container"}),
            Err("no such container"),
        );
        check(json!(null), Err("broke off"));
    }
}
