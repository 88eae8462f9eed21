//! Divides memory and time among questions.
//!
//! Nearly all questions are small: they wait for nobody, and the number of connections bounds what they take. A large one
//! waits before most of it is read: for the turn of its namespace, then of who asks, then for memory for the whole of it.
//! Where many of its namespace are before it, it does not wait.

use std::collections::HashMap;
use std::hash::Hash;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use axum::body::{BodyDataStream, Bytes};
use axum::extract::Request;
use axum::http::{StatusCode, header};
use futures::StreamExt as _;
use kai_daemon::serve::Peer;
use tokio::sync::{OwnedMutexGuard, OwnedSemaphorePermit, Semaphore};
use tokio::time::timeout;

use super::review::{ENTRIES_MAX, Hook, entries, namespace, uid};

/// The largest body: two versions of an object of the API server's 3 MiB, and what is around them.
pub(super) const BODY_MAX: usize = 7 << 20;
/// Memory of all large bodies together.
const BODIES_MAX: usize = 16 << 20;
/// The bytes of a small body, and the entries of what is read of it: half a megabyte for each thread that reads one.
const SMALL_BODY_MAX: usize = 64 << 10;
const SMALL_TREE_MAX: usize = 2_000;
/// Bytes in which the API server has named the namespace.
const START: usize = 2 << 10;
/// A body of which nothing comes for this time ends; the API server sends all of it at once.
const STALL_MAX: Duration = Duration::from_secs(1);
/// A body is there within this time, once there is room for it.
const ARRIVE_MAX: Duration = Duration::from_secs(3);
/// A large question waits behind at most so many of its namespace. The write that it is about has a seat of the API server
/// meanwhile, and there are some hundred of them for all tenants.
const BEFORE_MAX: usize = 8;

/// The reason why a question is not answered.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Refusal {
    /// It is none, or does not come.
    Unread(StatusCode, String),
    /// Too many of its namespace are before it: the question of this name is to be asked again.
    Crowded(String),
}

/// Memory and turns that questions share.
#[derive(Clone, Debug)]
pub(super) struct Room {
    /// For bodies, in bytes.
    bodies: Arc<Semaphore>,
    /// For what is read of them, in entries: one question may take it all.
    entries: Arc<Semaphore>,
    /// One large question of a namespace at a time, so that namespaces take turns, and one of a peer, whatever it says of its
    /// namespaces.
    namespaces: Turns<(Option<Peer>, String)>,
    peers: Turns<Option<Peer>>,
}

/// Holds what a question took: nothing, but where it is large.
#[derive(Debug, Default)]
pub(super) struct Place {
    turn: Option<[OwnedMutexGuard<()>; 2]>,
    /// Memory for its body and its tree.
    memory: Vec<OwnedSemaphorePermit>,
}

/// Turns by key, as long as somebody has or awaits one.
type Turn = Arc<tokio::sync::Mutex<()>>;

#[derive(Clone, Debug)]
struct Turns<K>(Arc<Mutex<HashMap<K, Turn>>>);

impl<K: Eq + Hash> Turns<K> {
    /// Finds the turn of a key, and how many have or await it.
    fn of(&self, key: K) -> (Turn, usize) {
        let mut turns = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        turns.retain(|_, turn| Arc::strong_count(turn) > 1);
        let turn = turns.entry(key).or_default();
        // It is held here as well.
        let before = Arc::strong_count(turn) - 1;
        (turn.clone(), before)
    }
}

impl Room {
    pub(super) fn new() -> Self {
        Self {
            bodies: Arc::new(Semaphore::new(BODIES_MAX)),
            entries: Arc::new(Semaphore::new(ENTRIES_MAX)),
            namespaces: Turns(Arc::default()),
            peers: Turns(Arc::default()),
        }
    }

