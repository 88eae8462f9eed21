//! The lines of a script for Slurm: who runs it, what its `#SBATCH` lines ask for, and what in it only Slurm could do.

use super::parts::{self, Part};
use crate::print::error::{Exit, Problem, number};

/// A script.
#[derive(Debug)]
pub(super) struct Script {
    /// The words of its first line, such as `/bin/bash -l`.
    pub(super) shell: Vec<String>,
    pub(super) options: Vec<Given>,
    pub(super) text: String,
}

/// An option of a `#SBATCH` line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Given {
    pub(super) line: usize,
    /// Its long name, without dashes.
    pub(super) name: String,
    pub(super) value: String,
    pub(super) fate: Fate,
}

/// Says what becomes of an option.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Fate {
    /// It is a flag of `submit`, or a variable.
    Taken,
    /// It changes nothing here.
    Ignored(&'static str),
    /// Without it the work would be another one.
    Refused(&'static str),
}

/// Says what follows an option.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Takes {
    Value,
    /// Only behind `=`.
    Maybe,
    Nothing,
}

use Fate::{Ignored, Refused, Taken};

const LOGS: &str = "output is read with kubectl kai logs";
const NODES: &str = "nodes are chosen by --node-selector and --topology";
const ORDER: &str = "the order is that of queues and --priority";

/// The options of sbatch, by their manual.
const OPTIONS: &[(&str, &str, Takes, Fate)] = &[
    ("a", "array", Takes::Value, Taken),
    ("A", "account", Takes::Value, Ignored("the queue is --partition, or -q QUEUE")),
    ("b", "begin", Takes::Value, Refused("submit it when it is to begin, or submit cronjob")),
    ("c", "cpus-per-task", Takes::Value, Taken),
    ("C", "constraint", Takes::Value, Ignored(NODES)),
    ("d", "dependency", Takes::Value, Refused("kubectl kai wait OTHER && kubectl kai submit …")),
    ("D", "chdir", Takes::Value, Taken),
    ("e", "error", Takes::Value, Ignored(LOGS)),
    ("", "exclusive", Takes::Maybe, Ignored("pods share nodes, and each has what it asks for")),
    ("", "export", Takes::Value, Taken),
    ("G", "gpus", Takes::Value, Taken),
    ("", "gpus-per-node", Takes::Value, Taken),
    ("", "gpus-per-task", Takes::Value, Taken),
    ("", "gres", Takes::Value, Taken),
    ("H", "hold", Takes::Nothing, Refused("submit it when it may start")),
    ("J", "job-name", Takes::Value, Taken),
    ("", "mail-type", Takes::Value, Ignored("kubectl kai wait NAME --exec COMMAND tells")),
    ("", "mail-user", Takes::Value, Ignored("kubectl kai wait NAME --exec COMMAND tells")),
    ("", "mem", Takes::Value, Taken),
    ("", "mem-per-cpu", Takes::Value, Taken),
    ("", "mem-per-gpu", Takes::Value, Taken),
    ("N", "nodes", Takes::Value, Taken),
    ("", "nice", Takes::Maybe, Ignored(ORDER)),
    ("n", "ntasks", Takes::Value, Taken),
    ("", "ntasks-per-node", Takes::Value, Taken),
    ("o", "output", Takes::Value, Ignored(LOGS)),
    ("", "open-mode", Takes::Value, Ignored(LOGS)),
    ("p", "partition", Takes::Value, Taken),
    ("", "parsable", Takes::Nothing, Ignored("-o name")),
    ("", "priority", Takes::Value, Ignored(ORDER)),
    ("q", "qos", Takes::Value, Ignored("--priority CLASS, --preemptible=false")),
    ("Q", "quiet", Takes::Nothing, Ignored("--quiet")),
    ("", "requeue", Takes::Nothing, Ignored("what is evicted starts again; failures: --retries N")),
    ("", "no-requeue", Takes::Nothing, Ignored("nobody evicts work with --preemptible=false")),
    ("", "reservation", Takes::Value, Ignored(ORDER)),
    ("t", "time", Takes::Value, Taken),
    ("v", "verbose", Takes::Nothing, Ignored("-v")),
    ("w", "nodelist", Takes::Value, Ignored(NODES)),
    ("W", "wait", Takes::Nothing, Ignored("--wait")),
    ("x", "exclude", Takes::Value, Ignored(NODES)),
    ("", "container-image", Takes::Value, Taken),
    ("", "wckey", Takes::Value, Ignored("--label KEY=VALUE")),
    ("", "comment", Takes::Value, Ignored("--annotation KEY=VALUE")),
    ("", "cpu-freq", Takes::Value, Ignored("nodes decide")),
    ("", "distribution", Takes::Value, Ignored("--topology LEVEL")),
    ("", "hint", Takes::Value, Ignored("nodes decide")),
    ("k", "no-kill", Takes::Maybe, Ignored("a pod that is lost is made anew: --retries N")),
    ("L", "licenses", Takes::Value, Refused("licences are not counted here")),
    ("", "signal", Takes::Value, Ignored("a pod is told to end by SIGTERM")),
    ("", "switches", Takes::Value, Ignored("--topology LEVEL")),
    ("", "threads-per-core", Takes::Value, Ignored("nodes decide")),
    ("", "time-min", Takes::Value, Ignored("--max-runtime is the longest run")),
    ("", "tmp", Takes::Value, Ignored("-m empty://SIZE:/PATH")),
];

