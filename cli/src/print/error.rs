//! Describes what went wrong, where, and how to fix it: the one error type that a user sees.
//!
//! ```text
//! error[KAI1001]: what                      (one sentence, lower case, no blame)
//!   where, the value with a caret, numbers  (at most four lines)
//!   fix: a command to type
//! ```
//!
//! An [`Error`] carries every problem that was found, so that nobody fixes them one run at a time.

use std::fmt;

/// Says how a command ended, as the shell sees it; the numbers never change.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Exit {
    /// 0: done.
    Ok,
    /// 1: another failure.
    Failure,
    /// 2: the command line is wrong.
    Usage,
    /// 3: what was named does not exist.
    NotFound,
    /// 4: forbidden, or not authenticated.
    Forbidden,
    /// 5: refused by validation or admission.
    Refused,
    /// 6: still pending when the time was over.
    Pending,
    /// 7: the workload failed.
    WorkloadFailed,
    /// 8: the API server cannot be reached.
    Unreachable,
    /// 9: it exists already, or somebody else changed it meanwhile.
    Conflict,
    /// 10: the scheduler is missing or unhealthy.
    NoScheduler,
    /// 11: evicted, and not queued again.
    Evicted,
    /// 12: `doctor` found problems.
    Sick,
    /// 124: `wait` ran out of time.
    Timeout,
    /// 130: Ctrl-C.
    Interrupted,
    /// The code of the command that `exec` ran.
    Command(u8),
}

impl Exit {
    /// The number for the shell.
    pub fn code(self) -> u8 {
        match self {
            Self::Ok => 0,
            Self::Failure => 1,
            Self::Usage => 2,
            Self::NotFound => 3,
            Self::Forbidden => 4,
            Self::Refused => 5,
            Self::Pending => 6,
            Self::WorkloadFailed => 7,
            Self::Unreachable => 8,
            Self::Conflict => 9,
            Self::NoScheduler => 10,
            Self::Evicted => 11,
            Self::Sick => 12,
            Self::Timeout => 124,
            Self::Interrupted => 130,
            Self::Command(code) => code,
        }
    }
}

impl From<Exit> for std::process::ExitCode {
    fn from(exit: Exit) -> Self {
        Self::from(exit.code())
    }
}

/// One thing that is wrong: a stable number, a sentence, evidence, a way out.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Problem {
    /// The stable number, printed as `KAI1001`.
    pub number: u16,
    /// Says how the command ends when this is the gravest problem.
    pub exit: Exit,
    /// One sentence, lower case, without a full stop.
    pub what: String,
    /// Says where and why: the value as typed with a caret, numbers. Printed indented.
    pub lines: Vec<String>,
    /// A command or an edit that repairs it.
    pub fix: Option<String>,
}

impl Problem {
    /// A problem with its sentence only.
    pub fn new(number: u16, exit: Exit, what: impl Into<String>) -> Self {
        Self { number, exit, what: what.into(), lines: Vec::new(), fix: None }
    }

    /// Adds a line of evidence.
    #[must_use]
    pub fn line(mut self, line: impl Into<String>) -> Self {
        self.lines.push(line.into());
        self
    }

    /// Adds the way out.
    #[must_use]
    pub fn fix(mut self, fix: impl Into<String>) -> Self {
        self.fix = Some(fix.into());
        self
    }
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "error[KAI{:04}]: {}", self.number, self.what)?;
        for line in &self.lines {
            write!(f, "\n  {line}")?;
        }
        match &self.fix {
            Some(fix) => write!(f, "\n  fix: {fix}"),
            None => Ok(()),
        }
    }
}

/// Everything that stopped a command.
#[derive(Clone, Debug)]
pub enum Error {
    /// Problems to print, never empty; all that were found, in the order of the command line.
    Problems(Vec<Problem>),
    /// Nothing to print: the output was closed, or all was said already. Ends with this code.
    Quiet(Exit),
}

impl Error {
    /// An error with one problem.
    pub fn one(problem: Problem) -> Self {
        Self::Problems(vec![problem])
    }

    /// `Err` when anything was found.
    pub fn all(problems: Vec<Problem>) -> Result<(), Self> {
        if problems.is_empty() { Ok(()) } else { Err(Self::Problems(problems)) }
    }

    /// Tells whether the same request may well be answered a little later: the server is away, or fails, or has too much to do.
    pub(crate) fn may_pass(&self) -> bool {
        let passes = |problem: &Problem| match problem.number {
            number::UNREACHABLE => true,
            number::SERVER => problem.exit == Exit::Failure,
            _ => false,
        };
        match self {
            Self::Problems(problems) => problems.iter().all(passes),
            Self::Quiet(_) => false,
        }
    }

