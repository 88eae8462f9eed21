//! The way of one process to the API server and back: how long it takes, and what goes wrong on it.

use std::{
    collections::BTreeMap,
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

use http::{Method, Request, Response};
use http_body_util::{BodyExt, StreamBody, combinators::UnsyncBoxBody};
use kai_sim::generate::Seed;
use kube::{Client, client::Body};
use tokio::{
    sync::{broadcast, mpsc},
    task::JoinHandle,
    time::{Instant, sleep, sleep_until},
};
use tokio_util::{bytes::Bytes, sync::CancellationToken};

use super::{
    conduct::Conduct,
    fault::{Fault, Slip, TROUBLES, Trouble},
    refusal::refusal,
    weather::Weather,
};

pub(super) type Boxed = Box<dyn std::error::Error + Send + Sync>;
pub(super) type Answer = Response<UnsyncBoxBody<Bytes, Boxed>>;

/// The longest way of a request, of an answer, and of a piece of a watch.
const WAY_MAX_MILLIS: u64 = 20;
/// The longest delay of a piece of a watch that comes late.
const LATE_MAX_MILLIS: u64 = 5_000;
/// The longest delay of a write that arrives late, whether its sender still waits or not. Who takes a Lease over leaves
/// the last requests of its holder half a second more.
const DELAY_MAX_MILLIS: u64 = 1_000;
/// So many pieces of a watch may be on their way.
const PIECES_MAX: usize = 1000;
/// Delay of answers where the API server is slow.
const SLOW: Duration = Duration::from_secs(20);
/// The longest time for which a process may do nothing, or does not run.
const TROUBLE_MAX_MILLIS: u64 = 60_000;
/// Such a time begins at one request in so many.
const TROUBLE_IN: u64 = 2_000;
/// Time after which a connection without an answer breaks.
const HANG: Duration = Duration::from_secs(45);
/// One request in so many goes wrong, and one piece of a watch.
const FAULT_IN: u64 = 40;
/// A process dies at one write in so many.
const DEATH_IN: u64 = 400;
/// At one write in so many a user meddles with its object, or its connection breaks before it arrives; none about a Lease.
const MEDDLED_IN: u64 = 30;
/// A policy denies one write in so many; none about a Lease.
const DENIED_IN: u64 = 60;
/// At one write in so many it begins to deny all of its kind, for some minutes at most.
const POLICY_IN: u64 = 400;
const POLICY_MAX_MILLIS: u64 = 300_000;

/// A process's way to the API server. Cheap to clone.
#[derive(Clone, Debug)]
pub(super) struct Link {
    name: Arc<str>,
    /// The number of requests of each kind so far, and of pieces of watches.
    counts: Arc<Mutex<BTreeMap<String, u64>>>,
    luck: Arc<Mutex<Seed>>,
    /// The process is dead: nothing of it reaches the server, and nothing comes back.
    cut: CancellationToken,
    trouble: Arc<Mutex<Option<Trouble>>>,
    /// The kind of writes that are denied, and until when.
    policy: Arc<Mutex<Option<(String, Instant)>>>,
    /// The restarts of the API server that each kind of watch has seen.
    restarts: Arc<Mutex<BTreeMap<String, u64>>>,
    conduct: Arc<Conduct>,
    /// None: nothing goes wrong on this way.
    weather: Option<Arc<Weather>>,
}

impl Link {
    /// A way of a process whose luck is drawn from `seed`.
    pub(super) fn new(name: &str, seed: Seed, weather: Option<&Arc<Weather>>) -> Self {
        let luck = Arc::new(Mutex::new(seed));
        let (counts, cut, trouble, policy, restarts, conduct) = Default::default();
        let (name, weather) = (Arc::from(name), weather.cloned());
        Self { name, counts, luck, cut, trouble, policy, restarts, conduct, weather }
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
        let is_lease = request.uri().path().contains("/leases");
        let is_bind = request.uri().path().ends_with("/binding");
        let what = what(&request);
        let request = self.look(request).await?;
        if self.bad_weather().is_some_and(Weather::is_down) {
            self.way().await;
            return Err(Boxed::from("the connection is refused"));
        }
        if self.is_from_before_a_restart(&request, &what) {
            self.way().await;
            return Ok(refusal(410));
        }
        let fault = self.fault(&request, &what);
        if fault == Some(Fault::DeathBefore) {
            self.cut();
        }
        self.way().await;
        if let Some(Fault::Meddled { deletes }) = fault {
            let path = request.uri().path().to_owned();
            self.meddle(&path, deletes).await;
        }
        match fault {
            Some(Fault::Refused(code)) => {
                if is_lease && code == 403 {
                    self.conduct.lease_refused();
                }
                return Ok(refusal(code));
            }
            Some(Fault::Lost) => return hang().await,
            Some(Fault::DeathWhile(millis)) => {
                drop(send_late(inner, request, millis));
                self.cut();
                return hang().await;
            }
            Some(Fault::Broken(millis)) => {
                drop(send_late(inner, request, millis));
                return Err(Boxed::from("the connection broke"));
            }
            Some(
                Fault::Unanswered
                | Fault::Delayed(_)
                | Fault::DeathBefore
                | Fault::DeathAfter
                | Fault::Meddled { .. },
            )
            | None => {}
        }
        let answer = match fault {
            Some(Fault::Delayed(millis)) => send_late(inner, request, millis).await??,
            _ => inner.send(request).await?,
        };
        if let Some(weather) =
            self.weather.as_ref().filter(|_| is_bind && answer.status().is_success())
        {
            weather.bound(self.name.split('.').next().unwrap_or_default());
        }
        match fault {
            Some(Fault::Unanswered) => return hang().await,
            Some(Fault::DeathAfter) => self.cut(),
            _ => {}
        }
        self.back(is_lease).await;
        Ok(answer.map(|body| self.pieces(body, &what)))
    }

    /// Has a user edit or delete the object that a request is about.
    async fn meddle(&self, path: &str, deletes: bool) {
        let meddlers = self.weather.as_ref().and_then(|weather| weather.meddlers.as_ref());
        if let Some(meddlers) = meddlers {
            meddlers.meddle(path, deletes).await;
        }
    }

    /// Notes what is wrong with a request of a daemon.
    async fn look(&self, request: Request<Body>) -> kube::Result<Request<Body>> {
        let Some(weather) = &self.weather else { return Ok(request) };
        let (request, findings) = self.conduct.look(request, &weather.holders).await?;
        for finding in findings {
            weather.found(format!("{} {finding}", self.name));
        }
        Ok(request)
    }

    /// The body as it arrives: each piece after its own way, none before those that left before it.
    fn pieces(&self, mut body: Body, what: &str) -> UnsyncBoxBody<Bytes, Boxed> {
        let (sender, receiver) = mpsc::channel(PIECES_MAX);
        let (link, what) = (self.clone(), format!("{what} piece"));
        let mut restarts = self.weather.as_ref().map(|weather| weather.restarted());
        tokio::spawn(async move {
            let mut arrives = Instant::now();
            let mut is_first = true;
            loop {
                let frame = tokio::select! {
                    biased;
                    () = sender.closed() => return,
                    () = restarted(&mut restarts) => Some(Err(kube::Error::Service("the API server restarts".into()))),
                    frame = body.frame() => frame,
                };
                let Some(frame) = frame else { return };
                let mut frame = frame.map_err(Boxed::from);
                // Only watches have more than one.
                let slip = if is_first { None } else { link.slip(&what) };
                let mut way = link.length();
                if !is_first && link.is_slow(false) {
                    way += SLOW;
                }
                is_first = false;
                match slip {
                    Some(Slip::Late(millis)) => way += Duration::from_millis(millis),
                    Some(Slip::End) => return,
                    Some(Slip::Break) => frame = Err(Boxed::from("the connection broke")),
                    Some(Slip::Silence) => return sender.closed().await,
                    Some(Slip::Gap) => {
                        frame = frame.map(|frame| frame.map_data(|_| Bytes::from_static(TOO_OLD)));
                    }
                    Some(Slip::Torn) => {
                        frame = frame.map(|frame| frame.map_data(|bytes: Bytes| half(&bytes)));
                    }
                    Some(Slip::Twice) => frame = frame.map(|frame| frame.map_data(twice)),
                    None => {}
                }
                arrives = arrives.max(Instant::now() + way);
                let is_last = frame.is_err() || matches!(slip, Some(Slip::Gap | Slip::Torn));
                if sender.send((arrives, frame)).await.is_err() || is_last {
                    return;
                }
            }
        });
        let start = (receiver, self.clone());
        let frames = futures::stream::unfold(start, async |(mut receiver, link)| {
            let (arrives, frame) = link.cut.run_until_cancelled(receiver.recv()).await??;
            sleep_until(arrives).await;
            link.stalled().await;
            Some((frame, (receiver, link)))
        });
        StreamBody::new(frames).boxed_unsync()
    }

    /// Tells whether a watch is to go on from a version that the API server has forgotten with its restart: once for each
    /// kind of watch, since a list comes next.
    fn is_from_before_a_restart(&self, request: &Request<Body>, what: &str) -> bool {
        let Some(weather) = self.bad_weather() else { return false };
        let now = weather.restarts();
        let mut seen = self.restarts.lock().unwrap_or_else(PoisonError::into_inner);
        let before =
            if is_resumed(request) { seen.insert(what.to_owned(), now) } else { return false };
        now > before.unwrap_or_default()
    }

    /// The time that a way takes.
    fn length(&self) -> Duration {
        Duration::from_millis(self.draw(|luck| luck.below(WAY_MAX_MILLIS)))
    }

    async fn way(&self) {
        sleep(self.length()).await;
        self.stalled().await;
    }

    /// Waits while nothing leaves the process and nothing reaches it.
    async fn stalled(&self) {
        let until = match *self.trouble.lock().unwrap_or_else(PoisonError::into_inner) {
            Some(Trouble::Stall(until)) => Some(until),
            Some(Trouble::Refused(..)) | None => None,
        };
        if let Some(until) = until.filter(|_| self.bad_weather().is_some()) {
            sleep_until(until).await;
        }
    }

    /// The way of an answer, which may be slow.
    async fn back(&self, is_lease: bool) {
        self.way().await;
        if self.is_slow(is_lease) {
            sleep(SLOW).await;
        }
    }

    fn is_slow(&self, is_lease: bool) -> bool {
        self.bad_weather().is_some_and(|weather| weather.is_slow(is_lease))
    }

    /// The place of the next request or piece of a kind.
    fn next(&self, what: &str) -> String {
        let mut counts = self.counts.lock().unwrap_or_else(PoisonError::into_inner);
        let count = counts.entry(what.to_owned()).or_default();
        *count += 1;
        format!("{}/{what}/{count}", self.name)
    }

    fn fault(&self, request: &Request<Body>, what: &str) -> Option<Fault> {
        let weather = self.bad_weather()?;
        let at = self.next(what);
        if let Some(code) = self.refused(weather, &at) {
            return Some(Fault::Refused(code));
        }
        let is_write = request.method() != Method::GET;
        let is_deniable = is_write && !what.ends_with("leases");
        if is_deniable && self.is_against_policy(weather, &at, what) {
            return Some(Fault::DENIED);
        }
        if is_deniable && let Some(fault) = self.meddled(weather, what) {
            return Some(fault);
        }
        let is_update = matches!(*request.method(), Method::PUT | Method::PATCH);
        let is_resumed = is_resumed(request);
        let (drawn, millis) = self.draw(|luck| {
            let millis = luck.below(DELAY_MAX_MILLIS);
            if is_write && luck.one_in(DEATH_IN) {
                return (Some(*luck.pick(&["before", "after", "while"])), millis);
            }
            if is_deniable && luck.one_in(DENIED_IN) {
                return (Some("denied"), millis);
            }
            let kind = match luck.below(7) {
                0 if is_resumed => "410",
                0 if is_update => "409",
                0 | 1 => "500",
                2 => "503",
                3 => "429",
                4 if is_write => "delayed",
                4 | 5 => "lost",
                _ => "unanswered",
            };
            (luck.one_in(FAULT_IN).then_some(kind), millis)
        });
        Fault::named(weather.fault(&at, drawn, Fault::KINDS)?, millis)
    }

    /// Draws the part that a user has in a write, where there are such users.
    fn meddled(&self, weather: &Weather, what: &str) -> Option<Fault> {
        weather.meddlers.as_ref()?;
        let at = self.next(&format!("{what} meddled"));
        let (drawn, millis) = self.draw(|luck| {
            let millis = luck.below(DELAY_MAX_MILLIS);
            let kind = *luck.pick(Fault::MEDDLING);
            (luck.one_in(MEDDLED_IN).then_some(kind), millis)
        });
        Fault::named(weather.fault(&at, drawn, Fault::MEDDLING)?, millis)
    }

    /// The refusal of all that the process asks for now, if it is refused; such times begin now and then.
    fn refused(&self, weather: &Weather, at: &str) -> Option<u16> {
        let now = Instant::now();
        let mut trouble = self.trouble.lock().unwrap_or_else(PoisonError::into_inner);
        let (drawn, until) = self.draw(|luck| {
            let until = now + Duration::from_millis(luck.below(TROUBLE_MAX_MILLIS));
            let kind = *luck.pick(TROUBLES);
            (luck.one_in(TROUBLE_IN).then_some(kind), until)
        });
        match *trouble {
            Some(Trouble::Refused(code, until)) if now < until => return Some(code),
            Some(Trouble::Stall(until)) if now < until => return None,
            Some(_) | None => {}
        }
        let kind = weather.fault(at, drawn, TROUBLES);
        *trouble = kind.map(|kind| match kind {
            "401" => Trouble::Refused(401, until),
            "403" => Trouble::Refused(403, until),
            _ => Trouble::Stall(until),
        });
        match *trouble {
            Some(Trouble::Refused(code, _)) => Some(code),
            Some(Trouble::Stall(_)) | None => None,
        }
    }

    /// Tells whether a policy denies all writes of a kind for a while.
    fn is_against_policy(&self, weather: &Weather, at: &str, what: &str) -> bool {
        let now = Instant::now();
        let mut policy = self.policy.lock().unwrap_or_else(PoisonError::into_inner);
        let (is_drawn, until) = self.draw(|luck| {
            let until = now + Duration::from_millis(luck.below(POLICY_MAX_MILLIS));
            (luck.one_in(POLICY_IN), until)
        });
        if let Some((denied, _)) = policy.as_ref().filter(|(_, until)| now < *until) {
            return denied == what;
        }
        *policy = weather.has(at, is_drawn, "policy").then(|| (what.to_owned(), until));
        policy.is_some()
    }

    fn slip(&self, what: &str) -> Option<Slip> {
        let weather = self.bad_weather()?;
        let at = self.next(what);
        let (drawn, millis) = self.draw(|luck| {
            let millis = luck.below(LATE_MAX_MILLIS);
            let kind = match luck.below(12) {
                0 => "end",
                1 => "break",
                2 => "silence",
                3 => "torn",
                4 | 5 => "twice",
                6 => "gap",
                _ => "late",
            };
            (luck.one_in(FAULT_IN).then_some(kind), millis)
        });
        Slip::named(weather.fault(&at, drawn, Slip::KINDS)?, millis)
    }

    fn bad_weather(&self) -> Option<&Weather> {
        self.weather.as_deref().filter(|weather| weather.is_bad())
    }

    fn draw<T>(&self, of: impl FnOnce(&mut Seed) -> T) -> T {
        of(&mut self.luck.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

/// Waits for the next restart of the API server.
async fn restarted(restarts: &mut Option<broadcast::Receiver<()>>) {
    match restarts {
        // One that was missed is one too.
        Some(restarts) => drop(restarts.recv().await),
        None => std::future::pending().await,
    }
}

/// Tells whether a request is a watch that goes on from a version.
fn is_resumed(request: &Request<Body>) -> bool {
    let query = request.uri().query().unwrap_or_default();
    query.contains("watch=true") && query.contains("resourceVersion=")
}

/// Names what a request is about: its verb and its resource, such as `POST pods/binding` or `WATCH nodes`.
fn what(request: &Request<Body>) -> String {
    let is_watch = request.uri().query().is_some_and(|query| query.contains("watch=true"));
    let verb = if is_watch { "WATCH" } else { request.method().as_str() };
    let mut parts: Vec<&str> = request.uri().path().split('/').skip(1).collect();
    parts.drain(..parts.len().min(if parts.first() == Some(&"apis") { 3 } else { 2 }));
    if parts.len() > 2 && parts[0] == "namespaces" {
        parts.drain(..2);
    }
    match parts[..] {
        [resource, _, subresource, ..] => format!("{verb} {resource}/{subresource}"),
        [resource, ..] => format!("{verb} {resource}"),
        [] => verb.to_owned(),
    }
}

/// The event of a watch that has fallen too far behind.
const TOO_OLD: &[u8] = b"{\"type\":\"ERROR\",\"object\":{\"kind\":\"Status\",\"apiVersion\":\"v1\",\"metadata\":{},\
    \"status\":\"Failure\",\"message\":\"too old resource version\",\"reason\":\"Expired\",\"code\":410}}\n";

/// A piece that ends in the middle.
fn half(bytes: &Bytes) -> Bytes {
    bytes.slice(..bytes.len() / 2)
}

/// A piece with its last event twice.
fn twice(bytes: Bytes) -> Bytes {
    let Some(end) = bytes.strip_suffix(b"\n") else { return bytes };
    let start = end.iter().rposition(|byte| *byte == b'\n').map_or(0, |at| at + 1);
    [&bytes[..], &bytes[start..]].concat().into()
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
