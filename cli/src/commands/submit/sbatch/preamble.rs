//! Describes what a script for Slurm finds when it begins: the variables that Slurm would set, and `srun`. Pure.

use std::fmt::Write as _;

use super::lines::{Given, Script};
use super::sizes::Sizes;
use super::tasks::Tasks;
use crate::commands::submit::render::shell;

/// Holds what a pod runs before the script, in words that every shell understands.
pub(super) struct Preamble<'p> {
    pub(super) name: &'p str,
    pub(super) script: &'p Script,
    pub(super) sizes: &'p Sizes,
    pub(super) tasks: Option<&'p Tasks>,
}

/// `srun`: the tasks of this pod, each told its number, as every pod runs the script.
const SRUN: &str = r#"srun() {
  while [ "${1#-}" != "$1" ]; do shift; done
  i=0; pids=
  while [ "$i" -lt "$SLURM_NTASKS_PER_NODE" ]; do
    SLURM_LOCALID=$i SLURM_PROCID=$((SLURM_NODEID * SLURM_NTASKS_PER_NODE + i)) "$@" &
    pids="$pids $!"; i=$((i + 1))
  done
  code=0
  for pid in $(echo "$pids"); do wait "$pid" || code=$?; done
  return "$code"
}
"#;

impl Preamble<'_> {
    /// The text; its variables end with a line break each.
    pub(super) fn text(&self) -> String {
        let Sizes { pods, tasks_of_pod, .. } = *self.sizes;
        let mut text = String::new();
        let mut set = |name: &str, value: &str| {
            // A string takes whatever is written to it.
            let _ = writeln!(text, "export {name}={value}");
        };
        let word = |value: &str| shell(&[value.to_owned()]);
        set("SLURM_JOB_NAME", &word(self.name));
        match self.tasks {
            None => set("SLURM_JOB_ID", &word(self.name)),
            Some(tasks) => {
                set("SLURM_ARRAY_JOB_ID", &word(self.name));
                set("SLURM_ARRAY_TASK_ID", &tasks.number());
                set("SLURM_ARRAY_TASK_COUNT", &tasks.numbers.len().to_string());
                let ends = [tasks.numbers.iter().min(), tasks.numbers.iter().max()];
                for (name, end) in ["SLURM_ARRAY_TASK_MIN", "SLURM_ARRAY_TASK_MAX"].iter().zip(ends)
                {
                    set(name, &end.map_or_else(String::new, u32::to_string));
                }
                set("SLURM_JOB_ID", "\"${SLURM_ARRAY_JOB_ID}_${SLURM_ARRAY_TASK_ID}\"");
            }
        }
        set("SLURM_JOBID", "\"$SLURM_JOB_ID\"");
        for name in ["SLURM_JOB_NUM_NODES", "SLURM_NNODES"] {
            set(name, &pods.to_string());
        }
        for name in ["SLURM_NTASKS", "SLURM_NPROCS"] {
            set(name, &pods.saturating_mul(tasks_of_pod).to_string());
        }
        set("SLURM_NTASKS_PER_NODE", &tasks_of_pod.to_string());
        // A Job tells its pods their number, and so do the frameworks that give ranks.
        let rank = if self.tasks.is_some() { "0" } else { "${JOB_COMPLETION_INDEX:-${RANK:-0}}" };
        set("SLURM_NODEID", rank);
        set("SLURM_PROCID", "$((SLURM_NODEID * SLURM_NTASKS_PER_NODE))");
        set("SLURM_LOCALID", "0");
        for (name, value) in [
            ("SLURM_CPUS_PER_TASK", self.sizes.cpus_of_task.map(u64::from)),
            ("SLURM_CPUS_ON_NODE", self.sizes.cpus().map(u64::from)),
            ("SLURM_GPUS_ON_NODE", self.sizes.gpus.map(u64::from)),
            ("SLURM_MEM_PER_NODE", self.sizes.memory_mib),
        ] {
            if let Some(value) = value {
                set(name, &value.to_string());
            }
        }
        let partition = self.script.value("partition").map(|given| given.value.as_str());
        if let Some(partition) = partition {
            set("SLURM_JOB_PARTITION", &word(partition));
        }
        for (name, value) in self.exports() {
            set(name, &word(value));
        }
        if self.script.has_srun() {
            text += SRUN;
        }
        if let Some(Given { value, .. }) = self.script.value("chdir") {
            let _ = writeln!(text, "cd {} || exit 1", word(value));
        }
        text
    }

    /// Variables that `--export` gives a value.
    fn exports(&self) -> impl Iterator<Item = (&str, &str)> {
        let list = self.script.value("export").map_or("", |given| given.value.as_str());
        list.split(',').filter_map(|one| one.split_once('='))
    }
}

