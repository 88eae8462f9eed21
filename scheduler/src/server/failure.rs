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

/// The code of a refusal for overload.
const TOO_MANY_REQUESTS: u16 = 429;

impl Failure {
    /// The code of a refusal.
    pub fn code(&self) -> Option<u16> {
        match self {
            Self::Refused { code, .. } => Some(*code),
            Self::Unsure(_) | Self::Lost(_) => None,
        }
    }

    /// Tells whether it says nothing of what was asked for: no certain answer came, or the server has too much to do.
    pub(crate) fn is_no_answer(&self) -> bool {
        matches!(self, Self::Unsure(_)) || self.code() == Some(TOO_MANY_REQUESTS)
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
