//! Label selectors as kubectl takes them, for objects that were read already.

use serde_json::{Map, Value};

use crate::cluster::json::text;
use crate::print::error::{Exit, Problem, number};

/// One requirement on labels.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Term {
    Is(String, String),
    IsNot(String, String),
    Has(String),
    HasNot(String),
}

/// A label selector; all of its requirements hold.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Selector(Vec<Term>);

impl Selector {
    /// Reads `a=b,c!=d,e,!f`.
    ///
    /// # Errors
    /// A requirement without a key, or of a form with `in`.
    pub(crate) fn read(selector: &str) -> Result<Self, Problem> {
        Self::of_flag("-l", selector)
    }

    /// Reads what stands behind a flag, as [`Selector::read`] does.
    ///
    /// # Errors
    /// As [`Selector::read`].
    pub(crate) fn of_flag(flag: &str, selector: &str) -> Result<Self, Problem> {
        let wrong = || {
            let what = format!("{flag} \"{selector}\" is not understood");
            Problem::new(number::VALUE, Exit::Usage, what).fix(format!(
                "{flag} KEY=VALUE   or   {flag} KEY!=VALUE   or   {flag} KEY   or   {flag} '!KEY'"
            ))
        };
        let term = |part: &str| {
            let part = part.trim();
            let own = str::to_owned;
            let term = if let Some((key, value)) = part.split_once("!=") {
                Term::IsNot(own(key.trim()), own(value.trim()))
            } else if let Some((key, value)) = part.split_once('=') {
                // kubectl takes two signs for one.
                Term::Is(own(key.trim()), own(value.trim_start_matches('=').trim()))
            } else if let Some(key) = part.strip_prefix('!') {
                Term::HasNot(own(key.trim()))
            } else {
                Term::Has(own(part))
            };
            let (Term::Is(key, _) | Term::IsNot(key, _) | Term::Has(key) | Term::HasNot(key)) =
                &term;
            let legal = |c: char| c.is_ascii_alphanumeric() || "-_./".contains(c);
            (!key.is_empty() && key.chars().all(legal)).then_some(term)
        };
        selector.split(',').map(term).collect::<Option<_>>().map(Self).ok_or_else(wrong)
    }

    /// Tells whether labels meet it.
    pub(crate) fn matches(&self, labels: Option<&Map<String, Value>>) -> bool {
        self.holds(|key| {
            labels.and_then(|labels| labels.get(key)).map(|value| text(value).to_owned())
        })
    }

    /// Tells whether what a key stands for meets it.
    pub(crate) fn holds(&self, of: impl Fn(&str) -> Option<String>) -> bool {
        self.0.iter().all(|term| match term {
            Term::Is(key, value) => of(key).as_ref() == Some(value),
            Term::IsNot(key, value) => of(key).as_ref() != Some(value),
            Term::Has(key) => of(key).is_some(),
            Term::HasNot(key) => of(key).is_none(),
        })
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn selectors_mean_what_they_mean_to_kubectl() {
        let labels = json!({"team": "a", "app.io/tier": ""});
        for (selector, expect) in [
            ("team=a", Some(true)),
            ("team==a", Some(true)),
            ("team=b", Some(false)),
            ("team!=b,app.io/tier", Some(true)),
            ("team!=a", Some(false)),
            ("none!=a", Some(true)),
            ("!team", Some(false)),
            ("!none", Some(true)),
            ("team,!team", Some(false)),
            ("app.io/tier=", Some(true)),
            ("=a", None),
            ("team in (a)", None),
            ("", None),
        ] {
            let met = Selector::read(selector).ok().map(|s| s.matches(labels.as_object()));
            assert_eq!(met, expect, "{selector}");
        }
    }
}
