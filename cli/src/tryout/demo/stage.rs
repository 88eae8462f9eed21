//! Describes where the story is told: prints lines, runs commands, waits for what they bring about.

use std::collections::BTreeMap;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use k8s_openapi::api::core::v1::Pod;
use kai_sandbox::nodes::pod::RUN_SECONDS;
use kube::api::{Api, Patch, PatchParams};

use super::screen::Screen;
use super::text::{command_lines, wrap};
use super::watcher::Watcher;
use super::witness::Witness;
use crate::context::{Context, Run};
use crate::print::error::{Error, Exit, sentence};
use crate::print::output::{Output, Style, clean};

/// The longest that anything in the story may take.
const PATIENCE: Duration = Duration::from_secs(20);
/// Sets how long a chapter stands on a terminal before the next begins.
const READING: Duration = Duration::from_millis(1800);
/// The longest that the end of a chapter waits on a pipe for pods that start.
const SETTLED: Duration = Duration::from_secs(2);
/// Sets how often the live region is redrawn at most, and news told on a pipe.
const FRAME: Duration = Duration::from_millis(60);
const NEWS: Duration = Duration::from_millis(400);

/// Says why the story stopped.
pub(super) enum Stop {
    /// A chapter did not come out as told.
    Missed {
        /// Its number and title.
        chapter: String,
        /// Holds what was waited for, or found instead.
        what: String,
    },
    /// Something else.
    Error(Error),
}

impl From<Error> for Stop {
    fn from(error: Error) -> Self {
        Self::Error(error)
    }
}

/// Holds what a command said.
pub(super) struct Said {
    pub(super) exit: Exit,
    pub(super) stdout: String,
    pub(super) stderr: String,
}

/// Says who types the commands.
pub(super) struct Shell<'a> {
    /// Holds what the story itself runs in.
    pub(super) context: &'a mut Context,
    pub(super) run: Run,
}

/// The stage.
pub(super) struct Stage<'a> {
    client: kube::Client,
    folder: PathBuf,
    pub(super) watcher: Watcher,
    screen: Screen,
    context: &'a mut Context,
    run: Run,
    chapter: String,
    /// Changes that a pipe has not been told yet, by workload and what became of its pods.
    news: BTreeMap<(String, &'static str), usize>,
    told: Instant,
}

/// A sink that can be read while others write.
#[derive(Clone, Default)]
struct Sink(Arc<Mutex<Vec<u8>>>);

impl Sink {
    fn text(&self) -> String {
        let bytes = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        String::from_utf8_lossy(&bytes).into_owned()
    }
}

impl Write for Sink {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl<'a> Stage<'a> {
    pub(super) fn new(
        client: kube::Client,
        folder: &Path,
        watcher: Watcher,
        screen: Screen,
        shell: Shell<'a>,
    ) -> Self {
        let Shell { context, run } = shell;
        Self {
            client,
            folder: folder.to_owned(),
            watcher,
            screen,
            context,
            run,
            chapter: String::new(),
            news: BTreeMap::new(),
            told: Instant::now(),
        }
    }

    /// Begins a chapter.
    pub(super) async fn chapter(&mut self, number: usize, title: &str) -> Result<(), Stop> {
        self.rest(READING).await?;
        self.settle().await?;
        self.chapter = format!("{number}, {title}");
        let heading = Style::Bold.paint(&format!("{number}  {title}"));
        Ok(self.paragraph(&[String::new(), heading])?)
    }

    /// Types a command and runs it as the CLI would; prints what it wrote to stdout.
    pub(super) async fn run(&mut self, words: &[&str]) -> Result<Said, Stop> {
        self.paragraph(&command_lines(words, self.columns()))?;
        let said = self.ask(words).await;
        // What a command says stands below it, and what it brings about below that.
        let lines: Vec<String> =
            said.stdout.lines().map(|line| format!("   {}", clean(line))).collect();
        self.print(&lines)?;
        Ok(said)
    }

    /// The same, for a command that has to succeed.
    pub(super) async fn done(&mut self, words: &[&str]) -> Result<(), Stop> {
        let said = self.run(words).await?;
        if said.exit == Exit::Ok {
            return Ok(());
        }
        for line in said.stderr.lines() {
            self.line(&format!("   {}", clean(line)))?;
        }
        Err(self.missed(format!("the command ended with code {}", said.exit.code())))
    }

    /// Runs a command without showing it.
    pub(super) async fn ask(&mut self, words: &[&str]) -> Said {
        let (stdout, stderr) = (Sink::default(), Sink::default());
        let mut out = Output::given(Box::new(stdout.clone()), Box::new(stderr.clone()));
        out.set_columns(self.columns() - 3);
        if self.context.out.is_ascii() {
            out.set_ascii();
        }
        let mut context = Context::given(self.client.clone(), "default", out);
        context.dir.clone_from(&self.folder);
        let argv = ["kubectl-kai"].iter().chain(words).map(Into::into).collect();
        let exit = (self.run)(argv, &mut context).await;
        drop(context);
        Said { exit, stdout: stdout.text(), stderr: stderr.text() }
    }

    /// Waits until `look` finds what the story tells next.
    pub(super) async fn until<T>(
        &mut self,
        what: &str,
        look: impl Fn(&Witness) -> Option<T> + Send,
    ) -> Result<T, Stop> {
        let start = Instant::now();
        loop {
            let (found, broken) = {
                let witness = self.watcher.now();
                (look(&witness), witness.broken.clone())
            };
            if let Some(broken) = broken {
                return Err(self.missed(format!("a promise was broken: {broken}")));
            }
            if let Some(found) = found {
                return Ok(found);
            }
            if start.elapsed() > PATIENCE {
                return Err(self.missed(format!("waited {} s for {what}", PATIENCE.as_secs())));
            }
            self.show()?;
            self.watcher.changed(FRAME).await;
        }
    }