    /// Reads a body, and waits until a tree may be made of it.
    ///
    /// # Errors
    /// It is too large, or does not come, or too many of its namespace are before it.
    pub(super) async fn receive(
        &self,
        hook: Hook,
        request: Request,
        place: &mut Place,
    ) -> Result<Vec<u8>, Refusal> {
        let peer = request.extensions().get::<Peer>().copied();
        let length = request.headers().get(header::CONTENT_LENGTH);
        // Who does not say how much comes has room for the most.
        let length = length.and_then(|length| length.to_str().ok()?.parse().ok());
        let length: usize = length.unwrap_or(BODY_MAX);
        if length > BODY_MAX {
            return Err(too_large());
        }
        let mut body =
            Incoming { chunks: request.into_body().into_data_stream(), read: Vec::new() };
        // Who only announces much takes none from others.
        body.read(START).await?;
        if length > SMALL_BODY_MAX {
            if let Err(refusal) = self.turn(peer, &body.read, place).await {
                // Whoever has not written all of it yet reads no answer.
                let rest = timeout(ARRIVE_MAX, body.skip()).await;
                rest.unwrap_or_else(|_| Err(late(ARRIVE_MAX)))?;
                return Err(refusal);
            }
            place.memory.extend(take(&self.bodies, length).await);
        }
        body.read.reserve_exact(length.saturating_sub(body.read.len()));
        let whole = timeout(ARRIVE_MAX, body.read(usize::MAX)).await;
        whole.unwrap_or_else(|_| Err(late(ARRIVE_MAX)))?;
        self.tree(hook, peer, &body.read, place).await?;
        Ok(body.read)
    }

    /// Waits for room for the tree of a question that is large.
    ///
    /// # Errors
    /// As [`Self::turn`].
    async fn tree(
        &self,
        hook: Hook,
        peer: Option<Peer>,
        body: &[u8],
        place: &mut Place,
    ) -> Result<(), Refusal> {
        let count = entries(body);
        // No tree is made of one that has too many.
        if (SMALL_TREE_MAX + 1..=hook.entries_max()).contains(&count) {
            self.turn(peer, body, place).await?;
            place.memory.extend(take(&self.entries, count).await);
        }
        Ok(())
    }

    /// Waits for the turn of a namespace, and of who asks, unless it came before.
    ///
    /// # Errors
    /// Too many of the namespace are before it.
    async fn turn(
        &self,
        peer: Option<Peer>,
        body: &[u8],
        place: &mut Place,
    ) -> Result<(), Refusal> {
        if place.turn.is_none() {
            let start = &body[..body.len().min(START)];
            let (of_namespace, before) = self.namespaces.of((peer, namespace(start)));
            if before > BEFORE_MAX {
                return Err(Refusal::Crowded(uid(start)));
            }
            let of_namespace = of_namespace.lock_owned().await;
            let (of_peer, _) = self.peers.of(peer);
            place.turn = Some([of_namespace, of_peer.lock_owned().await]);
        }
        Ok(())
    }
}

async fn take(room: &Arc<Semaphore>, count: usize) -> Option<OwnedSemaphorePermit> {
    let count = u32::try_from(count).unwrap_or(u32::MAX);
    room.clone().acquire_many_owned(count).await.ok()
}

/// A body that comes.
struct Incoming {
    chunks: BodyDataStream,
    read: Vec<u8>,
}

impl Incoming {
    /// Reads until there are so many bytes, or all.
    async fn read(&mut self, enough: usize) -> Result<(), Refusal> {
        while self.read.len() < enough {
            let Some(chunk) = self.chunk().await? else { break };
            if self.read.len() + chunk.len() > BODY_MAX {
                return Err(too_large());
            }
            self.read.extend_from_slice(&chunk);
        }
        Ok(())
    }

    /// Reads the rest, and keeps nothing of it.
    async fn skip(&mut self) -> Result<(), Refusal> {
        let mut count = self.read.len();
        while let Some(chunk) = self.chunk().await? {
            count += chunk.len();
            if count > BODY_MAX {
                return Err(too_large());
            }
        }
        Ok(())
    }

    /// Waits for the next bytes; none after the last of them.
    async fn chunk(&mut self) -> Result<Option<Bytes>, Refusal> {
        let chunk = timeout(STALL_MAX, self.chunks.next()).await.map_err(|_| late(STALL_MAX))?;
        chunk.transpose().map_err(|error| {
            Refusal::Unread(StatusCode::BAD_REQUEST, format!("failed to read the body: {error}"))
        })
    }
}

fn too_large() -> Refusal {
    let why = format!("the body has more than {BODY_MAX} bytes");
    Refusal::Unread(StatusCode::PAYLOAD_TOO_LARGE, why)
}

fn late(after: Duration) -> Refusal {
    let why = format!("the body did not come within {} s", after.as_secs());
    Refusal::Unread(StatusCode::SERVICE_UNAVAILABLE, why)
}

#[cfg(test)]
mod tests {
    use axum::body::Body;
    use futures::stream;
    use serde_json::json;
    use tokio::time::{Instant, sleep};

    use super::*;

    fn peer(last: u8) -> Peer {
        Peer::of([10, 0, 0, last].into())
    }

