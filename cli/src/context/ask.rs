//! Asks for a line on the terminal.

use std::io::ErrorKind;

use dialoguer::console::Term;
use dialoguer::theme::SimpleTheme;
use dialoguer::{Error as Unasked, Input};

use crate::context::Context;
use crate::print::error::{Error, Exit, Problem, number};

/// A question that a line answers.
pub(crate) struct Question<'q> {
    pub(crate) what: &'q str,
    /// Says what an empty line means; empty where it means nothing.
    pub(crate) default: &'q str,
    /// Says why an answer is none.
    pub(crate) check: &'q dyn Fn(&str) -> Result<(), String>,
}

impl Context {
    /// Tells whether somebody can be asked.
    pub(crate) fn may_ask(&self) -> bool {
        self.answers && self.out.talks_to_terminal() && self.out.talks()
    }
}

impl Question<'_> {
    /// Puts it until it is answered. A line is read rather than a key, since a prompt that waits for a key hides
    /// the cursor, and leaves it hidden when Ctrl-C ends the program.
    ///
    /// # Errors
    /// The terminal is gone.
    pub(crate) fn ask(&self) -> Result<String, Error> {
        let default = self.default.to_owned();
        let input = Input::<String>::with_theme(&SimpleTheme)
            .with_prompt(self.what)
            .allow_empty(true)
            .validate_with(|text: &String| (self.check)(text.trim()));
        let input = if default.is_empty() { input } else { input.default(default) };
        match input.interact_on(&Term::stderr()) {
            Ok(text) => Ok(text.trim().to_owned()),
            Err(Unasked::IO(e)) if e.kind() == ErrorKind::Interrupted => {
                Err(Error::Quiet(Exit::Interrupted))
            }
            Err(Unasked::IO(e)) => {
                let what = format!("failed to ask: {e}");
                Err(Problem::new(number::CONFIRM, Exit::Usage, what)
                    .fix("say it by flags: kubectl kai submit -h")
                    .into())
            }
        }
    }
}
