//! `--array`: many tasks of one Job, each a pod of its own that is told its number.

use crate::print::error::{Exit, Problem, number};

/// Tasks of a Job; each is an index of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Array {
    /// Says how many there are; their numbers begin at 0.
    pub(crate) tasks: u32,
    /// Says how many run at the same time at the most.
    pub(crate) at_once: u32,
}

/// More indexes than Kubernetes takes of a Job.
const TASKS_MAX: u32 = 100_000;

const FORMS: &str = "--array 100   or   --array 0-99   or, ten at a time: --array 100%10";

impl Array {
    /// Reads `100`, `0-99`, `100%10`.
    ///
    /// # Errors
    /// It is none of these, or begins elsewhere than at 0.
    pub(super) fn read(text: &str) -> Result<Self, Problem> {
        let wrong = |why: &str| {
            let what = format!("--array {text}: {why}");
            Problem::new(number::VALUE, Exit::Usage, what).fix(FORMS)
        };
        let (numbers, at_once) = match text.split_once('%') {
            Some((numbers, at_once)) => (numbers, Some(at_once)),
            None => (text, None),
        };
        let tasks = match numbers.split_once('-') {
            None => numbers.parse().map_err(|_| wrong("it is no number of tasks"))?,
            Some(("0", last)) => last
                .parse::<u32>()
                .ok()
                .and_then(|last| last.checked_add(1))
                .ok_or_else(|| wrong("the last number cannot be read"))?,
            Some(_) => return Err(wrong("the indexes of a Job begin at 0, and none is left out")),
        };
        if !(1..=TASKS_MAX).contains(&tasks) {
            return Err(wrong(&format!("a Job has from 1 to {TASKS_MAX} tasks")));
        }
        let at_once = match at_once.map(str::parse) {
            None => tasks,
            Some(Ok(at_once)) if at_once > 0 => tasks.min(at_once),
            Some(_) => return Err(wrong("behind % stands how many run at the same time")),
        };
        Ok(Self { tasks, at_once })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The tasks of a text and how many run at once, or why it is refused.
    fn check(text: &str, expect: Result<(u32, u32), &str>) {
        let read = Array::read(text).map(|array| (array.tasks, array.at_once));
        let read = read.map_err(|problem| problem.what);
        assert_eq!(read.as_ref().map_err(String::as_str), expect.as_ref().map_err(|text| *text));
    }

    #[test]
    fn an_array_is_a_number_of_tasks_or_its_indexes() {
        check("8", Ok((8, 8)));
        check("0-99", Ok((100, 100)));
        check("0-99%10", Ok((100, 10)));
        check("8%20", Ok((8, 8)));
        check("1-8", Err("--array 1-8: the indexes of a Job begin at 0, and none is left out"));
        check("0", Err("--array 0: a Job has from 1 to 100000 tasks"));
        check("8%0", Err("--array 8%0: behind % stands how many run at the same time"));
        check("1,3", Err("--array 1,3: it is no number of tasks"));
        check("0-4294967295", Err("--array 0-4294967295: the last number cannot be read"));
    }
}
