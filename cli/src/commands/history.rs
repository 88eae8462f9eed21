//! `kubectl kai history`: what ran, waited and was evicted, by the records that the podgrouper keeps.
//!
//! ```text
//!  DailyRecords ─► entries (period, filter) ─┬► past (by workload) ─► table, or one page
//!                                            ├► usage (by user, queue, type of GPU ...)
//!                                            └► evictions
//! ```

mod entries;
mod evictions;
mod page;
mod past;
mod period;
mod price;
pub(crate) mod row;
mod usage;
mod workloads;

use clap::Subcommand;

use crate::context::Context;
use crate::print::error::{Error, Exit};
use crate::print::flags::SheetFlags;
use crate::print::format::Format;
use crate::print::report::{Body, Report, Row, Table};
use crate::print::table::{Cell, Column};
use entries::Filter;
pub(crate) use usage::Args as UsageArgs;

/// Flags of `history`.
#[derive(Debug, clap::Args)]
#[command(
    args_conflicts_with_subcommands = true,
    after_help = "\
Examples:
  kubectl kai history                           the last week, also what is deleted by now
  kubectl kai history llama-ft                  all that is known of one workload
  kubectl kai history evictions --since 1d -A   who evicted whom, and what it cost
  kubectl kai history usage --by user,queue --since 2026-11-01 --until 2026-12-01 --price gpu=2.5"
)]
pub struct Args {
    #[command(subcommand)]
    what: Option<What>,
    /// Names, or patterns with *; all workloads without any
    #[arg(value_name = "NAME")]
    pub(crate) names: Vec<String>,
    #[command(flatten)]
    filter: Filter,
    #[command(flatten)]
    sheet: SheetFlags,
}

#[derive(Debug, Subcommand)]
enum What {
    /// GPU-hours by user, queue, kind, type of GPU or day
    Usage(usage::Args),
    /// Who evicted whom, and what it cost
    Evictions(evictions::Args),
}

impl Args {
    /// The names of workloads.
    pub(crate) fn words(&mut self) -> Vec<&mut String> {
        let names = match &mut self.what {
            Some(What::Usage(args)) => &mut args.names,
            Some(What::Evictions(args)) => &mut args.names,
            None => &mut self.names,
        };
        names.iter_mut().collect()
    }
}

/// Runs `history`.
pub(crate) async fn run(args: &Args, context: &mut Context) -> Result<Exit, Error> {
    match &args.what {
        Some(What::Usage(args)) => usage::run(args, context).await,
        Some(What::Evictions(args)) => evictions::run(args, context).await,
        None => workloads::run(args, context).await,
    }
}

/// Runs `usage`, the short way to `history usage`.
pub(crate) async fn run_usage(args: &UsageArgs, context: &mut Context) -> Result<Exit, Error> {
    usage::run(args, context).await
}

/// A table and the same for programs.
struct Sheet {
    /// The kind of the data.
    kind: &'static str,
    columns: Vec<Column>,
    rows: Vec<Vec<Cell>>,
    /// Holds what `-o name` prints of each row.
    names: Vec<String>,
    data: serde_json::Value,
}

impl Sheet {
    /// Prints it, arranged as the flags say.
    fn print(
        &self,
        format: &Format,
        flags: &SheetFlags,
        context: &mut Context,
    ) -> Result<(), Error> {
        let rows = self.names.iter().zip(&self.rows);
        let rows = rows.map(|(name, cells)| Row::new(name.clone(), cells.clone())).collect();
        let body = Body::Table(Table { columns: self.columns.clone(), rows });
        let mut report = Report::new(self.kind, self.data.clone(), body);
        let flags = flags.list();
        report.arrange(&flags)?;
        report.print(format, &flags, &mut context.out)
    }
}
