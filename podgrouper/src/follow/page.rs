//! Pages of lists whose bytes are bounded: whoever may write objects makes some of the largest there can be.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use http::Request;
use http_body_util::{BodyExt as _, LengthLimitError, Limited};
use kube::client::{Body, Client};

/// Bounds the memory of one page, which lies there three times while it is read.
pub(super) const BYTES_MAX: usize = 16 << 20;

/// Says that a page was given up for its size.
#[derive(Debug, Clone, Default)]
pub(super) struct Overlong(Arc<AtomicBool>);

impl Overlong {
    /// Tells whether one was since the last call.
    pub(super) fn take(&self) -> bool {
        self.0.swap(false, Ordering::Relaxed)
    }
}

/// Makes a client whose answers fail beyond so many bytes, which `overlong` says then. Watches go on for ever.
pub(super) fn bounded(client: Client, bytes_max: usize, overlong: Overlong) -> Client {
    let namespace = client.default_namespace().to_owned();
    let service = tower::service_fn(move |request: Request<Body>| {
        let (client, overlong) = (client.clone(), overlong.clone());
        async move {
            let query = request.uri().query().unwrap_or_default();
            let is_watch = query.split('&').any(|part| matches!(part, "watch=true" | "watch=1"));
            let bytes_max = if is_watch { usize::MAX } else { bytes_max };
            let answer = client.send(request).await?;
            Ok::<_, kube::Error>(answer.map(|body| {
                Limited::new(body, bytes_max).map_err(move |error| {
                    if error.is::<LengthLimitError>() {
                        overlong.0.store(true, Ordering::Relaxed);
                    }
                    error
                })
            }))
        }
    });
    Client::new(service, namespace)
}

#[cfg(test)]
mod tests {
    use http::Response;

    use super::*;

    #[tokio::test]
    async fn an_answer_that_is_too_long_is_given_up_unless_it_is_a_watch() {
        for (path, text, is_overlong) in [
            ("/pods", "12345678", false),
            ("/pods", "123456789", true),
            ("/pods?limit=1&watch=true", "123456789", false),
        ] {
            let server = tower::service_fn(move |_: Request<Body>| {
                let body = Body::from(text.as_bytes().to_vec());
                std::future::ready(Response::builder().status(200).body(body))
            });
            let overlong = Overlong::default();
            let client = bounded(Client::new(server, "default"), 8, overlong.clone());
            let request = Request::get(path).body(Vec::new()).expect("a request");
            let answer = client.request_text(request).await;
            assert_eq!(answer.is_err(), is_overlong, "{path} {text}");
            assert_eq!([overlong.take(), overlong.take()], [is_overlong, false], "{path} {text}");
        }
    }
}
