//! Describes what the failure of a request means.

use http::StatusCode;
use serde::Deserialize;

use kai_daemon::lease::Lost;

use crate::server::wire::Text;

/// Says what a request failed with.
#[derive(thiserror::Error, Clone, PartialEq, Eq, Debug)]
pub enum Failure {
    /// The server refused: nothing was done.
    #[error("{message} ({code})")]
    Refused {
        /// The status code.
        code: u16,
        /// The server's words.
        message: String,
    },
    /// No answer, or one that leaves open whether it was done.
    #[error("no certain answer: {0}")]
    Unsure(String),
    /// It was not sent: another scheduler may act by now.
    #[error(transparent)]
    Lost(#[from] Lost),
}

impl Failure {
    /// The code of a refusal.
    pub fn code(&self) -> Option<u16> {
        match self {
            Self::Refused { code, .. } => Some(*code),
            Self::Unsure(_) | Self::Lost(_) => None,
        }
    }
}

/// A server error may come after the write was done; a client error comes before.
pub(super) fn refusal(status: StatusCode, body: &[u8]) -> Failure {
    #[derive(Deserialize)]
    struct Status<'a> {
        #[serde(borrow, default)]
        message: Text<'a>,
    }
    let message = match serde_json::from_slice::<Status<'_>>(body) {
        Ok(status) => status.message.to_string(),
        Err(_) => String::from_utf8_lossy(body).trim().chars().take(200).collect(),
    };
    if status.is_server_error() {
        Failure::Unsure(format!("{message} ({})", status.as_u16()))
    } else {
        Failure::Refused { code: status.as_u16(), message }
    }
}
