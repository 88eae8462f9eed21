//! Selectors are evaluated beside the loop: questions go out, answers come back like outcomes.
//!
//! ```text
//! ingest ─► Desk ─► quick lane ─────────────────► answers ─► ingest
//!                      └─ costs more ─► slow lane ──┘
//! ```
//! Whoever writes a claim decides what its selectors cost. In both lanes namespaces take turns, and what costs more than
//! [`QUICK_COST`] for one device leaves the quick lane: so a namespace's selectors delay those of another by one turn
//! each, however many and however costly they are.

use std::{sync::mpsc as channel, thread};

use tokio::sync::mpsc;

use super::lane::{Lane, QUICK_COST, Turn};
use crate::cel::{Answer, COST_MAX, Question, STACK_BYTES, Verdict};

/// The loop's end: questions go in, answers come out.
#[derive(Debug)]
pub struct Desk {
    questions: channel::Sender<Vec<Question>>,
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
        start("selectors", quick, Lane::new(QUICK_COST), move |turn: Turn| {
            // Who listens may have gone: then nothing is asked any more.
            let _ = quick_answers.send(turn.answers);
            if !turn.costly.is_empty() {
                let _ = costly.send(turn.costly);
            }
        })?;
        start("slow-selectors", slow, Lane::new(COST_MAX), move |mut turn: Turn| {
            let refused = turn.costly.into_iter().map(|one| one.answer(Verdict::Costly));
            turn.answers.extend(refused);
            let _ = answers.send(turn.answers);
        })?;
        Ok(Self { questions, answers: answers_out })
    }

    /// Asks; whoever asks the same twice is answered twice.
    pub fn ask(&self, questions: Vec<Question>) {
        if !questions.is_empty() {
            // The lanes end after the desk.
            let _ = self.questions.send(questions);
        }
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
