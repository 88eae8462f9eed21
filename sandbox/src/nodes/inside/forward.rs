//! Connections to the ports of a simulated pod: each that its containers name answers HTTP with a page that says what it is.

use std::collections::{BTreeMap, BTreeSet};
use std::convert::Infallible;

use bytes::Bytes;
use http::header::CONTENT_TYPE;
use http::{Request, Response};
use http_body_util::Full;
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::TokioIo;
use kube::ResourceExt as _;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _, DuplexStream};
use tokio::sync::mpsc;
use tokio::task::JoinSet;

use super::Running;
use crate::nodes::pod::Pod;
use crate::streams::{Act, Event, Link};

/// Ports of programs that images start without that the pod names them.
const JUPYTER: u16 = 8888;
const RAY_DASHBOARD: u16 = 8265;
/// Bytes that a connection holds back before its sender waits.
const BUFFER_BYTES: usize = 64 * 1024;

/// The ports that something listens on.
fn ports(pod: &Pod) -> BTreeSet<u16> {
    let containers = pod.spec.containers.iter().chain(&pod.spec.init_containers);
    let named = containers.flat_map(|container| &container.ports).map(|port| port.container_port);
    let label = |key: &str| pod.labels().get(key).map(String::as_str);
    let notebook = label("notebook-name").map(|_| JUPYTER);
    let head = (label("ray.io/node-type") == Some("head")).then_some(RAY_DASHBOARD);
    named.chain(notebook).chain(head).collect()
}

/// One of the two streams that a connection has.
#[derive(Debug, Default)]
struct Half {
    data: Option<u32>,
    error: Option<u32>,
    port: u16,
}

/// Answers on the ports until the client goes or the pod ends; `connections_max` tells after how many connections nothing
/// more can come, 0 that there is no such number.
pub(super) async fn forward(link: Link, pod: Pod, connections_max: usize, running: Running) {
    let ports = ports(&pod);
    let Link { mut events, acts } = link;
    let mut opening: BTreeMap<String, Half> = BTreeMap::new();
    let mut open: BTreeMap<u32, mpsc::Sender<Bytes>> = BTreeMap::new();
    let mut connections = JoinSet::new();
    let mut served = 0;
    let ended = running.ended();
    tokio::pin!(ended);
    loop {
        let event = tokio::select! {
            event = events.recv() => event,
            () = &mut ended => None,
            Some(_) = connections.join_next(), if !connections.is_empty() => {
                served += 1;
                if served == connections_max {
                    return;
                }
                continue;
            }
        };
        match event {
            None => return,
            Some(Event::Opened(id, headers)) => {
                let header = |name: &str| headers.get(name).map_or("", String::as_str);
                let half = opening.entry(header("requestid").to_owned()).or_default();
                half.port = header("port").parse().unwrap_or(half.port);
                match header("streamtype") {
                    "error" => half.error = Some(id),
                    _ => half.data = Some(id),
                }
                let Half { data: Some(data), error: Some(error), port } = *half else { continue };
                opening.remove(header("requestid"));
                let (send, receive) = mpsc::channel(16);
                open.insert(data, send);
                let connection = Connection { data, error, port, acts: acts.clone() };
                if ports.contains(&port) {
                    connections.spawn(connection.serve(receive, page(&pod, port)));
                } else {
                    connections.spawn(connection.refuse(pod.uid().unwrap_or_default()));
                }
            }
            Some(Event::Data(id, bytes)) => {
                if let Some(to) = open.get(&id) {
                    let _closed = to.send(bytes).await;
                }
            }
            Some(Event::Ended(id)) => {
                open.remove(&id);
            }
        }
    }
}

struct Connection {
    data: u32,
    error: u32,
    port: u16,
    acts: mpsc::Sender<Act>,
}

impl Connection {
    /// Says, as the kubelet does, that nobody listens.
    async fn refuse(self, uid: String) {
        let port = self.port;
        let text = format!(
            "an error occurred forwarding {port} -> {port}: error forwarding port {port} to pod {uid}: failed to connect to \
             localhost:{port}: connect: connection refused"
        );
        let _gone = self.acts.send(Act::Data(self.error, Bytes::from(text))).await;
        self.close().await;
    }

    async fn close(&self) {
        for id in [self.data, self.error] {
            let _gone = self.acts.send(Act::End(id)).await;
        }
    }

    /// Moves bytes between the client and a server of one page.
    async fn serve(self, mut from: mpsc::Receiver<Bytes>, page: String) {
        let (near, far) = tokio::io::duplex(BUFFER_BYTES);
        let (mut read, mut write) = tokio::io::split(near);
        let into = async {
            while let Some(bytes) = from.recv().await {
                if write.write_all(&bytes).await.is_err() {
                    return;
                }
            }
            let _closed = write.shutdown().await;
        };
        let out = async {
            let mut bytes = bytes::BytesMut::with_capacity(BUFFER_BYTES);
            while read.read_buf(&mut bytes).await.is_ok_and(|count| count > 0) {
                let act = Act::Data(self.data, bytes.split().freeze());
                if self.acts.send(act).await.is_err() {
                    return;
                }
            }
        };
        let served = async {
            tokio::join!(out, serve(far, page));
            self.close().await;
        };
        // The server's end is the connection's end: a client that waits for it has not closed its own side.
        tokio::select! {
            () = served => {}
            () = async { into.await; std::future::pending().await } => {}
        }
    }
}

/// Answers HTTP with one page, whatever is asked.
async fn serve(io: DuplexStream, page: String) {
    let service = service_fn(move |_: Request<Incoming>| {
        let mut answer = Response::new(Full::new(Bytes::from(page.clone())));
        let html = http::HeaderValue::from_static("text/html; charset=utf-8");
        answer.headers_mut().insert(CONTENT_TYPE, html);
        async { Ok::<_, Infallible>(answer) }
    });
    // The client may go at any time; there is nobody to tell.
    let _ended = http1::Builder::new().serve_connection(TokioIo::new(io), service).await;
}

fn page(pod: &Pod, port: u16) -> String {
    let what = match port {
        JUPYTER => "A notebook server",
        RAY_DASHBOARD => "Ray's dashboard",
        6006 => "TensorBoard",
        _ => "A server",
    };
    let namespace = pod.namespace().unwrap_or_default();
    let image = pod.spec.containers.first().map_or("", |first| first.image.as_str());
    format!(
        "<!doctype html>\n<title>{name}</title>\n<h1>{what} would answer here</h1>\n<p>This is port {port} of the simulated \
         pod {namespace}/{name} on {node}: the sandbox of kubectl kai runs no images, and this page in place of {image}.</p>\n",
        name = pod.name_any(),
        node = pod.spec.node_name,
        image = escaped(image),
    )
}

/// A text that HTML takes for a text: an image's name is whatever somebody wrote.
fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}
