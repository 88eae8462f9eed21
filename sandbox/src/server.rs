//! An embedded Kubernetes API server: in memory, on the loopback address, honest about what it leaves out.
//!
//! ```text
//! kubectl, kube-rs --TLS--> serve --> Api::answer --> route --> read | watch | write | bind | review | document
//! Server::client() ----------------/                              \        |      /
//!                                                           State { Store, Kinds, tokens }
//!                                                                      |
//!                                                     feed of writes --+--> controllers (owner references, namespaces, ...)
//! ```
//!
//! Every write happens under one lock and takes one resourceVersion; reads share it. What the server does not
//! implement it refuses by name, see [`LIMITS`].

mod accept;
mod admission;
mod answer;
mod api;
mod auth;
mod bind;
mod conform;
mod connect;
mod consult;
mod controllers;
mod convert;
mod crd;
mod decode;
mod defaults;
mod delete;
mod discovery;
mod fields;
mod grants;
mod kinds;
mod kubeconfig;
mod limits;
mod log_source;
mod logs;
mod names;
mod object;
mod open_api;
mod open_api_v2;
mod params;
mod patch;
mod protobuf;
mod read;
mod refusal;
mod reply;
mod request;
mod route;
mod schema;
mod selector;
mod serve;
mod state;
mod store;
mod strategy;
mod table;
mod tls;
mod tokens;
mod user;
mod validate;
mod watch;
mod write;

use std::net::{Ipv4Addr, SocketAddr};
use std::sync::Arc;

use bytes::Bytes;
use http_body_util::BodyExt;
use tokio::net::TcpListener;
use tokio::sync::mpsc::UnboundedReceiver;
use tokio::task::JoinHandle;
use tokio_rustls::TlsAcceptor;
use tokio_util::sync::CancellationToken;

use self::api::Api;
use self::request::Request;
use self::store::Written;
use self::user::User;
use crate::streams::StreamSource;

pub use self::admission::Webhooks;
pub use self::limits::LIMITS;
pub use self::log_source::{LogQuery, LogSource};
pub use self::store::{Change, Witness, Write};

/// Options of a server.
#[derive(Clone)]
pub struct Options {
    /// The TCP port on 127.0.0.1; 0 picks a free one.
    pub port: u16,
    /// Number of events that each resource keeps for watches that fall behind; older ones answer 410.
    pub watch_events_max: usize,
    /// Source of the text of container logs; without it `pods/log` answers 501.
    pub logs: Option<LogSource>,
    /// Source of what answers on connections to pods; without it `pods/exec`, `attach` and `portforward` answer 501.
    pub streams: Option<StreamSource>,
    /// Witness of every write, in the order of resourceVersions.
    pub witness: Option<Witness>,
    /// Webhooks that are called without a socket; those at other URLs are called over the network.
    pub webhooks: Option<Webhooks>,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            port: 0,
            watch_events_max: 16_384,
            logs: None,
            streams: None,
            witness: None,
            webhooks: None,
        }
    }
}

impl std::fmt::Debug for Options {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Options")
            .field("port", &self.port)
            .field("watch_events_max", &self.watch_events_max)
            .field("logs", &self.logs.is_some())
            .field("streams", &self.streams.is_some())
            .field("witness", &self.witness.is_some())
            .field("webhooks", &self.webhooks.is_some())
            .finish()
    }
}

/// The reason why a server could not start.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The port could not be opened.
    #[error("failed to listen on {address}")]
    Listen {
        /// The address asked for.
        address: SocketAddr,
        /// The system's error.
        source: std::io::Error,
    },
    /// The certificates could not be made.
    #[error("failed to make the server's certificate")]
    Certificate(#[source] rcgen::Error),
    /// The certificates could not be used.
    #[error("failed to set up TLS")]
    Tls(#[source] rustls::Error),
}

/// A running API server. Stops when [`Server::stop`] is called; dropping it stops it as well, without waiting.
pub struct Server {
    api: Arc<Api>,
    url: String,
    authority_pem: String,
    admin_token: String,
    stop: CancellationToken,
    tasks: Vec<JoinHandle<()>>,
}

impl std::fmt::Debug for Server {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Server").field("url", &self.url).finish_non_exhaustive()
    }
}

