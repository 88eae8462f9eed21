//! Flags that only some kinds have a place for.

use super::array::Array;
use crate::cluster::kinds::Kind;
use crate::print::duration;
use crate::print::error::{Exit, Problem, number};

/// Flags that only some kinds have a place for.
#[derive(Clone, Debug, Default, PartialEq, Eq, clap::Args)]
pub(crate) struct ParticularFlags {
    /// Groups of so many workers each: jobset, lws
    #[arg(long, value_name = "N", allow_hyphen_values = true, help_heading = "Gang")]
    replicas: Option<String>,
    /// Tasks of a job, each a pod with a number of its own: 100, 0-99, or 100%10 for ten at a time
    #[arg(long, value_name = "N[%M]", allow_hyphen_values = true, conflicts_with_all = ["workers", "min", "min_per_role", "no_gang"], help_heading = "Gang")]
    pub(super) array: Option<String>,
    /// When a cronjob runs, such as '0 2 * * *'
    #[arg(long, value_name = "CRON", help_heading = "Time")]
    pub(super) schedule: Option<String>,
    /// Time zone of --schedule, such as Europe/Paris
    #[arg(long, value_name = "ZONE", requires = "schedule", help_heading = "Time")]
    time_zone: Option<String>,
    /// Delete it so long after its end, such as 1h
    #[arg(long, value_name = "DURATION", help_heading = "Time")]
    ttl: Option<String>,
    /// Main class of a Spark application in a .jar
    #[arg(long, value_name = "CLASS", help_heading = "What")]
    main_class: Option<String>,
}

/// Holds what was asked for by them.
#[derive(Clone, Debug, Default)]
pub(crate) struct Particulars {
    /// Groups, where the kind has several.
    pub(crate) replicas: Option<u32>,
    /// Tasks, where it has many.
    pub(crate) array: Option<Array>,
    pub(crate) schedule: Option<String>,
    pub(crate) time_zone: Option<String>,
    pub(crate) ttl_seconds: Option<u64>,
    pub(crate) main_class: Option<String>,
    /// Parameters of a workflow.
    pub(crate) params: Vec<(String, String)>,
}

/// More groups than a workload ever has.
const REPLICAS_MAX: u32 = 10_000;

impl Particulars {
    /// Reads the flags for a kind, or for manifests where there is none.
    pub(crate) fn read(flags: &ParticularFlags, kind: Option<&Kind>) -> (Self, Vec<Problem>) {
        let mut problems = Vec::new();
        let mut read = Self {
            schedule: flags.schedule.clone(),
            time_zone: flags.time_zone.clone(),
            main_class: flags.main_class.clone(),
            ..Self::default()
        };
        // After no time it is deleted at once, and with no such time never.
        if let Some(text) = flags.ttl.as_deref().filter(|text| *text != "none") {
            match duration::parse("--ttl", text) {
                Ok(span) => read.ttl_seconds = Some(span.map_or(0, |span| span.as_secs())),
                Err(problem) => problems.push(problem),
            }
        }
        match flags.array.as_deref().map(Array::read) {
            Some(Err(problem)) => problems.push(problem),
            read_array => read.array = read_array.and_then(Result::ok),
        }
        if let Some(text) = &flags.replicas {
            let number = text.parse().ok().filter(|n| (1..=REPLICAS_MAX).contains(n));
            if number.is_none() {
                let what =
                    format!("--replicas {text} is not a number of groups from 1 to {REPLICAS_MAX}");
                problems.push(
                    Problem::new(number::VALUE, Exit::Usage, what).fix("--replicas 2 --workers 4"),
                );
            }
            read.replicas = number;
        }
        problems.extend(flags.without_place(kind));
        (read, problems)
    }

