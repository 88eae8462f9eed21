//! The terminal that this runs in, while what is typed belongs to a command elsewhere.

use std::io;

use rustix::termios::{self, OptionalActions, Termios};
use tokio::signal::unix::{Signal, SignalKind, signal};

/// A terminal that sends each key as it is typed; as it was when this is dropped.
pub(super) struct Raw {
    before: Termios,
}

impl Raw {
    pub(super) fn begin() -> io::Result<Self> {
        let before = termios::tcgetattr(io::stdin())?;
        let mut raw = before.clone();
        raw.make_raw();
        termios::tcsetattr(io::stdin(), OptionalActions::Drain, &raw)?;
        Ok(Self { before })
    }
}

impl Drop for Raw {
    fn drop(&mut self) {
        // A terminal that is gone needs no repair.
        let _gone = termios::tcsetattr(io::stdin(), OptionalActions::Drain, &self.before);
    }
}

/// The sizes that the terminal has and will have.
pub(super) struct Resizes {
    changes: Signal,
    is_first: bool,
}

impl Resizes {
    pub(super) fn begin() -> io::Result<Self> {
        Ok(Self { changes: signal(SignalKind::window_change())?, is_first: true })
    }

    /// Columns and rows: at once the first time, later when they change.
    pub(super) async fn next(&mut self) -> (u16, u16) {
        loop {
            if !std::mem::replace(&mut self.is_first, false) && self.changes.recv().await.is_none()
            {
                return std::future::pending().await;
            }
            if let Some((width, height)) = terminal_size::terminal_size() {
                return (width.0, height.0);
            }
        }
    }
}
