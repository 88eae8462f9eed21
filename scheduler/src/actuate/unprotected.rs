//! Ends pods that use a GPU which nothing holds for them any more: the device plugin may give it to another.
//!
//! # Source
//! docs/contract.md 4.6; 10.1 D7: the API server is asked first, and each pod is told why.

use std::sync::Arc;

use http::Method;
use kai_api::names::{annotation, component};
use serde_json::json;

use super::{
    Event, Target, Write,
    found::Found,
    reservation::{Place, Template},
    unreserve::{reservations, users},
};
use crate::{
    actuate::ShareOutcome,
    server::call::{Failure, Form, call},
};

/// The reason of the event on a pod that is ended.
const REASON: &str = "GPUReservationLost";

/// The users of a device whose reservation pod is gone.
#[derive(Clone, Debug)]
pub struct Unprotected {
    /// The group by number.
    pub device: u32,
    /// The group and its node.
    pub place: Place,
    /// The UUID that its users were told, where that is known.
    pub given: Option<Box<str>>,
    /// Says how reservation pods are made.
    pub template: Arc<Template>,
}

impl Unprotected {
    pub(super) async fn carry_out(self, write: &Write) -> ShareOutcome {
        let done = self.end_users(write).await.unwrap_or(false);
        ShareOutcome::Unprotected { device: self.device, done }
    }

    /// Tells whether a reservation pod may hold the GPU that the users were told.
    fn is_held_by(&self, pod: &Found) -> bool {
        let says = pod.metadata.annotations.get(annotation::RESERVED_GPU);
        match (says, &self.given) {
            (Some(says), Some(given)) => **says == **given,
            (None, _) | (_, None) => true,
        }
    }

    /// Tells all users to go, and says whether that is done. Nothing is done where a reservation pod is there after all: the watch will
    /// show it.
    async fn end_users(&self, write: &Write) -> Result<bool, Failure> {
        let holders = reservations(write, &self.place.group, &self.template).await?;
        if holders.iter().any(|pod| !pod.has_ended() && self.is_held_by(pod)) {
            return Ok(false);
        }
        let mut done = true;
        for pod in users(write, &self.place, &self.template).await? {
            if pod.metadata.deletion_timestamp.is_some() {
                continue;
            }
            let meta = &pod.metadata;
            let (namespace, name) = (&meta.namespace, &meta.name);
            let message = format!(
                "Pod {namespace}/{name} is ended: the pod that reserved its shared GPU on node {} is gone, and the GPU may be given to others",
                self.place.node
            );
            tracing::warn!("{message}");
            let event = Event {
                target: Target {
                    kind: "Pod",
                    namespace: Box::from(&**namespace),
                    name: Box::from(&**name),
                    uid: Box::from(&*meta.uid),
                },
                is_warning: true,
                reason: REASON,
                message,
                annotations: Vec::new(),
                component: Arc::from(component::BINDER),
            };
            event.carry_out(write).await;
            let body = json!({
                "apiVersion": "v1",
                "kind": "DeleteOptions",
                "preconditions": { "uid": meta.uid },
            });
            let path = format!("/api/v1/namespaces/{namespace}/pods/{name}");
            let deleted = call(write, Method::DELETE, &path, Form::Object, &body).await;
            let is_gone = matches!(&deleted, Ok(_) | Err(Failure::Refused { code: 404 | 409, .. }));
            write.count("unprotected", is_gone);
            done &= is_gone;
        }
        Ok(done)
    }
}
