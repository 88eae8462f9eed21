//! The way of one process to the API server and back: how long it takes, and what goes wrong on it.

use std::{
    sync::{
        Arc, Mutex, PoisonError,
        atomic::{AtomicBool, AtomicU64, Ordering},
    },
    time::Duration,
};

use http::{Method, Request, Response, StatusCode, header};
use http_body_util::{BodyExt, Full, StreamBody, combinators::UnsyncBoxBody};
use kai_sim::generate::Seed;
use kube::{Client, client::Body};
use serde_json::json;
use tokio::time::{Instant, sleep};
use tokio::task::JoinHandle;
use tokio_util::{bytes::Bytes, sync::CancellationToken};

type Boxed = Box<dyn std::error::Error + Send + Sync>;
type Answer = Response<UnsyncBoxBody<Bytes, Boxed>>;

/// The longest way of a request, of an answer, and of a piece of a watch.
const WAY_MAX_MILLIS: u64 = 20;
/// The longest delay of a piece of a watch that comes late.
const LATE_MAX_MILLIS: u64 = 5_000;
/// The longest delay of a write that arrives late, whether its sender still waits or not.
const DELAY_MAX_MILLIS: u64 = 5_000;
/// The longest time for which a process may do nothing.
const BAR_MAX_MILLIS: u64 = 60_000;
/// A process loses its rights at one request in so many.
const BAR_IN: u64 = 2_000;
/// Time after which a connection without an answer breaks.
const HANG: Duration = Duration::from_secs(45);
/// One request in so many goes wrong, and one piece of a watch.
const FAULT_IN: u64 = 40;
/// A process dies at one write in so many.
const DEATH_IN: u64 = 400;

/// Weather of all ways together: things go wrong, or not.
#[derive(Debug, Default)]
pub(super) struct Weather {
    is_bad: AtomicBool,
    faults: AtomicU64,
}

impl Weather {
    /// Has things go wrong from now on, or not.
    pub(super) fn set_bad(&self, is_bad: bool) {
        self.is_bad.store(is_bad, Ordering::Relaxed);
    }

    /// Counts one thing more that went wrong.
    pub(super) fn count(&self) {
        self.faults.fetch_add(1, Ordering::Relaxed);
    }

    /// The number of things that went wrong.
    pub(super) fn faults(&self) -> u64 {
        self.faults.load(Ordering::Relaxed)
    }
}

/// Fault of a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Fault {
    /// It is refused before anything is done.
    Refused(u16),
    /// It never arrives, and nothing comes back for long.
    Lost,
    /// It is carried out, and its answer never arrives.
    Unanswered,
    /// It arrives so many milliseconds late, also where its sender has given up by then.
    Delayed(u64),
    /// The same, and the process dies before.
    DeathWhile(u64),
    /// The process dies before the request leaves it.
    DeathBefore,
    /// The process dies before the answer reaches it.
    DeathAfter,
}

/// Fault of a piece of a watch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Slip {
    /// It comes late, as all that comes after it.
    Late(u64),
    /// The watch ends before it.
    End,
    /// The connection breaks before it.
    Break,
    /// The connection is silent from now on.
    Silence,
}

/// A process's way to the API server. Cheap to clone.
#[derive(Clone, Debug)]
pub(super) struct Link {
    luck: Arc<Mutex<Seed>>,
    /// The process is dead: nothing of it reaches the server, and nothing comes back.
    cut: CancellationToken,
    /// Until then it has no rights.
    barred: Arc<Mutex<Option<Instant>>>,
    /// None: nothing goes wrong on this way.
    weather: Option<Arc<Weather>>,
}

impl Link {
    /// A way whose luck is drawn from `seed`.
    pub(super) fn new(seed: Seed, weather: Option<&Arc<Weather>>) -> Self {
        let luck = Arc::new(Mutex::new(seed));
        let (cut, barred) = Default::default();
        Self { luck, cut, barred, weather: weather.cloned() }
    }

    /// Ends it for ever, in the middle of whatever is under way.
    pub(super) fn cut(&self) {
        self.cut.cancel();
    }

    /// Tells whether it has ended.
    pub(super) fn is_cut(&self) -> bool {
        self.cut.is_cancelled()
    }

    /// A client that takes this way to where `inner` leads.
    pub(super) fn client(&self, inner: Client) -> Client {
        let link = self.clone();
        let service = tower::service_fn(move |request: Request<Body>| {
            let (link, inner) = (link.clone(), inner.clone());
            async move {
                let answer = link.cut.run_until_cancelled(link.carry(inner, request)).await;
                answer.unwrap_or_else(|| Err(Boxed::from("the process is dead")))
            }
        });
        Client::new(service, "default")
    }

    async fn carry(&self, inner: Client, request: Request<Body>) -> Result<Answer, Boxed> {
        let fault = self.fault(&request);
        if fault == Some(Fault::DeathBefore) {
            self.cut();
        }
        self.way().await;
        match fault {
            Some(Fault::Refused(code)) => return Ok(refusal(code)),
            Some(Fault::Lost) => return hang().await,
            Some(Fault::DeathWhile(millis)) => {
                drop(send_late(inner, request, millis));
                self.cut();
                return hang().await;
            }
            Some(
                Fault::Unanswered | Fault::Delayed(_) | Fault::DeathBefore | Fault::DeathAfter,
            )
            | None => {}
        }
        let answer = match fault {
            Some(Fault::Delayed(millis)) => send_late(inner, request, millis).await??,
            _ => inner.send(request).await?,
        };
        match fault {
            Some(Fault::Unanswered) => return hang().await,
            Some(Fault::DeathAfter) => self.cut(),
            _ => {}
        }
        self.way().await;
        Ok(answer.map(|body| self.pieces(body)))
    }

