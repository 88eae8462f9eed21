//! Metrics of admission: questions by their answers, and how long these took.

use std::time::Duration;

use kai_daemon::metrics::Register;
use prometheus::{HistogramOpts, HistogramVec, IntCounterVec, Opts};

use super::review::Hook;

/// Upper bounds of the times, in seconds; the API server waits for 10.
const BOUNDS: [f64; 8] = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.1, 1.0, 10.0];

/// End of a question.
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
    requests: IntCounterVec,
    seconds: HistogramVec,
}

impl Metrics {
    /// Registers the series; the names begin with the prefix.
    ///
    /// # Errors
    /// The prefix begins no name of a metric.
    pub(super) fn new(prefix: &str, register: &Register) -> Result<Self, prometheus::Error> {
        let requests = IntCounterVec::new(
            Opts::new(
                format!("{prefix}_admission_requests_total"),
                "Questions of the API server by webhook and answer",
            ),
            &["webhook", "verdict"],
        )?;
        let seconds = HistogramVec::new(
            HistogramOpts::new(
                format!("{prefix}_admission_duration_seconds"),
                "Time from a question's first byte to its answer",
            )
            .buckets(BOUNDS.to_vec()),
            &["webhook"],
        )?;
        register.add(requests.clone())?;
        register.add(seconds.clone())?;
        Ok(Self { requests, seconds })
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
        self.requests.with_label_values(&[hook.name(), verdict]).inc();
        self.seconds.with_label_values(&[hook.name()]).observe(took.as_secs_f64());
    }
}
