//! What admission counts: questions by their answers, and how long these took.

use std::time::Duration;

use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::family::Family;
use prometheus_client::metrics::histogram::Histogram;
use prometheus_client::registry::Registry;

use super::review::Hook;

/// Upper bounds of the times, in seconds; the API server waits for 10.
const BOUNDS: [f64; 8] = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.1, 1.0, 10.0];

type Labels = [(&'static str, &'static str); 2];
type HookLabel = [(&'static str, &'static str); 1];

/// How a question ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Ending {
    Allowed,
    Patched,
    Denied,
    /// The body was no question.
    Malformed,
    /// It took too long, or there were too many at once.
    Late,
}

/// The series of admission.
#[derive(Clone, Debug)]
pub(super) struct Metrics {
    requests: Family<Labels, Counter>,
    seconds: Family<HookLabel, Histogram>,
}

impl Metrics {
    /// Registers the series; the names begin with the prefix.
    pub(super) fn new(prefix: &str, registry: &mut Registry) -> Self {
        let requests = Family::<Labels, Counter>::default();
        let seconds =
            Family::<HookLabel, Histogram>::new_with_constructor(|| Histogram::new(BOUNDS));
        registry.register(
            format!("{prefix}_admission_requests"),
            "Questions of the API server by webhook and answer",
            requests.clone(),
        );
        registry.register(
            format!("{prefix}_admission_duration_seconds"),
            "Time from a question's first byte to its answer",
            seconds.clone(),
        );
        Self { requests, seconds }
    }

    /// Counts one question.
    pub(super) fn count(&self, hook: Hook, ending: Ending, took: Duration) {
        let verdict = match ending {
            Ending::Allowed => "allowed",
            Ending::Patched => "patched",
            Ending::Denied => "denied",
            Ending::Malformed => "malformed",
            Ending::Late => "late",
        };
        self.requests.get_or_create(&[("webhook", hook.name()), ("verdict", verdict)]).inc();
        self.seconds.get_or_create(&[("webhook", hook.name())]).observe(took.as_secs_f64());
    }
}
