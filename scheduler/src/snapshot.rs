//! Cluster snapshots: what the scheduler would know of a cluster, in a file. KAI writes and reads the same container.
//!
//! ```text
//!  FILE ─► container ─► split ─► walk ─► load ─► ingest ─► Cluster, Config ─► plan
//!          zip, bounds   values   parts   passes  as from a watch
//! ```
//!
//! Objects go through the scheduler's own [`crate::ingest`], one at a time: what a snapshot means is what the live
//! scheduler would think. Nothing but the object at hand is held as JSON. A file whose parts come in an order that
//! leaves questions open (KAI writes pods before nodes and binds) is read a second time, the kinds in question alone.
//! Source: docs/contract.md 8.2, 8.3.

mod arrays;
mod configuration;
mod container;
mod error;
mod lenient;
mod load;
mod parameters;
mod scenario;
mod split;
mod strip;
mod walk;
mod write;

use std::{collections::BTreeMap, path::Path, time::Duration};

use kai_engine::{Cluster, Plan, Timestamp};

pub use arrays::{ARRAYS, Array, Of};
pub use configuration::write as configuration;
pub use error::{Error, Problem};
pub use parameters::write as parameters;
pub use write::{Header, Part, WriteError, write};

use container::Container;
use load::{Load, State};
use walk::{Threads, walk};

use crate::{
    Args, cel::evaluation::Evaluation, ingest::Ingest, settings::Settings, sharing::Sharing,
};

/// Passes over a file at most. Each that finds something new to read again makes one more; four have been enough for
/// every file, and the bound keeps a hostile one from going round.
const PASSES_MAX: u32 = 16;

/// Says what is taken for granted where selectors have no answer.
const UNDECIDED: &str = "selectors of devices: all of them together take too long to evaluate, and some were not decided; pods with their claims are taken to wait";

/// A cluster as a snapshot has it.
#[derive(Debug)]
pub struct Snapshot {
    /// The part of the scheduler's command line that the file carries; the rest are defaults.
    pub args: Args,
    /// Holds what the file's configuration asks for, with what of it has no effect here.
    pub settings: Settings,
    /// Names, and the way in for more objects: apply them, then [`Snapshot::tell`].
    pub ingest: Ingest,
    /// The engine's state.
    pub cluster: Cluster,
    /// Says how many objects each array of the file has; arrays that the settings leave out are not there.
    pub counts: BTreeMap<&'static str, usize>,
    /// When it was taken. KAI does not say; then it is the newest moment that an object names.
    pub taken: Timestamp,
    /// Tells whether the file says when it was taken.
    pub is_dated: bool,
    /// Holds what whoever wrote it could not read, a sentence each; KAI does not say. That selectors of devices were not
    /// decided is one of them.
    pub left_out: Vec<String>,
    /// The version of the API server, where the file says it.
    pub server_version: Option<String>,
    /// For how long work may run at most, in seconds, by namespace and name of its `PodGroup` with a slash between.
    pub run_times: BTreeMap<String, i64>,
    sharing: Sharing,
    /// Says how long selectors of devices may take to evaluate, where that is bounded.
    patience: Option<Duration>,
}

impl Snapshot {
    /// Reads a file of ours or of KAI's: the zip archive, or the JSON in it.
    ///
    /// # Cost
    /// One pass over the JSON, two where its order or what pods ask for needs it, in two threads: one takes the text apart
    /// and decodes a part of the pods, the other takes the objects in. Memory: the cluster as the scheduler keeps it, the
    /// largest object, and about 10 MiB of text.
    ///
    /// # Errors
    /// The file is no snapshot, or broken: where, and what is wrong there.
    pub fn read(path: &Path) -> Result<Self, Error> {
        read(path, Threads::Two, None)
            .map_err(|problem| Error { path: path.to_path_buf(), problem })
    }

