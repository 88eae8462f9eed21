//! The command line in the process of a test, with what it prints.

use std::{
    ffi::OsString,
    io::{self, Write},
    sync::{Arc, Mutex, PoisonError},
};

use kube::Client;
use kubectl_kai::{Context, Exit, output::Output};

/// Outcome of a command.
#[derive(Debug)]
pub struct Said {
    /// Its end.
    pub exit: Exit,
    /// Text that it printed on stdout.
    pub data: String,
    /// Text that it printed on stderr.
    pub talk: String,
}

/// Runs `kubectl kai` with words in a namespace.
pub async fn kai<W: Into<OsString>>(
    client: Client,
    namespace: &str,
    words: impl IntoIterator<Item = W>,
) -> Said {
    let (data, talk) = (Page::default(), Page::default());
    let out = Output::given(Box::new(data.clone()), Box::new(talk.clone()));
    let mut context = Context::given(client, namespace, out);
    let program = std::iter::once(OsString::from("kubectl-kai"));
    let argv = program.chain(words.into_iter().map(Into::into)).collect();
    let exit = kubectl_kai::run(argv, &mut context).await;
    Said { exit, data: data.text(), talk: talk.text() }
}

/// A place to print to that can be read.
#[derive(Clone, Debug, Default)]
struct Page(Arc<Mutex<Vec<u8>>>);

impl Page {
    fn text(&self) -> String {
        String::from_utf8_lossy(&self.0.lock().unwrap_or_else(PoisonError::into_inner)).into_owned()
    }
}

impl Write for Page {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
