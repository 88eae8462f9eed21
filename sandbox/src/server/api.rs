//! The API itself: one request in, one answer out.

use std::sync::{Arc, PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard};

use bytes::Bytes;
use http::{HeaderMap, Method};
use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;

use super::admission::Registry;
use super::auth::{Tokens, User};
use super::kinds::Kinds;
use super::params::Params;
use super::refusal::{ApiResult, Refusal};
use super::reply::{self, Reply};
use super::route::{Route, Target, route};
use super::store::{Store, Written};
use super::{LogSource, Options, bind, delete, discovery, logs, read, watch, write};

/// One request, with its body read and its user known.
#[derive(Debug)]
pub(crate) struct Request {
    /// The method.
    pub(crate) method: Method,
    /// The path, still percent-encoded.
    pub(crate) path: String,
    /// The query string, or empty.
    pub(crate) query: String,
    /// The headers.
    pub(crate) headers: HeaderMap,
    /// The body.
    pub(crate) body: Bytes,
    /// Who asks.
    pub(crate) user: User,
}

impl Request {
    /// Puts a request together.
    pub(crate) fn new(parts: http::request::Parts, body: Bytes, user: User) -> Self {
        Self {
            method: parts.method,
            path: parts.uri.path().to_owned(),
            query: parts.uri.query().unwrap_or_default().to_owned(),
            headers: parts.headers,
            body,
            user,
        }
    }
}

/// What the server knows; changed under one lock.
#[derive(Debug)]
pub(crate) struct State {
    /// The objects.
    pub(crate) store: Store,
    /// The served resources.
    pub(crate) kinds: Kinds,
    /// Webhooks and policies.
    pub(crate) admission: Arc<Registry>,
}

/// The server behind the socket.
pub(crate) struct Api {
    state: RwLock<State>,
    /// Bearer tokens.
    pub(crate) tokens: Tokens,
    /// Ends watches.
    pub(crate) stop: CancellationToken,
    /// Where container logs come from.
    pub(crate) logs: Option<LogSource>,
}

/// What a request wants to do, in the words of RBAC.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Verb {
    Get,
    List,
    Watch,
    Create,
    Update,
    Patch,
    Delete,
    DeleteCollection,
}

impl Verb {
    /// The word used in rules and messages.
    pub(crate) fn word(self) -> &'static str {
        match self {
            Self::Get => "get",
            Self::List => "list",
            Self::Watch => "watch",
            Self::Create => "create",
            Self::Update => "update",
            Self::Patch => "patch",
            Self::Delete => "delete",
            Self::DeleteCollection => "deletecollection",
        }
    }

    fn of(method: &Method, target: &Target, params: &Params) -> ApiResult<Self> {
        let whole = target.name.is_empty();
        Ok(match *method {
            Method::GET if params.watch && target.subresource.is_empty() => Self::Watch,
            Method::GET if whole => Self::List,
            Method::GET => Self::Get,
            Method::POST if whole || !target.subresource.is_empty() => Self::Create,
            Method::PUT if !whole => Self::Update,
            Method::PATCH if !whole => Self::Patch,
            Method::DELETE if whole && target.kind.is("", "namespaces") => {
                return Err(Refusal::method_not_allowed());
            }
            Method::DELETE if whole => Self::DeleteCollection,
            Method::DELETE if target.subresource.is_empty() => Self::Delete,
            _ => return Err(Refusal::method_not_allowed()),
        })
    }
}

impl Api {
    /// An empty server, and the feed of its writes for the controllers.
    pub(crate) fn new(
        options: &Options,
        stop: CancellationToken,
    ) -> (Self, mpsc::UnboundedReceiver<Written>) {
        let (feed, written) = mpsc::unbounded_channel();
        let kinds = Kinds::builtin();
        let mut store = Store::new(options.watch_events_max, feed);
        for kind in kinds.iter().filter(|kind| kind.stored) {
            store.add_table(kind.table.clone());
        }
        let state = RwLock::new(State { store, kinds, admission: Arc::default() });
        let api = Self { state, tokens: Tokens::default(), stop, logs: options.logs.clone() };
        (api, written)
    }

