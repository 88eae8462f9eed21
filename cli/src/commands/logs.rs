//! `kubectl kai logs`: the lines of all ranks, in the order of time.

mod line;
mod stream;

use std::collections::BTreeSet;
use std::time::Duration;

use clap::ValueEnum;
use futures::StreamExt as _;
use serde_json::Value;
use tokio::sync::mpsc;

use crate::cluster::json::text;
use crate::cluster::{Call, Cluster, Failure, Select, names};
use crate::context::Context;
use crate::print::duration;
use crate::print::error::{Error, Exit, Problem, number};
use crate::print::output::{Style, clean, clean_log};
use crate::workload::{Phase, Workload, load};
use line::Line;
use stream::{Query, Source};

/// Flags of `logs`.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// Name of the workload
    #[arg(value_name = "NAME")]
    name: String,
    /// Go on until the workload ends; the exit code tells how
    #[arg(short, long)]
    follow: bool,
    /// Ranks, as 0,3 or worker-0 or worker
    #[arg(long, value_name = "LIST", value_delimiter = ',')]
    rank: Vec<String>,
    /// Last lines of each rank only
    #[arg(long, value_name = "N")]
    tail: Option<u64>,
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

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Prefix {
    Rank,
    Pod,
    None,
}

/// Lines that wait to be printed; when nobody prints, nobody reads on.
const LINES_IN_FLIGHT: usize = 1024;
/// Time between two looks for pods that came later.
const LOOK: Duration = Duration::from_secs(2);

/// Runs `logs`.
pub(crate) async fn run(args: &Args, context: &mut Context) -> Result<Exit, Error> {
    let since = match &args.since {
        Some(text) => duration::parse("--since", text)?.map(|span| span.as_secs()),
        None => None,
    };
    let query = Query {
        container: args.container.clone(),
        follow: args.follow,
        tail: args.tail,
        since_seconds: since,
        previous: args.previous,
    };
    let cluster = context.cluster().await?;
    let scope = context.scope(&cluster).map(str::to_owned);
    let loaded = load(&cluster, scope.as_deref()).await?;
    let place =
        scope.as_deref().map_or_else(|| "any namespace".to_owned(), |ns| format!("namespace {ns}"));
    let workload = loaded.one(&args.name, &place)?.clone();
    tokio::select! {
        biased;
        _ = tokio::signal::ctrl_c() => {
            if args.follow {
                context.out.talk(&format!("stopped reading; {} goes on", clean(&workload.name)));
            }
            Err(Error::Quiet(Exit::Interrupted))
        }
        exit = read(args, &query, &workload, &cluster, &mut context.out) => exit,
    }
}

