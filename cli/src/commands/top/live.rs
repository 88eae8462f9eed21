//! `kubectl kai top -i`: the cluster on one screen, kept up to date by watches.
//!
//! ```text
//!  watches ─► read ─► Picture (pure) ─┐
//!  keys ──────────────────────────────┼─► Screen (pure) ─► draw (pure) ─► terminal
//!  explain, describe, logs ─► page ───┘
//! ```

mod draw;
mod look;
mod map;
mod picture;
mod read;
mod screen;

use std::io::Write;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use jiff::Timestamp;
use ratatui::crossterm::event::{Event, KeyCode, KeyEventKind, KeyModifiers};
use tokio::task::JoinHandle;
use tokio::time::sleep_until;

use crate::cluster::Mirror;
use crate::commands::outage::LONGEST;
use crate::commands::show::stopped;
use crate::context::{Context, Run};
use crate::print::error::{Error, Exit, Problem, number};
use crate::print::output::{Color, Output, clean};
use crate::print::terminal::{self, Terminal};
use look::Look;
use picture::Picture;
use read::Wanted;
use screen::{Act, Asked, Key, Screen};

/// Changes come in crowds: so long the first of one waits for the others.
const CROWD: Duration = Duration::from_millis(250);
/// So often the view is drawn anew though nothing changed: ages go on.
const TICK: Duration = Duration::from_secs(1);
/// The share of the time that reading may take: one part in so many.
const REST: u32 = 10;

/// Runs the view until somebody quits.
///
/// # Errors
/// There is no terminal, or the cluster cannot be read.
pub(super) async fn run(context: &mut Context, run: Run) -> Result<Exit, Error> {
    if !(context.out.is_terminal() && context.answers) {
        let what = "top -i draws on a terminal and reads keys from it, and this is none";
        return Err(Problem::new(number::USAGE, Exit::Usage, what)
            .fix("kubectl kai top   or, to follow changes: kubectl kai top -w")
            .into());
    }
    let mirror = context.mirror(read::slim).await?;
    let cluster = context.cluster().await?;
    let namespace = context.globals.namespace.clone();
    let namespace = namespace.filter(|_| !context.globals.all_namespaces);
    let wanted = Wanted { cluster, namespace };
    context.out.wait_for("reading the cluster");
    let first = tokio::select! {
        () = stopped() => None,
        first = wanted.clone().read() => Some(first),
    };
    context.out.waited();
    let Some(first) = first else { return Ok(Exit::Interrupted) };
    let look = Look { is_ascii: context.out.is_ascii(), is_colored: context.out.is_colored() };
    let mut view = View::new(wanted, mirror, look, run);
    view.screen.show(first?);
    let mut terminal = Terminal::open()?;
    view.go_on(&mut terminal).await
}

/// The view and what it waits for.
struct View {
    screen: Screen,
    wanted: Wanted,
    mirror: Arc<Mirror>,
    look: Look,
    run: Run,
    /// A picture that is being read, and since when.
    reading: Option<JoinHandle<Result<Picture, Error>>>,
    begun: Instant,
    /// When the next picture may be read, where something changed.
    due: Option<Instant>,
    rest: Duration,
    /// An answer that is being worked out.
    asking: Option<(Asked, JoinHandle<Vec<String>>)>,
    /// Since when no picture could be read.
    failing: Option<Instant>,
}

impl View {
    fn new(wanted: Wanted, mirror: Arc<Mirror>, look: Look, run: Run) -> Self {
        Self {
            screen: Screen::default(),
            wanted,
            mirror,
            look,
            run,
            reading: None,
            begun: Instant::now(),
            due: None,
            rest: CROWD,
            asking: None,
            failing: None,
        }
    }

    async fn go_on(&mut self, terminal: &mut Terminal) -> Result<Exit, Error> {
        let mut events = terminal::events();
        let stop = stopped();
        tokio::pin!(stop);
        let mut tick = tokio::time::interval(TICK);
        tick.set_missed_tick_behavior(tokio::time::MissedTickBehavior::Delay);
        let mirror = Arc::clone(&self.mirror);
        loop {
            let (screen, look) = (&mut self.screen, self.look);
            terminal.draw(|frame| draw::draw(screen, look, Timestamp::now(), frame))?;
            let due = self.due.filter(|_| self.reading.is_none());
            tokio::select! {
                biased;
                () = &mut stop => return Ok(Exit::Interrupted),
                event = events.recv() => {
                    let Some(event) = event else { return Ok(Exit::Ok) };
                    if let Some(exit) = self.heed(&event) {
                        return Ok(exit);
                    }
                }
                lines = finished(self.asking.as_mut().map(|(_, task)| task)) => {
                    if let Some((asked, _)) = self.asking.take() {
                        self.screen.answer(&asked, lines.unwrap_or_default());
                    }
                }
                picture = finished(self.reading.as_mut()) => {
                    self.reading = None;
                    self.take(picture)?;
                }
                () = at(due) => self.read(),
                () = mirror.changed(), if self.due.is_none() => {
                    self.due = Some((self.begun + self.rest).max(Instant::now() + CROWD));
                }
                _ = tick.tick() => self.screen.trouble = self.mirror.trouble(),
            }
        }
    }

