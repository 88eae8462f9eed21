//! `--jq`: what a jq expression makes of a report, by jaq, which is jq in Rust.

use jaq_core::load::{Arena, File, Loader};
use jaq_core::{Compiler, Ctx, Vars, data};
use jaq_json::{Val, read};
use serde_json::Value;

use crate::print::error::{Error, Exit, Problem, number};

/// An expression, checked to be one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Filter(String);

/// Functions that would end this process or read its environment: `exit` codes and secrets are not the expression's.
const ACTS: [&str; 5] = ["halt", "halt_error", "env", "input", "inputs"];

impl Filter {
    /// Reads an expression.
    ///
    /// # Errors
    /// It is none, or uses what is not defined.
    pub(crate) fn read(expression: &str) -> Result<Self, Error> {
        let filter = Self(expression.to_owned());
        filter.run(None).map(|_| filter)
    }

    /// Applies it: a line for each value, texts without quotes.
    ///
    /// # Errors
    /// The expression fails on this value.
    pub(crate) fn apply(&self, value: &Value) -> Result<Vec<String>, Error> {
        self.run(Some(value))
    }

    fn run(&self, value: Option<&Value>) -> Result<Vec<String>, Error> {
        let wrong = |why: &str| Error::from(self.problem(why));
        let defs = jaq_core::defs()
            .chain(jaq_std::defs().filter(|def| !ACTS.contains(&def.name)))
            .chain(jaq_json::defs());
        let funs = jaq_core::funs()
            .chain(jaq_std::funs().filter(|(name, ..)| !ACTS.contains(name)))
            .chain(jaq_json::funs());
        let arena = Arena::default();
        let modules = Loader::new(defs)
            .load(&arena, File { code: self.0.as_str(), path: () })
            .map_err(|_| wrong("is not understood"))?;
        let filter = Compiler::default()
            .with_funs(funs)
            .compile(modules)
            .map_err(|_| wrong("uses a name that jq does not define"))?;
        let Some(value) = value else { return Ok(Vec::new()) };
        let input = read::parse_single(value.to_string().as_bytes())
            .map_err(|error| wrong(&format!("fails: {error}")))?;
        let context = Ctx::<data::JustLut<Val>>::new(&filter.lut, Vars::new([]));
        let mut lines = Vec::new();
        for value in filter.id.run((context, input)) {
            let value = value.map_err(|exception| match exception.get_err() {
                Ok(error) => wrong(&format!("fails: {error}")),
                Err(_) => wrong("breaks off"),
            })?;
            let text = value.to_string();
            // JSON is printed as it is; a text alone is meant for a shell.
            lines.push(serde_json::from_str::<String>(&text).unwrap_or(text));
        }
        Ok(lines)
    }

    fn problem(&self, why: &str) -> Problem {
        let why = crate::print::output::clean(why);
        Problem::new(number::VALUE, Exit::Usage, format!("--jq '{}' {why}", self.0))
            .fix("--jq '.items[] | .name'   (the fields: kubectl kai help schema)")
    }
}