/// Commands that only a Slurm cluster has, but for `srun`.
const OF_SLURM: [&str; 7] =
    ["sattach", "sbatch", "sbcast", "scancel", "scontrol", "sacct", "squeue"];

/// Shells that a script may be for; they take the text behind `-c`.
const SHELLS: [&str; 6] = ["sh", "bash", "dash", "ksh", "zsh", "ash"];

impl Script {
    /// Reads a script: all of its options, or all that is wrong.
    pub(super) fn read(file: &str, text: String) -> Result<Self, Vec<Problem>> {
        let wrong =
            |what: String, fix: &str| vec![Problem::new(number::VALUE, Exit::Usage, what).fix(fix)];
        let first = text.lines().next().unwrap_or_default();
        let Some(shell) = first.strip_prefix("#!") else {
            let what = format!("{file} does not begin with #!, as a script for sbatch does");
            return Err(wrong(what, "#!/bin/bash as its first line"));
        };
        let shell: Vec<String> = shell.split_whitespace().map(str::to_owned).collect();
        let is_shell = |word: &String| {
            let name = word.rsplit('/').next().unwrap_or_default();
            SHELLS.contains(&name)
        };
        let by_env = |word: &String| word.ends_with("/env");
        let named = shell.iter().find(|word| !by_env(word));
        if !named.is_some_and(is_shell) {
            let what = format!("{file} is for {}, and not for a shell", shell.join(" "));
            return Err(wrong(what, "-- COMMAND   or   a script for sh or bash that calls it"));
        }
        let mut problems = Vec::new();
        let mut options = Vec::new();
        for (at, line) in text.lines().enumerate() {
            if let Some(words) = line.strip_prefix("#SBATCH") {
                match given(file, at + 1, words) {
                    Ok(found) => options.extend(found),
                    Err(problem) => problems.push(problem),
                }
            } else if !line.trim().is_empty() && !line.trim_start().starts_with('#') {
                // As sbatch: what stands behind the first command is a comment.
                break;
            }
        }
        for option in &options {
            if let Refused(fix) = option.fate {
                let what = format!("{file}:{}: --{} has no place here", option.line, option.name);
                problems.push(Problem::new(number::UNSUPPORTED, Exit::Refused, what).fix(fix));
            }
        }
        problems.extend(calls(&text).filter_map(|call| call.wrong(file)));
        if problems.is_empty() { Ok(Self { shell, options, text }) } else { Err(problems) }
    }

    /// Tells whether it starts tasks by `srun`.
    pub(super) fn has_srun(&self) -> bool {
        calls(&self.text).any(|call| call.words[0] == "srun")
    }

    /// The value of an option; the last one counts, as for sbatch.
    pub(super) fn value(&self, name: &str) -> Option<&Given> {
        self.options.iter().rev().find(|given| given.name == name)
    }
}

/// The options of one line.
fn given(file: &str, line: usize, text: &str) -> Result<Vec<Given>, Problem> {
    let wrong = |what: String| {
        Problem::new(number::VALUE, Exit::Usage, format!("{file}:{line}: {what}"))
            .fix("#SBATCH --option=value")
    };
    let words = shlex::split(text).ok_or_else(|| wrong("a quote is not closed".to_owned()))?;
    let mut words = words.into_iter().peekable();
    let mut options = Vec::new();
    while let Some(word) = words.next() {
        let (known, behind) = if let Some(long) = word.strip_prefix("--") {
            let (name, value) = long.split_once('=').map_or((long, None), |(n, v)| (n, Some(v)));
            let known = OPTIONS.iter().find(|(_, long, ..)| *long == name);
            (known, value.map(str::to_owned))
        } else if let Some(short) = word.strip_prefix('-') {
            let end = short.chars().next().map_or(0, char::len_utf8);
            let known = OPTIONS.iter().find(|(own, ..)| *own == &short[..end] && end > 0);
            let rest = short[end..].trim_start_matches('=');
            (known, (!rest.is_empty()).then(|| rest.to_owned()))
        } else {
            return Err(wrong(format!("\"{word}\" is no option")));
        };
        let Some((_, name, takes, fate)) = known else {
            let why = Ignored("not known to be an option of sbatch");
            let name = word.trim_start_matches('-').to_owned();
            let value = words.next_if(|next| !next.starts_with('-')).unwrap_or_default();
            options.push(Given { line, name, value, fate: why });
            continue;
        };
        let value = match (takes, behind) {
            (_, Some(value)) => value,
            (Takes::Value, None) => {
                words.next().ok_or_else(|| wrong(format!("--{name} has no value")))?
            }
            (Takes::Maybe | Takes::Nothing, None) => String::new(),
        };
        options.push(Given { line, name: (*name).to_owned(), value, fate: *fate });
    }
    Ok(options)
}

