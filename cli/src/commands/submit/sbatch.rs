//! `submit job.sbatch`: a script for Slurm. Its `#SBATCH` lines become flags of `submit`, and every pod runs it.
//!
//! ```text
//!  script ─► lines (options, what only Slurm can do) ─► sizes, tasks ─► flags ─► request, as if they were typed
//!                                                   └─► preamble (SLURM_*, srun) + script ─► command
//! ```
//!
//! A node of a Slurm job is a pod here. Slurm runs a script on the first node and starts tasks on all by `srun`; here every
//! pod runs the script, and `srun` starts the tasks of its own pod.

mod lines;
mod parts;
mod preamble;
mod sizes;
mod tasks;

use std::collections::BTreeMap;
use std::path::Path;

use self::lines::{Fate, Script};
use self::preamble::Preamble;
use self::sizes::Sizes;
use self::tasks::Tasks;
use super::args::Args;
use super::array::Array;
use super::read;
use crate::cluster::kinds;
use crate::context::Context;
use crate::print::error::{Error, Exit, Problem, number};
use crate::print::output::clean;

/// Bytes of one argument that Linux takes at the most, less what stands before the script.
const SCRIPT_MAX: usize = 96 << 10;

/// Endings of scripts for Slurm.
const ENDS: [&str; 2] = ["sbatch", "slurm"];

/// Holds what was found, to be told.
#[derive(Default)]
struct Told {
    /// `line: option -> flag`.
    taken: Vec<String>,
    ignored: Vec<String>,
    /// Variables that were not forwarded.
    kept: Vec<String>,
}

/// Puts the flags of a script where none were typed, and the script where the command stands; does nothing where there is
/// no script.
///
/// # Errors
/// The script cannot be read, or asks for what is not here; all that is wrong.
pub(crate) async fn expand(args: &mut Args, context: &mut Context) -> Result<(), Error> {
    let Some(file) = taken_out(args) else { return Ok(()) };
    let text = read::text(Path::new(&file), &file, context).await?;
    let shown = clean(&file).into_owned();
    let script = Script::read(&shown, text).map_err(Error::Problems)?;
    let sizes = Sizes::read(&shown, &script, args).map_err(Error::Problems)?;
    let mut tasks = array(&shown, &script)?;
    let mut told = Told::default();
    let own_name = named(args, &file, &script);
    flags(args, &script, &sizes, tasks.as_ref(), &mut told);
    export(args, &script, &context.env, &mut told);
    if let Some(typed) = &args.particulars.array {
        let array = Array::read(typed)?;
        if tasks.as_ref().is_none_or(|tasks| tasks.flag() != *typed) {
            tasks = Some(Tasks::counted(array.tasks));
        }
        if sizes.pods > 1 {
            let what = format!("each task of an array is one pod, and not {}", sizes.pods);
            return Err(Problem::new(number::FLAGS_CONFLICT, Exit::Usage, what)
                .fix("--nodes=1 in the script, and no --workers")
                .into());
        }
    }
    let preamble =
        Preamble { name: &own_name, script: &script, sizes: &sizes, tasks: tasks.as_ref() };
    let preamble = preamble.text();
    if script.text.len() > SCRIPT_MAX {
        let what = format!("{shown} is larger than {} KiB", SCRIPT_MAX >> 10);
        return Err(Problem::new(number::TOO_LARGE, Exit::Refused, what)
            .fix("a short script that calls the rest: --workdir .")
            .into());
    }
    tell(&shown, &script, &preamble, &told, context);
    let arguments = std::mem::take(&mut args.command);
    args.command.clone_from(&script.shell);
    // `$0`, and the arguments, as of a script that is called by its name.
    args.command.extend(["-c".to_owned(), preamble + &script.text, file]);
    args.command.extend(arguments);
    Ok(())
}

/// The script that the command line names, taken out of it.
fn taken_out(args: &mut Args) -> Option<String> {
    if let Some(file) = args.sbatch.take() {
        return Some(file);
    }
    let is_script = |word: &String| {
        let end = Path::new(word).extension().and_then(|end| end.to_str());
        end.is_some_and(|end| ENDS.contains(&end))
    };
    let is_of_file = args.is_of_object();
    match args.names.as_slice() {
        [word, _] if word == "sbatch" && !is_of_file => args.names.split_off(1).pop(),
        [file] if is_script(file) && !is_of_file => args.names.pop(),
        _ => None,
    }
    .inspect(|_| args.names.clear())
}

/// Gives the work a kind and a name where none was typed, and tells the name.
fn named(args: &mut Args, file: &str, script: &Script) -> String {
    if let [word] = args.names.as_slice()
        && kinds::nouns().all(|noun| noun != word)
    {
        args.names.insert(0, "job".to_owned());
    }
    if args.names.is_empty() {
        args.names.push("job".to_owned());
    }
    if args.names.len() == 1 {
        let stem = Path::new(file).file_stem().and_then(|stem| stem.to_str()).unwrap_or("script");
        let name = script.value("job-name").map_or(stem, |given| given.value.as_str());
        args.names.push(legal(name));
    }
    args.names[1].clone()
}

/// A name as Kubernetes takes it: `My_Job.1` is `my-job-1`.
fn legal(name: &str) -> String {
    let part = |c: char| if c.is_ascii_alphanumeric() { c.to_ascii_lowercase() } else { '-' };
    let name: String = name.chars().map(part).take(52).collect();
    let name = name.trim_matches('-');
    if name.is_empty() { "script".to_owned() } else { name.to_owned() }
}

