//! Needs of every daemon of the project beside its purpose: to be one of several, to be asked how it does, to reach
//! the API server.
//!
//! [`lease`] lets one process of a name act at a time; [`serve`] answers health and metrics; [`connect`] makes a client,
//! and [`silence`] has it give up a server that is gone; [`clock`] and [`chance`] are time and luck, which a simulation decides; [`event`] names and writes out events; [`work`] hands out keys, none
//! twice at a time; [`mod@backoff`] spaces attempts; [`process`] is logs, signals and last words.
//! Nothing here knows what a pod or a queue is.

mod backoff;
pub mod chance;
pub mod clock;
pub mod connect;
pub mod event;
pub mod lease;
pub mod metrics;
pub mod process;
pub mod requests;
pub mod serve;
pub mod silence;
pub mod work;

pub use backoff::{backoff, backoff_to};
