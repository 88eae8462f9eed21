//! Flags of `submit`.

use std::path::PathBuf;

use clap::ValueEnum;

use super::{code, data, particulars, placement, process};

/// Flags of `submit`.
#[derive(Clone, Debug, Default, clap::Args)]
#[group(skip)]
#[command(
    override_usage = "kubectl kai submit [KIND] NAME [flags] [-- COMMAND…]\n       kubectl kai submit -f FILE [flags]\n       kubectl kai submit --from WORKLOAD [NAME] [flags] [-- COMMAND…]\n       kubectl kai submit FILE.sbatch [flags] [-- ARGUMENT…]"
)]
pub struct Flags {
    #[command(flatten)]
    pub(crate) work: Args,
    #[command(flatten)]
    pub(crate) then: ThenFlags,
}

/// Flags that say what the work is; `simulate` takes them as well.
#[derive(Clone, Debug, Default, PartialEq, Eq, clap::Args)]
#[group(skip)]
pub(crate) struct Args {
    /// Kind (job, pytorch, ray, jobset, ...; see below) and name; without a kind it is a job
    #[arg(value_name = "KIND NAME", num_args = 0..=2, index = 1, help_heading = None::<&str>)]
    pub(crate) names: Vec<String>,
    /// Manifests to submit, of any kind: a file, a folder, an address on the web, or - for standard input; repeatable
    #[arg(short, long = "filename", value_name = "FILE", value_hint = clap::ValueHint::FilePath, help_heading = "What")]
    pub(crate) filename: Vec<PathBuf>,
    /// Script for Slurm: its #SBATCH lines are flags, and each pod runs it; also as submit FILE.sbatch
    #[arg(long, value_name = "FILE", value_hint = clap::ValueHint::FilePath, conflicts_with_all = ["filename", "from"], help_heading = "What")]
    pub(crate) sbatch: Option<String>,
    /// Read folders behind -f with all folders in them
    #[arg(short = 'R', long, requires = "filename", help_heading = "What")]
    pub(crate) recursive: bool,
    /// Template instead of the kind's: a name (config templates list) or a file
    #[arg(long, value_name = "NAME", help_heading = "What")]
    pub(crate) template: Option<String>,
    /// Parameter of the template, or of an Argo workflow, repeatable
    #[arg(short, long, value_name = "NAME=VALUE", help_heading = "What")]
    pub(crate) param: Vec<String>,
    /// Container image
    #[arg(long, value_name = "IMAGE", help_heading = "What")]
    pub(crate) image: Option<String>,
    /// Command of the container, after --
    #[arg(last = true, value_name = "COMMAND", index = 2, help_heading = None::<&str>)]
    pub(crate) command: Vec<String>,
    /// GPUs of each worker: 2, 0.5, 0.25x4 (a quarter of each of four), 8Gi, 8Gix2, mig:1g.10gb, H100:4; of other makers amd:2, gaudi:2, RESOURCE:2, and by DRA dra:CLASS:2
    #[arg(short, long, value_name = "GPUS", allow_hyphen_values = true, help_heading = "What")]
    pub(crate) gpu: Option<String>,
    /// Model of GPU, such as H100 or A100-SXM4-80GB
    #[arg(long, value_name = "MODEL", help_heading = "What")]
    pub(crate) gpu_type: Option<String>,
    /// GPU memory of each worker on one shared device, such as 8Gi
    #[arg(long, value_name = "MEMORY", allow_hyphen_values = true, help_heading = "What")]
    pub(crate) gpu_memory: Option<String>,
    /// MIG instance of each worker, or several: 1g.10gb, 1g.10gbx2
    #[arg(long, value_name = "PROFILE", conflicts_with_all = ["gpu", "gpu_memory"], help_heading = "What")]
    pub(crate) mig: Option<String>,
    /// Container that gets the share of a GPU; the first one without it
    #[arg(long, alias = "gpu-container", value_name = "NAME", help_heading = "What")]
    pub(crate) gpu_fraction_container: Option<String>,
    /// CPU of each worker, such as 4 or 500m
    #[arg(long, value_name = "CPU", help_heading = "What")]
    pub(crate) cpu: Option<String>,
    /// Memory of each worker, such as 64Gi
    #[arg(long, value_name = "MEMORY", help_heading = "What")]
    pub(crate) memory: Option<String>,
    /// Workload to submit again, as NAME or with the next number; other flags change it
    #[arg(long, value_name = "WORKLOAD", conflicts_with_all = ["filename", "template"], help_heading = "What")]
    pub(crate) from: Option<String>,
    #[command(flatten)]
    pub(crate) process: process::ProcessFlags,
    #[command(flatten)]
    pub(crate) data: data::DataFlags,
    #[command(flatten)]
    pub(crate) code: code::CodeFlags,
    /// Queue to wait in
    #[arg(short, long, value_name = "QUEUE", help_heading = "Where")]
    pub(crate) queue: Option<String>,
    /// Priority class: train, build, inference, ...
    #[arg(long, value_name = "CLASS", help_heading = "Where")]
    pub(crate) priority: Option<String>,
    /// Whether others may take its GPUs: true (also without a value) or false
    #[arg(long, value_name = "BOOL", num_args = 0..=1, require_equals = true, default_missing_value = "true", help_heading = "Where")]
    pub(crate) preemptible: Option<bool>,
    /// Pods that work: N, or N..M where the framework can grow and shrink
    #[arg(short, long, value_name = "N", allow_hyphen_values = true, help_heading = "Gang")]
    pub(crate) workers: Option<String>,
    /// How many of the workers must start together (default: all)
    #[arg(long, value_name = "N", help_heading = "Gang")]
    pub(crate) min: Option<u32>,
    /// How many pods of a role must start together, such as worker=4, repeatable: pytorch, ray, jobset, trainjob
    #[arg(long, value_name = "ROLE=N", conflicts_with_all = ["min", "no_gang"], help_heading = "Gang")]
    pub(crate) min_per_role: Vec<String>,
    /// Let each worker start alone
    #[arg(long, conflicts_with = "min", help_heading = "Gang")]
    pub(crate) no_gang: bool,
    /// Longest run, such as 12h
    #[arg(long, value_name = "DURATION", help_heading = "Time")]
    pub(crate) max_runtime: Option<String>,
    /// Retries after a failure
    #[arg(long, value_name = "N", default_value_t = 0, help_heading = "Time")]
    pub(crate) retries: u32,
    /// Label KEY=VALUE on the workload and its pods, repeatable
    #[arg(short, long, value_name = "KEY=VALUE", help_heading = "What")]
    pub(crate) label: Vec<String>,
    /// Annotation KEY=VALUE on the workload, repeatable
    #[arg(long, value_name = "KEY=VALUE", help_heading = "What")]
    pub(crate) annotation: Vec<String>,
    /// Submit in spite of another scheduler in the manifest, a queue in which nothing can run, or nodes that are too small
    #[arg(long, help_heading = "Then")]
    pub(crate) force: bool,
    #[command(flatten)]
    pub(crate) placement: placement::PlacementFlags,
    #[command(flatten)]
    pub(crate) particulars: particulars::ParticularFlags,
}

