//! Describes where a snapshot goes: into a file of its own beside the one that was named, which takes its place when it is whole.

use std::collections::BTreeMap;
use std::fs::{self, Permissions};
use std::io::{self, Read as _};
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _};
use std::path::PathBuf;

use kai_scheduler::snapshot::{Header, Part, WriteError, write};
use tempfile::NamedTempFile;
use tokio::sync::mpsc;
use tokio::task::JoinHandle;

use crate::context::Context;
use crate::print::error::{Error, Exit, Problem, number};
use crate::print::output::clean;

/// Objects on their way to the file; bounds the memory that a slow disk costs.
const PARTS_MAX: usize = 64;
/// Bytes that are copied to stdout at once.
const COPY_BYTES: usize = 64 << 10;

/// Says where a snapshot goes.
#[derive(Debug)]
pub(super) struct Target {
    /// None for stdout.
    path: Option<PathBuf>,
    /// As it was typed.
    typed: String,
    force: bool,
}

/// A file that is being written.
pub(super) struct Writing {
    pub(super) parts: mpsc::Sender<Part>,
    written: JoinHandle<Result<BTreeMap<&'static str, usize>, WriteError>>,
}

impl Target {
    /// Looks whether something can be written there.
    pub(super) fn new(typed: &str, force: bool, context: &Context) -> Result<Self, Error> {
        let target = Self {
            path: (typed != "-").then(|| context.dir.join(typed)),
            typed: typed.to_owned(),
            force,
        };
        match &target.path {
            None if context.out.is_terminal() => {
                let what = "a snapshot is a zip archive, which a terminal cannot show";
                Err(Problem::new(number::FILE, Exit::Usage, what).fix("name a file").into())
            }
            Some(path) if path.is_dir() => {
                let what = format!("{} is a folder", clean(typed));
                Err(Problem::new(number::FILE, Exit::Usage, what)
                    .fix("name a file in it, such as cluster.zip")
                    .into())
            }
            Some(path) if !force && path.exists() => Err(target.exists()),
            Some(_) | None => Ok(target),
        }
    }

    pub(super) fn is_stdout(&self) -> bool {
        self.path.is_none()
    }

    fn exists(&self) -> Error {
        let what = format!("the file {} exists", clean(&self.typed));
        Problem::new(number::EXISTS, Exit::Conflict, what)
            .fix("name another, or replace it: --force")
            .into()
    }

    fn failed(&self, cause: &impl std::fmt::Display) -> Error {
        let what = format!("failed to write {}: {cause}", clean(&self.typed));
        Problem::new(number::FILE, Exit::Failure, what).into()
    }

    /// Begins to write, on a thread of its own: packing takes about as long as reading.
    pub(super) fn write(&self, header: Header) -> Result<(NamedTempFile, Writing), Error> {
        let temporary = match self.path.as_ref().and_then(|path| path.parent()) {
            Some(folder) => NamedTempFile::with_prefix_in(".kai-snapshot-", folder),
            None => NamedTempFile::with_prefix(".kai-snapshot-"),
        };
        let temporary = temporary.map_err(|error| self.failed(&error))?;
        let output = temporary.reopen().map_err(|error| self.failed(&error))?;
        let (parts, mut coming) = mpsc::channel(PARTS_MAX);
        let written = tokio::task::spawn_blocking(move || {
            let output = io::BufWriter::new(output);
            write(output, &header, std::iter::from_fn(|| coming.blocking_recv()))
        });
        Ok((temporary, Writing { parts, written }))
    }

    /// Puts what was written where it belongs; how many bytes it has.
    pub(super) fn keep(
        &self,
        temporary: NamedTempFile,
        context: &mut Context,
    ) -> Result<u64, Error> {
        let failed = |error: io::Error| self.failed(&error);
        let bytes = temporary.as_file().metadata().map_err(failed)?.len();
        let Some(path) = &self.path else {
            let mut file = temporary.reopen().map_err(failed)?;
            let mut buffer = vec![0; COPY_BYTES];
            loop {
                let count = file.read(&mut buffer).map_err(failed)?;
                if count == 0 {
                    return Ok(bytes);
                }
                context.out.bytes(&buffer[..count])?;
            }
        };
        temporary.as_file().sync_all().map_err(failed)?;
        let kept = if self.force {
            // A file of the user's keeps who may read it; who put another there does not choose.
            let me = rustix::process::geteuid().as_raw();
            if let Ok(there) = fs::metadata(path)
                && there.uid() == me
            {
                let mode = Permissions::from_mode(there.mode() & 0o777);
                temporary.as_file().set_permissions(mode).map_err(failed)?;
            }
            temporary.persist(path).map(drop).map_err(|error| error.error)
        } else {
            temporary.persist_noclobber(path).map(drop).map_err(|error| error.error)
        };
        match kept {
            Ok(()) => Ok(bytes),
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Err(self.exists()),
            Err(error) => Err(failed(error)),
        }
    }
}

impl Writing {
    /// Waits until all is written; how many objects each array has.
    pub(super) async fn end(self, target: &Target) -> Result<BTreeMap<&'static str, usize>, Error> {
        drop(self.parts);
        match self.written.await {
            Ok(Ok(counts)) => Ok(counts),
            Ok(Err(error)) => Err(target.failed(&error)),
            Err(panic) => Err(target.failed(&panic)),
        }
    }
}