/// A command that Slurm brings along.
struct Call {
    line: usize,
    words: Vec<String>,
}

/// The calls of such commands: each first word of a line, of a part of a pipe, or of what is put in its place.
fn calls(text: &str) -> impl Iterator<Item = Call> {
    parts::parts(text).into_iter().filter_map(|Part { line, text }| {
        let is_before = |word: &&str| {
            let leads =
                ["exec", "time", "then", "do", "else", "if", "elif", "!", "while", "until", "{"];
            leads.contains(word) || (word.contains('=') && !word.starts_with('-'))
        };
        let words: Vec<&str> = text.split_whitespace().skip_while(is_before).collect();
        let name = words.first()?;
        let is_of_slurm = *name == "srun" || OF_SLURM.contains(name);
        is_of_slurm.then(|| Call { line, words: words.into_iter().map(str::to_owned).collect() })
    })
}

impl Call {
    /// Says why a pod cannot do what the call means.
    fn wrong(&self, file: &str) -> Option<Problem> {
        let problem = |what: String, fix: &str| {
            let what = format!("{file}:{}: {what}", self.line);
            Some(Problem::new(number::UNSUPPORTED, Exit::Refused, what).fix(fix))
        };
        let name = &self.words[0];
        if name != "srun" {
            return problem(
                format!("{name} asks a Slurm cluster, and there is none"),
                "in a pytorch job the address of the first pod is $MASTER_ADDR: kubectl kai submit pytorch --sbatch FILE",
            );
        }
        // Each pod runs the script, so what is started everywhere is started here; what is started on some nodes is not.
        let alone = ["-l", "-u", "-K", "--label", "--unbuffered", "--kill-on-bad-exit"];
        let with_value = ["--kill-on-bad-exit", "--cpu-bind", "--gpu-bind", "--export"];
        let mut options = self.words[1..].iter().take_while(|word| word.starts_with('-'));
        let other = options.find(|word| match word.split_once('=') {
            Some((name, _)) => !with_value.contains(&name),
            None => !alone.contains(&word.as_str()),
        })?;
        problem(
            format!("srun {other} starts tasks otherwise than the same in each pod"),
            "srun COMMAND, which starts the tasks of a pod in it   or   for MPI: kubectl kai submit mpi",
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The options of a script as `line name=value`, or its problems.
    fn check(lines: &[&str], expect: &[&str]) {
        let text = format!("#!/bin/bash\n{}\n", lines.join("\n"));
        let told: Vec<String> = match Script::read("x", text) {
            Ok(script) => script
                .options
                .iter()
                .map(|given| format!("{} {}={}", given.line, given.name, given.value))
                .collect(),
            Err(problems) => problems.into_iter().map(|problem| problem.what).collect(),
        };
        assert_eq!(told, expect, "{lines:?}");
    }

    #[test]
    fn options_are_read_as_sbatch_reads_them() {
        check(
            &["#SBATCH -N2 -n 4 # two", "", "# more", "#SBATCH --time=1:00"],
            &["2 nodes=2", "2 ntasks=4", "5 time=1:00"],
        );
        check(
            &["#SBATCH --job-name \"my job\" --hint", "echo", "#SBATCH -N9"],
            &["x:2: --hint has no value"],
        );
        check(
            &["#SBATCH --exclusive -J a", "#SBATCH --what ever"],
            &["2 exclusive=", "2 job-name=a", "3 what=ever"],
        );
        check(&["#SBATCH -d afterok:7"], &["x:2: --dependency has no place here"]);
        check(&["#SBATCH --job-name='a"], &["x:2: a quote is not closed"]);
    }

    #[test]
    fn what_only_slurm_can_do_is_refused_with_its_line() {
        check(&["srun --label python x.py", "exec srun python"], &[]);
        check(&["# scontrol is not called here", "echo scontrol"], &[]);
        check(
            &[
                "echo \"queue (squeue -u me)\"",
                "python -c 'x; sacct',",
                "M=\"see squeue\"",
                "cat <<EOF",
                "sbatch this",
                "EOF",
            ],
            &[],
        );
        check(
            &["echo \"$(squeue)\"", "f() { sacct; }"],
            &[
                "x:2: squeue asks a Slurm cluster, and there is none",
                "x:3: sacct asks a Slurm cluster, and there is none",
            ],
        );
        check(
            &["head=$(scontrol show hostnames x)"],
            &["x:2: scontrol asks a Slurm cluster, and there is none"],
        );
        check(
            &["echo", "srun -N 1 -n 1 hostname"],
            &["x:3: srun -N starts tasks otherwise than the same in each pod"],
        );
    }
}