    /// The body as it arrives, piece by piece.
    fn pieces(&self, body: Body) -> UnsyncBoxBody<Bytes, Boxed> {
        let start = (body, self.clone(), 0_u64);
        let frames = futures::stream::unfold(start, async |(mut body, link, count)| {
            let frame = link.cut.run_until_cancelled(body.frame()).await??;
            link.way().await;
            // Only watches have more than one.
            let slip = if count == 0 { None } else { link.slip() };
            let frame = match slip {
                Some(Slip::Late(millis)) => {
                    sleep(Duration::from_millis(millis)).await;
                    frame.map_err(Boxed::from)
                }
                Some(Slip::End) => return None,
                Some(Slip::Break) => Err(Boxed::from("the connection broke")),
                Some(Slip::Silence) => std::future::pending().await,
                None => frame.map_err(Boxed::from),
            };
            Some((frame, (body, link, count + 1)))
        });
        StreamBody::new(frames).boxed_unsync()
    }

    async fn way(&self) {
        let millis = self.draw(|luck| luck.below(WAY_MAX_MILLIS));
        sleep(Duration::from_millis(millis)).await;
    }

    fn fault(&self, request: &Request<Body>) -> Option<Fault> {
        let weather = self.bad_weather()?;
        if self.is_barred() {
            return Some(Fault::Refused(403));
        }
        let is_write = request.method() != Method::GET;
        let is_update = matches!(*request.method(), Method::PUT | Method::PATCH);
        let is_resumed = request.uri().query().is_some_and(|query| {
            query.contains("watch=true") && query.contains("resourceVersion=")
        });
        let fault = self.draw(|luck| {
            if is_write && luck.one_in(DEATH_IN) {
                let late = Fault::DeathWhile(luck.below(DELAY_MAX_MILLIS));
                return Some(*luck.pick(&[Fault::DeathBefore, Fault::DeathAfter, late]));
            }
            if !luck.one_in(FAULT_IN) {
                return None;
            }
            let fault = match luck.below(7) {
                0 if is_resumed => Fault::Refused(410),
                0 if is_update => Fault::Refused(409),
                0 | 1 => Fault::Refused(500),
                2 => Fault::Refused(503),
                3 => Fault::Refused(429),
                4 if is_write => Fault::Delayed(luck.below(DELAY_MAX_MILLIS)),
                4 | 5 => Fault::Lost,
                _ => Fault::Unanswered,
            };
            Some(fault)
        })?;
        weather.count();
        tracing::debug!(?fault, method = %request.method(), uri = %request.uri(), "fault");
        Some(fault)
    }

    /// Tells whether the process has no rights now; takes them now and then.
    fn is_barred(&self) -> bool {
        let now = Instant::now();
        let mut barred = self.barred.lock().unwrap_or_else(PoisonError::into_inner);
        if barred.is_some_and(|until| now < until) {
            return true;
        }
        let bar = self.draw(|luck| luck.one_in(BAR_IN).then(|| luck.below(BAR_MAX_MILLIS)));
        *barred = bar.map(|millis| now + Duration::from_millis(millis));
        barred.is_some()
    }

    fn slip(&self) -> Option<Slip> {
        let weather = self.bad_weather()?;
        let slip = self.draw(|luck| {
            let slip = match luck.below(8) {
                0 => Slip::End,
                1 => Slip::Break,
                2 => Slip::Silence,
                _ => Slip::Late(luck.below(LATE_MAX_MILLIS)),
            };
            luck.one_in(FAULT_IN).then_some(slip)
        })?;
        weather.count();
        tracing::debug!(?slip, "slip of a watch");
        Some(slip)
    }

    fn bad_weather(&self) -> Option<&Weather> {
        self.weather.as_deref().filter(|weather| weather.is_bad.load(Ordering::Relaxed))
    }

    fn draw<T>(&self, of: impl FnOnce(&mut Seed) -> T) -> T {
        of(&mut self.luck.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

/// Sends a request after a while, in a task of its own: what is under way arrives whatever its sender does.
fn send_late(
    inner: Client,
    request: Request<Body>,
    millis: u64,
) -> JoinHandle<kube::Result<Response<Body>>> {
    tokio::spawn(async move {
        sleep(Duration::from_millis(millis)).await;
        inner.send(request).await
    })
}

async fn hang() -> Result<Answer, Boxed> {
    sleep(HANG).await;
    Err(Boxed::from("the connection broke"))
}

/// An answer of the API server that does nothing. Its 429 is plain text.
fn refusal(code: u16) -> Answer {
    let (reason, message) = match code {
        403 => ("Forbidden", "the user has no right to do this"),
        409 => ("Conflict", "the object has been modified"),
        410 => ("Expired", "too old resource version"),
        503 => ("ServiceUnavailable", "the server is currently unable to handle the request"),
        _ => ("InternalError", "an error on the server has prevented the request"),
    };
    let text = match code {
        429 => String::from("Too many requests, please try again later.\n"),
        _ => json!({
            "kind": "Status", "apiVersion": "v1", "status": "Failure", "code": code,
            "reason": reason, "message": message,
        })
        .to_string(),
    };
    let body = Full::new(Bytes::from(text)).map_err(|never| match never {}).boxed_unsync();
    let mut answer = Response::new(body);
    *answer.status_mut() = StatusCode::from_u16(code).expect("the codes above are codes");
    if code == 429 {
        answer.headers_mut().insert(header::RETRY_AFTER, header::HeaderValue::from_static("1"));
    }
    answer
}
