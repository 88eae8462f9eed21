//! From a pod up its owners (`docs/grouping.md` 4).

use std::sync::Arc;

use kai_api::names;

use crate::cache::{Cache, Found, ObjectKey, Part};
use crate::object::{Gvk, Object, OwnerRef};
use crate::pod::Pod;
use crate::store::{Key, Store};

/// A chain longer than this is a circle.
const OWNERS_MAX: usize = 32;
/// So much of a name is shown: those of the API are no longer.
const SHOWN_MAX: usize = 253;

/// The reason why a walk failed.
#[derive(Debug, thiserror::Error)]
pub(crate) enum WalkError {
    #[error("failed to read owner {owner}: it does not exist")]
    Gone { owner: String },
    #[error("failed to read owner {owner}: another object has taken its name")]
    Replaced { owner: String },
    #[error("owner {owner} has {count} owners itself; only one is supported")]
    Branches { owner: String, count: usize },
    #[error("the owners of the pod go in a circle or are more than {OWNERS_MAX}")]
    Circle,
    #[error("failed to read owner {owner}: {why}")]
    TooLarge { owner: String, why: String },
    #[error("failed to read owner {owner}: the API server does not serve {kind}")]
    UnknownKind { owner: String, kind: Gvk },
    #[error("failed to read owner {owner}: {source}")]
    Read {
        owner: String,
        #[source]
        source: kube::Error,
    },
}

/// Result of a walk.
#[derive(Debug, Clone)]
pub(crate) struct Walk {
    /// Owners that could be read, bottom first.
    pub(crate) owners: Vec<Arc<Object>>,
    /// Objects that were read on the way, for noticing their changes.
    pub(crate) keys: Vec<ObjectKey>,
}

/// Climbs from the pod's first owner to the object without owner, or to the last one that may be
/// read: Forbidden ends the walk and is no error, which many chains rely on.
pub(crate) async fn walk(cache: &Cache, store: &Store, pod: &Pod) -> Result<Walk, WalkError> {
    let mut walk = Walk { owners: Vec::new(), keys: Vec::new() };
    let mut next = pod.owners.first().cloned();
    while let Some(owner) = next.take() {
        if walk.owners.len() == OWNERS_MAX {
            return Err(WalkError::Circle);
        }
        let found = read(cache, store, pod, &owner, &walk.owners).await?;
        let Some(object) = found else { return Ok(walk) };
        if object.namespace().is_empty() {
            // What is in no namespace is no tenant's: nothing that it says is copied into one.
            return Ok(walk);
        }
        walk.keys.push(key(pod, &owner));
        let mut owners = object.owners();
        if owners.len() > 1 {
            return Err(WalkError::Branches { owner: name(pod, &owner), count: owners.len() });
        }
        walk.owners.push(object);
        next = owners.pop();
    }
    Ok(walk)
}

pub(crate) fn key(pod: &Pod, owner: &OwnerRef) -> ObjectKey {
    ObjectKey { gvk: owner.gvk(), namespace: pod.namespace.to_string(), name: owner.name.clone() }
}

fn name(pod: &Pod, owner: &OwnerRef) -> String {
    // All of it but the namespace is what a user wrote.
    let shown = |text: &str| text.chars().take(SHOWN_MAX).flat_map(char::escape_debug).collect();
    let [kind, name, uid]: [String; 3] = [&*owner.kind, &*owner.name, &*owner.uid].map(shown);
    format!("{kind} {}/{name} (uid {uid})", pod.namespace)
}

/// Tells whether a read failed because the API server does not serve the kind.
///
/// An object that is missing is no error of a read, so a 404 is that of the kind's discovery.
pub(crate) fn is_unserved(error: &kube::Error) -> bool {
    matches!(error, kube::Error::Discovery(_))
        || matches!(error, kube::Error::Api(status) if status.code == 404)
}

impl WalkError {
    /// Tells whether an owner is gone, as it is for a moment before its pods are.
    pub(crate) fn is_gone(&self) -> bool {
        matches!(self, Self::Gone { .. } | Self::Replaced { .. })
    }
}

/// Tells whether a pod has the group of an owner above all that were read: somebody could read that owner then. Some rules
/// take one of those below the top for the whole.
async fn is_grouped_above(store: &Store, pod: &Pod, owners: &[Arc<Object>]) -> bool {
    let Some(name) = pod.annotation(names::annotation::POD_GROUP) else { return false };
    let group = store.group(&Key::new(&pod.namespace, name)).await;
    let top = group.as_ref().and_then(|group| group.annotation(names::annotation::TOP_OWNER));
    let mut uids =
        top.into_iter().flat_map(str::lines).filter_map(|line| line.strip_prefix("uid: "));
    let is_read =
        |uid: &str| *uid == *pod.uid.to_string() || owners.iter().any(|owner| owner.uid() == uid);
    uids.any(|uid| !is_read(uid.trim_matches('"')))
}

/// The metadata of an owner; `None` when it may not be read.
async fn read(
    cache: &Cache,
    store: &Store,
    pod: &Pod,
    owner: &OwnerRef,
    below: &[Arc<Object>],
) -> Result<Option<Arc<Object>>, WalkError> {
    if owner.api_version == "v1" && owner.kind == "Pod" {
        let stored = store.pod(&Key::new(&pod.namespace, &owner.name));
        if let Some(stored) = stored.filter(|stored| stored.uid == *owner.uid) {
            return Ok(Some(Arc::new(stored.to_object())));
        }
    }
    let key = key(pod, owner);
    let failed = |source: kube::Error| {
        let owner = name(pod, owner);
        if is_unserved(&source) {
            return WalkError::UnknownKind { owner, kind: key.gvk.clone() };
        }
        WalkError::Read { owner, source }
    };
    let mut is_second_look = false;
    loop {
        let found = cache.read(&key, Part::Metadata).await.map_err(failed)?;
        match found {
            Found::Object(object) if object.uid() == owner.uid => return Ok(Some(object)),
            // What is kept may be an older object of the name: look once more, at the server.
            Found::Object(_) if is_second_look => {
                return Err(WalkError::Replaced { owner: name(pod, owner) });
            }
            Found::Object(_) => {
                is_second_look = true;
                cache.forget(&key).await;
            }
            Found::Absent => return Err(WalkError::Gone { owner: name(pod, owner) }),
            // Rights that are withdrawn for a moment would have the pods of a gang grouped one by one, in the default queue.
            Found::Forbidden(_)
                if is_grouped_above(store, pod, below).await
                    && cache.expects(&key).await.map_err(failed)? => {}
            Found::Forbidden(_) => return Ok(None),
            Found::TooLarge(why) => {
                return Err(WalkError::TooLarge { owner: name(pod, owner), why });
            }
        }
    }
}
