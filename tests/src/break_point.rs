//! A client that breaks at one of its writes: before it is sent, after it was answered, or with its answer lost.
//!
//! Which writes there are is found by a run that breaks nowhere.

use std::{
    sync::{
        Arc, Mutex, PoisonError,
        atomic::{AtomicBool, AtomicUsize, Ordering},
    },
    time::Duration,
};

use http::{Method, Request};
use kube::{Client, client::Body};
use tokio::{
    sync::Notify,
    time::{Instant, sleep},
};

/// Moment of one write at which it breaks.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Moment {
    /// The API server never hears of it.
    Before,
    /// It is done, and its author never hears of that.
    AnswerLost,
    /// It is done, and its author heard.
    After,
}

/// All moments.
pub const MOMENTS: [Moment; 3] = [Moment::Before, Moment::AnswerLost, Moment::After];

/// Fate of the client at the break.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Then {
    /// It hears nothing more, for ever: it is about to be killed.
    Dead,
    /// Everything fails for so long.
    Away(Duration),
    /// The one request, as the moment says; all others go on.
    Alive,
}

/// Point at which a client breaks. Cheap to clone.
#[derive(Clone, Debug)]
pub struct BreakPoint {
    shared: Arc<Shared>,
}

#[derive(Debug)]
struct Shared {
    at: Option<usize>,
    moment: Moment,
    then: Then,
    seen: AtomicUsize,
    writes: Mutex<Vec<String>>,
    is_broken: AtomicBool,
    away_until: Mutex<Option<Instant>>,
    broke: Notify,
}

impl BreakPoint {
    /// Breaks nowhere.
    pub fn nowhere() -> Self {
        Self::new(None, Moment::After, Then::Alive)
    }

    /// Breaks at the write of this number.
    pub fn at(number: usize, moment: Moment, then: Then) -> Self {
        Self::new(Some(number), moment, then)
    }

    fn new(at: Option<usize>, moment: Moment, then: Then) -> Self {
        let shared = Shared {
            at,
            moment,
            then,
            seen: AtomicUsize::new(0),
            writes: Mutex::default(),
            is_broken: AtomicBool::new(false),
            away_until: Mutex::default(),
            broke: Notify::new(),
        };
        Self { shared: Arc::new(shared) }
    }

    /// The writes so far, as `VERB path`.
    pub fn writes(&self) -> Vec<String> {
        self.shared.writes.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Tells whether it broke already.
    pub fn is_broken(&self) -> bool {
        self.shared.is_broken.load(Ordering::SeqCst)
    }

    /// Waits until it breaks.
    pub async fn broke(&self) {
        loop {
            let broke = self.shared.broke.notified();
            if self.is_broken() {
                return;
            }
            broke.await;
        }
    }

    /// A client that breaks here.
    pub fn client(&self, inner: Client) -> Client {
        let point = self.clone();
        let service = tower::service_fn(move |request: Request<Body>| {
            let (point, inner) = (point.clone(), inner.clone());
            async move { point.pass(inner, request).await }
        });
        Client::new(service, "default")
    }

    async fn pass(
        &self,
        inner: Client,
        request: Request<Body>,
    ) -> Result<http::Response<Body>, kube::Error> {
        let shared = &self.shared;
        self.stay_away().await?;
        if !is_counted(&request) {
            return inner.send(request).await;
        }
        let number = shared.seen.fetch_add(1, Ordering::SeqCst);
        let text = format!("{} {}", request.method(), request.uri().path());
        shared.writes.lock().unwrap_or_else(PoisonError::into_inner).push(text);
        if shared.at != Some(number) {
            return inner.send(request).await;
        }
        let answer = match shared.moment {
            Moment::Before => None,
            Moment::AnswerLost | Moment::After => Some(inner.send(request).await),
        };
        if let Then::Away(length) = shared.then {
            let mut until = shared.away_until.lock().unwrap_or_else(PoisonError::into_inner);
            *until = Some(Instant::now() + length);
        }
        shared.is_broken.store(true, Ordering::SeqCst);
        shared.broke.notify_waiters();
        match (answer, shared.moment, shared.then) {
            (Some(answer), Moment::After, Then::Alive | Then::Away(_)) => answer,
            (_, _, Then::Dead) => std::future::pending().await,
            _ => Err(lost()),
        }
    }

    /// Fails while the API server is away.
    async fn stay_away(&self) -> Result<(), kube::Error> {
        if self.is_broken() && self.shared.then == Then::Dead {
            return std::future::pending().await;
        }
        let until = *self.shared.away_until.lock().unwrap_or_else(PoisonError::into_inner);
        if until.is_some_and(|until| Instant::now() < until) {
            sleep(Duration::from_millis(5)).await;
            return Err(lost());
        }
        Ok(())
    }
}

/// Writes of the Lease and events change nothing that others rest on, and there may be any number of them; a dry run
/// changes nothing at all.
fn is_counted(request: &Request<Body>) -> bool {
    let path = request.uri().path();
    let is_dry = request.uri().query().is_some_and(|query| query.contains("dryRun=All"));
    let is_aside = path.contains("/leases") || path.contains("/events") || is_dry;
    *request.method() != Method::GET && !is_aside
}

fn lost() -> kube::Error {
    kube::Error::Service("the connection broke".into())
}
