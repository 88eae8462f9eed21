//! Describes what was asked for, read from the flags and the settings; pure, and every problem at once.

mod devices;

use std::collections::BTreeMap;

use super::args::Args;
use super::code::Code;
use super::data::Data;
use super::inside::Inside;
use super::particulars::Particulars;
use super::placement::{self, Placement};
use super::process::{self, Process};
use super::roles::{self, Minimum};
use super::values::{self, amount, label_value, pairs};
use crate::cluster::gpu::Gpu;
use crate::cluster::kinds::{self, Kind};
use crate::cluster::object_name;
use crate::print::duration;
use crate::print::error::{Exit, Problem, number};
use crate::print::output::clean;
use crate::settings::{Origin, Setting, Settings};

/// Holds what was asked for.
#[derive(Clone, Debug, Default)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "each says of another field where it came from, or is a switch"
)]
pub(crate) struct Request {
    /// The kind to make from a template; none with `-f`.
    pub(crate) kind: Option<&'static Kind>,
    pub(crate) name: String,
    pub(crate) queue: Option<String>,
    /// Tells whether the queue was typed, and so goes before a manifest's own.
    pub(crate) queue_is_flag: bool,
    /// Says where the queue was set, when it was not typed.
    pub(crate) queue_origin: Option<String>,
    pub(crate) priority: Option<String>,
    pub(crate) preemptible: Option<bool>,
    pub(crate) gpu: Option<Gpu>,
    /// The container that gets the share of a GPU.
    pub(crate) share_container: Option<String>,
    /// The model as it was typed.
    pub(crate) gpu_model: Option<String>,
    /// Products of GPUs, as nodes are labelled, that are that model.
    pub(crate) gpu_products: Vec<String>,
    pub(crate) cpu: Option<String>,
    pub(crate) memory: Option<String>,
    /// Fewest and most workers.
    pub(crate) workers: (u32, u32),
    /// Tells whether their number was typed.
    pub(crate) has_workers: bool,
    /// Size of the gang, where it is written down.
    pub(crate) min: Option<u32>,
    /// Sizes of its parts, by role.
    pub(crate) minima: Vec<Minimum>,
    pub(crate) image: Option<String>,
    /// Tells whether the image replaces a manifest's own.
    pub(crate) image_overrides: bool,
    pub(crate) data: Data,
    pub(crate) code: Option<Code>,
    /// Values of the template's own parameters.
    pub(crate) parameters: Vec<(String, String)>,
    pub(crate) labels: Vec<(String, String)>,
    pub(crate) annotations: Vec<(String, String)>,
    /// Whom the server takes the user for, where it was asked.
    pub(crate) user: Option<String>,
    /// Tells whether it is a copy of a workload, which somebody else may have submitted.
    pub(crate) is_copy: bool,
    pub(crate) command: Vec<String>,
    pub(crate) max_runtime_seconds: Option<u64>,
    pub(crate) retries: u32,
    /// Holds what only some kinds take.
    pub(crate) particulars: Particulars,
    /// Says what its main containers are beyond image and size.
    pub(crate) process: Process,
    /// Says where its pods may go.
    pub(crate) placement: Placement,
    /// Tells whether nothing comes of it but a plan, which says itself what can never start.
    pub(crate) is_plan: bool,
    pub(crate) force: bool,
    /// Says what of the terminal its container gets.
    pub(crate) inside: Option<Inside>,
}

/// Images of kinds that most people run as they come.
const IMAGES: &[(&str, &str)] = &[
    ("ray", "rayproject/ray:2.52.0-gpu"),
    ("raycluster", "rayproject/ray:2.52.0-gpu"),
    ("rayservice", "rayproject/ray:2.52.0-gpu"),
    ("spark", "apache/spark:4.0.1"),
    ("notebook", "kubeflownotebookswg/jupyter-pytorch-cuda-full:v1.10.0"),
];
/// The image that most people run a kind with, as it comes.
pub(super) fn image_of(noun: &str) -> Option<&'static str> {
    IMAGES.iter().find(|(of, _)| *of == noun).map(|(_, image)| *image)
}

/// More pods than a workload of this kind ever has; a typing error above it.
const WORKERS_MAX: u32 = 100_000;

impl Request {
    fn read_code(&mut self, args: &Args) -> Result<(), Problem> {
        let code = Code::read(&args.code)?;
        self.data.code_secret = code.as_ref().and_then(Code::secret).map(str::to_owned);
        self.code = code;
        Ok(())
    }

