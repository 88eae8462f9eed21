//! `/get-job-order`: the order in which waiting groups have their turns. Served on this machine's own address alone, and
//! only while the plugin `reflectjoborder` is on; nobody is asked who may read it, as in KAI.
//!
//! The loop answers between two cycles; it keeps nothing for it. Source: docs/contract.md 8.1.

use std::{
    collections::BTreeMap,
    net::{Ipv4Addr, SocketAddr},
    time::Duration,
};

use axum::{
    Router,
    extract::State,
    http::{StatusCode, header},
    response::{IntoResponse, Response},
    routing::get,
};
use kai_engine::Cluster;
use serde::Serialize;
use tokio::{
    net::TcpListener,
    sync::{mpsc, oneshot, watch},
    time::sleep,
};
use tokio_util::sync::CancellationToken;

use crate::names::{Names, Number};

/// Questions that wait for the loop.
const ASKED_MAX: usize = 16;
/// A port that is taken is tried again after this.
const RETRY: Duration = Duration::from_secs(10);
/// Answers under way may take this long at the end; who does not read them is left.
const GRACE: Duration = Duration::from_secs(1);

/// Says where the loop finds who asks; the answer is none before the first cycle.
#[derive(Debug)]
pub struct Desk {
    wanted: watch::Sender<bool>,
    asked: mpsc::Receiver<oneshot::Sender<Option<String>>>,
}

/// The endpoint.
#[derive(Debug)]
pub struct Endpoint {
    port: u16,
    wanted: watch::Receiver<bool>,
    ask: mpsc::Sender<oneshot::Sender<Option<String>>>,
}

/// Both ends.
pub fn desk(port: u16) -> (Desk, Endpoint) {
    let (wanted, is_wanted) = watch::channel(false);
    let (ask, asked) = mpsc::channel(ASKED_MAX);
    (Desk { wanted, asked }, Endpoint { port, wanted: is_wanted, ask })
}

impl Desk {
    /// Serves from now on, or not.
    pub fn want(&self, wanted: bool) {
        self.wanted.send_if_modified(|was| std::mem::replace(was, wanted) != wanted);
    }

    /// The next one who asks.
    pub async fn next(&mut self) -> Option<oneshot::Sender<Option<String>>> {
        self.asked.recv().await
    }
}

impl Endpoint {
    /// Serves while it is wanted, until `stop`.
    pub async fn keep(mut self, stop: CancellationToken) {
        loop {
            tokio::select! {
                biased;
                () = stop.cancelled() => return,
                wanted = self.wanted.wait_for(|wanted| *wanted) => if wanted.is_err() { return },
            }
            let address = SocketAddr::from((Ipv4Addr::LOCALHOST, self.port));
            match TcpListener::bind(address).await {
                Ok(listener) => self.serve(listener, &stop).await,
                Err(error) => {
                    tracing::warn!(%address, %error, "failed to serve /get-job-order (--plugin-server-port)");
                    tokio::select! {
                        biased;
                        () = stop.cancelled() => return,
                        changed = self.wanted.changed() => if changed.is_err() { return },
                        () = sleep(RETRY) => {}
                    }
                }
            }
        }
    }

    async fn serve(&self, listener: TcpListener, stop: &CancellationToken) {
        if let Ok(address) = listener.local_addr() {
            tracing::info!(%address, "serving /get-job-order");
        }
        let router =
            Router::new().route("/get-job-order", get(answer)).with_state(self.ask.clone());
        let end = || {
            let (mut wanted, stop) = (self.wanted.clone(), stop.clone());
            async move {
                tokio::select! {
                    biased;
                    () = stop.cancelled() => {}
                    _ = wanted.wait_for(|wanted| !*wanted) => {}
                }
            }
        };
        let served = axum::serve(listener, router).with_graceful_shutdown(end());
        tokio::select! {
            biased;
            result = served => if let Err(error) = result {
                tracing::warn!(%error, "failed to serve /get-job-order");
            },
            () = async { end().await; sleep(GRACE).await } => {}
        }
    }
}

async fn answer(State(ask): State<mpsc::Sender<oneshot::Sender<Option<String>>>>) -> Response {
    let (reply, answer) = oneshot::channel();
    let asked = ask.send(reply).await;
    match (asked, answer.await) {
        (Ok(()), Ok(Some(text))) => {
            ([(header::CONTENT_TYPE, "application/json")], text).into_response()
        }
        _ => (StatusCode::SERVICE_UNAVAILABLE, "no cycle has ended yet").into_response(),
    }
}

#[derive(Serialize)]
struct Order<'n> {
    global_order: Vec<Entry<'n>>,
    queue_order: BTreeMap<&'n str, Vec<Entry<'n>>>,
}

#[derive(Serialize, Clone, Copy)]
struct Entry<'n> {
    /// The group's name.
    id: &'n str,
    priority: i32,
}

