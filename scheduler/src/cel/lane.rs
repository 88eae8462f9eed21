//! A lane: questions by namespace, which take turns, at a bounded cost each.

use std::sync::Arc;

use kai_api::fair::Fair;
use kai_daemon::process::catching;

use crate::cel::{Answer, COST_MAX, Described, Question, Selector, Verdict};

/// The most that an evaluation may cost in the quick lane, and what a turn there may cost before the next begins.
pub const QUICK_COST: u64 = 20_000;

/// Questions about one expression.
#[derive(Debug)]
struct Job {
    expression: Arc<str>,
    devices: Vec<Arc<Described>>,
    /// Once it was read.
    selector: Option<Selector>,
}

/// A lane: questions by namespace, and what one answer may cost.
#[derive(Debug)]
pub struct Lane {
    jobs: Fair<Job>,
    cost_max: u64,
}

/// Holds what came of a turn in a lane.
#[derive(Debug, Default)]
pub struct Turn {
    /// Questions with their verdicts.
    pub answers: Vec<Answer>,
    /// Questions that would cost more than they may in this lane.
    pub costly: Vec<Question>,
    /// Says what all of them cost to evaluate.
    pub cost: u64,
}

impl Lane {
    /// A lane in which no answer costs more than this.
    pub fn new(cost_max: u64) -> Self {
        Self { jobs: Fair::default(), cost_max }
    }

    /// Takes questions in.
    pub fn add(&mut self, questions: Vec<Question>) {
        for Question { namespace, expression, device } in questions {
            match self.jobs.last_mut(&namespace) {
                Some(job) if job.expression == expression => job.devices.push(device),
                Some(_) | None => {
                    let job = Job { expression, devices: vec![device], selector: None };
                    self.jobs.push(&namespace, job);
                }
            }
        }
    }

    /// Tells whether nothing is asked.
    pub fn is_empty(&self) -> bool {
        self.jobs.is_empty()
    }

    /// One turn of the namespace that waits the longest; none, and nothing is asked.
    ///
    /// # Cost
    /// No more than two evaluations may cost.
    pub fn turn(&mut self) -> Option<Turn> {
        let (namespace, mut job) = self.jobs.pop()?;
        let mut turn = Turn::default();
        while turn.cost < self.cost_max {
            let Some(device) = job.devices.pop() else { return Some(turn) };
            let (verdict, cost) = job.judge(&device, self.cost_max);
            turn.cost += cost;
            let expression = Arc::clone(&job.expression);
            let question = Question { namespace: Arc::clone(&namespace), expression, device };
            if verdict != Verdict::Costly {
                turn.answers.push(question.answer(verdict));
                continue;
            }
            turn.costly.push(question);
            if self.cost_max == COST_MAX {
                // It is refused for every device.
                return Some(turn);
            }
        }
        if !job.devices.is_empty() {
            self.jobs.go_on(&namespace, job);
        }
        Some(turn)
    }
}

impl Job {
    /// The interpreter may give up on text that an API server takes: that is the fault of the text, not ours.
    fn judge(&mut self, device: &Described, cost_max: u64) -> (Verdict, u64) {
        let Self { expression, selector, .. } = self;
        let judged = catching(|| {
            let selector = selector.get_or_insert_with(|| Selector::new(expression));
            selector.judge(device, cost_max)
        });
        judged.unwrap_or_else(|| {
            (Verdict::Fault(Arc::from("it cannot be interpreted here")), cost_max)
        })
    }
}

#[cfg(test)]
mod tests {
    use std::{sync::Arc, thread};

    use super::{Lane, QUICK_COST};
    use crate::cel::{Described, Question, STACK_BYTES, Verdict};

    fn question(namespace: &str, expression: &str, index: usize) -> Question {
        let device = Described { driver: Box::from(format!("d-{index}")), ..Described::default() };
        Question {
            namespace: Arc::from(namespace),
            expression: Arc::from(expression),
            device: Arc::new(device),
        }
    }

    /// Answers of a namespace, and how many turns others had before the last of them.
    fn turns_before(lane: &mut Lane, namespace: &str, wanted: usize) -> (Vec<Verdict>, usize) {
        let (mut verdicts, mut turns) = (Vec::new(), 0);
        while let Some(turn) = lane.turn() {
            let ours = |driver: &str| driver.starts_with("d-9");
            let came = turn.answers.into_iter().filter(|one| ours(&one.device.driver));
            let before = verdicts.len();
            verdicts.extend(came.map(|one| one.verdict));
            if verdicts.len() == wanted {
                return (verdicts, turns);
            }
            turns += usize::from(verdicts.len() == before);
        }
        panic!("{namespace} was not answered");
    }

    /// API servers take each of these, and the interpreter panics at some.
    #[test]
    fn a_text_at_which_the_interpreter_gives_up_is_its_own_fault() {
        const TEXTS: &[&str] = &[
            "quantity(\"1e100\").compareTo(quantity(\"1\")) > 0",
            "quantity(\"1.5e-2147483648\").isInteger()",
            "quantity(\"10e2147483647\").sign() > 0",
            "string(duration(\"2562047h\") + duration(\"2562047h\") + duration(\"2562047h\")) != \"\"",
            "9223372036854775807 + 1 > 0",
        ];
        let judged = thread::Builder::new().stack_size(STACK_BYTES).spawn(|| {
            let mut lane = Lane::new(QUICK_COST);
            for (at, text) in TEXTS.iter().enumerate() {
                lane.add(vec![question("mallory", text, 900 + at)]);
            }
            lane.add(vec![question("ana", "device.driver != ''", 990)]);
            turns_before(&mut lane, "all", TEXTS.len() + 1).0
        });
        let verdicts = judged.expect("a thread starts").join().expect("it ends well");
        let (holds, others): (Vec<_>, Vec<_>) =
            verdicts.into_iter().partition(|one| *one == Verdict::Holds);
        assert_eq!(holds.len(), 1, "ana's");
        let is_no = |one: &Verdict| matches!(one, Verdict::Fails | Verdict::Fault(_));
        assert!(others.iter().all(is_no), "{others:?}");
    }

    /// Whatever others ask, and however much, each of them has one turn before ours, and a turn costs little.
    #[test]
    fn a_flood_of_one_namespace_is_one_turn_of_another() {
        let judged = thread::Builder::new().stack_size(STACK_BYTES).spawn(|| {
            let mut lane = Lane::new(QUICK_COST);
            let numbers: Vec<String> = (0..40).map(|one| one.to_string()).collect();
            let list = format!("[{}]", numbers.join(","));
            let flood = (0..500).map(|claim| {
                let costly =
                    format!("{list}.all(a, {list}.all(b, {list}.all(c, {claim} < 0 || true)))");
                question("mallory", &costly, claim % 8)
            });
            lane.add(flood.collect());
            lane.add((900..908).map(|at| question("ana", "device.driver != ''", at)).collect());
            turns_before(&mut lane, "ana", 8)
        });
        let (verdicts, turns) = judged.expect("a thread starts").join().expect("it ends well");
        assert_eq!(verdicts, [const { Verdict::Holds }; 8]);
        assert_eq!(turns, 1, "turns of others");
    }
}