    /// Takes over what needs no reading, from flags and settings.
    fn given(args: &Args, settings: &Settings) -> Self {
        let of_file = args.is_of_object();
        let setting = |name: &str| settings.get(name).map(|s| s.value.clone()).filter(|_| !of_file);
        Self {
            queue: args.queue.clone().or_else(|| settings.get("queue").map(|s| s.value.clone())),
            queue_is_flag: args.queue.is_some(),
            queue_origin: settings
                .get("queue")
                .filter(|_| args.queue.is_none())
                .map(|setting| setting.origin.to_string()),
            priority: args.priority.clone().or_else(|| setting("priority")),
            is_copy: args.from.is_some(),
            preemptible: args.preemptible,
            share_container: args.gpu_fraction_container.clone(),
            cpu: args.cpu.clone().or_else(|| setting("cpu")),
            memory: args.memory.clone().or_else(|| setting("memory")),
            image: args.image.clone().or_else(|| setting("image")),
            image_overrides: args.image.is_some(),
            command: if args.process.shell {
                process::line(&args.command)
            } else {
                args.command.clone()
            },
            retries: args.retries,
            force: args.force,
            workers: (1, 1),
            ..Self::default()
        }
    }

    /// Reads flags and settings, and the variables that flags forward.
    ///
    /// # Errors
    /// Everything that is wrong.
    pub(crate) fn read(
        args: &Args,
        settings: &Settings,
        variables: &BTreeMap<String, String>,
    ) -> Result<Self, Box<(Self, Vec<Problem>)>> {
        let mut problems = Vec::new();
        let of_file = args.is_of_object();
        let setting = |name: &str| settings.get(name).map(|s| s.value.clone()).filter(|_| !of_file);
        let mut request = Self::given(args, settings);
        let mut keep = |result: Result<(), Problem>| problems.extend(result.err());
        keep(request.read_names(args));
        let of_default = |name: &'static str, is_typed: bool| {
            let origin = settings.get(name).filter(|_| !is_typed).map(|s| s.origin.to_string());
            move |problem: Problem| match &origin {
                Some(origin) => problem.line(format!("it is the default of {origin}")),
                None => problem,
            }
        };
        keep(
            request
                .read_gpu(args, setting("gpu"))
                .map_err(of_default("gpu", args.gpu.is_some() || args.gpu_memory.is_some())),
        );
        keep(request.check_share_container(of_file));
        keep(request.read_workers(args));
        keep(request.read_minima(args));
        keep(pairs("--param", &args.param).map(|pairs| request.parameters = pairs));
        keep(pairs("--label", &args.label).map(|pairs| request.labels = pairs));
        keep(pairs("--annotation", &args.annotation).map(|pairs| request.annotations = pairs));
        keep(
            amount("--cpu", request.cpu.as_deref(), values::CPU_FORMS)
                .map_err(of_default("cpu", args.cpu.is_some())),
        );
        keep(
            amount("--memory", request.memory.as_deref(), values::MEMORY_FORMS)
                .map_err(of_default("memory", args.memory.is_some())),
        );
        if let Some(text) = &args.max_runtime {
            keep(duration::parse("--max-runtime", text).map(|span| {
                request.max_runtime_seconds = span.map(|span| span.as_secs());
            }));
        }
        keep(label_value("-q", request.queue.as_deref().unwrap_or("default-queue")));
        match Data::read(&args.data, settings, variables) {
            Ok(data) => request.data = data,
            Err(wrong) => problems.extend(wrong),
        }
        problems.extend(request.read_process(args));
        problems.extend(request.read_placement(args));
        problems.extend(request.read_particulars(args, of_file));
        problems.extend(request.read_code(args).err());
        if of_file {
            problems.extend(only_with_kind(args));
        } else {
            problems.extend(request.read_image(args, settings));
        }
        if problems.is_empty() { Ok(request) } else { Err(Box::new((request, problems))) }
    }

    fn read_minima(&mut self, args: &Args) -> Result<(), Problem> {
        self.minima = roles::read(&args.min_per_role)?;
        if args.is_of_object() { Ok(()) } else { roles::check(&self.minima, self.workers.1) }
    }

    fn read_process(&mut self, args: &Args) -> Vec<Problem> {
        let (process, problems) = Process::read(&args.process, self.gpu.as_ref());
        self.process = process;
        problems
    }

    fn read_placement(&mut self, args: &Args) -> Vec<Problem> {
        let (placement, problems) = Placement::read(&args.placement);
        let pool = placement.node_pool.iter();
        self.labels.extend(pool.map(|pool| (placement::NODE_POOL.to_owned(), pool.clone())));
        self.data.service_account.clone_from(&placement.service_account);
        self.placement = placement;
        problems
    }

    fn read_particulars(&mut self, args: &Args, of_file: bool) -> Vec<Problem> {
        let kind = self.kind.filter(|_| !of_file);
        let (particulars, mut problems) = Particulars::read(&args.particulars, kind);
        self.particulars = particulars;
        // A template of the user's own has needs and parameters of its own.
        if args.template.is_none() {
            problems
                .extend(kind.and_then(|kind| self.particulars.missing(kind.noun, &args.command)));
            if of_file || kind.is_some_and(|kind| kind.noun == "argo") {
                self.particulars.params = std::mem::take(&mut self.parameters);
            }
        }
        problems
    }

    fn read_names(&mut self, args: &Args) -> Result<(), Problem> {
        if args.from.is_some() {
            return self.read_name_of_copy(args);
        }
        let of_file = !args.filename.is_empty();
        let (kind, name) = match args.names.as_slice() {
            [] if of_file => return Ok(()),
            [kind] if of_file && kinds::named(kind).is_some() => {
                self.kind = kinds::named(kind);
                return Ok(());
            }
            [name] if of_file => {
                let what = format!("-f takes names from the manifest, not \"{name}\"");
                return Err(
                    Problem::new(number::USAGE, Exit::Usage, what).fix("leave the name out")
                );
            }
            [kind, name] => (kind.as_str(), name.as_str()),
            [kind] if kinds::nouns().any(|noun| noun == kind) => {
                let what = format!("submit {kind} needs a name");
                return Err(Problem::new(number::MISSING, Exit::Usage, what)
                    .fix(format!("kubectl kai submit {kind} NAME …")));
            }
            [file] if is_file(file) => {
                let what = format!("{file} is a manifest, and a manifest goes behind -f");
                return Err(Problem::new(number::USAGE, Exit::Usage, what)
                    .fix(format!("kubectl kai submit -f {file}")));
            }
            [name] => ("job", name.as_str()),
            [kind, name, command @ ..] if !command.is_empty() => {
                let what = format!("the command goes behind --, before \"{}\"", command[0]);
                return Err(Problem::new(number::USAGE, Exit::Usage, what).fix(format!(
                    "kubectl kai submit {kind} {name} FLAGS -- {}",
                    command.join(" ")
                )));
            }
            _ => {
                let what = "submit needs a name, or a manifest";
                return Err(Problem::new(number::MISSING, Exit::Usage, what)
                    .fix("kubectl kai submit job NAME --image IMAGE -- COMMAND   or   kubectl kai submit -f FILE"));
            }
        };
        self.name = name.into();
        self.kind = kinds::named(kind).filter(|known| !known.noun.is_empty());
        if self.kind.is_none() {
            return Err(unknown_kind(kind));
        }
        object_name::check(name, self.kind)
    }

    /// The name of a copy, which is of the kind of its original.
    fn read_name_of_copy(&mut self, args: &Args) -> Result<(), Problem> {
        match args.names.as_slice() {
            [] => Ok(()),
            [name] => {
                self.name.clone_from(name);
                object_name::check(name, None)
            }
            _ => {
                let what = "--from has its kind from the workload, so only a name is taken";
                Err(Problem::new(number::USAGE, Exit::Usage, what)
                    .fix("kubectl kai submit --from WORKLOAD NAME"))
            }
        }
    }

    fn read_workers(&mut self, args: &Args) -> Result<(), Problem> {
        let Some(text) = &args.workers else {
            self.min = if args.no_gang { Some(1) } else { args.min };
            return self.check_min(args);
        };
        let (low, high) = text.split_once("..").unwrap_or((text, text));
        let number =
            |part: &str| part.parse::<u32>().ok().filter(|n| (1..=WORKERS_MAX).contains(n));
        let (Some(low), Some(high)) = (number(low), number(high)) else {
            let what = format!("--workers {text} is not a number of pods from 1 to {WORKERS_MAX}");
            return Err(Problem::new(number::VALUE, Exit::Usage, what)
                .fix("--workers 4   or   --workers 2..8"));
        };
        if low > high {
            let what =
                format!("--workers {text}: the first number is the fewest, and is above the most");
            return Err(Problem::new(number::VALUE, Exit::Usage, what)
                .fix(format!("--workers {high}..{low}")));
        }
        self.workers = (low, high);
        self.has_workers = true;
        // The kind of a copy is known once its original was read.
        if args.from.is_some() {
            self.min = if args.no_gang { Some(1) } else { args.min };
            return self.check_min(args);
        }
        let noun = self.kind.map_or("", |kind| kind.noun);
        if low != high && !matches!(noun, "pytorch" | "ray" | "raycluster" | "rayservice" | "spark")
        {
            let what = format!("{noun} cannot grow and shrink: --workers {text}");
            return Err(Problem::new(number::UNSUPPORTED, Exit::Usage, what).fix(format!(
                "--workers {high}   or, for a part of them to begin: --workers {high} --min {low}"
            )));
        }
        if matches!(noun, "notebook" | "pod") && high > 1 {
            let what = format!("a {noun} is one pod");
            return Err(
                Problem::new(number::UNSUPPORTED, Exit::Usage, what).fix("leave --workers out")
            );
        }
        self.min = match (args.no_gang, args.min) {
            (true, _) => Some(1),
            (false, Some(min)) => Some(min),
            // A Job is no gang by itself; the other kinds are.
            (false, None) => (matches!(noun, "job" | "cronjob") && high > 1).then_some(high),
        };
        self.check_min(args)
    }

    /// The number of workers, where it was typed.
    pub(super) fn workers_typed(&self) -> Option<(u32, u32)> {
        self.has_workers.then_some(self.workers)
    }

    fn check_min(&self, args: &Args) -> Result<(), Problem> {
        match args.min {
            Some(0) => {
                Err(Problem::new(number::VALUE, Exit::Usage, "--min 0 is no gang").fix("--no-gang"))
            }
            Some(min) if !args.is_of_object() && min > self.workers.1 => {
                let what = format!(
                    "--min {min} is more than the {} workers that there will be",
                    self.workers.1
                );
                Err(Problem::new(number::VALUE, Exit::Usage, what).fix(format!("--workers {min}")))
            }
            Some(_) | None => Ok(()),
        }
    }

    fn read_image(&mut self, args: &Args, settings: &Settings) -> Option<Problem> {
        let setting = settings.get("image").filter(|_| args.image.is_none());
        if let Some(Setting { value, origin: Origin::Cluster(place) }) = setting {
            self.data.notes.push(format!("image {} comes from {place}", clean(value)));
        }
        let noun = self.kind?.noun;
        // A template of the user's own may name its image itself.
        if args.template.is_some() {
            return None;
        }
        if self.image.is_none() {
            self.image = image_of(noun).map(str::to_owned);
        }
        if self.image.is_some() {
            return None;
        }
        Some(
            Problem::new(number::MISSING, Exit::Usage, format!("submit {noun} needs an image"))
                .fix("--image IMAGE, or once for all: kubectl kai config set image IMAGE"),
        )
    }
}

