//! `kubectl kai logs`: the lines of all ranks, in the order of time.

mod errors;
mod follow;
mod line;
mod pick;
mod printer;
mod source;
mod stream;
mod turns;

use futures::StreamExt as _;

use crate::cluster::{Call, Cluster, Failure};
use crate::context::Context;
use crate::print::duration;
use crate::print::error::{Error, Exit, Problem, number};
use crate::print::output::{Output, clean};
use crate::workload::{Workload, history, load_readable};
use line::Mark;
use pick::Pick;
use printer::{Prefix, Printer};
use source::rank_of;
pub(crate) use source::{Source, all as sources, chosen, rank_lines};
use stream::Query;

/// Flags of `logs`.
#[derive(Debug, clap::Args)]
#[expect(clippy::struct_excessive_bools, reason = "each is a flag of its own")]
#[command(after_help = "\
Examples:
  kubectl kai logs llama-ft -f                     all ranks, until it ends
  kubectl kai logs llama-ft --rank 0 --tail 20     the last lines of the master
  kubectl kai logs llama-ft --errors               who failed first, and the last lines that it wrote
  kubectl kai logs llama-ft --grep 'loss|lr' --exclude NCCL")]
pub struct Args {
    /// Name of the workload
    #[arg(value_name = "NAME")]
    pub(crate) name: String,
    /// Go on until the workload ends; the exit code tells how
    #[arg(short, long)]
    follow: bool,
    /// Ranks, as 0,3 (the master is 0) or worker-0 or worker
    #[arg(long, value_name = "LIST", value_delimiter = ',')]
    rank: Vec<String>,
    /// Last lines of each rank only; -1 for all
    #[arg(long, value_name = "N", allow_negative_numbers = true, value_parser = clap::value_parser!(i64).range(-1..))]
    tail: Option<i64>,
    /// Only lines that a regular expression matches; any of several
    #[arg(long, value_name = "REGEX")]
    grep: Vec<String>,
    /// No lines that a regular expression matches
    #[arg(long, value_name = "REGEX")]
    exclude: Vec<String>,
    /// The rank that failed first, with the last lines that it wrote
    #[arg(long, conflicts_with_all = ["follow", "previous", "container"])]
    errors: bool,
    /// Logs that are read at one time; more take turns
    #[arg(long, value_name = "N", default_value_t = 64, value_parser = clap::value_parser!(u16).range(1..))]
    max_streams: u16,
    /// Lines since a time ago, such as 10m
    #[arg(long, value_name = "DURATION")]
    since: Option<String>,
    /// Container, when it is not the one that works
    #[arg(short, long, value_name = "NAME")]
    container: Option<String>,
    /// Show the time of each line
    #[arg(long)]
    timestamps: bool,
    /// The container before its last restart
    #[arg(long)]
    previous: bool,
    /// What stands before a line: rank, pod or none
    #[arg(long, value_enum, value_name = "WHAT")]
    prefix: Option<Prefix>,
}

/// Runs `logs`.
pub(crate) async fn run(args: &Args, context: &mut Context) -> Result<Exit, Error> {
    let since = match &args.since {
        Some(text) => duration::parse("--since", text)?.map(|span| span.as_secs()),
        None => None,
    };
    let pick = Pick::read(&args.grep, &args.exclude)?;
    let query = Query {
        container: args.container.clone(),
        // A negative number is all of them, as with kubectl.
        tail: args.tail.and_then(|lines| u64::try_from(lines).ok()),
        since_seconds: since,
        previous: args.previous,
    };
    let cluster = context.cluster().await?;
    let scope = context.scope(&cluster).map(str::to_owned);
    of(args, query, pick, scope, context).await
}

