//! The answer to a question: a sentence with its number, what shows it, and what would help.

use kai_api::explanation::Help;
use serde_json::{Value, json};

use crate::cluster::gpu;
use crate::print::output::Style;

/// Why something is as it is.
#[derive(Clone, Debug, Default)]
pub(super) struct Answer {
    /// The answer in one sentence.
    pub(super) headline: String,
    /// The number of the reason.
    pub(super) code: Option<String>,
    pub(super) style: Style,
    /// At most two sentences that complete it.
    pub(super) more: Vec<String>,
    /// What shows it: titles and texts.
    pub(super) evidence: Vec<(&'static str, String)>,
    /// A table that shows it, laid out and clean.
    pub(super) table: String,
    /// What would help, the least first.
    pub(super) ways: Vec<Way>,
    /// What cannot be known here.
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
        let Help { text, cost, admin, command } = help;
        let cost = if cost == "none" { String::new() } else { cost };
        Self { text, cost, admin, command }
    }
}

impl Way {
    pub(super) fn new(text: impl Into<String>, cost: &str, command: Option<String>) -> Self {
        Self { text: text.into(), cost: cost.to_owned(), admin: false, command }
    }
}

impl Answer {
    /// As data, with what is known of the thing itself.
    pub(super) fn data(&self, of: &Value) -> Value {
        let ways = self.ways.iter().map(|way| {
            json!({"text": way.text, "cost": way.cost, "admin": way.admin, "command": way.command})
        });
        let evidence =
            self.evidence.iter().map(|(title, text)| json!({"title": title, "text": text}));
        json!({
            "answer": self.headline,
            "code": self.code,
            "more": self.more,
            "evidence": evidence.collect::<Vec<_>>(),
            "help": ways.collect::<Vec<_>>(),
            "notKnown": self.note,
            "workload": of,
        })
    }
}

/// An amount of GPUs in thousandths, as text.
pub(super) fn devices(milli: i64) -> String {
    gpu::devices(u64::try_from(milli).unwrap_or(0))
}