    /// The state, for reading.
    pub(crate) fn read(&self) -> RwLockReadGuard<'_, State> {
        self.state.read().unwrap_or_else(PoisonError::into_inner)
    }

    /// The state, for writing.
    pub(crate) fn write(&self) -> RwLockWriteGuard<'_, State> {
        self.state.write().unwrap_or_else(PoisonError::into_inner)
    }

    /// Answers a request; never fails.
    pub(crate) async fn answer(self: &Arc<Self>, request: &Request) -> Reply {
        match self.try_answer(request).await {
            Ok(reply) => reply,
            Err(refusal) => {
                tracing::trace!(
                    method = %request.method,
                    path = request.path,
                    code = refusal.code(),
                    reason = refusal.reason(),
                    message = refusal.message(),
                    "refused"
                );
                reply::refusal(&refusal)
            }
        }
    }

    async fn try_answer(self: &Arc<Self>, request: &Request) -> ApiResult<Reply> {
        let found = route(&self.read().kinds, &request.path)?;
        match found {
            Route::Document(segments) => discovery::document(self, request, &segments),
            Route::Resource(target) => self.resource(request, &target).await,
        }
    }

    async fn resource(self: &Arc<Self>, request: &Request, target: &Target) -> ApiResult<Reply> {
        // Before their parameters are read, so that what is missing is named and not its `command`.
        streams(target)?;
        let params = Params::parse(&request.query)?;
        let verb = Verb::of(&request.method, target, &params)?;
        self.authorize(&request.user, verb, target)?;
        let version = target.kind.version(&target.version).expect("routed to a served version");
        let mut reply = self.dispatch(verb, request, target, &params).await?;
        if let Some(warning) = &version.warning {
            reply::warn(&mut reply, std::slice::from_ref(warning));
        }
        Ok(reply)
    }

    async fn dispatch(
        self: &Arc<Self>,
        verb: Verb,
        request: &Request,
        target: &Target,
        params: &Params,
    ) -> ApiResult<Reply> {
        let version = target.kind.version(&target.version).expect("routed to a served version");
        if !target.kind.stored {
            return match verb {
                Verb::Create => super::auth::review(self, request, target),
                Verb::Get
                | Verb::List
                | Verb::Watch
                | Verb::Update
                | Verb::Patch
                | Verb::Delete
                | Verb::DeleteCollection => Err(Refusal::method_not_allowed()),
            };
        }
        match (target.subresource.as_str(), verb) {
            ("", Verb::Get) => read::get(self, request, target),
            ("", Verb::List) => read::list(self, request, target, params),
            ("", Verb::Watch) => watch::watch(self, request, target, params),
            ("", Verb::Create) => write::create(self, request, target, params).await,
            ("", Verb::Update) => write::update(self, request, target, params).await,
            ("", Verb::Patch) => write::patch(self, request, target, params).await,
            ("", Verb::Delete) => delete::delete(self, request, target, params).await,
            ("", Verb::DeleteCollection) => {
                delete::delete_collection(self, request, target, params).await
            }
            ("status", _) if version.status => self.status(verb, request, target, params).await,
            ("scale", _) if version.scale.is_some() => {
                write::scale(self, verb, request, target, params).await
            }
            _ => self.special(verb, request, target, params).await,
        }
    }

    async fn status(
        self: &Arc<Self>,
        verb: Verb,
        request: &Request,
        target: &Target,
        params: &Params,
    ) -> ApiResult<Reply> {
        match verb {
            Verb::Get => read::get(self, request, target),
            Verb::Update => write::update(self, request, target, params).await,
            Verb::Patch => write::patch(self, request, target, params).await,
            Verb::List | Verb::Watch | Verb::Create | Verb::Delete | Verb::DeleteCollection => {
                Err(Refusal::method_not_allowed())
            }
        }
    }

    async fn special(
        self: &Arc<Self>,
        verb: Verb,
        request: &Request,
        target: &Target,
        params: &Params,
    ) -> ApiResult<Reply> {
        let (kind, name) = (&target.kind, target.subresource.as_str());
        match (name, verb) {
            ("binding", Verb::Create) if kind.is("", "pods") => {
                bind::bind(self, request, target, params).await
            }
            ("eviction", Verb::Create) if kind.is("", "pods") => {
                bind::evict(self, request, target, params).await
            }
            ("log", Verb::Get) if kind.is("", "pods") => logs::logs(self, target, params),
            ("token", Verb::Create) if kind.is("", "serviceaccounts") => {
                super::auth::token(self, request, target)
            }
            ("finalize", Verb::Update) if kind.is("", "namespaces") => {
                write::update(self, request, target, params).await
            }
            ("binding" | "eviction" | "log", _) if kind.is("", "pods") => {
                Err(Refusal::method_not_allowed())
            }
            _ => Err(Refusal::no_such_path()),
        }
    }
}

/// Refuses the subresources that this server does not have.
fn streams(target: &Target) -> ApiResult<()> {
    let (kind, name) = (&target.kind, target.subresource.as_str());
    let of_pods = ["attach", "exec", "portforward", "ephemeralcontainers", "resize"];
    if name == "proxy" || (kind.is("", "pods") && of_pods.contains(&name)) {
        return Err(Refusal::not_implemented(&format!("the subresource {}/{name}", kind.plural)));
    }
    Ok(())
}
