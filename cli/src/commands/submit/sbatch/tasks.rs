//! The tasks of an array, by the numbers that a script for Slurm gives them. Pure.

/// Tasks of an array.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Tasks {
    /// Their numbers, in the order of the indexes of the Job.
    pub(super) numbers: Vec<u32>,
    /// Says how many run at the same time, where that is bounded.
    pub(super) at_once: Option<u32>,
}

/// More tasks than are written out one by one.
const LISTED_MAX: usize = 1000;
/// More indexes than a Job has.
const TASKS_MAX: u32 = 100_000;

impl Tasks {
    /// Reads `0-99`, `1-9:2`, `1,3,7-9`, each with `%10` behind it; none where it is something else.
    pub(super) fn read(text: &str) -> Option<Self> {
        let (list, at_once) = match text.split_once('%') {
            Some((list, at_once)) => (list, Some(at_once.parse().ok().filter(|n| *n > 0)?)),
            None => (text, None),
        };
        let mut numbers = Vec::new();
        for part in list.split(',') {
            let (range, step) = match part.split_once(':') {
                Some((range, step)) => (range, step.parse::<u32>().ok().filter(|step| *step > 0)?),
                None => (part, 1),
            };
            let (first, last) = range.split_once('-').unwrap_or((range, range));
            let (first, last): (u32, u32) = (first.parse().ok()?, last.parse().ok()?);
            if first > last || (last - first) / step >= TASKS_MAX {
                return None;
            }
            numbers.extend((first..=last).step_by(usize::try_from(step).ok()?));
        }
        let tasks = Self { numbers, at_once };
        (tasks.step().is_some() || tasks.numbers.len() <= LISTED_MAX).then_some(tasks)
    }

    /// So many tasks, from 0.
    pub(super) fn counted(count: u32) -> Self {
        Self { numbers: (0..count).collect(), at_once: None }
    }

    /// Returns what one number is more than the one before, where that is always the same.
    fn step(&self) -> Option<u32> {
        let steps = self.numbers.windows(2).map(|pair| pair[1].checked_sub(pair[0]));
        let mut steps = steps.collect::<Option<Vec<u32>>>()?;
        steps.dedup();
        match steps[..] {
            [] => Some(1),
            [step] => Some(step),
            _ => None,
        }
    }

    /// As `--array` takes it.
    pub(super) fn flag(&self) -> String {
        let at_once = self.at_once.map_or_else(String::new, |at_once| format!("%{at_once}"));
        format!("{}{at_once}", self.numbers.len())
    }

    /// The number of a task for a shell, from the index of its pod.
    pub(super) fn number(&self) -> String {
        let first = self.numbers.first().copied().unwrap_or(0);
        match self.step() {
            Some(1) if first == 0 => "$JOB_COMPLETION_INDEX".to_owned(),
            Some(step) => format!("$((JOB_COMPLETION_INDEX * {step} + {first}))"),
            None => {
                let list: Vec<String> = self.numbers.iter().map(u32::to_string).collect();
                format!(
                    "$(set -- {}; shift \"$JOB_COMPLETION_INDEX\"; echo \"$1\")",
                    list.join(" ")
                )
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The flag of an array of Slurm, and how a pod finds its number.
    fn check(text: &str, expect: Option<(&str, &str)>) {
        let told = Tasks::read(text).map(|tasks| (tasks.flag(), tasks.number()));
        let told = told.as_ref().map(|(flag, number)| (flag.as_str(), number.as_str()));
        assert_eq!(told, expect, "{text}");
    }

    #[test]
    fn arrays_keep_the_numbers_of_their_tasks() {
        check("0-9%2", Some(("10%2", "$JOB_COMPLETION_INDEX")));
        check("1-10", Some(("10", "$((JOB_COMPLETION_INDEX * 1 + 1))")));
        check("2-10:4", Some(("3", "$((JOB_COMPLETION_INDEX * 4 + 2))")));
        check("5", Some(("1", "$((JOB_COMPLETION_INDEX * 1 + 5))")));
        let listed = "$(set -- 1 3 7 8; shift \"$JOB_COMPLETION_INDEX\"; echo \"$1\")";
        check("1,3,7-8", Some(("4", listed)));
        check("3-1", None);
        check("0-9%0", None);
        check("a", None);
    }
}
