//! The command line in the process of a test, with what it prints.

use std::{
    collections::BTreeMap,
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
    let exit = run(Context::given(client, namespace, out), words).await;
    Said { exit, data: data.text(), talk: talk.text() }
}

/// Runs it in an environment, from whose files and variables it finds its cluster.
pub async fn kai_in<W: Into<OsString>>(
    env: BTreeMap<String, String>,
    words: impl IntoIterator<Item = W>,
) -> Said {
    let (data, talk) = (Page::default(), Page::default());
    let out = Output::given(Box::new(data.clone()), Box::new(talk.clone()));
    let mut context = Context::process();
    (context.out, context.env, context.dir) = (out, env, "/".into());
    (context.stdin, context.answers) = (Box::new(io::empty()), false);
    let exit = run(context, words).await;
    Said { exit, data: data.text(), talk: talk.text() }
}

async fn run<W: Into<OsString>>(mut context: Context, words: impl IntoIterator<Item = W>) -> Exit {
    let program = std::iter::once(OsString::from("kubectl-kai"));
    let argv = program.chain(words.into_iter().map(Into::into)).collect();
    kubectl_kai::run(argv, &mut context).await
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
