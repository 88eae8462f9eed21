//! Answers of the API server that refuse, as a real one words them.

use http::{Response, StatusCode, header};
use http_body_util::{BodyExt, Full};
use serde_json::json;
use tokio_util::bytes::Bytes;

use super::link::Answer;

/// An answer of the API server that does nothing. Its 429 is plain text.
pub(super) fn refusal(code: u16) -> Answer {
    let (reason, message) = match code {
        401 => ("Unauthorized", "Unauthorized"),
        403 => ("Forbidden", "the user has no right to do this"),
        409 => ("Conflict", "the object has been modified"),
        410 => ("Expired", "too old resource version"),
        503 => ("ServiceUnavailable", "the server is currently unable to handle the request"),
        _ => ("InternalError", "an error on the server has prevented the request"),
    };
    let text = match code {
        429 => String::from("Too many requests, please try again later.\n"),
        _ => json!({
            "kind": "Status", "apiVersion": "v1", "status": "Failure", "code": code,
            "reason": reason, "message": message,
        })
        .to_string(),
    };
    let body = Full::new(Bytes::from(text)).map_err(|never| match never {}).boxed_unsync();
    let mut answer = Response::new(body);
    *answer.status_mut() = StatusCode::from_u16(code).expect("the codes above are codes");
    if code == 429 {
        answer.headers_mut().insert(header::RETRY_AFTER, header::HeaderValue::from_static("1"));
    }
    answer
}