/// Variables of Slurm that a script uses and that are not set, each with its line.
pub(super) fn unset<'t>(text: &'t str, preamble: &str) -> Vec<(usize, &'t str)> {
    let mut unset: Vec<(usize, &str)> = Vec::new();
    for (at, line) in text.lines().enumerate() {
        if line.trim_start().starts_with('#') {
            continue;
        }
        for (begin, _) in line.match_indices("SLURM") {
            let rest = &line[begin..];
            let is_part = |c: char| c.is_ascii_alphanumeric() || c == '_';
            let end = rest.find(|c| !is_part(c)).unwrap_or(rest.len());
            let name = &rest[..end];
            let is_set = preamble.contains(&format!("export {name}="))
                || text.contains(&format!("{name}="))
                || line[..begin].ends_with(is_part);
            if name.contains('_') && !is_set && !unset.iter().any(|(_, seen)| *seen == name) {
                unset.push((at + 1, name));
            }
        }
    }
    unset
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::commands::submit::args::Args;

    /// Says what a script prints in the pod of an index, by the shell of this machine.
    fn check(lines: &str, index: &str, expect: &str) {
        let script = Script::read("x", format!("#!/bin/sh\n{lines}\n")).expect("written below");
        let sizes = Sizes::read("x", &script, &Args::default()).expect("written below");
        let tasks = script.value("array").and_then(|given| Tasks::read(&given.value));
        let preamble =
            Preamble { name: "train", script: &script, sizes: &sizes, tasks: tasks.as_ref() };
        let output = std::process::Command::new("/bin/sh")
            .args(["-c", &(preamble.text() + &script.text), "x", "argument"])
            .env_clear()
            .env("JOB_COMPLETION_INDEX", index)
            .output()
            .expect("there is a shell");
        let said = [output.stdout, output.stderr].concat();
        assert_eq!(String::from_utf8_lossy(&said), expect, "{lines}");
    }

    #[test]
    fn a_pod_is_told_what_slurm_would_tell_its_node() {
        check(
            "#SBATCH -N 2 --gres=gpu:4 -c 8\necho $0 $1 $SLURM_NNODES $SLURM_NODEID $SLURM_PROCID $SLURM_GPUS_ON_NODE $SLURM_CPUS_PER_TASK",
            "1",
            "x argument 2 1 1 4 8\n",
        );
        check(
            "#SBATCH -a 2-10:4\necho $SLURM_JOB_ID $SLURM_ARRAY_TASK_MIN $SLURM_ARRAY_TASK_MAX $SLURM_NODEID",
            "2",
            "train_10 2 10 0\n",
        );
        check("#SBATCH -a 1,3,7-8\necho $SLURM_ARRAY_TASK_ID", "3", "8\n");
        check("#SBATCH --export=A=1,B='x y'\n#SBATCH -D /\necho $A $B; pwd", "0", "1 x y\n/\n");
    }

    #[test]
    fn srun_starts_the_tasks_of_its_pod() {
        check(
            "#SBATCH -N 2 --ntasks-per-node=2\nsrun -l --kill-on-bad-exit=1 sh -c 'exit $SLURM_LOCALID'; echo $?",
            "1",
            "1\n",
        );
        check("#SBATCH -N 2\nsrun sh -c 'echo $SLURM_PROCID of $SLURM_NTASKS'", "1", "1 of 2\n");
    }

    #[test]
    fn what_is_not_set_is_found() {
        let script = "# $SLURM_TMPDIR\necho $SLURM_JOB_ID ${SLURM_SUBMIT_DIR}\nMY_SLURM_X=1 SLURM_Y=2\necho $SLURM_Y";
        assert_eq!(unset(script, "export SLURM_JOB_ID=a\n"), [(2, "SLURM_SUBMIT_DIR")]);
    }
}
