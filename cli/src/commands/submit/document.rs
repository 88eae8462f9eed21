//! An object on its way to the API server.

use serde_json::{Value, json};

use crate::cluster::gpu::Total;
use crate::cluster::kinds::Kind;
use crate::cluster::{Call, Cluster, Resource, json, listing, manifest};
use crate::context::Context;
use crate::print::error::Error;

/// An object on its way to the API server.
#[derive(Clone, Debug)]
pub(crate) struct Document {
    pub(crate) object: Value,
    /// Says where it came from, for messages: `job.yaml`, or the template.
    pub(crate) source: String,
    /// Tells whether pods come of it.
    pub(crate) is_workload: bool,
    /// Tells whether it was made for the workload that comes after it, and goes with that.
    pub(crate) is_helper: bool,
    /// The object with the pod templates, where it is not this one.
    pub(crate) made_of: Option<Value>,
    /// Says where the API serves it, once asked.
    pub(crate) resource: Option<Resource>,
    /// Tells whether one that is there as it is written is taken for it.
    pub(crate) may_exist: bool,
    /// The one that was there before, once asked.
    pub(crate) there: Option<There>,
}

/// The object of a document's name that is there already.
#[derive(Clone, Debug)]
pub(crate) enum There {
    /// As the manifest has it.
    Same,
    /// Otherwise, and the API lets it be changed into that.
    Changeable(Value),
    /// Otherwise, and the API does not.
    Fixed(Value),
}

/// Tells whether pods come of an object.
pub(crate) fn is_workload(object: &Value) -> bool {
    match manifest::kind(object) {
        Some(kind) if kind.is_blueprint() => false,
        Some(kind) if kind.sites.is_empty() => true,
        Some(_) | None => !manifest::sites(object).is_empty(),
    }
}

impl Document {
    pub(crate) fn new(object: Value, source: &str) -> Self {
        Self {
            is_workload: is_workload(&object),
            object,
            source: source.into(),
            is_helper: false,
            made_of: None,
            resource: None,
            may_exist: false,
            there: None,
        }
    }

    pub(crate) fn name(&self) -> &str {
        json::text(&self.object["metadata"]["name"])
    }

    pub(crate) fn kind(&self) -> &str {
        json::text(&self.object["kind"])
    }

    pub(crate) fn namespace<'a>(&'a self, cluster: &'a Cluster) -> Option<&'a str> {
        let own = json::text(&self.object["metadata"]["namespace"]);
        let namespaced = self.resource.as_ref().is_none_or(|resource| resource.namespaced);
        namespaced.then_some(if own.is_empty() { cluster.namespace.as_str() } else { own })
    }

    /// Tells whether it is as it was before.
    pub(crate) fn is_unchanged(&self) -> bool {
        matches!(self.there, Some(There::Same))
    }

    /// Says what was done to it.
    pub(crate) fn done(&self) -> &'static str {
        match self.there {
            None => "created",
            Some(There::Same) => "unchanged",
            Some(There::Changeable(_)) => "changed",
            Some(There::Fixed(_)) => "replaced",
        }
    }

    /// Tells whether the request is put into it: it makes pods, or has their templates.
    pub(crate) fn takes_request(&self) -> bool {
        self.is_workload || manifest::kind(&self.object).is_some_and(Kind::is_blueprint)
    }

    /// The object with the pod templates.
    pub(crate) fn templates(&self) -> &Value {
        self.made_of.as_ref().unwrap_or(&self.object)
    }

    /// The pods, and what they ask for.
    pub(crate) fn demand(&self) -> (u64, Total) {
        manifest::demand(self.templates())
    }
}

