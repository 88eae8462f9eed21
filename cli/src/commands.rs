//! One module a command, each with its own `Args` and `run(args, context)`.

mod chosen;
pub mod completion;
pub(crate) mod config;
pub(crate) mod delete;
pub(crate) mod describe;
pub(crate) mod doctor;
pub(crate) mod exec;
pub(crate) mod explain;
mod filter;
pub(crate) mod help;
pub(crate) mod history;
pub mod install;
mod last;
pub(crate) mod list;
pub(crate) mod logs;
mod outage;
pub(crate) mod port_forward;
pub(crate) mod queues;
pub(crate) mod short;
mod show;
pub(crate) mod simulate;
pub(crate) mod snapshot;
pub(crate) mod submit;
pub(crate) mod suspend;
pub(crate) mod top;
pub(crate) mod version;
pub(crate) mod wait;
