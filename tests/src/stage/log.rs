//! Warnings of the podgrouper, heard in this thread.

use std::{
    io::{self, Write},
    sync::{Arc, Mutex, PoisonError},
};

use tracing::subscriber::DefaultGuard;
use tracing_subscriber::{EnvFilter, fmt::MakeWriter};

/// Lines of a log. Cheap to clone.
#[derive(Clone, Debug, Default)]
pub struct Log {
    bytes: Arc<Mutex<Vec<u8>>>,
}

impl Log {
    /// Hears the warnings of this thread until the guard is dropped.
    pub fn listen(&self) -> DefaultGuard {
        let subscriber = tracing_subscriber::fmt()
            .with_env_filter(EnvFilter::new("off,kai_podgrouper=warn"))
            .with_ansi(false)
            .without_time()
            .with_writer(self.clone())
            .finish();
        tracing::subscriber::set_default(subscriber)
    }

    /// All lines so far.
    pub fn text(&self) -> String {
        let bytes = self.bytes.lock().unwrap_or_else(PoisonError::into_inner);
        String::from_utf8_lossy(&bytes).into_owned()
    }

    /// Counts the lines that hold a text.
    pub fn count(&self, part: &str) -> usize {
        self.text().lines().filter(|line| line.contains(part)).count()
    }
}

impl Write for Log {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.bytes.lock().unwrap_or_else(PoisonError::into_inner).extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl<'a> MakeWriter<'a> for Log {
    type Writer = Self;

    fn make_writer(&'a self) -> Self {
        self.clone()
    }
}