/// Follows the logs of a workload that was just submitted to a namespace, as `logs -f` does.
pub(crate) async fn follow(
    name: &str,
    namespace: &str,
    context: &mut Context,
) -> Result<Exit, Error> {
    use clap::{Args as _, FromArgMatches as _};
    let command = Args::augment_args(clap::Command::new("logs").no_binary_name(true));
    let matches = command.try_get_matches_from(["--follow", name]);
    let args = matches.and_then(|matches| Args::from_arg_matches(&matches));
    let args = args.expect("names of objects are no flags");
    let pick = Pick::read(&[], &[])?;
    of(&args, Query::default(), pick, Some(namespace.to_owned()), context).await
}

async fn of(
    args: &Args,
    query: Query,
    pick: Pick,
    scope: Option<String>,
    context: &mut Context,
) -> Result<Exit, Error> {
    let cluster = context.cluster().await?;
    let loaded = load_readable(&cluster, scope.as_deref()).await?;
    let place =
        scope.as_deref().map_or_else(|| "any namespace".to_owned(), |ns| format!("namespace {ns}"));
    let workload = match loaded.one(&args.name, &place) {
        Ok(workload) => workload.clone(),
        Err(error) => {
            let events = history::events(&cluster, scope.as_deref()).await.ok();
            return Err(history::of_name(error, &args.name, events.as_deref()));
        }
    };
    let reading = Reading { args, query, ranks: ranks(args, &workload), pick, cluster };
    tokio::select! {
        biased;
        _ = tokio::signal::ctrl_c() => {
            if args.follow {
                context.out.talk(&format!("stopped reading; {} goes on", clean(&workload.name)));
            }
            Err(Error::Quiet(Exit::Interrupted))
        }
        exit = reading.read(&workload, &mut context.out) => exit,
    }
}

/// The ranks that are asked for: where the workload is named by one of its pods, that pod.
fn ranks(args: &Args, workload: &Workload) -> Vec<String> {
    let is_pod = |pod: &serde_json::Value| pod["metadata"]["name"] == args.name.as_str();
    if args.rank.is_empty() && workload.name != args.name && workload.pods.iter().any(is_pod) {
        return vec![args.name.clone()];
    }
    args.rank.clone()
}

/// Holds what is read, and of whom.
struct Reading<'a> {
    args: &'a Args,
    query: Query,
    ranks: Vec<String>,
    pick: Pick,
    cluster: Cluster,
}

impl Reading<'_> {
    /// The sources that are asked for.
    async fn sources(&self, workload: &Workload) -> Result<Vec<Source>, Error> {
        let all = source::all(workload, &self.cluster).await?;
        let container = self.query.container.as_deref();
        chosen(&self.ranks, container, all, self.args.follow)
    }

    async fn read(&self, workload: &Workload, out: &mut Output) -> Result<Exit, Error> {
        let sources = self.sources(workload).await?;
        let printer = Printer {
            several: sources.len() > 1 || self.args.follow,
            prefix: self.args.prefix,
            timestamps: self.args.timestamps,
            pick: self.pick.clone(),
        };
        if self.args.follow {
            return self.follow(workload, &printer, out).await;
        }
        if !sources.iter().any(|source| source.has_started) {
            return Err(not_begun(workload, sources.is_empty(), "logs -f"));
        }
        if self.args.errors {
            return self.first_failure(workload, &sources, &printer, out).await;
        }
        self.merged(sources, &self.query, &printer, out).await
    }

    /// Prints logs as they are now, merged by the times of their lines.
    async fn merged(
        &self,
        sources: Vec<Source>,
        query: &Query,
        printer: &Printer,
        out: &mut Output,
    ) -> Result<Exit, Error> {
        let most = usize::from(self.args.max_streams);
        let (mut silent, mut streams) = (Vec::new(), Vec::new());
        for (source, opened) in opened(sources, query, most, &self.cluster).await {
            match opened {
                Ok(lines) => streams.push((source, lines)),
                Err(failure) => silent.push((source, failure)),
            }
        }
        if streams.is_empty()
            && let Some((source, failure)) = silent.first()
        {
            return Err(unreadable(source, failure, query.previous, &self.cluster));
        }
        for (source, failure) in &silent {
            out.warn(&format!("no log of {}: {}", clean(&source.pod), first_line(failure)));
        }
        merge(streams, printer, out).await
    }
}

