//! One line of a watch, or one page of a list, taken apart without reading the objects.

use bytes::Bytes;
use serde::Deserialize;
use serde_json::value::RawValue;

use crate::server::wire::{Meta, Text};

/// A line of a watch.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Line {
    /// An object that is as given.
    Applied(Bytes),
    /// An object that is gone.
    Deleted(Bytes),
    /// A point to resume at, perhaps the end of the initial list.
    Bookmark { version: String, ends_list: bool },
}

/// Says why a list or a watch ended.
#[derive(thiserror::Error, Debug)]
pub(super) enum Problem {
    #[error("the stream ended")]
    Ended,
    #[error("nobody listens any more")]
    Closed,
    #[error("the resource version is too old (410)")]
    Expired,
    #[error("the server does not stream lists")]
    ListsNotStreamed,
    #[error("the API server answered {code}: {message}")]
    Refused { code: u16, message: String },
    #[error("{0}")]
    Broken(String),
}

impl Problem {
    pub(super) fn silent() -> Self {
        Self::Broken(String::from("the server is silent"))
    }

    /// Any error of transport or decoding, with its causes.
    pub(super) fn broken(error: impl std::error::Error + 'static) -> Self {
        Self::Broken(kai_daemon::process::causes(&error))
    }
}

/// The metadata of a list.
#[derive(Default, Deserialize, Debug)]
#[serde(rename_all = "camelCase", default)]
pub(super) struct ListMeta {
    pub(super) resource_version: String,
    #[serde(rename = "continue")]
    pub(super) continue_token: Option<String>,
}

#[derive(Deserialize)]
struct Typed<'a> {
    #[serde(rename = "type", borrow)]
    event: Text<'a>,
    #[serde(borrow)]
    object: &'a RawValue,
}

#[derive(Deserialize)]
struct Metadata<'a> {
    #[serde(borrow)]
    metadata: Meta<'a>,
}

#[derive(Deserialize)]
struct Status<'a> {
    #[serde(default)]
    code: u16,
    #[serde(borrow, default)]
    message: Text<'a>,
}

/// The annotation on the bookmark that ends a streamed list.
const LIST_ENDS: &str = "k8s.io/initial-events-end";

/// Takes one line apart. The server writes the type first, so that most lines need no parsing.
pub(super) fn decode(line: &Bytes) -> Result<Line, Problem> {
    for prefix in [&br#"{"type":"ADDED","object":"#[..], br#"{"type":"MODIFIED","object":"#] {
        if line.starts_with(prefix) && line.ends_with(b"}") {
            return Ok(Line::Applied(line.slice(prefix.len()..line.len() - 1)));
        }
    }
    let typed: Typed<'_> = serde_json::from_slice(line).map_err(Problem::broken)?;
    let object = line.slice_ref(typed.object.get().as_bytes());
    match &*typed.event {
        "ADDED" | "MODIFIED" => Ok(Line::Applied(object)),
        "DELETED" => Ok(Line::Deleted(object)),
        "BOOKMARK" => bookmark(&object),
        "ERROR" => Err(error(&object)),
        other => Err(Problem::Broken(format!("unknown event type {other}"))),
    }
}

fn bookmark(object: &[u8]) -> Result<Line, Problem> {
    let Metadata { metadata } = serde_json::from_slice(object).map_err(Problem::broken)?;
    Ok(Line::Bookmark {
        version: metadata.resource_version.to_string(),
        ends_list: metadata.annotations.value(LIST_ENDS) == Some("true"),
    })
}

fn error(object: &[u8]) -> Problem {
    match serde_json::from_slice::<Status<'_>>(object) {
        Ok(Status { code: 410, .. }) => Problem::Expired,
        Ok(status) => Problem::Refused { code: status.code, message: status.message.to_string() },
        Err(error) => Problem::broken(error),
    }
}

/// Takes one page of a list apart.
pub(super) fn page(bytes: &Bytes) -> Result<(Vec<Bytes>, ListMeta), Problem> {
    #[derive(Deserialize)]
    struct Page<'a> {
        #[serde(default)]
        metadata: ListMeta,
        #[serde(borrow, default)]
        items: Option<Vec<&'a RawValue>>,
    }
    let page: Page<'_> = serde_json::from_slice(bytes).map_err(Problem::broken)?;
    let items = page.items.unwrap_or_default();
    let objects = items.iter().map(|item| bytes.slice_ref(item.get().as_bytes())).collect();
    Ok((objects, page.metadata))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn decode_text(line: &'static str) -> Result<Line, Problem> {
        decode(&Bytes::from_static(line.as_bytes()))
    }

    #[test]
    fn a_line_is_its_type_and_its_object() {
        for (line, expected) in [
            (r#"{"type":"ADDED","object":{"a":1}}"#, Line::Applied(Bytes::from(r#"{"a":1}"#))),
            (r#"{"object":{"a":1},"type":"MODIFIED"}"#, Line::Applied(Bytes::from(r#"{"a":1}"#))),
            (r#"{"type":"DELETED","object":{}}"#, Line::Deleted(Bytes::from("{}"))),
            (
                r#"{"type":"BOOKMARK","object":{"metadata":{"resourceVersion":"7"}}}"#,
                Line::Bookmark { version: String::from("7"), ends_list: false },
            ),
            (
                concat!(
                    r#"{"type":"BOOKMARK","object":{"metadata":{"resourceVersion":"8","#,
                    r#""annotations":{"k8s.io/initial-events-end":"true"}}}}"#
                ),
                Line::Bookmark { version: String::from("8"), ends_list: true },
            ),
        ] {
            assert_eq!(decode_text(line).expect("a valid line"), expected, "{line}");
        }
    }

    #[test]
    fn an_error_in_the_stream_is_told_apart() {
        let gone = decode_text(r#"{"type":"ERROR","object":{"kind":"Status","code":410}}"#);
        assert!(matches!(gone, Err(Problem::Expired)), "{gone:?}");
        let other = decode_text(r#"{"type":"ERROR","object":{"code":500,"message":"no"}}"#);
        assert!(matches!(other, Err(Problem::Refused { code: 500, .. })), "{other:?}");
        let torn = decode_text(r#"{"type":"DELETED","obj"#);
        assert!(matches!(torn, Err(Problem::Broken(_))), "{torn:?}");
    }

    #[test]
    fn a_page_is_its_items_and_where_it_goes_on() {
        let text = r#"{"metadata":{"resourceVersion":"5","continue":"x"},"items":[{"a":1},{}]}"#;
        let (items, meta) = page(&Bytes::from_static(text.as_bytes())).expect("a valid page");
        assert_eq!(items, [Bytes::from(r#"{"a":1}"#), Bytes::from("{}")]);
        assert_eq!((&*meta.resource_version, meta.continue_token.as_deref()), ("5", Some("x")));
        let (none, _) = page(&Bytes::from_static(br#"{"items":null}"#)).expect("a valid page");
        assert!(none.is_empty());
    }
}
