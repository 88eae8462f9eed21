//! Asks before something is lost; only a terminal can answer.

use crate::context::Context;
use crate::print::error::{Error, Exit, Problem, number};

impl Context {
    /// Goes on when the user says yes, on the command line or now.
    ///
    /// # Errors
    /// Nobody can be asked, or the answer is no.
    pub(crate) fn confirm(&mut self, question: &str, yes: bool) -> Result<(), Error> {
        if yes {
            return Ok(());
        }
        if !self.answers || !self.out.talks_to_terminal() {
            return Err(Problem::new(number::CONFIRM, Exit::Usage, "needs confirmation")
                .fix("add -y")
                .into());
        }
        self.out.ask(&format!("{question} [y/N] "));
        let mut answer = String::new();
        let mut byte = [0];
        // The line ends the answer, not the input.
        while self.stdin.read(&mut byte).unwrap_or(0) == 1 && byte[0] != b'\n' {
            answer.push(char::from(byte[0]));
        }
        if matches!(answer.trim().to_lowercase().as_str(), "y" | "yes") {
            return Ok(());
        }
        self.out.talk("nothing was changed");
        Err(Error::Quiet(Exit::Failure))
    }
}
