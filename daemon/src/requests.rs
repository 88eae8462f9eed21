//! Counts what this process asks of the API server, by the names of client-go's metrics, which dashboards have.

use std::pin::Pin;
use std::sync::LazyLock;
use std::task::{Context, Poll};

use http::{Request, Response};
use kube::Config;
use prometheus::{HistogramOpts, HistogramVec, IntCounterVec, Opts};
use tokio::time::Instant;
use tower::{Layer, Service};

use crate::metrics::Register;

/// Bounds of the buckets, in seconds, as client-go has them.
const BUCKETS: [f64; 14] =
    [0.005, 0.025, 0.1, 0.25, 0.5, 1.0, 2.0, 4.0, 8.0, 15.0, 30.0, 45.0, 60.0, 120.0];

/// Holds what the clients of this process asked.
static SHARED: LazyLock<Requests> = LazyLock::new(Requests::new);

/// Makes a layer that counts what a client with this configuration asks.
pub fn counted(config: &Config) -> CountLayer {
    let host = config.cluster_url.authority().map_or("", |authority| authority.as_str());
    CountLayer { host: host.to_owned(), requests: SHARED.clone() }
}

/// Serves what is counted with the metrics of a daemon.
///
/// # Errors
/// Where the names are taken.
pub fn register(register: &Register) -> Result<(), prometheus::Error> {
    SHARED.register(register)
}

/// Holds the metrics.
#[derive(Clone, Debug)]
struct Requests {
    total: IntCounterVec,
    seconds: HistogramVec,
}

impl Requests {
    fn new() -> Self {
        let total = Opts::new(
            "rest_client_requests_total",
            "Requests to the API server by code (<error>: no answer), method and host",
        );
        let seconds = HistogramOpts::new(
            "rest_client_request_duration_seconds",
            "From a request to the head of its answer, by verb and host",
        );
        let seconds = seconds.buckets(BUCKETS.to_vec());
        Self {
            total: IntCounterVec::new(total, &["code", "method", "host"]).expect("names"),
            seconds: HistogramVec::new(seconds, &["verb", "host"]).expect("names"),
        }
    }

    fn register(&self, register: &Register) -> Result<(), prometheus::Error> {
        register.add(self.total.clone())?;
        register.add(self.seconds.clone())
    }
}

/// Counts the requests of a client.
#[derive(Clone, Debug)]
pub struct CountLayer {
    host: String,
    requests: Requests,
}

impl CountLayer {
    fn asked(&self, method: &str, code: &str, since: Instant) {
        self.requests.total.with_label_values(&[code, method, &self.host]).inc();
        let seconds = since.elapsed().as_secs_f64();
        self.requests.seconds.with_label_values(&[method, &self.host]).observe(seconds);
    }
}

impl<S> Layer<S> for CountLayer {
    type Service = Counted<S>;

    fn layer(&self, inner: S) -> Counted<S> {
        Counted { inner, counts: self.clone() }
    }
}

/// A service whose requests are counted.
#[derive(Clone, Debug)]
pub struct Counted<S> {
    inner: S,
    counts: CountLayer,
}

impl<S, B, A> Service<Request<B>> for Counted<S>
where
    S: Service<Request<B>, Response = Response<A>>,
    S::Future: Send + 'static,
{
    type Response = S::Response;
    type Error = S::Error;
    type Future = Pin<Box<dyn Future<Output = Result<S::Response, S::Error>> + Send>>;

    fn poll_ready(&mut self, context: &mut Context<'_>) -> Poll<Result<(), S::Error>> {
        self.inner.poll_ready(context)
    }

    fn call(&mut self, request: Request<B>) -> Self::Future {
        let (method, since) = (request.method().clone(), Instant::now());
        let (answer, counts) = (self.inner.call(request), self.counts.clone());
        Box::pin(async move {
            let answer = answer.await;
            match &answer {
                Ok(answer) => counts.asked(method.as_str(), answer.status().as_str(), since),
                Err(_) => counts.asked(method.as_str(), "<error>", since),
            }
            answer
        })
    }
}

#[cfg(test)]
mod tests {
    use http::{Method, StatusCode};
    use prometheus::{Encoder as _, TextEncoder};
    use tower::ServiceExt as _;

    use super::*;

    #[tokio::test]
    async fn requests_are_counted_by_how_they_ended() {
        let requests = Requests::new();
        let register = Register::default();
        requests.register(&register).expect("names");
        let answers = tower::service_fn(|request: Request<()>| async move {
            let code = match *request.method() {
                Method::GET => StatusCode::OK,
                Method::PATCH => StatusCode::CONFLICT,
                _ => return Err("away"),
            };
            let mut answer = Response::new(());
            *answer.status_mut() = code;
            Ok(answer)
        });
        let service = CountLayer { host: "api:443".to_owned(), requests }.layer(answers);
        for method in [Method::GET, Method::GET, Method::PATCH, Method::POST] {
            let mut request = Request::new(());
            *request.method_mut() = method;
            let _ = service.clone().oneshot(request).await;
        }
        let mut text = Vec::new();
        TextEncoder::new().encode(&register.gather(), &mut text).expect("text");
        let text = String::from_utf8(text).expect("text");
        for (code, method, count) in
            [("200", "GET", 2), ("409", "PATCH", 1), ("<error>", "POST", 1)]
        {
            let line = format!(
                "rest_client_requests_total{{code=\"{code}\",host=\"api:443\",method=\"{method}\"}} {count}\n"
            );
            assert!(text.contains(&line), "{line}{text}");
        }
        let line = "rest_client_request_duration_seconds_count{host=\"api:443\",verb=\"GET\"} 2\n";
        assert!(text.contains(line), "{text}");
    }
}
