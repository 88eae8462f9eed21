//! The cluster behind the API server, through a snapshot in a file of its own: what is planned on can be kept.

use std::collections::BTreeSet;
use std::io::{self, BufWriter};
use std::path::Path;
use std::time::Duration;

use kai_scheduler::names::Number;
use kai_scheduler::snapshot::{Header, Part, Snapshot, configuration, parameters, write};
use tempfile::NamedTempFile;
use tokio::sync::mpsc;

use super::{Origin, Situation};
use crate::cluster::Cluster;
use crate::plan::collect::{self, Collector};
use crate::plan::outcome::{Outcome, Wish};
use crate::plan::{past, settings};
use crate::print::error::{Error, Exit, Problem, number};
use crate::print::output::{Output, clean};

/// Objects on their way to the file; bounds the memory that a slow disk costs.
const PARTS_MAX: usize = 64;

/// Bounds how long selectors of devices may take to evaluate: whoever may write claims decides what they cost, and their
/// number, and the reader of a plan waits. Usual ones of a hundred thousand devices take less.
const SELECTORS_MAX: Duration = Duration::from_secs(10);

/// Holds what is read.
pub(crate) struct Reading<'r> {
    pub(crate) cluster: &'r Cluster,
    /// The shard whose scheduler is meant.
    pub(crate) shard: &'r str,
    /// Says where the snapshot is kept.
    pub(crate) save: Option<&'r Path>,
}

pub(super) async fn read(reading: Reading<'_>, out: &mut Output) -> Result<Situation, Error> {
    let Reading { cluster, shard, save } = reading;
    if let Some(path) = save.filter(|path| path.symlink_metadata().is_ok()) {
        return Err(exists(path));
    }
    let settings = settings::read(shard, cluster).await?;
    let served = collect::served(cluster).await?;
    let header = Header {
        taken: kai_engine::Timestamp(jiff::Timestamp::now().as_millisecond()),
        config: configuration(&settings.spec),
        params: parameters(&settings.args),
        discovery: Some(served.discovery.clone()),
    };
    let temporary = temporary(save)?;
    let output = temporary.reopen().map_err(|error| failed(&error))?;
    let (parts, mut coming) = mpsc::channel(PARTS_MAX);
    let written = tokio::task::spawn_blocking(move || {
        write(BufWriter::new(output), &header, std::iter::from_fn(|| coming.blocking_recv()))
    });
    let collector = Collector {
        namespace: None,
        cluster,
        args: &settings.args,
        served: &served,
        parts: parts.clone(),
        left_out: settings.notes.clone(),
        not_served: Vec::new(),
        is_quiet: true,
    };
    out.wait_for("reading the cluster");
    let collected = collector.collect(out).await;
    // A snapshot that is kept is planned on later, when nobody can be asked.
    let told = match save {
        Some(_) => Some(past::read(cluster, None).await),
        None => None,
    };
    out.waited();
    for (group, seconds) in told.iter().flat_map(|told| &told.longest) {
        // A writer that is gone tells why itself.
        let _ = parts.send(Part::RunTime(group.clone(), *seconds)).await;
    }
    for what in told.iter().flat_map(|told| &told.left_out) {
        let _ = parts.send(Part::LeftOut(what.clone())).await;
    }
    drop(parts);
    let written = written.await.map_err(|error| failed(&error))?;
    collected?;
    written.map_err(|error| failed(&error))?;
    let snapshot = Snapshot::read_within(temporary.path(), SELECTORS_MAX)
        .map_err(|error| failed(&error.problem))?;
    if let Some(path) = save {
        keep(temporary, path)?;
    }
    let mut situation = Situation::new(snapshot, Origin::Cluster);
    if let Some(told) = told {
        situation.times.past = told.past;
        situation.times.is_known = true;
    }
    Ok(situation)
}

/// Makes a file for what is read: beside the one in which it is kept, whose place it takes.
fn temporary(save: Option<&Path>) -> Result<NamedTempFile, Error> {
    let file = match save.map(|path| (path, path.parent())) {
        Some((path, Some(folder))) => NamedTempFile::with_prefix_in(".kai-plan-", folder)
            .map_err(|error| unwritable(path, &error))?,
        Some((_, None)) | None => {
            NamedTempFile::with_prefix(".kai-plan-").map_err(|error| failed(&error))?
        }
    };
    Ok(file)
}

/// Gives what was read its name, if nothing has that: not what came meanwhile, and no link that leads elsewhere.
fn keep(file: NamedTempFile, path: &Path) -> Result<(), Error> {
    file.as_file().sync_all().map_err(|error| unwritable(path, &error))?;
    match file.persist_noclobber(path) {
        Ok(_) => Ok(()),
        Err(e) if e.error.kind() == io::ErrorKind::AlreadyExists => Err(exists(path)),
        Err(e) => Err(unwritable(path, &e.error)),
    }
}

fn exists(path: &Path) -> Error {
    let what = format!("the file {} exists", clean(&path.display().to_string()));
    Problem::new(number::EXISTS, Exit::Conflict, what).fix("name another").into()
}

fn unwritable(path: &Path, error: &io::Error) -> Error {
    let what = format!("failed to write {}: {error}", clean(&path.display().to_string()));
    Problem::new(number::FILE, Exit::Failure, what).into()
}

impl Situation {
    /// Plans on a cluster that can be asked. For how long work runs is read only where something waits, and that matters.
    ///
    /// # Errors
    /// As [`Situation::plan`].
    pub(crate) async fn plan_on(
        &mut self,
        cluster: &Cluster,
        wish: &Wish<'_>,
    ) -> Result<Outcome, Error> {
        let at_once = self.plan(&Wish { horizon_seconds: 0, ..*wish })?;
        if wish.horizon_seconds == 0 || !at_once.waits {
            return Ok(at_once);
        }
        self.learn(cluster).await;
        self.plan(wish)
    }

    /// Reads for how long work may run, and how long such work ran, once.
    pub(in crate::plan) async fn learn(&mut self, cluster: &Cluster) {
        if self.times.is_known {
            return;
        }
        let names = &self.snapshot.ingest.context.names;
        let groups = self.snapshot.cluster.groups().map(|(group, _)| group.number());
        let namespaces: BTreeSet<String> =
            groups.map(|group| names.group_name(group).0.to_owned()).collect();
        let told = past::read(cluster, Some(&namespaces)).await;
        self.snapshot.run_times.extend(told.longest);
        self.assumptions.extend(told.left_out);
        self.times.past = told.past;
        self.times.is_known = true;
        self.read_times();
    }
}

fn failed(cause: &impl std::fmt::Display) -> Error {
    let what = format!("failed to keep what was read of the cluster: {cause}");
    Problem::new(number::FILE, Exit::Failure, what).into()
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;

    use super::*;

    #[test]
    fn what_came_meanwhile_is_not_written_to() {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let (path, behind) = (folder.path().join("c.zip"), folder.path().join("behind"));
        let kept = |path: &Path| keep(temporary(Some(path)).expect("the folder is ours"), path);
        symlink(&behind, &path).expect("the folder is ours");
        let said = kept(&path).expect_err("it is there").to_string();
        assert!(said.contains("c.zip exists"), "{said}");
        assert!(!behind.exists());
        std::fs::remove_file(&path).expect("the folder is ours");
        kept(&path).expect("nothing is there");
        assert!(path.is_file() && folder.path().read_dir().expect("ours").count() == 1);
    }
}
