//! Describes what a check found.

use schemars::JsonSchema;
use serde::Serialize;

use crate::cluster::Grant;
use crate::print::output::Style;

/// Says how bad it is; in this order, the last is the worst.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub(super) enum Level {
    /// It is as it should be.
    Ok,
    /// It could not be looked at, with what this user may read.
    Unknown,
    /// It works, and something of it will surprise somebody.
    Warning,
    /// It does not work.
    Error,
}

impl Level {
    /// The word of a table and of data.
    pub(super) fn word(self) -> &'static str {
        match self {
            Self::Ok => "ok",
            Self::Unknown => "unknown",
            Self::Warning => "warning",
            Self::Error => "error",
        }
    }

    /// Its colour, which is never alone.
    pub(super) fn style(self) -> Style {
        match self {
            Self::Ok => Style::Good,
            Self::Unknown => Style::Dim,
            Self::Warning => Style::Warn,
            Self::Error => Style::Bad,
        }
    }
}

/// The answer of one check.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Verdict {
    pub(super) level: Level,
    /// One sentence.
    pub(super) sentence: String,
    /// Holds what shows it: names and figures as they were read.
    pub(super) evidence: Vec<String>,
    /// A command that can be pasted, or what somebody has to do.
    pub(super) fix: Option<String>,
}

impl Verdict {
    /// Nothing is wrong.
    pub(super) fn ok(sentence: impl Into<String>) -> Self {
        Self::at(Level::Ok, sentence)
    }

    /// It works, and something of it will surprise somebody.
    pub(super) fn warning(sentence: impl Into<String>) -> Self {
        Self::at(Level::Warning, sentence)
    }

    /// It does not work.
    pub(super) fn error(sentence: impl Into<String>) -> Self {
        Self::at(Level::Error, sentence)
    }

    /// It could not be looked at.
    pub(super) fn unknown(sentence: impl Into<String>) -> Self {
        Self::at(Level::Unknown, sentence)
    }

    fn at(level: Level, sentence: impl Into<String>) -> Self {
        Self { level, sentence: sentence.into(), evidence: Vec::new(), fix: None }
    }

    /// Judges a list of what is wrong: nothing wrong is ok.
    pub(super) fn of(
        wrong: Vec<String>,
        level: Level,
        bad: impl FnOnce(usize) -> String,
        good: impl Into<String>,
    ) -> Self {
        if wrong.is_empty() {
            return Self::ok(good);
        }
        let mut verdict = Self::at(level, bad(wrong.len()));
        verdict.evidence = wrong;
        verdict
    }

    /// Adds what shows it.
    pub(super) fn shown_by(mut self, evidence: impl IntoIterator<Item = String>) -> Self {
        self.evidence.extend(evidence);
        self
    }

    /// Says how to repair it; only where something is wrong.
    pub(super) fn fix(mut self, fix: impl Into<String>) -> Self {
        if self.level != Level::Ok {
            self.fix = Some(fix.into());
        }
        self
    }
}

/// Holds what could not be read, and why: every check that needs it is unknown.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Unread {
    /// One sentence.
    pub(super) sentence: String,
    /// Says how the right is given, where a right is what was missing.
    pub(super) grant: Option<Grant>,
}

impl Unread {
    /// Says why something was not read, where rights are not the reason.
    pub(super) fn failed(sentence: String) -> Self {
        Self { sentence, grant: None }
    }
}
