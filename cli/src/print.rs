//! Describes what a person or a program reads: the forms of data, and the only place that prints.

pub(crate) mod columns;
pub(crate) mod duration;
pub mod error;
pub(crate) mod flags;
pub(crate) mod format;
mod jq;
mod log;
pub mod output;
pub(crate) mod page;
pub(crate) mod parts;
mod progress;
pub(crate) mod report;
pub(crate) mod screen;
pub(crate) mod table;
pub(crate) mod terminal;
pub(crate) mod time;
pub(crate) mod yaml;