    /// Pieces of a body, each of which comes after a pause.
    fn request(peer: Peer, length: Option<usize>, pieces: Vec<(u64, Vec<u8>)>) -> Request {
        let pieces = stream::iter(pieces).then(|(pause, piece)| async move {
            if pause > 0 {
                sleep(Duration::from_millis(pause)).await;
            }
            Ok::<_, std::convert::Infallible>(piece)
        });
        let mut request = Request::new(Body::from_stream(pieces));
        if let Some(length) = length {
            request.headers_mut().insert(header::CONTENT_LENGTH, length.into());
        }
        request.extensions_mut().insert(peer);
        request
    }

    /// The code with which a body is refused.
    fn status(read: &Result<Vec<u8>, Refusal>) -> Option<StatusCode> {
        match read {
            Err(Refusal::Unread(status, _)) => Some(*status),
            Ok(_) | Err(Refusal::Crowded(_)) => None,
        }
    }

    /// A question of a namespace with so many entries, filled up to so many bytes.
    fn question(namespace: &str, entries: usize, size: usize) -> Vec<u8> {
        let list = vec![json!({}); entries];
        let (uid, kind) = ("u", "AdmissionReview");
        let fill = |fill: &str| {
            let object = json!({"list": list, "fill": fill});
            let request = json!({"uid": uid, "namespace": namespace, "object": object});
            json!({"kind": kind, "request": request}).to_string().into_bytes()
        };
        let missing = size.saturating_sub(fill("").len());
        fill(&"x".repeat(missing))
    }

    /// Asks, and says after how many milliseconds it may be answered, with what it holds.
    async fn ask(
        room: &Room,
        of: Peer,
        body: Vec<u8>,
        pause: u64,
    ) -> (Result<Vec<u8>, Refusal>, u128, Place) {
        let (began, mut place) = (Instant::now(), Place::default());
        let pieces = body.chunks(16 << 10).map(|piece| (pause, piece.to_vec())).collect();
        let request = request(of, Some(body.len()), pieces);
        let read = room.receive(Hook::MutatePod, request, &mut place).await;
        (read, began.elapsed().as_millis(), place)
    }

    /// Bodies come piece by piece: none may wait with a part of what it needs.
    #[tokio::test(start_paused = true)]
    async fn bodies_that_arrive_together_all_arrive() {
        for (size, count, most) in [(60 << 10, 200, 4), (1 << 20, 40, 40 * 64)] {
            let room = Room::new();
            let asked = (0..count).map(|number| {
                let body = question(&format!("n{number}"), 10, size);
                let room = &room;
                async move {
                    let (read, took, place) = ask(room, peer(1), body, 1).await;
                    drop(place);
                    (read.map(|body| body.len()), took)
                }
            });
            for (read, took) in futures::future::join_all(asked).await {
                assert!(read.is_ok_and(|read| read == size) && took <= most, "{size}: {took} ms");
            }
        }
    }

    /// Whoever asks about many large objects has their own wait, and nobody else's.
    #[tokio::test(start_paused = true)]
    async fn large_questions_take_turns_and_hold_up_no_small_one() {
        let room = Room::new();
        let (read, _, first) = ask(&room, peer(1), question("a", 15_000, 0), 0).await;
        assert!(read.is_ok_and(|read| read.len() <= SMALL_BODY_MAX));
        let wait = Duration::from_secs(9);
        let asks = async |of: u8, namespace: &str, entries: usize, size: usize| {
            let asked = ask(&room, peer(of), question(namespace, entries, size), 0);
            timeout(wait, asked).await.is_ok_and(|(read, took, _)| read.is_ok() && took == 0)
        };
        for (of, namespace, entries, size, is_answered) in [
            (1, "a", 15_000, 0, false),
            (1, "b", 15_000, 0, false),
            (1, "a", 10, 100 << 10, false),
            (2, "a", 15_000, 0, true),
            (2, "b", 10, 7 << 20, true),
            // It is large in both ways, and waits for no turn of its own.
            (2, "b", 15_000, 100 << 10, true),
            (1, "a", 10, 0, true),
            (1, "b", 10, 60 << 10, true),
        ] {
            let answered = asks(of, namespace, entries, size).await;
            assert_eq!(answered, is_answered, "{of} {namespace} {entries} {size}");
        }
        drop(first);
        assert!(asks(1, "b", 15_000, 0).await);
        assert_eq!(room.bodies.available_permits(), BODIES_MAX);
        assert_eq!(room.entries.available_permits(), ENTRIES_MAX);
    }

