//! Admission of pods as they are made: the product's own review, without the sockets over which a server asks for it.

use std::sync::{Arc, Mutex, PoisonError};

use http::{Method, Request, header};
use http_body_util::BodyExt;
use kai_podgrouper::admission::settings::Settings;
use kai_sim::generate::Seed;
use kube::{Client, client::Body};
use serde_json::Value;

use super::{
    link::{Answer, Boxed},
    refusal::refusal,
    weather::Weather,
};
use crate::admission::{admitted_pod, settings};

/// Admission does not answer at one pod in so many.
const FAULT_IN: u64 = 60;

/// Gives a client whose pods are admitted on the way to where `inner` leads.
pub(super) fn client(inner: Client, seed: Seed, weather: &Arc<Weather>) -> Client {
    let settings = Arc::new(settings());
    let state = Arc::new(Mutex::new((seed, 0_u64)));
    let weather = Arc::clone(weather);
    let service = tower::service_fn(move |request: Request<Body>| {
        let (inner, settings) = (inner.clone(), Arc::clone(&settings));
        let (state, weather) = (Arc::clone(&state), Arc::clone(&weather));
        async move {
            if request.method() != Method::POST || !request.uri().path().ends_with("/pods") {
                return sent(inner, request).await;
            }
            let (is_drawn, at, token) = {
                let mut state = state.lock().unwrap_or_else(PoisonError::into_inner);
                state.1 += 1;
                let is_drawn = state.0.one_in(FAULT_IN);
                (is_drawn, format!("admission/{}", state.1), token(&mut state.0))
            };
            if weather.is_bad() && weather.has(&at, is_drawn, "admission") {
                return Ok(refusal(500));
            }
            sent(inner, admitted(request, &settings, &token).await?).await
        }
    });
    Client::new(service, "default")
}

async fn sent(inner: Client, request: Request<Body>) -> Result<Answer, Boxed> {
    let answer = inner.send(request).await?;
    Ok(answer.map(|body| body.map_err(Boxed::from).boxed_unsync()))
}

/// The request with its pod as admission changes it.
async fn admitted(
    request: Request<Body>,
    settings: &Settings,
    token: &str,
) -> Result<Request<Body>, Boxed> {
    let (mut parts, body) = request.into_parts();
    let pod: Value = serde_json::from_slice(&body.collect().await?.to_bytes())?;
    let namespace = parts.uri.path().split('/').nth_back(1).unwrap_or_default();
    let pod = admitted_pod(pod, namespace, settings, token)?;
    parts.headers.remove(header::CONTENT_LENGTH);
    Ok(Request::from_parts(parts, Body::from(pod.to_string().into_bytes())))
}

/// Seven letters or digits, for the names of what belongs to a pod.
fn token(draw: &mut Seed) -> String {
    let letters: Vec<char> = ('a'..='z').chain('0'..='9').collect();
    (0..7).map(|_| *draw.pick(&letters)).collect()
}
