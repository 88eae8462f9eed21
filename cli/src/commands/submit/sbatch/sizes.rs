//! Describes how many pods a script for Slurm is, and what each asks for. Pure.

use kai_api::quantity::Quantity;

use super::lines::Script;
use crate::cluster::gpu::Gpu;
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

    /// Reads them; what was typed goes before what the script says, and what follows from that is worked out by it.
    ///
    /// # Errors
    /// Everything that is no amount.
    pub(super) fn read(file: &str, script: &Script, args: &Args) -> Result<Self, Vec<Problem>> {
        let mut reader = Reader { file, script, typed: Typed::read(args), problems: Vec::new() };
        let sizes = reader.sizes();
        if reader.problems.is_empty() { Ok(sizes) } else { Err(reader.problems) }
    }
}

/// Numbers that were typed instead of those of the script.
#[derive(Default)]
struct Typed {
    pods: Option<u32>,
    has_cpus: bool,
    /// CPU cores of a pod, where they are a whole number.
    cpus: Option<u32>,
    devices: Option<Devices>,
    has_memory: bool,
    /// MiB of a pod, where that can be read.
    memory: Option<u64>,
}

/// GPUs of a pod that were typed.
#[derive(Clone, Copy)]
struct Devices {
    /// Of which it has each alone.
    whole: Option<u32>,
    /// Of which it has a part at the least.
    any: u32,
}

impl Typed {
    fn read(args: &Args) -> Self {
        let memory = |text: &String| {
            let bytes = text.parse::<Quantity>().ok()?.milli().ok()? / 1000;
            u64::try_from(bytes).ok().map(|bytes| bytes >> 20)
        };
        let workers = args.workers.as_ref().and_then(|text| text.parse().ok());
        Self {
            pods: workers.filter(|pods| *pods > 0),
            has_cpus: args.cpu.is_some(),
            cpus: args.cpu.as_ref().and_then(|text| text.parse().ok()),
            devices: Devices::read(args),
            has_memory: args.memory.is_some(),
            memory: args.memory.as_ref().and_then(memory),
        }
    }
}

impl Devices {
    fn read(args: &Args) -> Option<Self> {
        if let Some(text) = &args.gpu {
            let (whole, any) = match Gpu::parse_typed(text).map(|(_, gpu)| gpu) {
                Ok(Gpu::Whole(count)) => (Some(count), count),
                Ok(Gpu::Share { devices, .. } | Gpu::Memory { devices, .. }) => (None, devices),
                Ok(
                    Gpu::Mig { count, .. } | Gpu::Device { count, .. } | Gpu::Claim { count, .. },
                ) => (None, count),
                // It is refused as it is read later.
                Err(_) => (None, 0),
            };
            return Some(Self { whole, any });
        }
        let part = args.gpu_memory.as_ref().or(args.mig.as_ref())?;
        let count = part.rsplit_once('x').and_then(|(_, count)| count.parse().ok());
        Some(Self { whole: None, any: count.unwrap_or(1) })
    }
}