impl Request {
    /// The flags that say something of pods.
    pub(crate) fn asks_of_pods(&self) -> Vec<&'static str> {
        [
            (self.gpu.is_some(), "--gpu"),
            (self.gpu_model.is_some(), "--gpu-type"),
            (self.cpu.is_some(), "--cpu"),
            (self.memory.is_some(), "--memory"),
            (self.image_overrides, "--image"),
            (!self.data.is_empty(), "variables, secrets, mounts or --shm"),
            (self.min.is_some(), "--min"),
            (!self.minima.is_empty(), "--min-per-role"),
        ]
        .into_iter()
        .chain(self.process.asks_of_pods())
        .chain(self.placement.asks_of_pods())
        .filter_map(|(asked, flag)| asked.then_some(flag))
        .collect()
    }
}

/// Tells whether a word looks like the name of a manifest.
fn is_file(word: &str) -> bool {
    let end = std::path::Path::new(word).extension().and_then(|end| end.to_str());
    matches!(end, Some("yaml" | "yml" | "json"))
}

fn unknown_kind(word: &str) -> Problem {
    let nouns: Vec<&str> = kinds::nouns().collect();
    let near = nouns.iter().map(|noun| (strsim::damerau_levenshtein(noun, word), noun)).min();
    let problem = match kinds::named(word) {
        Some(kind) => {
            let what = format!("submit makes no {} from flags", kind.name);
            return Problem::new(number::USAGE, Exit::Usage, what)
                .fix("write a manifest: kubectl kai submit -f FILE -q QUEUE");
        }
        None => {
            Problem::new(number::USAGE, Exit::Usage, format!("submit knows no kind \"{word}\""))
        }
    };
    let problem = match near {
        Some((distance, near)) if distance <= 2 => problem.line(format!("did you mean {near}?")),
        Some(_) | None => problem,
    };
    problem.fix(format!("one of {}; or any other kind by -f FILE", nouns.join(", ")))
}

/// Flags that say nothing to a manifest.
fn only_with_kind(args: &Args) -> Vec<Problem> {
    if args.filename.is_empty() {
        return Vec::new();
    }
    [
        (!args.command.is_empty(), "a command after --"),
        (args.workers.is_some(), "--workers"),
        (args.max_runtime.is_some(), "--max-runtime"),
        (args.template.is_some(), "--template"),
    ]
    .into_iter()
    .filter(|(given, _)| *given)
    .map(|(_, flag)| {
        Problem::new(
            number::FLAGS_CONFLICT,
            Exit::Usage,
            format!("-f and {flag} exclude each other"),
        )
        .fix("say it in the manifest")
    })
    .collect()
}
