//! Pages of lists whose bytes are bounded: whoever may write objects makes some of the largest there can be.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use http::request::Parts;
use http::{Request, Response, Uri};
use http_body_util::{BodyExt as _, LengthLimitError, Limited};
use kube::client::{Body, Client};

/// Bounds the memory of one page, which lies there three times while it is read.
pub(super) const BYTES_MAX: usize = 16 << 20;

/// So many objects are listed at once where nobody says how many, and so many times fewer where they are too large together.
pub(super) const PAGE: u32 = 50;
pub(super) const SHRINK: u32 = 4;

/// Makes a client whose pages have as many of the objects that were asked for as fit in so many bytes, and one at least. Watches
/// go on for ever.
pub(super) fn bounded(client: Client, bytes_max: usize) -> Client {
    let namespace = client.default_namespace().to_owned();
    let count = Arc::new(AtomicU32::new(u32::MAX));
    let service = tower::service_fn(move |request: Request<Body>| {
        let (client, count) = (client.clone(), count.clone());
        async move {
            let query = request.uri().query().unwrap_or_default();
            let is_watch = query.split('&').any(|part| matches!(part, "watch=true" | "watch=1"));
            if is_watch {
                return client.send(request).await;
            }
            let (head, _) = request.into_parts();
            page(&client, &head, &count, bytes_max).await
        }
    });
    Client::new(service, namespace)
}

/// Asks for a page of `count` objects, or as many as were asked for, and of fewer until they fit. The next one has more again
/// where these were small.
async fn page(
    client: &Client,
    head: &Parts,
    count: &AtomicU32,
    bytes_max: usize,
) -> Result<Response<Body>, kube::Error> {
    let asked = limit(&head.uri);
    loop {
        let now = count.load(Ordering::Relaxed).min(asked);
        let mut head = head.clone();
        head.uri = limited(&head.uri, now).map_err(kube::Error::HttpError)?;
        let answer = client.send(Request::from_parts(head, Body::empty())).await?;
        let (head, body) = answer.into_parts();
        let most = if now > 1 { bytes_max } else { usize::MAX };
        match Limited::new(body, most).collect().await {
            Ok(read) => {
                let bytes = read.to_bytes();
                if bytes.len() <= bytes_max / SHRINK as usize {
                    count.fetch_max(now.saturating_mul(SHRINK), Ordering::Relaxed);
                }
                return Ok(Response::from_parts(head, Body::from(bytes)));
            }
            Err(error) if error.is::<LengthLimitError>() => {
                tracing::debug!(count = now, "asking for a smaller page: the objects are large");
                count.store((now / SHRINK).max(1), Ordering::Relaxed);
            }
            Err(error) => return Err(kube::Error::Service(error)),
        }
    }
}

/// The number of objects that an address asks for.
fn limit(uri: &Uri) -> u32 {
    let mut query = uri.query().unwrap_or_default().split('&');
    let limit = query.find_map(|part| part.strip_prefix("limit="));
    limit.and_then(|limit| limit.parse().ok()).unwrap_or(PAGE)
}

/// Gives the address with another limit.
fn limited(uri: &Uri, limit: u32) -> Result<Uri, http::Error> {
    let query = uri.query().unwrap_or_default().split('&');
    let query = query.map(|part| {
        if part.starts_with("limit=") { format!("limit={limit}") } else { part.to_owned() }
    });
    let query = query.collect::<Vec<_>>().join("&");
    let mut parts = uri.clone().into_parts();
    parts.path_and_query = Some(format!("{}?{query}", uri.path()).parse()?);
    Ok(Uri::from_parts(parts)?)
}

#[cfg(test)]
mod tests {
    use std::sync::Mutex;

    use super::*;

    #[tokio::test]
    async fn a_page_has_as_many_objects_as_fit() {
        let told = Arc::new(Mutex::new(Vec::new()));
        let asked = told.clone();
        // Objects have as many bytes as the path says.
        let server = tower::service_fn(move |request: Request<Body>| {
            let uri = request.uri();
            let bytes: usize = uri.path().trim_start_matches('/').parse().expect("a number");
            let mut parts = uri.query().unwrap_or_default().split('&');
            let limit = parts.find_map(|part| part.strip_prefix("limit="));
            let limit: usize = limit.unwrap_or_default().parse().expect("a number");
            asked.lock().expect("nobody panics with it").push(limit);
            let body = Body::from(vec![b'x'; bytes * limit]);
            std::future::ready(Response::builder().status(200).body(body))
        });
        let client = bounded(Client::new(server, "default"), 100);
        for (path, limits) in [
            ("/1?limit=50", vec![50]),
            ("/3?limit=50", vec![50, 12]),
            ("/1?limit=50&continue=c", vec![12]),
            ("/1?limit=50", vec![48]),
            ("/200?limit=50", vec![48, 12, 3, 1]),
            ("/200?limit=50", vec![1]),
            ("/1?limit=50", vec![1]),
            ("/1?limit=50", vec![4]),
            ("/1?limit=50", vec![16]),
            ("/1?limit=50", vec![50]),
            ("/1?limit=90", vec![64]),
            ("/1?limit=7", vec![7]),
            ("/1?limit=90", vec![64]),
            ("/200?limit=50&watch=true", vec![50]),
        ] {
            let request = Request::get(path).body(Vec::new()).expect("a request");
            let text = client.request_text(request).await.expect("it is answered");
            let asked = std::mem::take(&mut *told.lock().expect("nobody panics with it"));
            assert_eq!(asked, limits, "{path}");
            let bytes: usize =
                path[1..].split('?').next().unwrap_or_default().parse().expect("a number");
            assert_eq!(Some(text.len()), limits.last().map(|limit| limit * bytes), "{path}");
        }
    }
}
