//! Lines as they come, of pods that come later too, until the workload has ended.

use std::collections::BTreeSet;
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use futures::{Future, FutureExt as _};
use tokio::task::JoinSet;

use super::line::Line;
use super::printer::Printer;
use super::source::Source;
use super::turns::Turns;
use super::{Reading, stream};
use crate::cluster::Cluster;
use crate::commands::in_flight::{self, Receiver, Sender};
use crate::commands::outage::Outage;
use crate::print::error::{Error, Exit};
use crate::print::output::{Output, Style, clean};
use crate::workload::{Loaded, Phase, State, Workload, history, load_readable};

/// Lines that wait to be printed; when nobody prints, nobody reads on.
const LINES_IN_FLIGHT: usize = 1024;
/// Time between two looks for pods that came later.
const LOOK: Duration = Duration::from_secs(2);

/// A look at the workloads of the namespace.
type Look = Pin<Box<dyn Future<Output = Result<Loaded, Error>> + Send>>;

fn look(cluster: &Cluster, namespace: &str, pause: Duration) -> Look {
    let (cluster, namespace) = (cluster.clone(), namespace.to_owned());
    async move {
        tokio::time::sleep(pause).await;
        load_readable(&cluster, Some(&namespace)).await
    }
    .boxed()
}

/// Holds what is known while lines are printed.
struct Following<'a> {
    printer: &'a Printer,
    out: &'a mut Output,
    state: Option<State>,
    /// The last one that was told.
    said: Option<State>,
    /// UIDs of pods that are read.
    known: BTreeSet<String>,
    /// Each reader ends with why its log is not all there.
    readers: JoinSet<(String, Result<(), String>)>,
    lines: Sender<(Source, Line)>,
    is_whole: bool,
    turns: Arc<Turns>,
}

impl Reading<'_> {
    /// Prints lines until the workload has ended; a server that is away is waited for.
    pub(super) async fn follow(
        &self,
        workload: &Workload,
        printer: &Printer,
        out: &mut Output,
    ) -> Result<Exit, Error> {
        let (lines, mut receive) = in_flight::channel(LINES_IN_FLIGHT);
        let (known, readers) = (BTreeSet::new(), JoinSet::new());
        let turns = Arc::new(Turns::new(usize::from(self.args.max_streams)));
        let mut now = Following {
            printer,
            out,
            state: None,
            said: None,
            known,
            readers,
            lines,
            is_whole: true,
            turns,
        };
        let mut outage = Outage::default();
        let mut next = look(&self.cluster, &workload.namespace, Duration::ZERO);
        loop {
            tokio::select! {
                biased;
                Some((source, line)) = receive.recv() => now.printer.print(&source, &line, now.out)?,
                Some(ended) = now.readers.join_next(), if !now.readers.is_empty() => {
                    if let Ok((pod, Err(why))) = ended {
                        now.is_whole = false;
                        now.out.warn(&format!("the log of {} is not all there: {}", clean(&pod), clean(&why)));
                    }
                }
                loaded = &mut next => {
                    next = look(&self.cluster, &workload.namespace, LOOK);
                    let loaded = loaded.and_then(|loaded| loaded.whole_for(&workload.resource.kind));
                    let Some(loaded) = outage.sit_out(loaded, now.out)? else { continue };
                    let found = loaded.workloads.iter().find(|found| found.uid == workload.uid);
                    let Some(found) = found else {
                        now.drain(&mut receive)?;
                        return gone(workload, &self.cluster, now.out).await;
                    };
                    now.say(found);
                    let Some(sources) = outage.sit_out(self.sources(found).await, now.out)? else { continue };
                    now.read(sources, self);
                }
            }
            let ended = now.state.as_ref().filter(|state| state.phase.is_over()).cloned();
            if let Some(state) = ended.filter(|_| now.readers.is_empty()) {
                now.drain(&mut receive)?;
                return Ok(now.end(workload, &state));
            }
        }
    }
}

impl Following<'_> {
    /// Says what it waits for, once for each change; what mostly passes at once, where the next look finds it again.
    fn say(&mut self, workload: &Workload) {
        let state = workload.state();
        let stays = !state.is_passing() || self.state.as_ref() == Some(state);
        if state.phase.is_queued() && stays && self.said.as_ref() != Some(state) {
            let message = match &state.message {
                Some(message) => format!(": {}", clean(&message.replace('\n', " "))),
                None => String::new(),
            };
            let line = format!("-- {} {}{message} --", workload.name, state.show());
            self.out.talk(&Style::Dim.paint(&clean(&line)));
            self.said = Some(state.clone());
        }
        self.state = Some(state.clone());
    }

    /// Begins to read those that have started since.
    fn read(&mut self, sources: Vec<Source>, reading: &Reading<'_>) {
        for source in sources {
            if !source.has_started || !self.known.insert(source.uid.clone()) {
                continue;
            }
            let pod = source.pod.clone();
            let (query, cluster) = (reading.query.clone(), reading.cluster.clone());
            let whole =
                stream::pump(source, query, cluster, self.lines.clone(), Arc::clone(&self.turns));
            self.readers.spawn(whole.map(|whole| (pod, whole)));
        }
    }

    fn drain(&mut self, lines: &mut Receiver<(Source, Line)>) -> Result<(), Error> {
        while let Some((source, line)) = lines.try_recv() {
            self.printer.print(&source, &line, self.out)?;
        }
        Ok(())
    }

    fn end(&mut self, workload: &Workload, state: &State) -> Exit {
        let line = format!("-- {} {} --", clean(&workload.name), clean(&state.show()));
        self.out.talk(&Style::Dim.paint(&line));
        match (state.phase, self.is_whole) {
            (Phase::Failed, _) => Exit::WorkloadFailed,
            (_, true) => Exit::Ok,
            (_, false) => Exit::Failure,
        }
    }
}

/// The workload is no more; whether somebody took its place is said.
async fn gone(workload: &Workload, cluster: &Cluster, out: &mut Output) -> Result<Exit, Error> {
    out.talk(&format!("-- {} is gone --", clean(&workload.name)));
    match history::eviction_of(workload, cluster).await {
        Some(eviction) => {
            out.warn(&clean(&eviction.sentence()));
            Ok(Exit::Evicted)
        }
        None => Ok(Exit::Failure),
    }
}
