//! `kubectl kai explain`: why something is as it is, in three lines, and then what shows it.
//!
//! ```text
//!  KAI1203      a section of docs/errors.md, without a cluster
//!  queue/NAME   where its fair share comes from          node/NAME   what it has free, and who has the rest
//!  NAME         read ──► Known ──► answer (pure) ──► page or data
//! ```

pub(crate) mod answer;
mod codes;
mod command;
mod evicted;
mod evidence;
mod known;
mod node;
pub(crate) mod order;
mod queue;
mod workload;

use serde_json::Value;

use crate::context::Context;
use crate::print::error::{Error, Exit, Problem, number};
use crate::print::flags::SheetFlags;
use crate::print::format::{self, Format};
use crate::print::output::{Style, clean};
use crate::print::page::Page;
use crate::print::report::is_word;
use answer::{Answer, Way};
use known::Known;

pub(crate) const EXAMPLES: &str = "\
Examples:
  kubectl kai explain llama-ft         why it waits, or who evicted it, and what would help
  kubectl kai explain queue/team-a     where its fair share comes from
  kubectl kai explain node/gpu-a1      what is free there, and who has the rest
  kubectl kai explain KAI1203          what a number means; needs no cluster
  kubectl kai explain --order          whose turn is next, queue by queue

The order is that in which the scheduler tries work in its next cycle, and no promise.";

/// Flags of `explain`.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub struct Args {
    /// A workload, kind/name, the name of a pod or a pod group; queue/NAME, node/NAME, or a number as KAI1203
    #[arg(value_name = "NAME", required_unless_present = "order")]
    pub(crate) name: Option<String>,
    /// Show in which order queues and their workloads have their turns
    #[arg(long)]
    order: bool,
    #[command(flatten)]
    sheet: SheetFlags,
}

impl Args {
    /// Tells whether rows are printed, and not a page.
    pub(crate) fn is_table(&self) -> bool {
        self.order
    }
}

/// Runs `explain`.
pub(crate) async fn run(args: &Args, context: &mut Context) -> Result<Exit, Error> {
    let format = Format::asked(context.globals.output.as_deref(), args.sheet.jq.as_deref())?;
    if let Some(flag) = args.sheet.of_rows().filter(|_| !args.order) {
        let what = format!("{flag} is for rows, and only --order prints such");
        return Err(Problem::new(number::FLAGS_CONFLICT, Exit::Usage, what)
            .fix(format!("leave {flag} out"))
            .into());
    }
    let name = args.name.as_deref().unwrap_or_default();
    if let Some(section) = codes::section(name)? {
        return codes::show(&section, &format, context);
    }
    if args.order {
        return order::show(name, &format, &args.sheet, context).await;
    }
    match name.split_once('/') {
        Some(("queue" | "queues" | "q", queue)) => queue::show(queue, &format, context).await,
        Some(("node" | "nodes" | "no", node)) => node::show(node, &format, context).await,
        _ => Box::pin(about(name, &format, context)).await,
    }
}

/// Explains a workload.
async fn about(name: &str, format: &Format, context: &mut Context) -> Result<Exit, Error> {
    let cluster = context.cluster().await?;
    let scope = context.scope(&cluster).map(str::to_owned);
    let (answer, data) = match Known::read(&cluster, scope.as_deref(), name).await {
        Ok(known) => (workload::of(&known), known.data()),
        // What was evicted and is no more is no error: somebody asks where it went.
        Err(error) => match evicted::of_name(&cluster, scope.as_deref(), name).await {
            Some(gone) => (evicted::gone(&gone), Value::Null),
            None => return Err(error),
        },
    };
    let data = answer.data(&data);
    if format::report(&data, format, &mut context.out)? {
        return Ok(Exit::Ok);
    }
    if *format == Format::Name {
        // It may be from a PodGroup that anybody wrote.
        let code = answer.code.as_deref().filter(|code| is_word(code));
        return context.out.data(code.unwrap_or("none")).map(|()| Exit::Ok);
    }
    context.out.raw(&page(&answer, context.out.columns()))?;
    Ok(Exit::Ok)
}

/// The answer for people: three lines that say it, then what shows it, then what would help.
fn page(answer: &Answer, columns: usize) -> String {
    let mut page = Page::new(columns);
    let head = match &answer.code {
        Some(code) => format!("{}  [{code}]", answer.headline),
        None => answer.headline.clone(),
    };
    page.paragraph(0, &head, answer.style);
    for line in &answer.more {
        page.paragraph(2, line, Style::Plain);
    }
    if !answer.evidence.is_empty() {
        page.text += "\n";
        for (title, text) in &answer.evidence {
            page.row(title, text);
        }
    }
    if !answer.table.is_empty() {
        page.text += "\n";
        page.text += &answer.table;
    }
    if !answer.ways.is_empty() {
        page.text += "\n";
        ways(&answer.ways, &mut page);
    }
    if let Some(note) = &answer.note {
        page.text += "\n";
        page.paragraph(0, note, Style::Dim);
    }
    page.text
}

/// Says what would help, with what it costs: the command on a line of its own, so that it can be copied.
fn ways(ways: &[Way], page: &mut Page) {
    page.paragraph(0, "What would help", Style::Bold);
    for (at, way) in ways.iter().enumerate() {
        let who = if way.admin { "(admin) " } else { "" };
        let cost =
            if way.cost.is_empty() { String::new() } else { format!(" · costs: {}", way.cost) };
        page.paragraph(2, &format!("{}  {who}{}{cost}", at + 1, way.text), Style::Plain);
        if let Some(command) = &way.command {
            page.text += &format!("       {}\n", clean(command));
        }
    }
}
