//! Explanations of groups that wait: written where they are not what was written last, and not too often.

use kai_api::explanation::Explanation;
use kai_api::names::annotation;

use super::{RESAY_MILLISECONDS, Report};
use crate::{
    actuate::{GroupChange, Record},
    names::Names,
};

/// Delays explanations by so long: most of what waits is bound sooner, and two writes are saved.
const EXPLAIN_MILLISECONDS: i64 = 250;
/// Numbers beside the sentence of an explanation are written anew after so long.
const NUMBERS_MILLISECONDS: i64 = 10_000;

impl Report {
    /// Explains what is known beyond the condition, where that is not what was written last. What waits for a moment only
    /// is not explained, and other numbers wait for a while: the longer where the sentence stays.
    ///
    /// # Cost
    /// Until it is due, nothing: whoever has something to explain gives what makes it, and texts cost more than all else
    /// that is said of a group. What was written is read where it may be too early for other numbers alone.
    pub(super) fn explain(
        &mut self,
        group: u32,
        explanation: Option<impl FnOnce() -> Option<Explanation>>,
        record: &Record,
        now: i64,
    ) -> Option<GroupChange> {
        let written = record.explanation.as_deref();
        let memory = self.said.entry(group).or_default();
        let Some(explanation) = explanation else {
            memory.waits_since = None;
            written?;
            return Some(GroupChange::Annotations(vec![(annotation::EXPLANATION, None)]));
        };
        let since = *memory.waits_since.get_or_insert(now);
        let due = match written {
            None => since + EXPLAIN_MILLISECONDS,
            // What another process explained is due at once.
            Some(_) => memory.explained.map_or(now, |at| at + RESAY_MILLISECONDS),
        };
        if now < due {
            self.later.insert((due, group));
            return None;
        }
        let explanation = explanation()?;
        let due = memory.explained.map_or(now, |at| at + NUMBERS_MILLISECONDS);
        let last = written.filter(|_| now < due).and_then(Explanation::read);
        let is_like = last.is_some_and(|last| last.says(&explanation));
        let text = explanation.write();
        if written == Some(text.as_str()) {
            return None;
        }
        if is_like {
            self.later.insert((due, group));
            return None;
        }
        memory.explained = Some(now);
        Some(GroupChange::Annotations(vec![(annotation::EXPLANATION, Some(text))]))
    }
}

/// Logs why a group waits where the reason is another one than was written before, and that it no longer does.
pub(super) fn log_reason(group: u32, record: &Record, change: &GroupChange, names: &Names) {
    let GroupChange::Annotations(changes) = change else { return };
    let told = changes.iter().find(|(key, _)| *key == annotation::EXPLANATION);
    let Some((_, told)) = told else { return };
    let before = record.explanation.as_deref().and_then(Explanation::read);
    let (namespace, name) = names.group_name(group);
    match told.as_deref().and_then(Explanation::read) {
        Some(now) if before.as_ref().is_none_or(|before| before.code != now.code) => {
            tracing::info!(
                "{namespace}/{name} waits: {} {}: {}",
                now.code,
                now.reason,
                now.sentence
            );
        }
        Some(_) => {}
        None => tracing::info!("{namespace}/{name} no longer waits"),
    }
}