impl Args {
    /// Tells whether an object is there to begin with, instead of a template.
    pub(crate) fn is_of_object(&self) -> bool {
        !self.filename.is_empty() || self.from.is_some()
    }
}

/// Holds what `submit` does with the work.
#[derive(Clone, Debug, Default, clap::Args)]
#[group(skip)]
#[expect(clippy::struct_excessive_bools, reason = "each is a flag of its own")]
pub(crate) struct ThenFlags {
    /// Wait until it is scheduled, running or complete (also without a value: complete)
    #[arg(long, value_enum, value_name = "STATE", num_args = 0..=1, require_equals = true, default_missing_value = "complete", help_heading = "Then")]
    pub(crate) wait: Option<Until>,
    /// Longest wait, such as 30m
    #[arg(long, value_name = "DURATION", help_heading = "Then")]
    pub(crate) timeout: Option<String>,
    /// Create nothing: none, client (asks at most which kinds are served), server (all checks of the cluster), plan (where, when, at whose cost)
    #[arg(long, value_enum, value_name = "MODE", num_args = 0..=1, require_equals = true, default_value = "none", default_missing_value = "client", help_heading = "Then")]
    pub(crate) dry_run: DryRun,
    /// With --dry-run=plan: end with 6 when it cannot start at once
    #[arg(long, help_heading = "Then")]
    pub(crate) exit_code: bool,
    /// Change what exists and differs from its manifest, or delete it and create it anew where it cannot be changed
    #[arg(long, requires = "filename", help_heading = "Then")]
    pub(crate) replace: bool,
    /// Say each change of its state until it has ended; the exit code tells how
    #[arg(long, help_heading = "Then")]
    pub(crate) watch: bool,
    /// Print the logs of all ranks until it has ended; the exit code tells how
    #[arg(long, help_heading = "Then")]
    pub(crate) logs: bool,
    /// Wait until it runs, and hand stdin on to its container; the exit code is the container's
    #[arg(short = 'i', long, conflicts_with_all = ["watch", "logs", "wait"], help_heading = "Then")]
    pub(crate) stdin: bool,
    /// Give its container this terminal, as -it
    #[arg(short = 't', long, requires = "stdin", help_heading = "Then")]
    pub(crate) tty: bool,
    /// Delete it once it has ended
    #[arg(long, help_heading = "Then")]
    pub(crate) rm: bool,
    /// Show what would be created, and ask before it is
    #[arg(long, help_heading = "Then")]
    pub(crate) confirm: bool,
    /// Show the difference to what is there, and create nothing; the exit code is 1 where there is one
    #[arg(long, conflicts_with_all = ["confirm", "wait", "watch", "logs", "rm", "dry_run", "stdin"], help_heading = "Then")]
    pub(crate) diff: bool,
    /// Keep it as a template of yours, for --template, and submit nothing
    #[arg(long, value_name = "NAME", conflicts_with_all = ["filename", "from", "workdir", "diff", "confirm", "wait", "watch", "logs", "stdin", "rm", "dry_run"], help_heading = "Then")]
    pub(crate) save_template: Option<String>,
    /// Ask nothing: with --confirm, before --replace deletes, and before --save-template replaces a template
    #[arg(short, long, help_heading = "Then")]
    pub(crate) yes: bool,
}

/// Says what `--wait` waits for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Until {
    /// All pods of the gang have a node.
    Scheduled,
    /// All pods run.
    Running,
    /// It has ended.
    Complete,
}

/// Says whether anything is created.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub(crate) enum DryRun {
    /// Create it.
    #[default]
    None,
    /// Only rendered and checked here, of the kinds that the cluster serves.
    Client,
    /// Checked by the API server, not stored.
    Server,
    /// Shown as the scheduler would place it, with alternatives.
    Plan,
}
