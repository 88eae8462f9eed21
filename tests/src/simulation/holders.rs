//! Holders of Leases: a write of a daemon leaves while its Lease names it, or did half a second ago (A9, L6).

use std::{
    collections::BTreeMap,
    sync::{Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use http::{Method, Request};
use kai_sandbox::server::{Change, Write};
use kube::client::Body;
use serde_json::Value;
use tokio::time::Instant;

/// So long after it read that it holds its Lease a daemon may write without reading it again.
const CONFIRMED_MAX: Duration = Duration::from_millis(500);

/// The holders of all Leases, as the API server has them.
#[derive(Debug, Default)]
pub(super) struct Holders(Mutex<BTreeMap<String, Held>>);

/// A Lease.
#[derive(Debug, Default)]
struct Held {
    /// Empty where it is nobody's.
    holder: String,
    /// Those who held it before, each up to when.
    former: BTreeMap<String, Instant>,
}

impl Holders {
    /// Takes a write of a Lease in.
    pub(super) fn wrote(&self, write: &Write<'_>) {
        let text = |pointer: &str| {
            write.object.pointer(pointer).and_then(Value::as_str).unwrap_or_default().to_owned()
        };
        let holder = match write.change {
            Change::Deleted => String::new(),
            Change::Added | Change::Modified => text("/spec/holderIdentity"),
        };
        let mut leases = lock(&self.0);
        let held = leases.entry(text("/metadata/name")).or_default();
        if held.holder != holder {
            let former = std::mem::replace(&mut held.holder, holder);
            held.former.insert(former, Instant::now());
        }
    }

    /// Tells whether a process holds a Lease, or may not know yet that it does not.
    fn may_write(&self, lease: &str, identity: &str) -> bool {
        let leases = lock(&self.0);
        let Some(held) = leases.get(lease) else { return false };
        let was_lately =
            held.former.get(identity).is_some_and(|until| until.elapsed() <= CONFIRMED_MAX);
        held.holder == identity || was_lately
    }
}

/// A process and its Lease.
#[derive(Debug, Default)]
pub(super) struct Claim(Mutex<Claimed>);

#[derive(Debug, Default)]
struct Claimed {
    /// It wants a Lease: a podgrouper without election does not.
    wants: bool,
    /// The Lease and the name by which the process holds it, once it wrote that.
    own: Option<(String, String)>,
    /// It could not use a Lease, and so works without.
    is_refused: bool,
}

impl Claim {
    /// Notes what a request to a Lease says, and gives it back.
    pub(super) async fn asked(&self, request: Request<Body>) -> kube::Result<Request<Body>> {
        let (parts, body) = request.into_parts();
        let bytes = body.collect_bytes().await?;
        let lease: Value = serde_json::from_slice(&bytes).unwrap_or_default();
        let text = |pointer: &str| lease.pointer(pointer).and_then(Value::as_str);
        lock(&self.0).wants = true;
        if let (Some(name), Some(identity)) = (text("/metadata/name"), text("/spec/holderIdentity"))
            && !identity.is_empty()
        {
            lock(&self.0).own = Some((name.to_owned(), identity.to_owned()));
        }
        Ok(Request::from_parts(parts, Body::from(bytes.to_vec())))
    }

    /// Notes that a Lease was refused.
    pub(super) fn refused(&self) {
        lock(&self.0).is_refused = true;
    }

    /// Says that a write leaves without the Lease of its process, if it does.
    pub(super) fn finding(&self, request: &Request<Body>, holders: &Holders) -> Option<String> {
        let path = request.uri().path();
        // Both say what is, and take nothing.
        let is_aside = path.contains("/events") || path.contains("/leases");
        let is_dry = request.uri().query().is_some_and(|query| query.contains("dryRun"));
        if *request.method() == Method::GET || is_aside || is_dry {
            return None;
        }
        let claimed = lock(&self.0);
        let may = match &claimed.own {
            _ if claimed.is_refused => true,
            Some((lease, identity)) => holders.may_write(lease, identity),
            None => !claimed.wants,
        };
        (!may).then(|| format!("writes without its Lease: {} {path}", request.method()))
    }
}

fn lock<T>(of: &Mutex<T>) -> MutexGuard<'_, T> {
    of.lock().unwrap_or_else(PoisonError::into_inner)
}
