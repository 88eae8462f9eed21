//! The bearer tokens that the server gave out.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use jiff::Timestamp;

/// The one that a token stands for.
#[derive(Debug, Clone)]
pub(crate) enum Holder {
    Admin,
    /// Valid while the `ServiceAccount` with this UID exists and the time has not come.
    ServiceAccount {
        namespace: String,
        name: String,
        uid: String,
        expires: Timestamp,
    },
}

/// The bearer tokens that this server gave out.
#[derive(Debug, Default)]
pub(crate) struct Tokens(Mutex<HashMap<String, Holder>>);

impl Tokens {
    /// Makes a token.
    pub(crate) fn add(&self, holder: Holder) -> String {
        let mut bytes = [0; 32];
        bytes[..16].copy_from_slice(uuid::Uuid::new_v4().as_bytes());
        bytes[16..].copy_from_slice(uuid::Uuid::new_v4().as_bytes());
        let token = URL_SAFE_NO_PAD.encode(bytes);
        self.0.lock().unwrap_or_else(PoisonError::into_inner).insert(token.clone(), holder);
        token
    }

    /// Finds whom a token stands for, whether or not it is valid still.
    pub(crate) fn holder(&self, token: &str) -> Option<Holder> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).get(token).cloned()
    }
}
