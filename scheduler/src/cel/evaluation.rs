//! Selectors are evaluated for whoever has the claims of a whole cluster before it and cannot wait for all of them.
//!
//! ```text
//! questions ─► quick lane ─► answers ─► further questions
//!                 └─ costs more ─► slow lane, where the quick one is empty
//! ```
//! The lanes are those of the live scheduler. All evaluations together have a bound, and what is open then stays open.
//! The bound is one of work, so that the same questions always get the same answers; a bound of time is for those who ask
//! a cluster that goes on meanwhile.

use std::{
    io,
    panic::resume_unwind,
    thread,
    time::{Duration, Instant},
};

use super::{
    desk::refused,
    lane::{Lane, QUICK_COST},
};
use crate::cel::{Answer, COST_MAX, Question, STACK_BYTES};

/// Says what all evaluations may cost together: a hundred of the costliest, or most of a million of the usual ones.
pub const COST_ALL: u64 = 100 * COST_MAX;
/// Says what a round may cost: what is asked because of its answers takes its turn then, and does not find all spent.
const ROUND_COST: u64 = COST_ALL / 16;

/// Both lanes, and what may be spent yet.
#[derive(Debug)]
pub struct Evaluation {
    quick: Lane,
    slow: Lane,
    cost_left: u64,
    time_left: Duration,
}

impl Evaluation {
    /// Nothing asked yet; all evaluations together may cost so much, and take so long.
    pub fn new(cost: u64, time: Duration) -> Self {
        Self {
            quick: Lane::new(QUICK_COST),
            slow: Lane::new(COST_MAX),
            cost_left: cost,
            time_left: time,
        }
    }

    /// Asks; whoever asks the same twice is answered twice.
    pub fn ask(&mut self, questions: Vec<Question>) {
        self.quick.add(questions);
    }

    /// Tells whether some questions have no answer.
    pub fn is_open(&self) -> bool {
        !self.quick.is_empty() || !self.slow.is_empty()
    }

    /// Tells whether no further round would answer anything.
    pub fn is_over(&self) -> bool {
        !self.is_open() || self.cost_left == 0 || self.time_left.is_zero()
    }

    /// Evaluates for a while, and gives the answers, which may be none: what costs much is answered in a later round.
    ///
    /// # Errors
    /// When a thread cannot be started.
    pub fn round(&mut self) -> io::Result<Vec<Answer>> {
        let work = || self.work();
        thread::scope(|scope| {
            let thread = thread::Builder::new().stack_size(STACK_BYTES);
            let thread = thread.spawn_scoped(scope, work)?;
            Ok(thread.join().unwrap_or_else(|panic| resume_unwind(panic)))
        })
    }

    /// Works one of the lanes off, as far as a round goes: the slow one where nothing quick is open.
    fn work(&mut self) -> Vec<Answer> {
        let began = Instant::now();
        let is_quick = !self.quick.is_empty();
        let cost_max = ROUND_COST.min(self.cost_left);
        let (mut answers, mut cost) = (Vec::new(), 0);
        while cost < cost_max
            && began.elapsed() < self.time_left
            && let Some(mut turn) = self.lane(is_quick).turn()
        {
            cost += turn.cost;
            if is_quick {
                self.slow.add(std::mem::take(&mut turn.costly));
            }
            answers.extend(refused(turn));
        }
        self.cost_left = self.cost_left.saturating_sub(cost);
        self.time_left = self.time_left.saturating_sub(began.elapsed());
        answers
    }

    fn lane(&mut self, is_quick: bool) -> &mut Lane {
        if is_quick { &mut self.quick } else { &mut self.slow }
    }
}

#[cfg(test)]
mod tests {
    use std::{sync::Arc, time::Duration};

    use super::{COST_ALL, Evaluation};
    use crate::cel::{Answer, COST_MAX, Described, Question, Verdict};

    /// Asks about each of these selectors and three devices.
    fn questions(namespace: &str, selectors: &[String]) -> Vec<Question> {
        let mut questions = Vec::new();
        for expression in selectors {
            for device in ["d-1", "d-2", "d-3"] {
                let device = Described { driver: Box::from(device), ..Described::default() };
                questions.push(Question {
                    namespace: Arc::from(namespace),
                    expression: Arc::from(&**expression),
                    device: Arc::new(device),
                });
            }
        }
        questions
    }

    /// Selectors of which each costs more than it may.
    fn costly(count: usize) -> Vec<String> {
        let numbers: Vec<String> = (0..40).map(|one| one.to_string()).collect();
        let list = format!("[{}]", numbers.join(","));
        let nested = |at: usize| {
            format!("{list}.all(a, {list}.all(b, {list}.all(c, {list}.all(d, a + d + {at} >= 0))))")
        };
        (0..count).map(nested).collect()
    }

    /// Lists all answers that come before the bound.
    fn answers(evaluation: &mut Evaluation, questions: Vec<Question>) -> Vec<Answer> {
        evaluation.ask(questions);
        let mut all = Vec::new();
        while !evaluation.is_over() {
            all.extend(evaluation.round().expect("a thread starts"));
        }
        all
    }

    #[test]
    fn what_costs_much_has_an_end_and_comes_after_what_does_not() {
        let mut all = questions("mallory", &costly(12));
        all.extend(questions("ana", &[String::from("device.driver != ''")]));
        let told = [(); 2].map(|()| {
            let mut evaluation = Evaluation::new(COST_MAX, Duration::MAX);
            let told = answers(&mut evaluation, all.clone());
            assert!(evaluation.is_open(), "most of mallory's cost too much together");
            told
        });
        assert_eq!(told[0], told[1], "the same each time");
        let holds = told[0].iter().filter(|one| one.verdict == Verdict::Holds).count();
        assert_eq!(holds, 3, "ana's");
    }

    #[test]
    fn a_selector_that_is_refused_leaves_nothing_open() {
        let mut evaluation = Evaluation::new(COST_ALL, Duration::MAX);
        let told = answers(&mut evaluation, questions("mallory", &costly(1)));
        assert!(!evaluation.is_open(), "it is refused for all devices");
        assert!(told.iter().any(|one| one.verdict == Verdict::Costly), "{told:?}");
    }
}
