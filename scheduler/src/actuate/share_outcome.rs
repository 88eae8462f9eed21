//! Describes what became of writes about shared GPUs.

/// A reservation pod that failed while nobody looked: the watch leaves out what has failed.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Leftover {
    /// Its name.
    pub name: Box<str>,
    /// Its UID.
    pub uid: Box<str>,
}

/// Says what became of one write.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum ShareOutcome {
    /// A reservation pod was to be made.
    Reserved {
        /// The group by number.
        device: u32,
        /// Says why it was not, where it was not.
        refused: Option<String>,
    },
    /// A reservation pod was to go.
    Unreserved {
        /// The group by number.
        device: u32,
        /// It was to go because it came to nothing.
        has_failed: bool,
        /// Says how that ended.
        ending: Ending,
    },
    /// Users were to be asked which of several GPUs they were told.
    Asked {
        /// The group by number.
        device: u32,
        /// The UUID of that GPU, where config maps say it and agree.
        told: Option<Box<str>>,
        /// All that say it were read; else it is asked again.
        done: bool,
    },
    /// Users of a device that nothing holds were to be ended.
    Unprotected {
        /// The group by number.
        device: u32,
        /// All of them are; else it is looked at again.
        done: bool,
    },
    /// Takes away what was written for a bind that came to nothing.
    Stripped {
        /// The pod by number.
        pod: u32,
        /// It is gone.
        done: bool,
    },
    /// Holds the reservation pods that failed while nobody looked; none where they could not be listed.
    Swept(Vec<Leftover>),
}

/// Says how it ended that a reservation pod was to go.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Ending {
    /// It is gone; what it said of why it came to nothing.
    Gone(Option<String>),
    /// Pods use its device after all.
    InUse,
    /// The API server did not do it.
    Refused,
}
