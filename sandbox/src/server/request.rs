//! One request, and what it wants to do.

use bytes::Bytes;
use http::{HeaderMap, Method};
use hyper::upgrade::OnUpgrade;

use super::params::Params;
use super::refusal::{ApiResult, Refusal};
use super::route::Target;
use super::user::User;

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
    /// The user who asks.
    pub(crate) user: User,
    /// The connection, for a protocol that is to follow on it.
    pub(crate) upgrade: Option<OnUpgrade>,
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
            upgrade: parts.extensions.get().cloned(),
        }
    }
}

/// Wish of a request, in the words of RBAC.
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

    /// Finds what a request asks of its target.
    ///
    /// # Errors
    /// The method means nothing there.
    pub(crate) fn of(method: &Method, target: &Target, params: &Params) -> ApiResult<Self> {
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
