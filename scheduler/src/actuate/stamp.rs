//! The moment of an eviction, written on the pod group before the first of its pods goes.
//!
//! Written after it, as the other timestamps are, it would be lost with a scheduler that dies in between: nothing on the API
//! server says of a pod that is gone when it was evicted.

use http::Method;
use kai_api::names::annotation;
use serde_json::json;
use tokio::sync::OnceCell;

use super::{Target, Write, record::stamp_text};
use crate::server::call::{Form, call};

/// Says on a pod group when a plan evicted it, once for all of its pods that the plan evicts.
#[derive(Debug)]
pub struct EvictionStamp {
    group: Target,
    at: i64,
    written: OnceCell<()>,
}

impl EvictionStamp {
    /// Makes the one of a group that is evicted at this moment, in milliseconds.
    pub fn new(group: Target, at: i64) -> Self {
        Self { group, at, written: OnceCell::new() }
    }

    /// Writes it, or waits until another eviction has. That it could not be written keeps nobody from going: it is written
    /// with what else is to be said of the group, later.
    pub(super) async fn write(&self, write: &Write) {
        self.written.get_or_init(|| self.patch(write)).await;
    }

    async fn patch(&self, write: &Write) {
        let Target { namespace, name, uid, .. } = &self.group;
        let path =
            format!("/apis/scheduling.run.ai/v2alpha2/namespaces/{namespace}/podgroups/{name}");
        // The UID guards it: no version does, as nothing of what is written follows from the rest of the object.
        let annotations = json!({ (annotation::LAST_EVICTION): stamp_text(self.at) });
        let body = json!({ "metadata": { "uid": uid, "annotations": annotations } });
        let patched = call(write, Method::PATCH, &path, Form::Merge, &body).await;
        write.count("podgroup", patched.is_ok());
        if let Err(failure) = patched {
            tracing::debug!(%namespace, podgroup = %name, %failure,
                "failed to write when it was evicted");
        }
    }
}