    /// Does the same for somebody who waits: evaluating selectors of devices takes no longer than this. What is decided by
    /// then depends on the machine.
    ///
    /// # Errors
    /// As [`Snapshot::read`].
    pub fn read_within(path: &Path, patience: Duration) -> Result<Self, Error> {
        read(path, Threads::Two, Some(patience))
            .map_err(|problem| Error { path: path.to_path_buf(), problem })
    }

    /// Does the same as [`Snapshot::read`] in this thread alone, where its work is counted.
    ///
    /// # Errors
    /// As [`Snapshot::read`].
    pub fn read_in_one_thread(path: &Path) -> Result<Self, Error> {
        read(path, Threads::One, None)
            .map_err(|problem| Error { path: path.to_path_buf(), problem })
    }

    /// Takes a scenario's world over; further objects may be applied to it.
    ///
    /// Its claims keep their numbers and have no names, so objects that name claims find none.
    ///
    /// # Errors
    /// What every cluster has cannot be read, which is a mistake of this program.
    pub fn of_world(world: kai_sim::world::World) -> serde_json::Result<Self> {
        scenario::of_world(world)
    }

    /// Decides what the scheduler would decide next.
    pub fn plan(&mut self) -> Plan {
        kai_engine::plan(&mut self.cluster, &self.settings.config, self.taken)
    }

    /// Tells the engine of objects that were applied to [`Snapshot::ingest`] since. Where their selectors are not decided,
    /// [`Snapshot::left_out`] says so from then on.
    ///
    /// # Errors
    /// Selectors of devices cannot be evaluated: no thread can be started.
    pub fn tell(&mut self) -> std::io::Result<()> {
        let Self { ingest, sharing, cluster, taken, .. } = self;
        let mut evaluation = load::evaluation(self.patience);
        load::tell(ingest, sharing, cluster, *taken, &mut evaluation)?;
        note(&evaluation, &mut self.left_out);
        Ok(())
    }
}

/// Says once that selectors have no answer, where that is so.
fn note(evaluation: &Evaluation, left_out: &mut Vec<String>) {
    if evaluation.is_open() && !left_out.iter().any(|what| what == UNDECIDED) {
        left_out.push(String::from(UNDECIDED));
    }
}

fn read(path: &Path, threads: Threads, patience: Option<Duration>) -> Result<Snapshot, Problem> {
    let mut container = Container::open(path)?;
    let mut load = Load::default();
    load.patience = patience;
    walk(container.json()?, &mut load, threads)?;
    if load.wants_objects_alone() {
        walk(container.json()?, &mut load, threads)?;
    }
    let at = |place: &str, what: String| Problem::Place { place: String::from(place), what };
    load.begin().map_err(|what| at("config", what))?;
    load.end();
    let mut taken = container.taken;
    for _ in 0..PASSES_MAX {
        if let Some(state) = &mut load.state {
            let now = *taken.get_or_insert_with(|| state.newest());
            let told = state.tell(now);
            told.map_err(|error| at("rawObjects.resourceClaims", error.to_string()))?;
        }
        if !load.wants_again() {
            return done(load, container.taken, taken);
        }
        walk(container.json()?, &mut load, threads)?;
        load.end();
    }
    Err(at("rawObjects", format!("they are not understood after {PASSES_MAX} passes")))
}

fn done(
    load: Load,
    told: Option<Timestamp>,
    taken: Option<Timestamp>,
) -> Result<Snapshot, Problem> {
    let Load { args, mut left_out, server_version, run_times, state, patience, .. } = load;
    let Some(State { settings, ingest, cluster, sharing, counts, evaluation, .. }) = state else {
        let place = String::from("snapshot.json");
        return Err(Problem::Place { place, what: String::from("it has no objects") });
    };
    note(&evaluation, &mut left_out);
    Ok(Snapshot {
        args: args.unwrap_or_default(),
        settings,
        ingest,
        cluster,
        counts,
        taken: taken.unwrap_or(Timestamp(0)),
        is_dated: told.is_some(),
        left_out,
        server_version,
        run_times,
        sharing,
        patience,
    })
}
