//! The `kubectl kai` plugin, as a library so that the demo and the tests run exactly what a user would type.
//!
//! ```text
//!  argv -> args (clap) -> command -> Cluster (requests) -> output (stdout: data, stderr: talk)
//!
//!  print < globals < settings < cluster < workload < context < plan < commands < tryout < args < run < program
//! ```
//!
//! The second line is the order of the folders: each imports only from those before it (a rule of `cargo xtask tidy`).

#![expect(
    clippy::wildcard_enum_match_arm,
    reason = "JSON values and the errors of clap and kube have variants that mean nothing here; our own enums are matched in full"
)]
#![expect(clippy::format_push_string, reason = "a page is put together once for a person")]

mod args;
pub mod cluster;
mod commands;
mod context;
mod globals;
pub(crate) mod plan;
mod print;
pub mod program;
mod run;
mod settings;
mod threads;
mod tryout;
mod workload;

pub use args::{Cli, Command, command};
pub use commands::help::pages;
pub use commands::{completion, install};
pub use context::Context;
pub use globals::Globals;
pub use print::error::{Error, Exit, Problem};
pub use print::{error, output};
pub use run::run;
pub use tryout::sandbox;
