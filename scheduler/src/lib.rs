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

pub mod actuate;
pub mod args;
pub mod call;
pub mod cel;
pub mod config;
pub mod dispatch;
pub mod health;
pub mod ingest;
pub mod leftover;
pub mod message;
pub mod metrics;
pub mod names;
pub mod order;
pub mod report;
pub mod run;
pub mod selecting;
pub mod settings;
pub mod sharing;
pub mod snapshot;
pub mod usage;
pub mod watch;
pub mod wire;

mod start;

pub use args::Args;
pub use start::{Error, client, run};
