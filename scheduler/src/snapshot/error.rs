//! Says why a snapshot cannot be read.

use std::{io, path::PathBuf};

use super::split::Fault;

/// A file that is no snapshot, or a broken one.
#[derive(thiserror::Error, Debug)]
#[error("failed to read the snapshot {}: {problem}", path.display())]
pub struct Error {
    /// The file.
    pub path: PathBuf,
    /// Holds what is wrong with it.
    pub problem: Problem,
}

/// Says what is wrong with a file.
#[derive(thiserror::Error, Debug)]
pub enum Problem {
    /// It cannot be opened.
    #[error("{0}")]
    Open(io::Error),
    /// It is no zip, or a damaged one.
    #[error("it is no zip archive, or a damaged one: {0}")]
    Zip(String),
    /// The entry is not there, or there several times.
    #[error("the zip archive holds {0} entries named snapshot.json; it has to hold one")]
    Entries(usize),
    /// It is compressed in a way that not every reader of zip archives knows.
    #[error("snapshot.json is compressed by method {0}; deflate (8) or none (0) was expected")]
    Method(u16),
    /// Something in it is not as it should be.
    #[error("{place}: {what}")]
    Place {
        /// Says where: `rawObjects.pods[17]`, or `snapshot.json` as a whole.
        place: String,
        /// Holds what is wrong there.
        what: String,
    },
}

impl Problem {
    /// Works out what is wrong at a place; an empty one is the whole.
    pub(super) fn at(place: &str, fault: &Fault) -> Self {
        let place = if place.is_empty() { "snapshot.json" } else { place };
        Self::Place { place: String::from(place), what: fault.to_string() }
    }
}