    /// Says what a kind cannot do without.
    pub(crate) fn missing(&self, noun: &str, command: &[String]) -> Option<Problem> {
        let need = |what: String, fix: &str| {
            Some(Problem::new(number::MISSING, Exit::Usage, what).fix(fix))
        };
        match noun {
            "cronjob" if self.schedule.is_none() => {
                need("submit cronjob needs to know when it runs".into(), "--schedule '0 2 * * *'")
            }
            "cronjob" => self.schedule.as_deref().and_then(wrong_schedule),
            "ray" if command.is_empty() => need(
                "submit ray needs the command that it runs".into(),
                "-- python train.py   or, for a cluster to work on: submit raycluster NAME",
            ),
            "rayservice" if command.len() != 1 => need(
                "submit rayservice needs its application, one word".into(),
                "-- MODULE:APPLICATION",
            ),
            "spark" if command.is_empty() => need(
                "submit spark needs the application".into(),
                "-- local:///opt/app.py ARGUMENTS",
            ),
            "spark" if is_jar(&command[0]) && self.main_class.is_none() => {
                need(format!("{} needs the class that is run", command[0]), "--main-class CLASS")
            }
            _ => None,
        }
    }
}

impl ParticularFlags {
    /// Says what was asked for and the kind has no place for.
    fn without_place(&self, kind: Option<&Kind>) -> Vec<Problem> {
        let Some(kind) = kind else { return self.only_with_kind() };
        let refuse = |flag: &str, fix: &str| {
            let what = format!("{} has no place for {flag}", kind.name);
            Problem::new(number::UNSUPPORTED, Exit::Usage, what).fix(fix)
        };
        let noun = kind.noun;
        [
            (
                self.replicas.is_some() && !matches!(noun, "jobset" | "lws"),
                refuse("--replicas", "--workers N   or   submit jobset NAME --replicas N"),
            ),
            (
                self.array.is_some() && noun != "job",
                refuse("--array", "submit job NAME --array 100"),
            ),
            (
                self.schedule.is_some() && noun != "cronjob",
                refuse("--schedule", "submit cronjob NAME --schedule '0 2 * * *'"),
            ),
            (
                self.main_class.is_some() && noun != "spark",
                refuse("--main-class", "submit spark NAME --main-class CLASS -- FILE.jar"),
            ),
        ]
        .into_iter()
        .filter_map(|(is_given, problem)| is_given.then_some(problem))
        .collect()
    }

    fn only_with_kind(&self) -> Vec<Problem> {
        [
            (self.replicas.is_some(), "--replicas"),
            (self.array.is_some(), "--array"),
            (self.schedule.is_some(), "--schedule"),
            (self.ttl.is_some(), "--ttl"),
            (self.main_class.is_some(), "--main-class"),
        ]
        .into_iter()
        .filter(|(given, _)| *given)
        .map(|(_, flag)| {
            let what = format!("-f and {flag} exclude each other");
            Problem::new(number::FLAGS_CONFLICT, Exit::Usage, what).fix("say it in the manifest")
        })
        .collect()
    }
}

fn is_jar(file: &str) -> bool {
    extension(file).eq_ignore_ascii_case("jar")
}

fn extension(file: &str) -> &str {
    std::path::Path::new(file).extension().and_then(|end| end.to_str()).unwrap_or_default()
}

/// The language of a Spark application, as the operator calls it.
pub(crate) fn spark_type(file: &str, main_class: Option<&str>) -> &'static str {
    match extension(file).to_ascii_lowercase().as_str() {
        "py" | "zip" | "egg" => "Python",
        "r" => "R",
        _ if main_class.is_some() => "Scala",
        _ => "Python",
    }
}

/// Says why a schedule is none; the API server knows the rest.
fn wrong_schedule(text: &str) -> Option<Problem> {
    let is_word = text.starts_with('@') && text.len() > 1;
    if is_word || text.split_whitespace().count() == 5 {
        return None;
    }
    let what = format!("--schedule \"{text}\" is not a schedule of five fields");
    Some(
        Problem::new(number::VALUE, Exit::Usage, what)
            .line("minute, hour, day of the month, month, day of the week")
            .fix("--schedule '0 2 * * *'  (every night at two)   or   --schedule @daily"),
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cluster::kinds;

    #[test]
    fn work_is_deleted_after_its_time_and_never_without_one() {
        for (ttl, expect) in
            [(None, None), (Some("1h"), Some(3600)), (Some("0s"), Some(0)), (Some("none"), None)]
        {
            let flags =
                ParticularFlags { ttl: ttl.map(str::to_owned), ..ParticularFlags::default() };
            let (read, problems) = Particulars::read(&flags, kinds::named("job"));
            assert_eq!((read.ttl_seconds, problems), (expect, vec![]), "{ttl:?}");
        }
    }
}
