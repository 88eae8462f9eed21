//! Asks before something is lost; only a terminal can answer.

use crate::Context;
use crate::error::{Error, Exit, Problem, number};

/// Goes on when the user says yes, on the command line or now.
///
/// # Errors
/// Nobody can be asked, or the answer is no.
pub(crate) fn confirm(question: &str, yes: bool, context: &mut Context) -> Result<(), Error> {
    if yes {
        return Ok(());
    }
    if !context.answers || !context.out.talks_to_terminal() {
        return Err(Problem::new(number::CONFIRM, Exit::Usage, "needs confirmation")
            .fix("add -y")
            .into());
    }
    context.out.ask(&format!("{question} [y/N] "));
    let mut answer = String::new();
    let mut byte = [0];
    // The line ends the answer, not the input.
    while context.stdin.read(&mut byte).unwrap_or(0) == 1 && byte[0] != b'\n' {
        answer.push(char::from(byte[0]));
    }
    if matches!(answer.trim().to_lowercase().as_str(), "y" | "yes") {
        return Ok(());
    }
    context.out.talk("nothing was changed");
    Err(Error::Quiet(Exit::Failure))
}
