//! The answer to a question: a sentence with its number, what shows it, and what would help.

use kai_api::explanation::Help;
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::{Value, json};

use crate::cluster::gpu;
use crate::print::format;
use crate::print::output::Style;

/// Says why something is as it is.
#[derive(Clone, Debug, Default)]
pub(super) struct Answer {
    /// The answer in one sentence.
    pub(super) headline: String,
    /// The number of the reason.
    pub(super) code: Option<String>,
    pub(super) style: Style,
    /// At most two sentences that complete it.
    pub(super) more: Vec<String>,
    /// Holds what shows it: titles and texts.
    pub(super) evidence: Vec<(&'static str, String)>,
    /// A table that shows it, laid out and clean.
    pub(super) table: String,
    /// Holds what would help, the least first.
    pub(super) ways: Vec<Way>,
    /// Holds what cannot be known here.
    pub(super) note: Option<String>,
}

/// Something that would help.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Way {
    pub(super) text: String,
    pub(super) cost: String,
    pub(super) admin: bool,
    pub(super) command: Option<String>,
}

impl From<Help> for Way {
    fn from(help: Help) -> Self {
        let Help { text, cost, admin, .. } = help;
        let cost = if cost == "none" { String::new() } else { cost };
        // Its command is what anybody wrote who may write the PodGroup.
        Self { text, cost, admin, command: None }
    }
}

impl Way {
    pub(super) fn new(text: impl Into<String>, cost: &str, command: Option<String>) -> Self {
        Self { text: text.into(), cost: cost.to_owned(), admin: false, command }
    }
}

/// An answer for programs.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Explanation {
    /// The answer in one line.
    answer: String,
    /// The number of the reason, as `KAI1203`.
    code: Option<String>,
    /// Holds what follows the line.
    more: Vec<String>,
    /// Holds what shows it.
    evidence: Vec<Shown>,
    /// Holds what would help, the best first.
    help: Vec<Remedy>,
    /// Holds what could not be found out.
    not_known: Option<String>,
    /// Holds what is explained, as far as it was read.
    workload: Value,
}

/// A piece of evidence.
#[derive(Debug, Serialize, JsonSchema)]
struct Shown {
    /// Holds what it is about; empty where it goes on with the one before.
    title: String,
    /// Holds what was seen.
    text: String,
}

/// Something that would help.
#[derive(Debug, Serialize, JsonSchema)]
struct Remedy {
    /// The thing to do.
    text: String,
    /// Holds what it costs.
    cost: String,
    /// Tells whether an administrator has to do it.
    admin: bool,
    /// The command, where there is one.
    command: Option<String>,
}

impl Answer {
    /// As data, with what is known of the thing itself.
    pub(super) fn data(&self, of: &Value) -> Value {
        let evidence = self
            .evidence
            .iter()
            .map(|(title, text)| Shown { title: (*title).into(), text: text.clone() });
        let help = self.ways.iter().cloned().map(|Way { text, cost, admin, command }| Remedy {
            text,
            cost,
            admin,
            command,
        });
        let explanation = Explanation {
            answer: self.headline.clone(),
            code: self.code.clone(),
            more: self.more.clone(),
            evidence: evidence.collect(),
            help: help.collect(),
            not_known: self.note.clone(),
            workload: of.clone(),
        };
        format::headed("Explanation", json!(explanation))
    }
}

/// An amount of GPUs in thousandths, as text.
pub(super) fn devices(milli: i64) -> String {
    gpu::devices(u64::try_from(milli).unwrap_or(0))
}
