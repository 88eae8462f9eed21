//! Answers: whole ones and streams, with their headers.

use std::convert::Infallible;

use bytes::Bytes;
use futures::{Stream, StreamExt};
use http::header::{CONTENT_TYPE, RETRY_AFTER, WARNING};
use http::{HeaderValue, Response, StatusCode};
use http_body_util::combinators::UnsyncBoxBody;
use http_body_util::{BodyExt, Full, StreamBody};
use hyper::body::Frame;
use serde_json::Value;

use super::refusal::Refusal;

/// The body of every answer.
pub(crate) type Body = UnsyncBoxBody<Bytes, Infallible>;
/// Every answer.
pub(crate) type Reply = Response<Body>;

/// An answer with a whole body.
pub(crate) fn whole(code: u16, media: &'static str, body: impl Into<Bytes>) -> Reply {
    let mut reply = Response::new(Full::new(body.into()).boxed_unsync());
    *reply.status_mut() = StatusCode::from_u16(code).expect("codes are constants of this server");
    reply.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static(media));
    reply
}

/// A JSON answer.
pub(crate) fn json(code: u16, value: &Value) -> Reply {
    whole(code, "application/json", value.to_string())
}

/// An answer whose body comes in pieces.
pub(crate) fn stream<S>(media: &'static str, pieces: S) -> Reply
where
    S: Stream<Item = Bytes> + Send + 'static,
{
    let frames = pieces.map(|piece| Ok(Frame::data(piece)));
    let mut reply = Response::new(StreamBody::new(frames).boxed_unsync());
    reply.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static(media));
    reply
}

/// The answer after which the connection is another protocol's.
pub(crate) fn switch(answer: http::response::Builder) -> Reply {
    let body = Full::new(Bytes::new()).boxed_unsync();
    answer.body(body).expect("its headers are words of this server and a hash")
}

/// A refusal as its `Status`.
pub(crate) fn refusal(refusal: &Refusal) -> Reply {
    let mut reply = json(refusal.code(), &refusal.to_json());
    if let Some(seconds) = refusal.retry_after_seconds() {
        reply.headers_mut().insert(RETRY_AFTER, HeaderValue::from(seconds));
    }
    reply
}

/// Adds `Warning` headers, as kubectl prints them.
pub(crate) fn warn(reply: &mut Reply, warnings: &[String]) {
    for warning in warnings {
        let clean: String = warning.chars().filter(|letter| !letter.is_control()).collect();
        let text = format!("299 - \"{}\"", clean.replace('\\', "\\\\").replace('"', "\\\""));
        if let Ok(value) = HeaderValue::from_bytes(text.as_bytes()) {
            reply.headers_mut().append(WARNING, value);
        }
    }
}
