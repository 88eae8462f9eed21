//! Writes about which somebody may have to be asked first.
//!
//! Where nobody is, a write happens under one lock, from the look at what is there to the store. Else the lock is given back
//! while webhooks are called, and what they said holds only for the state that they were shown.

use std::sync::Arc;

use serde_json::Value;

use crate::server::admission::{Attributes, Operation};
use crate::server::api::Api;
use crate::server::fields::Intent;
use crate::server::object::{self, Object};
use crate::server::read;
use crate::server::refusal::{ApiResult, Refusal};
use crate::server::request::Request;
use crate::server::route::Target;

/// Number of times that a change is made again because the object changed while webhooks were asked, as kube-apiserver
/// does it.
const ATTEMPTS: usize = 5;

/// Function from the state that is there to what a request makes of it.
pub(super) type Make<'a> = &'a (dyn Fn(&Object, &mut Intent<'_>) -> ApiResult<Value> + Send + Sync);

/// Stores a new object, if those who are asked allow it.
pub(super) async fn insert(
    api: &Api,
    request: &Request,
    target: &Target,
    value: Value,
    intent: &mut Intent<'_>,
) -> ApiResult<Arc<Object>> {
    let attributes = Attributes::new(Operation::Create, request, target, intent.params)
        .named(object::name(&value));
    let (mut value, asked) = {
        let mut state = api.write();
        let value = super::begin_insert(&state, target, value, intent)?;
        let Some(asked) = state.asked(&attributes, &value) else {
            let value = super::end_insert(&state, target, value)?;
            return super::store_new(&mut state, target, value, intent);
        };
        (value, asked)
    };
    let settle = |value: &mut Value| super::settle_insert(&api.read(), target, value);
    let old = Value::Null;
    intent.warnings.extend(asked.mutate(&attributes, &mut value, &old, &settle).await?);
    let value = super::end_insert(&api.read(), target, value)?;
    let attributes = attributes.named(object::name(&value));
    intent.warnings.extend(asked.validate(&attributes, &value, &old).await?);
    super::store_new(&mut api.write(), target, value, intent)
}

/// Writes a new state over the one that is there, if those who are asked allow it.
pub(super) async fn replace(
    api: &Api,
    request: &Request,
    target: &Target,
    make: Make<'_>,
    intent: &mut Intent<'_>,
) -> ApiResult<Arc<Object>> {
    let attributes = Attributes::new(Operation::Update, request, target, intent.params);
    let warned = intent.warnings.len();
    for _ in 0..ATTEMPTS {
        intent.warnings.truncate(warned);
        let (old, mut value, asked) = {
            let mut state = api.write();
            let old = read::find(&state, target)?;
            let value = make(&old, intent)?;
            let value = super::begin_replace(target, &old.value, value, intent)?;
            let Some(asked) = state.asked(&attributes, &value) else {
                let value = super::end_replace(target, &old.value, value)?;
                return Ok(super::store_changed(&mut state, target, &old, value, intent));
            };
            (old, value, asked)
        };
        let settle = |value: &mut Value| super::settle_replace(target, &old.value, value);
        intent.warnings.extend(asked.mutate(&attributes, &mut value, &old.value, &settle).await?);
        let value = super::end_replace(target, &old.value, value)?;
        intent.warnings.extend(asked.validate(&attributes, &value, &old.value).await?);
        let mut state = api.write();
        if Arc::ptr_eq(&read::find(&state, target)?, &old) {
            return Ok(super::store_changed(&mut state, target, &old, value, intent));
        }
    }
    Err(Refusal::modified(target.kind.resource(), &target.name))
}