struct Reader<'s> {
    file: &'s str,
    script: &'s Script,
    typed: Typed,
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
        let (pods, tasks_of_pod) = self.tasks();
        let mut cpus_of_task = self.option("cpus-per-task", whole);
        if self.typed.has_cpus {
            cpus_of_task = self.typed.cpus.map(|cpus| cpus / tasks_of_pod);
        }
        let mut sizes = Sizes { pods, tasks_of_pod, cpus_of_task, ..Sizes::default() };
        (sizes.gpus, sizes.gpu_model) = self.gpus(pods, tasks_of_pod);
        let per_cpu = self.option("mem-per-cpu", mebibytes);
        let per_gpu = self.option("mem-per-gpu", mebibytes);
        let cpus = self.typed.cpus.or(sizes.cpus()).unwrap_or(tasks_of_pod);
        let gpus = self.typed.devices.map_or(sizes.gpus.unwrap_or(0), |typed| typed.any);
        let of_cpus = per_cpu.map(|mib| mib.saturating_mul(u64::from(cpus)));
        let of_gpus = per_gpu.map(|mib| mib.saturating_mul(u64::from(gpus)));
        let of_script = self.option("mem", mebibytes).or(of_cpus).or(of_gpus);
        // 0 is all that a node has, which a pod does not ask for.
        let of_script = of_script.filter(|mib| *mib > 0);
        sizes.memory_mib = if self.typed.has_memory { self.typed.memory } else { of_script };
        sizes.seconds = self.option("time", seconds).filter(|seconds| *seconds > 0);
        sizes
    }

    /// Pods, and the tasks that each of them starts.
    fn tasks(&mut self) -> (u32, u32) {
        // Of `2-4` the fewest are asked for: a Job does not grow.
        let nodes = self.option("nodes", |text| whole(text.split('-').next().unwrap_or(text)));
        let tasks = self.option("ntasks", whole);
        let per_node = self.option("ntasks-per-node", whole);
        let (pods, tasks) = match (nodes, tasks, self.typed.pods) {
            (Some(nodes), tasks, typed) => (typed.unwrap_or(nodes), tasks),
            // Without nodes it is the tasks that say how many pods there are, and those are typed.
            (None, _, Some(typed)) => (typed, None),
            (None, Some(tasks), None) => (tasks.div_ceil(per_node.unwrap_or(1)), Some(tasks)),
            (None, None, None) => (1, None),
        };
        let Some(tasks) = tasks else { return (pods, per_node.unwrap_or(1)) };
        let of_pod = tasks / pods;
        if !tasks.is_multiple_of(pods) {
            self.is_uneven("ntasks", tasks, pods, "--ntasks-per-node=N, and no --ntasks");
        } else if let Some(most) = per_node.filter(|most| of_pod > *most) {
            let what = format!(
                "{}: --ntasks={tasks} is {of_pod} for each of {pods}, and --ntasks-per-node={most}",
                self.file
            );
            let fix = format!("--nodes={}", tasks.div_ceil(most));
            self.problems.push(Problem::new(number::VALUE, Exit::Usage, what).fix(fix));
        }
        (pods, of_pod.max(1))
    }

    /// Notes a number that the pods cannot divide.
    fn is_uneven(&mut self, name: &str, count: u32, pods: u32, fix: &str) {
        let what = format!("{}: --{name}={count} is no whole number for each of {pods}", self.file);
        self.problems.push(Problem::new(number::VALUE, Exit::Usage, what).fix(fix));
    }

    /// GPUs of a pod, and their model.
    fn gpus(&mut self, pods: u32, tasks_of_pod: u32) -> (Option<u32>, Option<String>) {
        let of_gres = self.option("gres", gres).and_then(|all| all.into_iter().next());
        let per_node = self.option("gpus-per-node", devices);
        let per_task = self.option("gpus-per-task", devices);
        let of_task = per_task.map(|(model, n)| (model, n.saturating_mul(tasks_of_pod)));
        let all = self.option("gpus", devices);
        let is_typed = self.typed.devices.is_some();
        if let Some((_, all)) = all.as_ref().filter(|(_, all)| !all.is_multiple_of(pods))
            && !is_typed
        {
            self.is_uneven("gpus", *all, pods, "--gpus-per-node=N");
        }
        let of_all = all.map(|(model, all)| (model, all / pods));
        let (count, model) = match of_gres.or(per_node).or(of_task).or(of_all) {
            Some((model, count)) => (Some(count), model),
            None => (None, None),
        };
        (self.typed.devices.map_or(count, |typed| typed.whole), model)
    }
}