    /// Begins to read a picture.
    fn read(&mut self) {
        self.due = None;
        self.begun = Instant::now();
        self.reading = Some(tokio::spawn(self.wanted.clone().read()));
    }

    /// Takes a picture that was read. A server that is away may come back.
    fn take(&mut self, picture: Option<Result<Picture, Error>>) -> Result<(), Error> {
        self.rest = CROWD.max(self.begun.elapsed() * REST);
        match picture {
            Some(Ok(picture)) => {
                self.failing = None;
                self.screen.show(picture);
            }
            Some(Err(error)) => {
                let since = *self.failing.get_or_insert_with(Instant::now);
                if !error.may_pass() || since.elapsed() > LONGEST {
                    return Err(error);
                }
                self.due = Some(Instant::now() + self.rest.max(TICK));
            }
            None => {
                let what = "the view's reader ended without an answer";
                return Err(Problem::new(number::OTHER, Exit::Failure, what).into());
            }
        }
        self.screen.trouble = self.mirror.trouble();
        Ok(())
    }

    /// Does what was typed; an exit where that ends the view.
    fn heed(&mut self, event: &Event) -> Option<Exit> {
        let key = key(event)?;
        match self.screen.press(key) {
            Act::Nothing => None,
            Act::Quit => Some(Exit::Ok),
            Act::Interrupt => Some(Exit::Interrupted),
            Act::Ask(asked) => {
                if let Some((_, task)) = self.asking.take() {
                    task.abort();
                }
                let task =
                    tokio::spawn(answer(asked.clone(), self.wanted.clone(), self.look, self.run));
                self.asking = Some((asked, task));
                None
            }
        }
    }
}

/// Waits for a moment; for ever where there is none.
async fn at(moment: Option<Instant>) {
    match moment {
        Some(moment) => sleep_until(moment.into()).await,
        None => std::future::pending().await,
    }
}

/// Waits for a task; for ever where there is none. None where it ended without an answer.
async fn finished<T>(task: Option<&mut JoinHandle<T>>) -> Option<T> {
    match task {
        Some(task) => task.await.ok(),
        None => std::future::pending().await,
    }
}

/// A key that means something.
fn key(event: &Event) -> Option<Key> {
    let Event::Key(key) = event else { return None };
    if key.kind == KeyEventKind::Release {
        return None;
    }
    let is_control = key.modifiers.contains(KeyModifiers::CONTROL);
    Some(match key.code {
        KeyCode::Char('c') if is_control => Key::Interrupt,
        KeyCode::Char('f') if is_control => Key::PageDown,
        KeyCode::Char('b') if is_control => Key::PageUp,
        KeyCode::Char('u' | 'w') if is_control => Key::Escape,
        KeyCode::Char(_) if is_control => return None,
        KeyCode::Char(letter) => Key::Char(letter),
        KeyCode::Up => Key::Up,
        KeyCode::Down => Key::Down,
        KeyCode::Left => Key::Left,
        KeyCode::Right => Key::Right,
        KeyCode::PageUp => Key::PageUp,
        KeyCode::PageDown => Key::PageDown,
        KeyCode::Home => Key::Home,
        KeyCode::End => Key::End,
        KeyCode::Enter => Key::Enter,
        KeyCode::Esc => Key::Escape,
        KeyCode::Tab => Key::Tab,
        KeyCode::BackTab => Key::BackTab,
        KeyCode::Backspace => Key::Backspace,
        _ => return None,
    })
}

/// Says what a command says, in lines without colours.
async fn answer(asked: Asked, wanted: Wanted, look: Look, run: Run) -> Vec<String> {
    let said = Said::default();
    let mut out = Output::given(Box::new(said.clone()), Box::new(said.clone()));
    let columns = terminal_size::terminal_size().map_or(80, |(columns, _)| usize::from(columns.0));
    out.set_columns(columns);
    out.color(Color::Never, &std::collections::BTreeMap::new());
    if look.is_ascii {
        out.set_ascii();
    }
    let namespace = asked.namespace.clone().unwrap_or_else(|| wanted.cluster.namespace.clone());
    let mut context = Context::given(wanted.cluster.client(), &namespace, out);
    let words = std::iter::once("kubectl-kai".to_owned()).chain(asked.words);
    run(words.map(Into::into).collect(), &mut context).await;
    let bytes = said.0.lock().unwrap_or_else(PoisonError::into_inner);
    let text = String::from_utf8_lossy(&bytes).replace('\t', "    ");
    text.lines().map(|line| clean(line).into_owned()).collect()
}

/// Keeps what a command prints.
#[derive(Clone, Default)]
struct Said(Arc<Mutex<Vec<u8>>>);

impl Write for Said {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

#[cfg(test)]
mod tests;