/// There is nothing to read yet.
pub(crate) fn not_begun(workload: &Workload, has_no_pods: bool, verb: &str) -> Error {
    let (name, state) = (clean(&workload.name), workload.state());
    let no_pods = if has_no_pods { " and has no pods yet" } else { "" };
    let what = format!("{name} has not begun{no_pods}: {}", clean(&state.show()));
    let problem = Problem::new(number::WORKLOAD_NOT_FOUND, Exit::NotFound, what);
    let reason = state.message.as_deref().map(|message| clean(message).into_owned());
    reason
        .into_iter()
        .fold(problem, Problem::line)
        .fix(match verb {
            "logs -f" => {
                format!(
                    "wait for it: kubectl kai logs -f {name}   or   kubectl kai describe {name}"
                )
            }
            _ => format!("kubectl kai wait {name} --for running && kubectl kai {verb} {name}"),
        })
        .into()
}

fn first_line(failure: &Failure) -> String {
    failure.to_string().lines().next().unwrap_or_default().to_owned()
}

fn unreadable(source: &Source, failure: &Failure, previous: bool, cluster: &Cluster) -> Error {
    if let Some(400) = failure.code() {
        Problem::new(number::WORKLOAD_NOT_FOUND, Exit::NotFound, first_line(failure))
            .fix(if previous { "leave --previous out" } else { "wait for it: add -f" })
            .into()
    } else {
        let resource = crate::cluster::Resource::new("v1", "Pod", "pods/log");
        let call = Call::new("get", &resource).namespace(Some(&source.namespace)).name(&source.pod);
        cluster.explain(&call, failure)
    }
}

/// Opens logs as they are now. Where there are more than `most`, each is read as a whole, so many at a time, and kept in
/// memory: lines are put in order by their times, and for that all have to be there.
async fn opened(
    sources: Vec<Source>,
    query: &Query,
    most: usize,
    cluster: &Cluster,
) -> Vec<(Source, Result<stream::Lines, Failure>)> {
    let is_many = sources.len() > most;
    let each = sources.into_iter().map(|source| async move {
        let lines = stream::open(&source, query, &Mark::default(), false, cluster).await;
        match lines {
            Ok(lines) if is_many => {
                let all: Vec<_> = lines.collect().await;
                (source, Ok(Box::pin(futures::stream::iter(all)) as stream::Lines))
            }
            lines => (source, lines),
        }
    });
    futures::stream::iter(each).buffered(most).collect().await
}

/// Prints the lines of finished streams in the order of their times; each stream is in order already. One that breaks
/// off is said, and makes the command fail.
async fn merge(
    streams: Vec<(Source, stream::Lines)>,
    printer: &Printer,
    out: &mut Output,
) -> Result<Exit, Error> {
    let mut broken = Vec::new();
    let mut heads = Vec::new();
    for (source, mut lines) in streams {
        match lines.next().await {
            Some(Ok(line)) => heads.push((source, lines, line)),
            Some(Err(error)) => broken.push((source, error)),
            None => {}
        }
    }
    while !heads.is_empty() {
        let at = (0..heads.len()).min_by_key(|i| heads[*i].2.time).unwrap_or(0);
        let (source, lines, line) = &mut heads[at];
        printer.print(source, line, out)?;
        match lines.next().await {
            Some(Ok(next)) => *line = next,
            Some(Err(error)) => broken.push((heads.swap_remove(at).0, error)),
            None => drop(heads.swap_remove(at)),
        }
    }
    for (source, error) in &broken {
        out.warn(&format!("the log of {} broke off: {error}", clean(&source.pod)));
    }
    Ok(if broken.is_empty() { Exit::Ok } else { Exit::Failure })
}
