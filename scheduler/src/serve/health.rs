//! Describes how the process is doing: what `/readyz` and `/healthz` answer from.

use std::{
    collections::BTreeMap,
    sync::{Arc, Mutex, MutexGuard},
    time::Duration,
};

use tokio::time::Instant;

/// Without a cycle for this long nothing is being decided. Cycles end at least once a period.
const CYCLE_AGE_MAX: Duration = Duration::from_mins(1);

/// Holds what the parts of the process report; cheap to clone.
#[derive(Clone, Debug, Default)]
pub struct Health(Arc<Mutex<State>>);

#[derive(Debug, Default)]
struct State {
    watches: BTreeMap<&'static str, Watch>,
    leads: bool,
    last_cycle: Option<Instant>,
}

#[derive(Debug, Default)]
struct Watch {
    synced: bool,
    heard: Option<Instant>,
    problem: Option<String>,
}

impl Health {
    /// The watch of a kind has a full list.
    pub fn synced(&self, kind: &'static str) {
        let mut state = self.lock();
        let watch = state.watches.entry(kind).or_default();
        watch.synced = true;
        watch.problem = None;
    }

    /// The server answers a watch; what it knows comes later.
    pub fn answered(&self, kind: &'static str) {
        self.lock().watches.entry(kind).or_default().problem = None;
    }

    /// A watch was told something: up to now all is known, or on its way.
    pub fn heard(&self, kind: &'static str) {
        let mut state = self.lock();
        let watch = state.watches.entry(kind).or_default();
        watch.heard = Some(Instant::now());
        watch.problem = None;
    }

    /// A watch failed; true where it failed otherwise before, or not at all.
    pub fn failed(&self, kind: &'static str, problem: &str) -> bool {
        let mut state = self.lock();
        let watch = state.watches.entry(kind).or_default();
        let is_new = watch.problem.as_deref() != Some(problem);
        watch.problem = Some(String::from(problem));
        is_new
    }

    /// The Lease is held, or not any more.
    pub fn leads(&self, leads: bool) {
        let mut state = self.lock();
        state.leads = leads;
        state.last_cycle = None;
    }

    /// Tells whether the Lease is held.
    pub fn is_leading(&self) -> bool {
        self.lock().leads
    }

    /// A cycle ended well.
    pub fn cycle(&self) {
        self.lock().last_cycle = Some(Instant::now());
    }

    /// The time since the watch of a kind was told something; none where it never was.
    pub fn age(&self, kind: &'static str) -> Duration {
        let heard = self.lock().watches.get(kind).and_then(|watch| watch.heard);
        heard.map(|heard| heard.elapsed()).unwrap_or_default()
    }

    /// The longest time since one of the watches was told something, and its kind; none where no watch ever was.
    pub fn watch_age(&self) -> (Duration, &'static str) {
        let state = self.lock();
        let heard = state.watches.iter().filter_map(|(kind, watch)| Some((watch.heard?, *kind)));
        heard.map(|(heard, kind)| (heard.elapsed(), kind)).max().unwrap_or_default()
    }

    /// Nothing where the process is ready, else why not.
    pub fn problems(&self) -> Vec<String> {
        let state = self.lock();
        let mut problems = Vec::new();
        for (kind, watch) in &state.watches {
            match &watch.problem {
                Some(problem) => problems.push(format!("{kind}: {problem}")),
                None if !watch.synced => problems.push(format!("{kind}: not listed yet")),
                None => {}
            }
        }
        if !state.leads {
            // A standby is as ready as it can be.
            return problems;
        }
        match state.last_cycle {
            None => problems.push(String::from("no cycle has ended yet")),
            Some(at) if at.elapsed() > CYCLE_AGE_MAX => {
                problems.push(format!("the last good cycle was {}s ago", at.elapsed().as_secs()));
            }
            Some(_) => {}
        }
        problems
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.0.lock().expect("no holder of the lock panics")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test(start_paused = true)]
    async fn who_leads_is_ready_once_a_cycle_of_its_own_ended_well() {
        let health = Health::default();
        health.answered("Pod");
        assert_eq!(health.problems(), ["Pod: not listed yet"]);
        health.synced("Pod");
        assert_eq!(health.problems(), [""; 0], "a standby is ready");
        health.leads(true);
        assert_eq!(health.problems(), ["no cycle has ended yet"]);
        health.cycle();
        assert_eq!(health.problems(), [""; 0]);
        tokio::time::advance(CYCLE_AGE_MAX + Duration::from_secs(1)).await;
        assert_eq!(health.problems(), ["the last good cycle was 61s ago"]);
        health.leads(false);
        health.leads(true);
        assert_eq!(health.problems(), ["no cycle has ended yet"]);
        assert!(health.failed("Pod", "refused"), "it is news");
        assert!(!health.failed("Pod", "refused"), "it is none");
        assert_eq!(health.problems(), ["Pod: refused", "no cycle has ended yet"]);
        health.heard("Pod");
        assert_eq!(health.problems(), ["no cycle has ended yet"]);
    }

    /// A watch that is silent may miss anything, whatever the others hear.
    #[tokio::test(start_paused = true)]
    async fn what_is_known_is_as_old_as_what_the_quietest_watch_heard() {
        let health = Health::default();
        assert_eq!(health.watch_age(), (Duration::ZERO, ""));
        health.heard("Pod");
        tokio::time::advance(Duration::from_secs(100)).await;
        health.heard("Node");
        assert_eq!(health.watch_age(), (Duration::from_secs(100), "Pod"));
    }
}