/// The tasks of `--array` in the script.
fn array(file: &str, script: &Script) -> Result<Option<Tasks>, Problem> {
    let Some(given) = script.value("array") else { return Ok(None) };
    let tasks = Tasks::read(&given.value).ok_or_else(|| {
        let what = format!(
            "{file}:{}: --array={} cannot be read, or has too many tasks",
            given.line, given.value
        );
        Problem::new(number::VALUE, Exit::Usage, what).fix("--array=0-99%10")
    })?;
    Ok(Some(tasks))
}

/// Seconds as `--max-runtime` takes them.
fn span(seconds: u64) -> String {
    match seconds {
        hours if hours.is_multiple_of(3600) => format!("{}h", hours / 3600),
        minutes if minutes.is_multiple_of(60) => format!("{}m", minutes / 60),
        seconds => format!("{seconds}s"),
    }
}

/// Memory as `--memory` takes it.
fn amount(mib: u64) -> String {
    if mib.is_multiple_of(1024) { format!("{}Gi", mib / 1024) } else { format!("{mib}Mi") }
}

/// Sets the flags that were not typed.
fn flags(args: &mut Args, script: &Script, sizes: &Sizes, tasks: Option<&Tasks>, told: &mut Told) {
    let gpu = args.gpu.clone().or_else(|| sizes.gpus.map(|gpus| gpus.to_string()));
    let image = script.value("container-image").map(|given| image(&given.value));
    let workers = (sizes.pods > 1).then(|| sizes.pods.to_string());
    let workers = args.workers.clone().or(workers);
    let cpu = args.cpu.clone().or_else(|| sizes.cpus().map(|cpus| cpus.to_string()));
    let time = sizes.seconds.map(span);
    let memory = args.memory.clone().or_else(|| sizes.memory_mib.map(amount));
    let mut set = |slot: &mut Option<String>, value: Option<String>, flag: &str, from: &[&str]| {
        let Some(value) = value else { return };
        let given = from.iter().find_map(|name| script.value(name));
        let Some(given) = given else { return };
        let origin = format!("line {}: --{}={}", given.line, given.name, given.value);
        if let Some(typed) = slot {
            told.taken.push(format!("{origin}, and {flag} {typed} was typed"));
        } else {
            told.taken.push(format!("{origin} -> {flag} {value}"));
            *slot = Some(value);
        }
    };
    let gpus = ["gres", "gpus-per-node", "gpus-per-task", "gpus"];
    let partition = script.value("partition").map(|given| given.value.clone());
    set(&mut args.queue, partition, "-q", &["partition"]);
    set(&mut args.workers, workers, "--workers", &["nodes", "ntasks"]);
    set(&mut args.particulars.array, tasks.map(Tasks::flag), "--array", &["array"]);
    set(&mut args.cpu, cpu, "--cpu", &["cpus-per-task"]);
    set(&mut args.memory, memory, "--memory", &["mem", "mem-per-cpu", "mem-per-gpu"]);
    if args.gpu_memory.is_none() && args.mig.is_none() {
        set(&mut args.gpu, gpu, "--gpu", &gpus);
        set(&mut args.gpu_type, sizes.gpu_model.clone(), "--gpu-type", &gpus);
    }
    set(&mut args.max_runtime, time, "--max-runtime", &["time"]);
    set(&mut args.image, image, "--image", &["container-image"]);
    for given in &script.options {
        if let Fate::Ignored(why) = given.fate {
            let value =
                if given.value.is_empty() { String::new() } else { format!("={}", given.value) };
            told.ignored.push(format!("line {}: --{}{value} ({why})", given.line, given.name));
        }
    }
}

/// Forwards the variables that `--export` names.
fn export(args: &mut Args, script: &Script, variables: &BTreeMap<String, String>, told: &mut Told) {
    let Some(given) = script.value("export") else { return };
    for name in given.value.split(',') {
        if matches!(name, "" | "ALL" | "NONE") || name.contains('=') {
            continue;
        }
        if args.data.forward(name, variables) {
            told.taken.push(format!("--export={name} -> -e {name}"));
        } else {
            told.kept.push(format!(
                "line {}: --export={name} is not forwarded: it looks like a secret of yours, and whoever may read the workload would read it; to forward it: -e {name}",
                given.line
            ));
        }
    }
}

/// An image as enroot writes it: `nvcr.io#nvidia/pytorch:25.06-py3`, `docker://image`.
fn image(text: &str) -> String {
    text.strip_prefix("docker://").unwrap_or(text).replacen('#', "/", 1)
}

/// Says what became of the options, and what the script will miss.
fn tell(file: &str, script: &Script, preamble: &str, told: &Told, context: &mut Context) {
    for line in &told.taken {
        context.out.talk(&format!("{file} {}", clean(line)));
    }
    for line in &told.ignored {
        context.out.talk(&format!("ignored: {file} {}", clean(line)));
    }
    for line in &told.kept {
        context.out.warn(&format!("{file} {}", clean(line)));
    }
    for (line, name) in preamble::unset(&script.text, preamble) {
        context.out.warn(&format!("{file} line {line}: {} is not set here", clean(name)));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_and_images_become_those_of_kubernetes() {
        for (name, expect) in [("My_Job.1", "my-job-1"), ("--", "script"), ("train", "train")] {
            assert_eq!(legal(name), expect);
        }
        for (text, expect) in [
            ("nvcr.io#nvidia/pytorch:25.06-py3", "nvcr.io/nvidia/pytorch:25.06-py3"),
            ("docker://ubuntu", "ubuntu"),
        ] {
            assert_eq!(image(text), expect);
        }
    }
}