    /// Waits until the first container of a pod runs; gives the devices that it sees.
    pub(super) async fn visible_devices(&mut self, pod: &str) -> Result<String, Stop> {
        let start = Instant::now();
        loop {
            if let Some(devices) = self.watcher.visible_devices(pod) {
                return Ok(devices);
            }
            if start.elapsed() > PATIENCE {
                let what = format!("waited {} s for the container of {pod}", PATIENCE.as_secs());
                return Err(self.missed(what));
            }
            self.show()?;
            self.watcher.changed(FRAME).await;
        }
    }

    /// Lets the simulated work of a workload end now.
    pub(super) async fn finish(&mut self, workload: &str) -> Result<(), Stop> {
        let pods: Api<Pod> = Api::namespaced(self.client.clone(), "default");
        let mut names: Vec<String> =
            self.watcher.now().of(workload).map(|pod| pod.name.clone()).collect();
        // The master first: a job whose worker alone has ended goes on, and what is left of it may be moved for others.
        names.sort();
        let patch = serde_json::json!({"metadata": {"annotations": {RUN_SECONDS: "0"}}});
        for name in names {
            let done = pods.patch(&name, &PatchParams::default(), &Patch::Merge(&patch)).await;
            let is_gone = |error: &kube::Error| matches!(error, kube::Error::Api(status) if status.code == 404);
            // The operator takes away what still runs once the job has ended by the pods before.
            if let Err(error) = done.map(drop)
                && !is_gone(&error)
            {
                return Err(self.missed(format!("failed to end {workload}: {}", sentence(&error))));
            }
        }
        Ok(())
    }

    /// Keeps the screen alive for a while; at once on a pipe, where nobody reads along.
    async fn rest(&mut self, time: Duration) -> Result<(), Stop> {
        let start = Instant::now();
        while self.screen.is_live() && start.elapsed() < time {
            self.show()?;
            self.watcher.changed(FRAME).await;
        }
        Ok(())
    }

    /// On a pipe, waits until what this chapter placed runs, so that it is told of here and not in the next one.
    async fn settle(&mut self) -> Result<(), Stop> {
        let start = Instant::now();
        while !self.screen.is_live()
            && start.elapsed() < SETTLED
            && self.watcher.now().is_any_starting()
        {
            self.show()?;
            self.watcher.changed(FRAME).await;
        }
        Ok(self.flush(Duration::ZERO)?)
    }

    /// A chapter's failure.
    pub(super) fn missed(&self, what: impl Into<String>) -> Stop {
        Stop::Missed { chapter: self.chapter.clone(), what: what.into() }
    }

    /// Says a paragraph of the story, wrapped.
    pub(super) fn say(&mut self, text: &str) -> Result<(), Error> {
        self.paragraph(&wrap(text, self.columns(), ""))
    }

    /// Says what happened in a chapter, wrapped and indented.
    pub(super) fn tell(&mut self, text: &str) -> Result<(), Error> {
        self.paragraph(&wrap(text, self.columns(), "   "))
    }

    /// Says something beside the story.
    pub(super) fn note(&mut self, text: &str) -> Result<(), Error> {
        self.line(&Style::Dim.paint(text))
    }

    /// Prints one line of the story.
    pub(super) fn line(&mut self, text: &str) -> Result<(), Error> {
        self.paragraph(&[text.to_owned()])
    }

    /// Prints lines that belong together: nothing is told between them.
    fn paragraph(&mut self, lines: &[String]) -> Result<(), Error> {
        self.flush(Duration::ZERO)?;
        self.print(lines)
    }

    fn print(&mut self, lines: &[String]) -> Result<(), Error> {
        let witness = self.watcher.now();
        lines.iter().try_for_each(|line| self.screen.say(&mut self.context.out, &witness, line))
    }

    /// Ends the live region, so that plain lines can follow.
    pub(super) fn close(&mut self) -> Result<(), Error> {
        self.flush(Duration::ZERO)?;
        self.screen.close(&mut self.context.out)
    }

    /// Prints after the end of the live region.
    pub(super) fn last(&mut self, text: &str) -> Result<(), Error> {
        self.context.out.data("")?;
        text.lines().try_for_each(|line| self.context.out.data(line))
    }

    fn show(&mut self) -> Result<(), Error> {
        self.flush(NEWS)?;
        let witness = self.watcher.now();
        self.screen.draw(&mut self.context.out, &witness)
    }

    /// Tells a pipe what changed, one line for the pods of a workload, at most every `pause`.
    fn flush(&mut self, pause: Duration) -> Result<(), Error> {
        for (workload, word) in std::mem::take(&mut self.watcher.now().news) {
            *self.news.entry((workload, word)).or_default() += 1;
        }
        if self.screen.is_live() {
            self.news.clear();
            return Ok(());
        }
        if self.news.is_empty() || self.told.elapsed() < pause {
            return Ok(());
        }
        self.told = Instant::now();
        for ((workload, word), count) in std::mem::take(&mut self.news) {
            let pods = if count == 1 { "1 pod".to_owned() } else { format!("{count} pods") };
            self.context
                .out
                .data(&Style::Dim.paint(&format!("     - {workload}: {pods} {word}")))?;
        }
        Ok(())
    }

    fn columns(&self) -> usize {
        self.context.out.columns().clamp(60, 80)
    }
}