    /// A namespace that asks about much at once has few requests that wait for it, and the others end.
    #[tokio::test(start_paused = true)]
    async fn few_large_questions_of_a_namespace_wait() {
        let wait = Duration::from_secs(9);
        for (entries, size) in [(10, 100 << 10), (15_000, 0)] {
            let room = Room::new();
            let asks =
                |of: u8| timeout(wait, ask(&room, peer(of), question("a", entries, size), 0));
            let (read, _, first) = asks(1).await.expect("nobody is before it");
            assert!(read.is_ok());
            let asked = (0..20).map(|_| asks(1));
            let asked = futures::future::join_all(asked).await;
            let waited = asked.iter().filter(|asked| asked.is_err());
            assert_eq!(waited.count(), BEFORE_MAX, "{entries} {size}");
            for (read, took, _) in asked.into_iter().flatten() {
                assert_eq!((read, took), (Err(Refusal::Crowded(String::from("u"))), 0));
            }
            // Those of another API server, and the next one when the first is answered.
            assert!(asks(2).await.is_ok_and(|(read, took, _)| read.is_ok() && took == 0));
            drop(first);
            assert!(asks(1).await.is_ok_and(|(read, took, _)| read.is_ok() && took == 0));
        }
    }

    /// Each row: the length that is announced, the pieces with the pauses before them, and when it is refused.
    #[tokio::test(start_paused = true)]
    async fn a_body_that_does_not_come_ends() {
        let piece = |pause: u64, size: usize| (pause, vec![b'x'; size]);
        let never = 1 << 20;
        let trickle: Vec<_> = (0..20).map(|_| piece(900, 3_000)).collect();
        for (length, pieces, refused) in [
            (100, vec![piece(never, 100)], 1_000),
            (64 << 10, vec![piece(0, 60_000), piece(never, 1)], 1_000),
            (1 << 20, vec![piece(0, 60_000), piece(900, 1), piece(never, 1)], 1_900),
            // The first piece came before there was room.
            (60_000, trickle, 3_900),
        ] {
            let (room, began) = (Room::new(), Instant::now());
            let mut place = Place::default();
            let request = request(peer(1), Some(length), pieces);
            let read = room.receive(Hook::MutatePod, request, &mut place).await;
            assert_eq!(status(&read), Some(StatusCode::SERVICE_UNAVAILABLE), "{length}");
            assert_eq!(began.elapsed().as_millis(), refused, "{length}");
        }
    }

    /// A body of which nobody says how long it is takes room for the longest.
    #[tokio::test]
    async fn a_body_without_a_length_is_read() {
        let room = Room::new();
        let mut place = Place::default();
        let body = question("a", 10, 100);
        let pieces = vec![(0, body.clone())];
        let read = room.receive(Hook::MutatePod, request(peer(1), None, pieces), &mut place).await;
        assert_eq!(read, Ok(body));
        assert_eq!(room.bodies.available_permits(), BODIES_MAX - BODY_MAX);
        let large = vec![(0, vec![b'x'; BODY_MAX + 1])];
        let other = request(peer(2), None, large);
        let read = room.receive(Hook::MutatePod, other, &mut Place::default()).await;
        assert_eq!(status(&read), Some(StatusCode::PAYLOAD_TOO_LARGE));
    }

    /// A long text is no large object, and hides none that comes after it.
    #[test]
    fn what_stands_in_texts_makes_no_entries() {
        for (body, count) in [
            ("", 0),
            (r#"{"a":[1,{},3]}"#, 4),
            (r#"{"a":"{,,,{"}"#, 1),
            (r#"{"a":"\",,","b":1}"#, 2),
            (r#"{"a":"\\","b":1}"#, 2),
        ] {
            assert_eq!(entries(body.as_bytes()), count, "{body}");
        }
    }

    #[test]
    fn the_namespace_and_the_name_are_found_in_the_beginning() {
        let start = br#"{"kind":"AdmissionReview","request":{"uid":"u-1","name":"x","object":{"metadata":{"uid":"o"#;
        assert_eq!(uid(start), "u-1");
        for (start, found) in [
            (r#"{"request":{"name":"x","namespace":"team-a","object":{"met"#, "team-a"),
            (r#"{"request":{"name":"\"namespace\":\"other\"","namespace":"team-a","#, "team-a"),
            (r#"{"request":{"namespace":"team-"#, ""),
            (r#"{"request":{}}"#, ""),
            ("", ""),
        ] {
            assert_eq!(namespace(start.as_bytes()), found, "{start}");
        }
    }
}