impl Server {
    /// Starts a server with the namespaces and roles of a fresh cluster. Needs a tokio runtime.
    ///
    /// # Errors
    ///
    /// When the port is taken or the certificates cannot be made.
    pub async fn start(options: Options) -> Result<Self, Error> {
        let address = SocketAddr::from((Ipv4Addr::LOCALHOST, options.port));
        let listener =
            TcpListener::bind(address).await.map_err(|source| Error::Listen { address, source })?;
        let address = listener.local_addr().map_err(|source| Error::Listen { address, source })?;
        let identity = tls::identity()?;
        let mut server = Self::without_port(&options);
        let stop = server.stop.clone();
        server.tasks.push(tokio::spawn(serve::serve(
            listener,
            TlsAcceptor::from(identity.config),
            Arc::clone(&server.api),
            stop,
        )));
        server.url = format!("https://{address}");
        server.authority_pem = identity.authority_pem;
        tracing::debug!(url = server.url, "API server is up");
        Ok(server)
    }

    /// Starts a server that is reached by [`Server::client`] and [`Server::client_as`] alone, without a socket. Needs a
    /// tokio runtime.
    pub fn without_port(options: &Options) -> Self {
        let stop = CancellationToken::new();
        let (api, feed) = Api::new(options, stop.clone());
        api.create_first_objects();
        Self::of(api, feed, stop)
    }

    /// Starts another server without a socket, which begins with what this one holds and then goes its own way. Needs a
    /// tokio runtime; this one may be stopped.
    #[must_use]
    pub fn copy_without_port(&self, options: &Options) -> Self {
        let stop = CancellationToken::new();
        let (api, feed) = self.api.copy(options, stop.clone());
        Self::of(api, feed, stop)
    }

    fn of(api: Api, feed: UnboundedReceiver<Written>, stop: CancellationToken) -> Self {
        let api = Arc::new(api);
        let admin_token = api.add_admin();
        let tasks = vec![tokio::spawn(controllers::run(Arc::clone(&api), feed, stop.clone()))];
        let (url, authority_pem) = Default::default();
        Self { api, url, authority_pem, admin_token, stop, tasks }
    }

    /// `https://127.0.0.1:PORT`; empty where nothing is listened on.
    pub fn url(&self) -> &str {
        &self.url
    }

    /// A kubeconfig for the administrator. It holds the token: write it for the user's eyes only.
    pub fn kubeconfig(&self) -> String {
        self.kubeconfig_for(&self.admin_token, "default")
    }

    /// A kubeconfig for another bearer token, for example one of `serviceaccounts/token`.
    pub fn kubeconfig_for(&self, token: &str, namespace: &str) -> String {
        kubeconfig::text(&self.url, &self.authority_pem, token, namespace)
    }

    /// An administrator's client that calls the server without a socket.
    pub fn client(&self) -> kube::Client {
        self.client_of(User::admin())
    }

    /// A client that acts as `user` with `groups`, under the rules of RBAC, without a socket.
    pub fn client_as(&self, user: &str, groups: &[&str]) -> kube::Client {
        self.client_of(User::new(user, groups))
    }

    fn client_of(&self, user: User) -> kube::Client {
        let api = Arc::clone(&self.api);
        let service = tower::service_fn(move |request: http::Request<kube::client::Body>| {
            let (api, user) = (Arc::clone(&api), user.clone());
            async move {
                let (parts, body) = request.into_parts();
                let body: Bytes = body.collect().await?.to_bytes();
                let user = api.impersonate(&parts.headers, user);
                Ok::<_, kube::Error>(match user {
                    Ok(user) => api.answer(&Request::new(parts, body, user)).await,
                    Err(refusal) => reply::refusal(&refusal),
                })
            }
        });
        kube::Client::new(service, "default")
    }

    /// Ends all watches, closes the port and waits for both.
    pub async fn stop(mut self) {
        self.stop.cancel();
        for task in std::mem::take(&mut self.tasks) {
            // A task that panicked has nothing left to wait for; the panic was reported when it happened.
            let _ = task.await;
        }
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.stop.cancel();
    }
}
