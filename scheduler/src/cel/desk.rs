//! Selectors are evaluated beside the loop: questions go out, answers come back like outcomes.
//!
//! ```text
//! ingest ─► Desk ─► quick lane ─────────────────► answers ─► ingest
//!                      └─ costs more ─► slow lane ──┘
//! ```
//! Whoever writes a claim decides what its selectors cost. In both lanes namespaces take turns, and what costs more than
//! [`QUICK_COST`] for one device leaves the quick lane: so a namespace's selectors delay those of another by one turn
//! each, however many and however costly they are.
//!
//! Under a virtual clock whoever asks waits until all is answered, in one thread and one order: a virtual minute passes in
//! no time, so that no answer of another thread would come in time.

use std::{panic::resume_unwind, sync::mpsc as channel, thread};

use kai_daemon::clock;
use tokio::sync::mpsc;

use super::lane::{Lane, QUICK_COST, Turn};
use crate::cel::{Answer, COST_MAX, Question, STACK_BYTES, Verdict};

/// The loop's end: questions go in, answers come out.
#[derive(Debug)]
pub struct Desk {
    questions: channel::Sender<Vec<Question>>,
    /// Sends answers as the lanes do; it keeps nobody listening whose lanes have ended.
    told: mpsc::WeakUnboundedSender<Vec<Answer>>,
    answers: mpsc::UnboundedReceiver<Vec<Answer>>,
}

impl Desk {
    /// Starts both lanes; they end once the desk is dropped.
    ///
    /// # Errors
    /// When a thread cannot be started.
    pub fn open() -> std::io::Result<Self> {
        let (questions, quick) = channel::channel();
        let (costly, slow) = channel::channel();
        let (answers, answers_out) = mpsc::unbounded_channel();
        let quick_answers = answers.clone();
        let told = answers.downgrade();
        start("selectors", quick, Lane::new(QUICK_COST), move |turn: Turn| {
            // Who listens may have gone: then nothing is asked any more.
            let _ = quick_answers.send(turn.answers);
            if !turn.costly.is_empty() {
                let _ = costly.send(turn.costly);
            }
        })?;
        start("slow-selectors", slow, Lane::new(COST_MAX), move |turn: Turn| {
            let _ = answers.send(refused(turn));
        })?;
        Ok(Self { questions, told, answers: answers_out })
    }

    /// Asks; whoever asks the same twice is answered twice.
    pub fn ask(&self, questions: Vec<Question>) {
        if questions.is_empty() {
            return;
        }
        if let Some(told) = self.told.upgrade().filter(|_| clock::is_virtual()) {
            for answers in at_once(questions) {
                let _ = told.send(answers);
            }
            return;
        }
        // The lanes end after the desk.
        let _ = self.questions.send(questions);
    }

    /// The next answers.
    pub async fn next(&mut self) -> Option<Vec<Answer>> {
        self.answers.recv().await
    }

    /// Answers that are there already.
    pub fn ready(&mut self) -> Option<Vec<Answer>> {
        self.answers.try_recv().ok()
    }
}

/// Answers of a turn in the slow lane: what costs more than it may even there is refused.
pub(super) fn refused(mut turn: Turn) -> Vec<Answer> {
    turn.answers.extend(turn.costly.into_iter().map(|one| one.answer(Verdict::Costly)));
    turn.answers
}

/// Answers all as both lanes do, one after the other.
///
/// # Panics
/// When a thread cannot be started: a simulation that goes on without answers would say something else each time.
fn at_once(questions: Vec<Question>) -> Vec<Vec<Answer>> {
    let work = || {
        let (mut quick, mut slow) = (Lane::new(QUICK_COST), Lane::new(COST_MAX));
        let mut answers = Vec::new();
        quick.add(questions);
        while let Some(turn) = quick.turn() {
            answers.push(turn.answers);
            slow.add(turn.costly);
        }
        while let Some(turn) = slow.turn() {
            answers.push(refused(turn));
        }
        answers
    };
    thread::scope(|scope| {
        let thread = thread::Builder::new().stack_size(STACK_BYTES).spawn_scoped(scope, work);
        let thread = thread.expect("a simulation can start a thread");
        thread.join().unwrap_or_else(|panic| resume_unwind(panic))
    })
}

/// A thread that works a lane off, and sleeps while nothing is in it.
fn start(
    name: &str,
    questions: channel::Receiver<Vec<Question>>,
    mut lane: Lane,
    on: impl Fn(Turn) + Send + 'static,
) -> std::io::Result<()> {
    let work = move || {
        while let Ok(asked) = questions.recv() {
            lane.add(asked);
            while let Some(turn) = lane.turn() {
                on(turn);
                match questions.try_recv() {
                    Ok(asked) => lane.add(asked),
                    Err(channel::TryRecvError::Empty) => {}
                    Err(channel::TryRecvError::Disconnected) => return,
                }
            }
        }
    };
    thread::Builder::new().name(name.into()).stack_size(STACK_BYTES).spawn(work).map(drop)
}
