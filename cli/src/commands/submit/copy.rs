//! `submit --from NAME`: a workload that is there already, as it was submitted, under another name.

mod change;

use serde_json::Value;

use super::request::Request;
use super::{Document, claims, cleaned, code, unified};
use crate::cluster::json::text;
use crate::cluster::{Call, Cluster, Resource, kinds, listing};
use crate::context::Context;
use crate::print::error::{Error, Exit, Problem, number};
use crate::workload::{Loaded, Workload, load_readable};

/// The workload of `--from`.
#[derive(Debug)]
pub(super) struct Copy {
    /// As it was submitted.
    original: Value,
    label: String,
}

/// Finds the workload, and makes the document that is to be submitted from it.
///
/// # Errors
/// There is none, it was not read, or a flag has no place in it.
pub(super) async fn document(
    word: &str,
    request: &mut Request,
    context: &mut Context,
) -> Result<(Document, Copy), Error> {
    let cluster = context.cluster().await?;
    let loaded = load_readable(&cluster, Some(&cluster.namespace)).await?;
    let workload = loaded.one(word, &format!("namespace {}", cluster.namespace))?;
    let (object, resource) = read(workload, &cluster).await?;
    let original = cleaned::cleaned(&object);
    code::check_copy(&original, request.code.as_ref())?;
    claims::check_copy(&original, &workload.name, request.gpu.as_ref())?;
    if request.name.is_empty() {
        request.name = next_name(&workload.name, &loaded, name_max(&object));
    }
    let mut copy = original.clone();
    cleaned::rename(&mut copy, &workload.name, &request.name);
    change::apply(&mut copy, request).map_err(Error::Problems)?;
    let document = Document {
        is_workload: true,
        resource: Some(resource.clone()),
        ..Document::new(copy, &workload.label())
    };
    let copy = Copy { original, label: workload.label() };
    Ok((document, copy))
}

/// Reads the object itself: a list leaves parts of it out.
async fn read(workload: &Workload, cluster: &Cluster) -> Result<(Value, Resource), Error> {
    let resource = &workload.resource;
    let known = kinds::find(&resource.api_version(), &resource.kind);
    let plural = known.map_or(resource.plural.as_str(), |kind| kind.plural);
    let resource = Resource::new(&resource.api_version(), &resource.kind, plural);
    let call =
        Call::new("get", &resource).namespace(Some(&workload.namespace)).name(&workload.name);
    let object = if plural.is_empty() {
        None
    } else {
        cluster.get(&call).await.map_err(|failure| cluster.explain(&call, &failure))?
    };
    let missing = || {
        let what = format!("{} was not read, so it cannot be copied", workload.label());
        Problem::new(number::UNSUPPORTED, Exit::NotFound, what)
            .fix("submit its manifest: kubectl kai submit -f FILE")
    };
    object.map(|object| (object, resource)).ok_or_else(|| missing().into())
}

fn name_max(object: &Value) -> usize {
    kinds::find(text(&object["apiVersion"]), text(&object["kind"])).map_or(63, |kind| kind.name_max)
}

/// The name with the next number that no workload has.
fn next_name(name: &str, loaded: &Loaded, max: usize) -> String {
    let is_number = |end: &str| !end.is_empty() && end.bytes().all(|b| b.is_ascii_digit());
    let stem = match name.rsplit_once('-') {
        Some((stem, end)) if is_number(end) && end.len() < 5 => stem,
        Some(_) | None => name,
    };
    let is_free = |name: &str| loaded.workloads.iter().all(|other| other.name != name);
    let numbered = (2_u32..).map(|n| {
        let end = format!("-{n}");
        let stem: String = stem.chars().take(max.saturating_sub(end.len())).collect();
        format!("{}{end}", stem.trim_end_matches('-'))
    });
    numbered.into_iter().find(|name| is_free(name)).unwrap_or_default()
}

impl Copy {
    /// Says what is different from the original.
    pub(super) fn tell(&self, document: &Document, context: &mut Context) {
        if let Some(difference) = self.difference(document) {
            context.out.talk(&difference);
        }
    }

    /// The difference to the original; none where there is none.
    pub(super) fn difference(&self, document: &Document) -> Option<String> {
        let to = listing::name(&document.object);
        unified::unified(&self.label, &to, &self.original, &document.object)
    }
}