/// A number that is not 0.
fn whole(text: &str) -> Option<u32> {
    text.parse().ok().filter(|count| *count > 0)
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
        check_typed(options, "", expect);
    }

    /// The same where flags of `submit` were typed.
    fn check_typed(options: &str, typed: &str, expect: &str) {
        #[derive(clap::Parser)]
        struct Line {
            #[command(flatten)]
            args: Args,
        }
        let words = ["submit"].into_iter().chain(typed.split_whitespace());
        let Line { args } = clap::Parser::parse_from(words);
        let text = format!("#!/bin/sh\n#SBATCH {options}\n");
        let script = Script::read("x", text).expect("options alone");
        let told = match Sizes::read("x", &script, &args) {
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
        assert_eq!(told, expect, "{options} and {typed}");
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
        // Of an option that stands twice the last one counts, as for sbatch.
        check("-N 2 --nodes=4", "4 x 1 tasks, None cores, None MiB, None None");
        check("-N two", "x:2: --nodes=two cannot be read");
        check("--mem=0", "1 x 1 tasks, None cores, None MiB, None None");
    }

    /// Most scripts give a number alone.
    #[test]
    fn memory_is_in_megabytes_unless_it_says_otherwise() {
        for (memory, mib) in [
            ("4000", 4000),
            ("4000M", 4000),
            ("512MB", 512),
            ("1500K", 2),
            ("3G", 3072),
            ("1T", 1_048_576),
        ] {
            let expect = format!("1 x 1 tasks, None cores, Some({mib}) MiB, None None");
            check(&format!("--mem={memory}"), &expect);
        }
    }

    #[test]
    fn no_pod_starts_a_task_that_there_is_not() {
        check("-N 2 -n 5", "x: --ntasks=5 is no whole number for each of 2");
        check("-n 8 --ntasks-per-node=3", "x: --ntasks=8 is no whole number for each of 3");
        check("-N 2 -n 8 --ntasks-per-node=8", "2 x 4 tasks, None cores, None MiB, None None");
        check(
            "-N 2 -n 8 --ntasks-per-node=3",
            "x: --ntasks=8 is 4 for each of 2, and --ntasks-per-node=3",
        );
        check_typed("-N 2 -n 8", "--workers 3", "x: --ntasks=8 is no whole number for each of 3");
    }

    #[test]
    fn what_follows_from_a_number_follows_from_the_one_that_was_typed() {
        for (options, typed, expect) in [
            ("-N 2 -G 8", "--workers 4", "4 x 1 tasks, None cores, None MiB, Some(2) None"),
            ("-N 2 -G 8", "--workers 3 --gpu 1", "3 x 1 tasks, None cores, None MiB, Some(1) None"),
            ("-N 2 -n 8", "--workers 4", "4 x 2 tasks, None cores, None MiB, None None"),
            ("-n 4", "--workers 2", "2 x 1 tasks, None cores, None MiB, None None"),
            (
                "--mem-per-gpu=80G",
                "--gpu 8",
                "1 x 1 tasks, None cores, Some(655360) MiB, Some(8) None",
            ),
            (
                "--mem-per-gpu=80G --gres=gpu:h100:4",
                "--gpu H100:2",
                "1 x 1 tasks, None cores, Some(163840) MiB, Some(2) Some(\"h100\")",
            ),
            ("--mem-per-gpu=1G", "--gpu 0.5", "1 x 1 tasks, None cores, Some(1024) MiB, None None"),
            ("--gres=gpu:4", "--gpu-memory 8Gi", "1 x 1 tasks, None cores, None MiB, None None"),
            (
                "-c 2 --mem-per-cpu=1G",
                "--cpu 8",
                "1 x 1 tasks, Some(8) cores, Some(8192) MiB, None None",
            ),
            (
                "-N1 -n 4 -c 2 --mem=1G",
                "--cpu 16 --memory 4Gi",
                "1 x 4 tasks, Some(16) cores, Some(4096) MiB, None None",
            ),
        ] {
            check_typed(options, typed, expect);
        }
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