/// The order as of the last plan.
pub fn text(cluster: &Cluster, names: &Names) -> String {
    let mut order = Order { global_order: Vec::new(), queue_order: BTreeMap::new() };
    for (queue, group) in cluster.order() {
        let (_, id) = names.group_name(group.number());
        let priority = cluster.group(group).map_or(0, |facts| facts.priority);
        let entry = Entry { id, priority };
        order.global_order.push(entry);
        order.queue_order.entry(&**names.queues.key(queue.number())).or_default().push(entry);
    }
    serde_json::to_string_pretty(&order).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use kai_engine::{Config, Timestamp, plan};
    use serde_json::{Value, json};
    use tokio::{
        io::{AsyncReadExt, AsyncWriteExt},
        net::TcpStream,
    };

    use super::*;
    use crate::{
        Args,
        ingest::{Ingest, Kind, Rules},
    };

    fn queue(name: &str, created: &str) -> (Kind, Value) {
        let all = json!({"quota": -1, "limit": -1, "overQuotaWeight": 1});
        let object = json!({
            "metadata": {"name": name, "creationTimestamp": created},
            "spec": {"resources": {"gpu": all, "cpu": all, "memory": all}},
        });
        (Kind::Queue, object)
    }

    /// A group in a namespace of its queue's name, and so many pods of it.
    fn group(name: &str, queue: &str, class: &str, min: u32, pods: u32) -> Vec<(Kind, Value)> {
        let spec = json!({"queue": queue, "priorityClassName": class, "minMember": min});
        let group = json!({"metadata": {"name": name, "namespace": queue}, "spec": spec});
        let pod = |number: u32| {
            let metadata = json!({
                "name": format!("{name}-{number}"),
                "namespace": queue,
                "uid": format!("{name}-{number}"),
                "annotations": {"pod-group-name": name},
            });
            let spec = json!({"schedulerName": "kai-scheduler", "containers": [{"name": "main"}]});
            (Kind::Pod, json!({"metadata": metadata, "spec": spec, "status": {"phase": "Pending"}}))
        };
        std::iter::once((Kind::PodGroup, group)).chain((0..pods).map(pod)).collect()
    }

    #[test]
    fn groups_that_could_start_are_told_in_their_order_and_by_queue() {
        let args = Args::from_command_line(["kai-scheduler".into()]).expect("no flags");
        let mut ingest = Ingest::new(Rules::new(&args));
        let class = json!({"metadata": {"name": "build"}, "value": 100});
        let mut objects = vec![
            (Kind::PriorityClass, class),
            queue("younger", "2026-01-02T00:00:00Z"),
            queue("older", "2026-01-01T00:00:00Z"),
            queue("empty", "2026-01-01T00:00:00Z"),
        ];
        objects.extend(group("one", "younger", "", 1, 1));
        objects.extend(group("train", "older", "", 1, 1));
        objects.extend(group("urgent", "older", "build", 2, 2));
        objects.extend(group("incomplete", "older", "build", 3, 2));
        for (kind, object) in objects {
            ingest.applied(kind, object.to_string().as_bytes()).expect("the object can be read");
        }
        let mut cluster = Cluster::default();
        for delta in ingest.context.deltas.drain(..) {
            cluster.apply(delta);
        }
        plan(&mut cluster, &Config::default(), Timestamp(0));
        let text = text(&cluster, &ingest.context.names);
        let entry = |id: &str, priority: i32| json!({"id": id, "priority": priority});
        let (urgent, train, one) = (entry("urgent", 100), entry("train", 50), entry("one", 50));
        let expect = json!({
            "global_order": [urgent, train, one],
            "queue_order": {"older": [urgent, train], "younger": [one]},
        });
        assert_eq!(serde_json::from_str::<Value>(&text).expect("it is JSON"), expect, "{text}");
        let head =
            "{\n  \"global_order\": [\n    {\n      \"id\": \"urgent\",\n      \"priority\": 100\n";
        assert!(text.starts_with(head), "fields in KAI's order, two spaces in: {text}");
    }

    async fn read(address: SocketAddr) -> String {
        let mut stream = TcpStream::connect(address).await.expect("it listens");
        let request = "GET /get-job-order HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n";
        stream.write_all(request.as_bytes()).await.expect("it reads");
        let mut text = String::new();
        stream.read_to_string(&mut text).await.expect("it answers");
        text
    }

    #[tokio::test]
    async fn it_answers_what_the_loop_says_and_ends_when_it_is_not_wanted() {
        let (mut desk, endpoint) = desk(0);
        desk.want(true);
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await.expect("a free port");
        let address = listener.local_addr().expect("it is bound");
        let stop = CancellationToken::new();
        let served = tokio::spawn(async move { endpoint.serve(listener, &stop).await });
        for (said, expect) in [(None, "HTTP/1.1 503"), (Some(String::from("{}")), "HTTP/1.1 200")] {
            let asked = tokio::spawn(read(address));
            desk.next().await.expect("somebody asks").send(said).expect("somebody waits");
            let text = asked.await.expect("it ends");
            assert!(text.starts_with(expect), "{text}");
        }
        // Who does not end a request keeps nobody from ending.
        let mut half = TcpStream::connect(address).await.expect("it listens");
        half.write_all(b"GET /get-job").await.expect("it reads");
        desk.want(false);
        let ended = tokio::time::timeout(Duration::from_secs(5), served).await;
        ended.expect("it ends in time").expect("it ends well");
    }
}
