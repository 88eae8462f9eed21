//! Content negotiation: which form of answer the client asked for.

use http::HeaderMap;
use http::header::{ACCEPT, CONTENT_TYPE};

use super::refusal::{ApiResult, Refusal};

/// The form of an answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Format {
    /// The objects as JSON.
    Json,
    /// The objects as YAML.
    Yaml,
    /// A `meta.k8s.io/v1` Table, as `kubectl get` asks.
    Table,
    /// `PartialObjectMetadata`: apiVersion, kind and metadata only.
    Metadata,
    /// Aggregated discovery, version 2.
    Discovery,
}

const OFFERED: &str = "only the following media types are accepted: application/json, application/yaml, \
    application/json;as=Table;v=v1;g=meta.k8s.io, application/json;as=PartialObjectMetadata;v=v1;g=meta.k8s.io, \
    application/json;as=PartialObjectMetadataList;v=v1;g=meta.k8s.io";

/// Chooses the first form of the `Accept` header that this server has.
pub(crate) fn format(headers: &HeaderMap) -> ApiResult<Format> {
    let mut seen = false;
    for header in headers.get_all(ACCEPT) {
        for range in header.to_str().unwrap_or_default().split(',') {
            seen = true;
            if let Some(format) = offered(range) {
                return Ok(format);
            }
        }
    }
    if seen { Err(Refusal::new(406, "NotAcceptable", OFFERED)) } else { Ok(Format::Json) }
}

fn offered(range: &str) -> Option<Format> {
    let mut parts = range.split(';').map(str::trim);
    let media = parts.next()?.to_ascii_lowercase();
    let (mut form, mut version, mut group) = ("", "", "");
    for part in parts {
        match part.split_once('=') {
            Some(("as", value)) => form = value,
            Some(("v", value)) => version = value,
            Some(("g", value)) => group = value,
            _ => {}
        }
    }
    match (media.as_str(), form, version, group) {
        ("application/json" | "*/*" | "application/*", "", _, _) => Some(Format::Json),
        ("application/yaml", "", _, _) => Some(Format::Yaml),
        ("application/json", "Table", "v1", "meta.k8s.io") => Some(Format::Table),
        (
            "application/json",
            "PartialObjectMetadata" | "PartialObjectMetadataList",
            "v1",
            "meta.k8s.io",
        ) => Some(Format::Metadata),
        ("application/json", "APIGroupDiscoveryList", "v2", "apidiscovery.k8s.io") => {
            Some(Format::Discovery)
        }
        _ => None,
    }
}

/// The media type of the request body, without parameters; JSON when absent.
pub(crate) fn content_type(headers: &HeaderMap) -> String {
    let text = headers.get(CONTENT_TYPE).and_then(|value| value.to_str().ok()).unwrap_or_default();
    let media = text.split(';').next().unwrap_or_default().trim().to_ascii_lowercase();
    if media.is_empty() || media == "*/*" { "application/json".to_owned() } else { media }
}

/// The refusal of a body in a form that this server does not read.
pub(crate) fn unsupported_body(media: &str, accepted: &str) -> Refusal {
    let message = format!(
        "the body of the request was in an unknown format ({media}) - accepted media types include: {accepted}"
    );
    Refusal::new(415, "UnsupportedMediaType", message)
}
