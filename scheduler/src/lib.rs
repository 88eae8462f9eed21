//! Kubernetes I/O around the engine.
//!
//! ```text
//!   API server ─► watch ─► ingest ─► Delta ─► run ─► plan() ─► dispatch ─► actuate ─► API server
//!                          (names)             ▲                report          │
//!                                              └────────── outcomes ────────────┘
//! ```
//!
//! `watch` reads bytes, one watch per kind; [`ingest`] turns each object into a delta of the engine
//! at once and drops it: the engine is the cache. [`mod@run`] owns the cluster's state, decides, and
//! hands the plan to [`actuate`], whose outcomes come back into the same loop. [`names`] is the only
//! place that knows both names and the engine's numbers. Nothing is written without the Lease
//! ([`kai_daemon::lease`]) and a UID or version as guard.
//!
//! Folders are layers: each imports from those below it, in the order that `xtask/src/tidy/layers.rs` holds.

pub mod actuate;
mod bind_requests;
pub mod cel;
pub mod dispatch;
pub mod ingest;
pub mod message;
pub mod names;
pub mod program;
pub mod report;
pub mod run;
pub mod serve;
pub mod server;
pub mod settings;
pub mod sharing;
pub mod snapshot;
pub mod usage;
pub mod watch;

mod short;
mod start;
mod wording;

pub use settings::{Args, config};
pub use start::{Error, client, run};
