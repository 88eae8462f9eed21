//! Asks before something is lost; only a terminal can answer.

use std::fmt;
use std::io::ErrorKind;

use dialoguer::console::Term;
use dialoguer::theme::Theme;
use dialoguer::{Error as Unasked, Input};

use crate::context::Context;
use crate::print::error::{Error, Exit, Problem, number};

impl Context {
    /// Goes on when the user says yes, on the command line or now.
    ///
    /// # Errors
    /// Nobody can be asked, or the answer is no.
    pub(crate) fn confirm(&mut self, question: &str, yes: bool) -> Result<(), Error> {
        self.confirm_unless(question, None, yes)
    }

    /// The same where somebody loses something, which is said when nobody can be asked.
    ///
    /// # Errors
    /// Nobody can be asked, or the answer is no.
    pub(crate) fn confirm_loss(
        &mut self,
        question: &str,
        loss: &str,
        yes: bool,
    ) -> Result<(), Error> {
        self.confirm_unless(question, Some(loss), yes)
    }

    fn confirm_unless(
        &mut self,
        question: &str,
        loss: Option<&str>,
        yes: bool,
    ) -> Result<(), Error> {
        self.warn_of_cut();
        if yes {
            return Ok(());
        }
        if !self.answers || !self.out.talks_to_terminal() {
            let why = loss.map_or_else(String::new, |loss| format!(": {loss}"));
            let what = format!("needs confirmation{why}");
            return Err(Problem::new(number::CONFIRM, Exit::Usage, what).fix("add -y").into());
        }
        if ask(question)? {
            return Ok(());
        }
        self.out.talk("nothing was changed");
        Err(Error::Quiet(Exit::Failure))
    }
}

/// Puts the question until it is answered. A line is read rather than a key, since a prompt that waits for a key hides
/// the cursor, and leaves it hidden when Ctrl-C ends the program.
fn ask(question: &str) -> Result<bool, Error> {
    let input = Input::<String>::with_theme(&YesOrNo)
        .with_prompt(question)
        .allow_empty(true)
        .validate_with(|text: &String| answer(text).map(drop).ok_or("answer y or n"));
    match input.interact_on(&Term::stderr()) {
        Ok(text) => Ok(answer(&text).unwrap_or(false)),
        Err(Unasked::IO(e)) if e.kind() == ErrorKind::Interrupted => {
            Err(Error::Quiet(Exit::Interrupted))
        }
        Err(Unasked::IO(e)) => {
            Err(Problem::new(number::CONFIRM, Exit::Usage, format!("failed to ask: {e}"))
                .fix("add -y")
                .into())
        }
    }
}

/// Reads an answer: nothing is no, and a word that is neither is none.
fn answer(text: &str) -> Option<bool> {
    match text.trim().to_lowercase().as_str() {
        "y" | "yes" => Some(true),
        "" | "n" | "no" => Some(false),
        _ => None,
    }
}

/// Shows what an empty line means, as kubectl and git do.
struct YesOrNo;

impl Theme for YesOrNo {
    fn format_input_prompt(
        &self,
        f: &mut dyn fmt::Write,
        prompt: &str,
        _: Option<&str>,
    ) -> fmt::Result {
        write!(f, "{prompt} [y/N] ")
    }

    fn format_input_prompt_selection(
        &self,
        f: &mut dyn fmt::Write,
        prompt: &str,
        answer: &str,
    ) -> fmt::Result {
        write!(f, "{prompt} [y/N] {answer}")
    }
}

#[cfg(test)]
mod tests {
    use super::answer;
    use crate::context::tests::of_a_large_pod;

    /// Whoever answers knows then that there is more.
    #[tokio::test]
    async fn what_was_not_read_whole_is_told_before_it_is_asked() {
        for yes in [true, false] {
            let (mut context, page) = of_a_large_pod().await;
            assert_eq!(context.confirm("Go on?", yes).is_ok(), yes);
            let said = page.text();
            assert!(said.contains("not all was read of 1 object"), "{said}");
            context.warn_of_cut();
            assert_eq!(page.text(), said, "it is said once");
        }
    }

    #[test]
    fn only_a_yes_is_yes() {
        for (text, expect) in [
            ("y", Some(true)),
            (" Yes ", Some(true)),
            ("", Some(false)),
            ("n", Some(false)),
            ("yeah", None),
        ] {
            assert_eq!(answer(text), expect, "{text:?}");
        }
    }
}
