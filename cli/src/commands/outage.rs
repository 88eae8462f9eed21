//! An API server that is away for a while: a command that waits for hours sits it out.

use std::time::{Duration, Instant};

use crate::print::error::Error;
use crate::print::output::Output;

/// The longest absence that is sat out: a server that is away for longer is not being upgraded.
pub(crate) const LONGEST: Duration = Duration::from_mins(15);

/// Tells whether the server is away, and since when.
#[derive(Debug, Default)]
pub(crate) struct Outage {
    since: Option<Instant>,
}

impl Outage {
    /// Takes an answer; none while the server is away. Says once that it is away, and once that it is back.
    ///
    /// # Errors
    /// An answer that will not change, and the absence that lasts for more than [`LONGEST`].
    pub(crate) fn sit_out<T>(
        &mut self,
        answer: Result<T, Error>,
        out: &mut Output,
    ) -> Result<Option<T>, Error> {
        let error = match answer {
            Ok(value) => {
                if self.since.take().is_some() {
                    out.talk("the API server answers again");
                }
                return Ok(Some(value));
            }
            Err(error) => error,
        };
        // A server that comes back refuses for a moment what it will serve.
        let passes = error.may_pass() || self.since.is_some();
        let lasted = self.since.map_or(Duration::ZERO, |since| since.elapsed());
        if !passes || lasted > LONGEST {
            return Err(error);
        }
        if self.since.is_none() {
            self.since = Some(Instant::now());
            let text = error.to_string();
            let what = text.lines().next().unwrap_or_default();
            let what = what.split_once("]: ").map_or(what, |(_, what)| what);
            let words = text.lines().find_map(|line| line.trim().strip_prefix("it says: "));
            let words = words.map_or_else(String::new, |words| format!(" ({words})"));
            out.warn(&format!("{what}{words}; trying again until it answers"));
        }
        Ok(None)
    }
}