/// Unties a helper that is there already from the workload that it went with, where that one is deleted to be created
/// anew, or is gone: the garbage collector would take the helper too, after the new workload had begun to need it.
///
/// # Errors
/// The server refuses it, or somebody else changed the helper meanwhile.
pub(super) async fn untied(
    helper: Document,
    owner: Option<&Document>,
    call: &Call<'_>,
    cluster: &Cluster,
) -> Result<Document, Error> {
    let meta = &helper.object["metadata"];
    let Some(owners) = owner.and_then(|owner| owners_kept(meta, owner)) else { return Ok(helper) };
    let patch = json!({"metadata": {
        "uid": meta["uid"], "resourceVersion": meta["resourceVersion"], "ownerReferences": owners,
    }});
    let call = Call { verb: "patch", ..call.clone() };
    let answer = cluster.patch(&call, &patch, false).await;
    let answer = answer.map_err(|failure| cluster.explain(&call, &failure))?;
    Ok(Document { object: answer.body, ..helper })
}

/// The owners that a helper keeps, by its metadata, when a workload of its own is submitted; none where it keeps all.
fn owners_kept(meta: &Value, owner: &Document) -> Option<Vec<Value>> {
    let stays = match &owner.there {
        Some(There::Same) => json::text(&owner.object["metadata"]["uid"]),
        Some(There::Changeable(old)) => json::text(&old["metadata"]["uid"]),
        Some(There::Fixed(_)) | None => "",
    };
    let goes = |one: &Value| {
        one["kind"] == owner.kind() && one["name"] == owner.name() && one["uid"] != stays
    };
    let owners = meta["ownerReferences"].as_array()?;
    let kept: Vec<Value> = owners.iter().filter(|one| !goes(one)).cloned().collect();
    (kept.len() < owners.len()).then_some(kept)
}

/// Has what was made for a workload go with it: each helper is owned by the next workload.
pub(super) async fn own(created: &[Document], cluster: &Cluster, context: &mut Context) {
    for (i, helper) in created.iter().enumerate().filter(|(_, one)| one.is_helper) {
        let Some(owner) = created[i..].iter().find(|one| one.is_workload) else { continue };
        let Some(resource) = &helper.resource else { continue };
        let (meta, of) = (&helper.object["metadata"], &owner.object);
        if meta["ownerReferences"].as_array().is_some_and(|owners| !owners.is_empty()) {
            continue;
        }
        // Both name what was created just now: another of the name is left alone.
        let patch = json!({"metadata": {
            "uid": meta["uid"], "resourceVersion": meta["resourceVersion"],
            "ownerReferences": [{
                "apiVersion": of["apiVersion"], "kind": of["kind"],
                "name": of["metadata"]["name"], "uid": of["metadata"]["uid"],
            }],
        }});
        let call =
            Call::new("patch", resource).namespace(helper.namespace(cluster)).name(helper.name());
        if cluster.patch(&call, &patch, false).await.is_err() {
            let (helper, owner) = (listing::name(&helper.object), listing::name(of));
            context.out.warn(&format!(
                "{helper} could not be tied to {owner}: delete it by hand when that is gone"
            ));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Says which owners a helper of two keeps when the Job `train` is submitted, of which this is there.
    fn check(there: Option<There>, expect: Option<&[&str]>) {
        let job = json!({"kind": "Job", "metadata": {"name": "train", "uid": "old"}});
        let mut owner = Document::new(job, "flags");
        owner.there = there;
        let of =
            |kind: &str, name: &str, uid: &str| json!({"kind": kind, "name": name, "uid": uid});
        let owners = [of("Job", "train", "old"), of("Service", "train", "other")];
        let kept = owners_kept(&json!({ "ownerReferences": owners }), &owner);
        let kept = kept.map(|all| all.iter().map(|one| one["uid"].clone()).collect::<Vec<_>>());
        assert_eq!(kept, expect.map(|all| all.iter().map(|uid| json!(uid)).collect::<Vec<_>>()));
    }

    #[test]
    fn code_and_claims_do_not_go_with_a_workload_that_is_made_anew() {
        let old = || json!({"metadata": {"uid": "old"}});
        check(Some(There::Fixed(old())), Some(&["other"]));
        // It is gone already, and what went with it is about to.
        check(None, Some(&["other"]));
        check(Some(There::Changeable(old())), None);
        check(Some(There::Same), None);
    }
}