async fn read(
    args: &Args,
    query: &Query,
    workload: &Workload,
    cluster: &Cluster,
    out: &mut crate::print::output::Output,
) -> Result<Exit, Error> {
    let sources = chosen(args, sources(workload, cluster).await?)?;
    if sources.is_empty() && !args.follow {
        let state = workload.state();
        let what = format!("{} has no pods yet: {}", workload.name, state.show());
        return Err(Problem::new(number::WORKLOAD_NOT_FOUND, Exit::NotFound, what)
            .fix(format!("kubectl kai describe {}", workload.name))
            .into());
    }
    let printer = Printer {
        several: sources.len() > 1 || args.follow,
        prefix: args.prefix,
        timestamps: args.timestamps,
    };
    if args.follow {
        return follow(args, query, workload, cluster, (&printer, out)).await;
    }
    let (mut silent, mut streams) = (Vec::new(), Vec::new());
    for source in sources {
        match stream::open(&source, query, None, cluster).await {
            Ok(lines) => streams.push((source, lines)),
            Err(failure) => silent.push((source, failure)),
        }
    }
    if streams.is_empty()
        && let Some((source, failure)) = silent.first()
    {
        return Err(unreadable(source, failure, query.previous, cluster));
    }
    for (source, failure) in &silent {
        out.warn(&format!("no log of {}: {}", clean(&source.pod), first_line(failure)));
    }
    merge(streams, &printer, out).await?;
    Ok(Exit::Ok)
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

/// Prints the lines of finished streams in the order of their times; each stream is in order already.
async fn merge(
    streams: Vec<(Source, stream::Lines)>,
    printer: &Printer,
    out: &mut crate::print::output::Output,
) -> Result<(), Error> {
    let mut heads = Vec::new();
    for (source, mut lines) in streams {
        if let Some(line) = lines.next().await {
            heads.push((source, lines, line));
        }
    }
    while !heads.is_empty() {
        let at = (0..heads.len()).min_by_key(|i| heads[*i].2.time).unwrap_or(0);
        let (source, lines, line) = &mut heads[at];
        printer.print(source, line, out)?;
        match lines.next().await {
            Some(next) => *line = next,
            None => {
                drop(heads.swap_remove(at));
            }
        }
    }
    Ok(())
}

/// Prints lines as they come, of pods that come later too, until the workload has ended.
async fn follow(
    args: &Args,
    query: &Query,
    workload: &Workload,
    cluster: &Cluster,
    (printer, out): (&Printer, &mut crate::print::output::Output),
) -> Result<Exit, Error> {
    let (send, mut receive) = mpsc::channel::<(Source, Line)>(LINES_IN_FLIGHT);
    let mut readers = tokio::task::JoinSet::new();
    let mut known: BTreeSet<String> = BTreeSet::new();
    let mut state = workload.state();
    loop {
        let loaded = load(cluster, Some(&workload.namespace)).await?;
        let now = loaded.workloads.iter().find(|w| w.uid == workload.uid);
        if let Some(now) = now {
            let next = now.state();
            if next != state && next.phase.is_queued() {
                out.talk(&Style::Dim.paint(&format!(
                    "-- {} {} --",
                    clean(&now.name),
                    clean(&next.show())
                )));
            }
            state = next;
            for source in chosen(args, sources(now, cluster).await?)? {
                if source.has_started && known.insert(source.uid.clone()) {
                    readers.spawn(stream::pump(
                        source,
                        query.clone(),
                        cluster.clone(),
                        send.clone(),
                    ));
                }
            }
        } else {
            out.talk(&format!("-- {} is gone --", clean(&workload.name)));
            return Ok(Exit::Failure);
        }
        let look = tokio::time::sleep(LOOK);
        tokio::pin!(look);
        loop {
            tokio::select! {
                biased;
                Some((source, line)) = receive.recv() => printer.print(&source, &line, out)?,
                () = &mut look => break,
            }
        }
        while readers.try_join_next().is_some() {}
        if state.phase.is_over() && readers.is_empty() {
            while let Ok((source, line)) = receive.try_recv() {
                printer.print(&source, &line, out)?;
            }
            out.talk(&Style::Dim.paint(&format!(
                "-- {} {} --",
                clean(&workload.name),
                clean(&state.show())
            )));
            return Ok(if state.phase == Phase::Failed { Exit::WorkloadFailed } else { Exit::Ok });
        }
    }
}

/// The pods whose logs are meant: for launched work the launcher's, else all.
async fn sources(workload: &Workload, cluster: &Cluster) -> Result<Vec<Source>, Error> {
    let mut pods = workload.pods.clone();
    if workload.resource.kind == "RayJob" {
        // Its output is that of the submitter, which KAI does not schedule.
        let resource = names::pods();
        let call = Call::new("list", &resource).namespace(Some(&workload.namespace));
        let labels = format!("job-name={}", workload.name);
        let found = cluster.list(&call, &Select { labels: &labels, fields: "" }).await;
        let submitters =
            found.map_err(|failure| cluster.explain(&call, &failure))?.unwrap_or_default();
        if submitters.iter().any(has_started) {
            pods = submitters;
        } else {
            let is_head =
                |pod: &Value| text(&pod["metadata"]["labels"]["ray.io/node-type"]) == "head";
            if pods.iter().any(is_head) {
                pods.retain(is_head);
            }
        }
    }
    let mut sources: Vec<Source> = pods.iter().map(|pod| source(pod, workload)).collect();
    sources.sort_by(|a, b| a.rank.cmp(&b.rank).then_with(|| a.pod.cmp(&b.pod)));
    Ok(sources)
}

fn has_started(pod: &Value) -> bool {
    let statuses = pod["status"]["containerStatuses"].as_array();
    matches!(text(&pod["status"]["phase"]), "Running" | "Succeeded" | "Failed")
        || statuses.is_some_and(|all| all.iter().any(|c| c["state"]["running"].is_object()))
}

fn source(pod: &Value, workload: &Workload) -> Source {
    let meta = &pod["metadata"];
    let name = text(&meta["name"]);
    let label = |key: &str| text(&meta["labels"][key]);
    let replica =
        (label("training.kubeflow.org/replica-type"), label("training.kubeflow.org/replica-index"));
    let index = label("batch.kubernetes.io/job-completion-index");
    let rank = if !replica.0.is_empty() && !replica.1.is_empty() {
        format!("{}-{}", replica.0, replica.1)
    } else if !index.is_empty() {
        index.to_owned()
    } else {
        let rest = name.strip_prefix(&workload.name).unwrap_or(name).trim_start_matches('-');
        if rest.is_empty() { name.to_owned() } else { rest.to_owned() }
    };
    let default = text(&meta["annotations"]["kubectl.kubernetes.io/default-container"]);
    let first = text(&pod["spec"]["containers"][0]["name"]);
    let container = if default.is_empty() { first } else { default };
    Source {
        namespace: text(&meta["namespace"]).into(),
        pod: name.into(),
        uid: text(&meta["uid"]).into(),
        container: container.into(),
        has_started: has_started(pod),
        rank,
    }
}

/// The sources that `--rank` names.
fn chosen(args: &Args, sources: Vec<Source>) -> Result<Vec<Source>, Error> {
    if args.rank.is_empty() {
        return Ok(sources);
    }
    let is = |source: &Source, wanted: &String| {
        source.rank == *wanted
            || source.pod == *wanted
            || source.rank.strip_suffix(|c: char| c.is_ascii_digit()).is_some_and(|role| {
                role.trim_end_matches(|c: char| c.is_ascii_digit() || c == '-') == wanted
            })
    };
    if let Some(missing) =
        args.rank.iter().find(|wanted| !sources.iter().any(|source| is(source, wanted)))
        && !(args.follow && sources.is_empty())
    {
        let ranks: Vec<&str> = sources.iter().map(|source| source.rank.as_str()).collect();
        let what = format!("there is no rank \"{missing}\"");
        return Err(Problem::new(number::WORKLOAD_NOT_FOUND, Exit::NotFound, what)
            .fix(format!("one of {}", clean(&ranks.join(", "))))
            .into());
    }
    Ok(sources
        .into_iter()
        .filter(|source| args.rank.iter().any(|wanted| is(source, wanted)))
        .collect())
}

struct Printer {
    several: bool,
    prefix: Option<Prefix>,
    timestamps: bool,
}

impl Printer {
    fn print(
        &self,
        source: &Source,
        line: &Line,
        out: &mut crate::print::output::Output,
    ) -> Result<(), Error> {
        let prefix = match (self.prefix, self.several) {
            (Some(Prefix::None), _) | (None, false) => None,
            (Some(Prefix::Pod), _) => Some(&source.pod),
            (Some(Prefix::Rank), _) | (None, true) => Some(&source.rank),
        };
        let mut text = String::new();
        if let Some(prefix) = prefix {
            text += &Style::of_rank(prefix).paint(&format!("[{}]", clean(prefix)));
            text.push(' ');
        }
        if self.timestamps
            && let Some(time) = line.time
        {
            text += &format!("{time} ");
        }
        // A terminal obeys what it is sent; a file gets the bytes as they were.
        if out.is_terminal() {
            text += &clean_log(&line.text);
            out.data(&text)
        } else {
            out.data_as_is(&text, &line.text)
        }
    }
}