    /// The code of the gravest problem: the command line first, then what is missing, forbidden, refused,
    /// and an unspecific failure last.
    pub fn exit(&self) -> Exit {
        match self {
            Self::Quiet(exit) => *exit,
            Self::Problems(problems) => problems
                .iter()
                .map(|p| p.exit)
                .min_by_key(|exit| if *exit == Exit::Failure { u8::MAX } else { exit.code() })
                .unwrap_or(Exit::Failure),
        }
    }
}

impl From<Problem> for Error {
    fn from(problem: Problem) -> Self {
        Self::one(problem)
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Quiet(exit) => write!(f, "ended with code {}", exit.code()),
            Self::Problems(problems) => {
                for (i, problem) in problems.iter().enumerate() {
                    let end = if i == 0 { "" } else { "\n" };
                    write!(f, "{end}{problem}")?;
                }
                Ok(())
            }
        }
    }
}

impl std::error::Error for Error {}

/// An error with all its causes, as one sentence.
pub(crate) fn sentence(error: &dyn std::error::Error) -> String {
    let mut text = error.to_string();
    let mut source = error.source();
    while let Some(cause) = source {
        let cause_text = cause.to_string();
        if !text.ends_with(&cause_text) {
            text = format!("{text}: {cause_text}");
        }
        source = cause.source();
    }
    text
}

/// The numbers of the problems, one place for all of them, each with its sentence for `explain CODE`.
pub mod number {
    macro_rules! numbers {
        ($($(#[$doc:meta])* $name:ident = $value:literal;)*) => {
            $($(#[$doc])* pub const $name: u16 = $value;)*
            /// Every number that the CLI can print.
            pub const ALL: &[u16] = &[$($value),*];
        };
    }
    numbers! {
        /// Anything without a number of its own.
        OTHER = 1000;
        /// `--gpu` or `--gpu-memory` is not an amount.
        GPU = 1001;
        /// Two flags say the same thing differently.
        FLAGS_CONFLICT = 1002;
        /// A value of a flag cannot be read.
        VALUE = 1003;
        /// Something needed was not given.
        MISSING = 1004;
        /// The queue has child queues.
        QUEUE_INNER = 1005;
        /// It can never fit.
        NEVER_FITS = 1006;
        /// A name that Kubernetes or the operator refuses.
        NAME = 1007;
        /// The kind is not served by the cluster.
        KIND_NOT_SERVED = 1008;
        /// A duration cannot be read.
        DURATION = 1009;
        /// The name is taken.
        EXISTS = 1010;
        /// A manifest without anything that makes pods.
        NOTHING_TO_SCHEDULE = 1011;
        /// A file is not YAML, or not an object of Kubernetes.
        YAML = 1012;
        /// An unknown flag or command.
        USAGE = 1013;
        /// The manifest names another scheduler.
        OTHER_SCHEDULER = 1014;
        /// A manifest asks for GPUs in two ways that exclude each other.
        SHARE_AND_WHOLE = 1015;
        /// A file cannot be read or written.
        FILE = 1016;
        /// A template cannot be rendered.
        TEMPLATE = 1017;
        /// Needs a yes, and nobody can be asked.
        CONFIRM = 1018;
        /// Several objects answer to the name.
        AMBIGUOUS = 1019;
        /// The priority class does not exist.
        PRIORITY = 1020;
        /// The configuration file cannot be used.
        CONFIG = 1021;
        /// The kind has no place for what was asked.
        UNSUPPORTED = 1022;
        /// A claim, secret, config map or storage class that the workload needs does not exist.
        DATA_NOT_FOUND = 1031;
        /// Code is larger than what a config map holds.
        TOO_LARGE = 1032;
        /// No workload of that name.
        WORKLOAD_NOT_FOUND = 1101;
        /// It was evicted, and nothing makes it anew.
        EVICTED = 1102;
        /// A queue that is in use, or has children.
        QUEUE_IN_USE = 1105;
        /// The queue does not exist, or is a parent.
        QUEUE_NOT_FOUND = 1201;
        /// More than the queue's limit.
        OVER_LIMIT = 1202;
        /// Still waiting when the time was over.
        STILL_PENDING = 1203;
        /// GPU sharing is switched off.
        SHARING_OFF = 1211;
        /// The workload failed.
        WORKLOAD_FAILED = 1401;
        /// The queue's limit is unset or zero, so nothing can run in it.
        QUEUE_LIMIT_ZERO = 2121;
        /// Forbidden.
        FORBIDDEN = 3001;
        /// Not authenticated.
        UNAUTHENTICATED = 3002;
        /// The API server cannot be reached.
        UNREACHABLE = 3003;
        /// The kubeconfig cannot be used.
        KUBECONFIG = 3004;
        /// The API server refused a request.
        REFUSED = 3005;
        /// KAI is not installed.
        NOT_INSTALLED = 3006;
        /// The API server answered with an error of its own.
        SERVER = 3007;
        /// The registry refused the image, or cannot be reached.
        REGISTRY = 3008;
    }
}
