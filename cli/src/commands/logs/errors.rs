//! `logs --errors`: the rank that failed first, and what it wrote last.

use super::printer::Printer;
use super::source::Source;
use super::stream::Query;
use super::{Reading, rank_of};
use crate::print::duration;
use crate::print::error::{Error, Exit};
use crate::print::output::{Output, clean};
use crate::workload::Workload;
use crate::workload::casualty::{Casualty, casualties};

/// Lines of its log that are shown when nothing else is said.
const LINES: u64 = 20;
/// Ranks that are named of those that failed later.
const LATER_MAX: usize = 5;

impl Reading<'_> {
    /// Says who failed first and how, who failed then, and prints the end of the first one's log.
    pub(super) async fn first_failure(
        &self,
        workload: &Workload,
        sources: &[Source],
        printer: &Printer,
        out: &mut Output,
    ) -> Result<Exit, Error> {
        let is_asked = |one: &Casualty| sources.iter().any(|source| source.pod == one.pod);
        let all: Vec<Casualty> = casualties(&workload.pods).into_iter().filter(is_asked).collect();
        let name = clean(&workload.name).into_owned();
        let Some((first, later)) = all.split_first() else {
            out.talk(&format!("no rank of {name} has failed; it is {}", workload.state().show()));
            return Ok(Exit::Ok);
        };
        let rank = |one: &Casualty| clean(rank_of(sources, &one.pod)).into_owned();
        let at = first.when.map_or_else(String::new, |when| format!(" at {when}"));
        let word = if later.is_empty() { "failed" } else { "failed first" };
        out.talk(&format!("{} {word}{at}: {}", rank(first), clean(&first.how())));
        for one in later.iter().take(LATER_MAX) {
            out.talk(&format!("then {}{}: {}", rank(one), after(first, one), clean(&one.how())));
        }
        if later.len() > LATER_MAX {
            out.talk(&format!("and {} more", later.len() - LATER_MAX));
        }
        let query = Query {
            container: Some(first.container.clone()).filter(|name| !name.is_empty()),
            tail: self.query.tail.or_else(|| self.args.tail.is_none().then_some(LINES)),
            previous: first.has_restarted,
            ..self.query.clone()
        };
        let source = sources.iter().filter(|source| source.pod == first.pod).cloned().collect();
        self.merged(source, &query, printer, out).await
    }
}

/// Says how much later another failed.
fn after(first: &Casualty, one: &Casualty) -> String {
    let span = first.when.zip(one.when).map(|(first, one)| one.as_second() - first.as_second());
    span.map_or_else(String::new, |seconds| format!(", {} later", duration::short(seconds)))
}
