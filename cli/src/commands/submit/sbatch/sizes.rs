//! Describes how many pods a script for Slurm is, and what each asks for. Pure.

use kai_api::quantity::Quantity;

use super::lines::Script;
use crate::commands::submit::args::Args;
use crate::print::error::{Exit, Problem, number};

/// Holds what a script asks for.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Sizes {
    /// Pods, each of which is what Slurm calls a node of the job.
    pub(super) pods: u32,
    /// Tasks that each pod starts.
    pub(super) tasks_of_pod: u32,
    pub(super) cpus_of_task: Option<u32>,
    /// Of a pod.
    pub(super) memory_mib: Option<u64>,
    pub(super) gpus: Option<u32>,
    pub(super) gpu_model: Option<String>,
    pub(super) seconds: Option<u64>,
}

impl Sizes {
    /// CPU cores of a pod.
    pub(super) fn cpus(&self) -> Option<u32> {
        self.cpus_of_task.map(|cpus| cpus.saturating_mul(self.tasks_of_pod))
    }

    /// Takes over what was typed instead, so that the script is told what its pods have.
    pub(super) fn adopt(&mut self, args: &Args) {
        let typed = |flag: &Option<String>| flag.as_ref().map(|text| text.parse::<u32>().ok());
        if let Some(Some(workers)) = typed(&args.workers) {
            self.pods = workers;
        }
        if let Some(gpus) = typed(&args.gpu) {
            self.gpus = gpus;
        }
        let cpus = self.cpus();
        if let Some(asked) = typed(&args.cpu).filter(|asked| *asked != cpus) {
            self.cpus_of_task = asked.map(|cpus| cpus / self.tasks_of_pod.max(1));
        }
        let memory = args.memory.as_deref().and_then(|text| text.parse::<Quantity>().ok());
        let bytes = memory.and_then(|memory| u64::try_from(memory.milli().ok()? / 1000).ok());
        self.memory_mib = bytes.map(|bytes| bytes >> 20);
    }

    /// Reads them.
    ///
    /// # Errors
    /// Everything that is no amount.
    pub(super) fn read(file: &str, script: &Script) -> Result<Self, Vec<Problem>> {
        let mut reader = Reader { file, script, problems: Vec::new() };
        let sizes = reader.sizes();
        if reader.problems.is_empty() { Ok(sizes) } else { Err(reader.problems) }
    }
}

struct Reader<'s> {
    file: &'s str,
    script: &'s Script,
    problems: Vec<Problem>,
}

impl Reader<'_> {
    /// An option by its reader; what that does not understand is a problem.
    fn option<T>(&mut self, name: &str, read: impl Fn(&str) -> Option<T>) -> Option<T> {
        let given = self.script.value(name)?;
        let value = read(&given.value);
        if value.is_none() {
            let Self { file, .. } = self;
            let what = format!("{file}:{}: --{name}={} cannot be read", given.line, given.value);
            self.problems.push(
                Problem::new(number::VALUE, Exit::Usage, what)
                    .fix("a value of sbatch, or leave it out and use a flag of submit"),
            );
        }
        value
    }

    fn sizes(&mut self) -> Sizes {
        let whole = |text: &str| text.parse::<u32>().ok().filter(|n| *n > 0);
        // Of `2-4` the fewest are asked for: a Job does not grow.
        let nodes = self.option("nodes", |text| whole(text.split('-').next().unwrap_or(text)));
        let tasks = self.option("ntasks", whole);
        let per_node = self.option("ntasks-per-node", whole);
        let pods = match (nodes, tasks, per_node) {
            (Some(nodes), ..) => nodes,
            (None, Some(tasks), Some(per_node)) => tasks.div_ceil(per_node),
            (None, Some(tasks), None) => tasks,
            (None, None, _) => 1,
        };
        let tasks_of_pod = per_node.or(tasks.map(|tasks| tasks.div_ceil(pods))).unwrap_or(1);
        let cpus_of_task = self.option("cpus-per-task", whole);
        let mut sizes = Sizes { pods, tasks_of_pod, cpus_of_task, ..Sizes::default() };
        (sizes.gpus, sizes.gpu_model) = self.gpus(pods, tasks_of_pod);
        let per_cpu = self.option("mem-per-cpu", mebibytes);
        let per_gpu = self.option("mem-per-gpu", mebibytes);
        let cpus = u64::from(sizes.cpus().unwrap_or(tasks_of_pod));
        let of_cpus = per_cpu.map(|mib| mib.saturating_mul(cpus));
        let of_gpus = per_gpu.map(|mib| mib.saturating_mul(u64::from(sizes.gpus.unwrap_or(0))));
        // 0 is all that a node has, which a pod does not ask for.
        sizes.memory_mib =
            self.option("mem", mebibytes).or(of_cpus).or(of_gpus).filter(|mib| *mib > 0);
        sizes.seconds = self.option("time", seconds).filter(|seconds| *seconds > 0);
        sizes
    }

    /// GPUs of a pod, and their model.
    fn gpus(&mut self, pods: u32, tasks_of_pod: u32) -> (Option<u32>, Option<String>) {
        let of_gres = self.option("gres", gres).and_then(|all| all.into_iter().next());
        let per_node = self.option("gpus-per-node", devices);
        let per_task = self.option("gpus-per-task", devices);
        let of_task = per_task.map(|(model, n)| (model, n.saturating_mul(tasks_of_pod)));
        let all = self.option("gpus", devices);
        if let Some((_, all)) = all.as_ref().filter(|(_, all)| !all.is_multiple_of(pods)) {
            let what = format!("{}: --gpus={all} is no whole number for each of {pods}", self.file);
            self.problems
                .push(Problem::new(number::VALUE, Exit::Usage, what).fix("--gpus-per-node=N"));
        }
        let of_all = all.map(|(model, all)| (model, all / pods));
        match of_gres.or(per_node).or(of_task).or(of_all) {
            Some((model, count)) => (Some(count), model),
            None => (None, None),
        }
    }
}

