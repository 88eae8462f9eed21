//! The API itself: one request in, one answer out.

use std::sync::Arc;

use super::api::Api;
use super::params::Params;
use super::refusal::{ApiResult, Refusal};
use super::reply::{self, Reply};
use super::request::{Request, Verb};
use super::route::{Route, Target, route};
use super::{auth, bind, connect, delete, discovery, logs, read, watch, write};

impl Api {
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
        // Before their parameters are read, so that what is missing is named and not a parameter of it.
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
                Verb::Create => auth::review(self, request, target),
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
                auth::token(self, request, target)
            }
            ("resize", Verb::Get) if kind.is("", "pods") => read::get(self, request, target),
            ("resize", Verb::Update) if kind.is("", "pods") => {
                write::update(self, request, target, params).await
            }
            ("resize", Verb::Patch) if kind.is("", "pods") => {
                write::patch(self, request, target, params).await
            }
            ("finalize", Verb::Update) if kind.is("", "namespaces") => {
                write::update(self, request, target, params).await
            }
            (name, Verb::Get | Verb::Create)
                if kind.is("", "pods") && connect::CONNECTIONS.contains(&name) =>
            {
                connect::connect(self, request, target, params)
            }
            ("binding" | "eviction" | "log" | "resize", _) if kind.is("", "pods") => {
                Err(Refusal::method_not_allowed())
            }
            _ => Err(Refusal::no_such_path()),
        }
    }
}

/// Refuses the subresources that this server does not have.
fn streams(target: &Target) -> ApiResult<()> {
    let (kind, name) = (&target.kind, target.subresource.as_str());
    if name == "proxy" || (kind.is("", "pods") && name == "ephemeralcontainers") {
        return Err(Refusal::not_implemented(&format!("the subresource {}/{name}", kind.plural)));
    }
    Ok(())
}
