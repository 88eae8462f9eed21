//! `submit --diff`: what is there beside what would be, and nothing is created.

use serde_json::{Value, json};

use super::copy::Copy;
use super::create::there::rehearsed;
use super::{Document, cleaned, unified};
use crate::cluster::{Call, Cluster, Resource, listing};
use crate::context::Context;
use crate::print::error::{Error, Exit};

/// Prints the differences; the exit code tells whether there are any.
///
/// # Errors
/// The server refuses a document, or cannot be asked.
pub(super) async fn show(
    documents: &[Document],
    copy: Option<&Copy>,
    cluster: &Cluster,
    context: &mut Context,
) -> Result<Exit, Error> {
    let mut exit = Exit::Ok;
    for document in documents {
        let difference = match copy.filter(|_| document.is_workload) {
            Some(copy) => copy.difference(document),
            None => one(document, cluster).await?,
        };
        if let Some(difference) = difference {
            context.out.data(&difference)?;
            exit = Exit::Failure;
        }
    }
    Ok(exit)
}

/// The difference between an object that is there, or nothing, and the document as the server would store it.
async fn one(document: &Document, cluster: &Cluster) -> Result<Option<String>, Error> {
    let name = listing::name(&document.object);
    let (to, from) = (format!("{name} (submitted)"), format!("{name} (there)"));
    let Some(resource) = &document.resource else {
        return Ok(unified::unified(NOTHING, &to, &Value::Null, &document.object));
    };
    let call =
        Call::new("get", resource).namespace(document.namespace(cluster)).name(document.name());
    let there = if document.name().is_empty() {
        None
    } else {
        cluster.get(&call).await.map_err(|failure| cluster.explain(&call, &failure))?
    };
    let mut object = document.object.clone();
    if there.is_some() {
        object["metadata"]["name"] = json!(rehearsed());
    }
    let stored = rehearse(document, &object, resource, cluster).await?;
    let mut new = cleaned::cleaned(&stored);
    let Some(there) = there else {
        return Ok(unified::unified(NOTHING, &to, &Value::Null, &new));
    };
    new["metadata"]["name"] = json!(document.name());
    Ok(unified::unified(&from, &to, &cleaned::cleaned(&there), &new))
}

/// The name of what is not there.
const NOTHING: &str = "nothing";

async fn rehearse(
    document: &Document,
    object: &Value,
    resource: &Resource,
    cluster: &Cluster,
) -> Result<Value, Error> {
    let call =
        Call::new("create", resource).namespace(document.namespace(cluster)).name(document.name());
    match cluster.create(&call, object, true).await {
        Ok(answer) => Ok(answer.body),
        Err(failure) => Err(cluster.explain(&call, &failure)),
    }
}