/// `4` or `h100:4`: the model and the number.
fn devices(text: &str) -> Option<(Option<String>, u32)> {
    let (model, count) = text.rsplit_once(':').map_or((None, text), |(m, n)| (Some(m), n));
    Some((model.map(str::to_owned), count.parse().ok()?))
}

/// GPUs of `gpu:4`, `gpu:h100:4`, `gpu` among others; empty where others are alone.
fn gres(text: &str) -> Option<Vec<(Option<String>, u32)>> {
    let gpus = text.split(',').filter(|one| one.split(':').next() == Some("gpu"));
    let read = |gpu: &str| match gpu.split_once(':') {
        None => Some((None, 1)),
        Some((_, model)) if model.parse::<u32>().is_err() && !model.contains(':') => {
            Some((Some(model.to_owned()), 1))
        }
        Some((_, rest)) => devices(rest),
    };
    gpus.map(read).collect()
}

/// Amounts of memory are megabytes unless they say otherwise.
fn mebibytes(text: &str) -> Option<u64> {
    let digits = text.trim_end_matches(|c: char| c.is_ascii_alphabetic());
    let amount: u64 = digits.parse().ok()?;
    match text[digits.len()..].trim_end_matches(['B', 'b']) {
        "K" | "k" => Some(amount.div_ceil(1024)),
        "" | "M" | "m" => Some(amount),
        "G" | "g" => amount.checked_mul(1 << 10),
        "T" | "t" => amount.checked_mul(1 << 20),
        _ => None,
    }
}

/// `MIN`, `MIN:SEC`, `H:MIN:SEC`, `D-H`, `D-H:MIN`, `D-H:MIN:SEC`; none is no limit, as `UNLIMITED` and `INFINITE` are.
fn seconds(text: &str) -> Option<u64> {
    if ["UNLIMITED", "INFINITE"].contains(&text.to_ascii_uppercase().as_str()) {
        return Some(0);
    }
    let (days, rest) = match text.split_once('-') {
        Some((days, rest)) => (Some(days.parse::<u64>().ok()?), rest),
        None => (None, text),
    };
    let parts: Vec<u64> = rest.split(':').map(|part| part.parse().ok()).collect::<Option<_>>()?;
    let (hours, minutes, seconds) = match (days.is_some(), parts.as_slice()) {
        (true, [hours]) => (*hours, 0, 0),
        (true, [hours, minutes]) => (*hours, *minutes, 0),
        (_, [hours, minutes, seconds]) => (*hours, *minutes, *seconds),
        (false, [minutes]) => (0, *minutes, 0),
        (false, [minutes, seconds]) => (0, *minutes, *seconds),
        _ => return None,
    };
    let hours = days.unwrap_or(0).checked_mul(24)?.checked_add(hours)?;
    hours.checked_mul(60)?.checked_add(minutes)?.checked_mul(60)?.checked_add(seconds)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Pods, tasks, cores, memory, GPUs and model of a pod, or the problems.
    fn check(options: &str, expect: &str) {
        let text = format!("#!/bin/sh\n#SBATCH {options}\n");
        let script = Script::read("x", text).expect("options alone");
        let told = match Sizes::read("x", &script) {
            Ok(sizes) => format!(
                "{} x {} tasks, {:?} cores, {:?} MiB, {:?} {:?}",
                sizes.pods,
                sizes.tasks_of_pod,
                sizes.cpus(),
                sizes.memory_mib,
                sizes.gpus,
                sizes.gpu_model
            ),
            Err(problems) => problems[0].what.clone(),
        };
        assert_eq!(told, expect, "{options}");
    }

    #[test]
    fn nodes_are_pods_and_tasks_are_in_them() {
        check("-N 2 --gres=gpu:4", "2 x 1 tasks, None cores, None MiB, Some(4) None");
        check(
            "-N 2 --ntasks-per-node=4 -c 8 --gpus-per-task=1 --mem=100G",
            "2 x 4 tasks, Some(32) cores, Some(102400) MiB, Some(4) None",
        );
        check("-n 4 -c 2", "4 x 1 tasks, Some(2) cores, None MiB, None None");
        check("-N1 -n 4 --mem-per-cpu=2G", "1 x 4 tasks, None cores, Some(8192) MiB, None None");
        check("-N 2 -G h100:8", "2 x 1 tasks, None cores, None MiB, Some(4) Some(\"h100\")");
        check("-N 3 -G 8", "x: --gpus=8 is no whole number for each of 3");
        check(
            "--gres=lustre,gpu:a100",
            "1 x 1 tasks, None cores, None MiB, Some(1) Some(\"a100\")",
        );
        check("-N two", "x:2: --nodes=two cannot be read");
        check("--mem=0", "1 x 1 tasks, None cores, None MiB, None None");
    }

    #[test]
    fn times_are_those_of_slurm() {
        for (text, expect) in [
            ("90", Some(5400)),
            ("1:30", Some(90)),
            ("2:00:00", Some(7200)),
            ("1-0", Some(86_400)),
            ("1-2:30", Some(95_400)),
            ("1-00:00:10", Some(86_410)),
            ("UNLIMITED", Some(0)),
            ("soon", None),
            ("1:2:3:4", None),
        ] {
            assert_eq!(seconds(text), expect, "{text}");
        }
    }
}
