//! A write's manager, and the way in which it writes.

use super::FieldSet;
use crate::server::params::Params;
use crate::server::request::Request;

/// A write's manager, and how it writes.
#[derive(Debug)]
pub(crate) struct Intent<'a> {
    /// The query parameters.
    pub(crate) params: &'a Params,
    /// The field manager, for `managedFields`.
    pub(crate) manager: String,
    /// Warnings to send along.
    pub(crate) warnings: Vec<String>,
    /// True if the write is a PATCH: another UID is then a change, not a failed precondition.
    pub(crate) is_patch: bool,
    /// The fields of an applied configuration; `None` for every other write.
    pub(crate) applied: Option<FieldSet>,
}

impl<'a> Intent<'a> {
    /// The intent of a request.
    pub(crate) fn of(request: &'a Request, params: &'a Params) -> Self {
        let manager = if params.field_manager.is_empty() {
            let agent = request.headers.get(http::header::USER_AGENT);
            let agent = agent.and_then(|agent| agent.to_str().ok()).unwrap_or("unknown");
            agent.split('/').next().unwrap_or_default().to_owned()
        } else {
            params.field_manager.clone()
        };
        Self {
            params,
            manager,
            warnings: Vec::new(),
            is_patch: request.method == http::Method::PATCH,
            applied: None,
        }
    }
}
