//! `kubectl kai doctor`: what is broken, what shows it, and how to repair it.
//!
//! ```text
//!  API server ─► Facts (read once, with the user's rights) ─► checks (pure) ─► findings ─► table, data, bundle
//! ```

mod bundle;
mod facts;
mod finding;
mod installed;
mod levels;
mod nodes;
mod pods;
mod queues;
mod server;
mod shares;
mod unread;
mod webhooks;

use std::path::PathBuf;

use schemars::JsonSchema;
use serde::Serialize;
use serde_json::json;

use crate::cluster::queue::count;
use crate::context::Context;
use crate::print::error::{Error, Exit, Problem, number};
use crate::print::flags::SheetFlags;
use crate::print::format::Format;
use crate::print::output::{Style, clean};
use crate::print::page::Page;
use crate::print::report::{Body, Report, Row, Table};
use crate::print::table::{Cell, Column};
use facts::Facts;
use finding::{Level, Unread, Verdict};

pub(crate) const EXAMPLES: &str = "\
Examples:
  kubectl kai doctor                           every check; only what is wrong is shown in full
  kubectl kai doctor queues nodes              checks of two areas
  kubectl kai doctor nodes/plugin -o json      one check, as data
  kubectl kai doctor --bundle report.json.gz --redact

It only reads, with your own rights; what you may not read is \"unknown\":
one line for each missing right, with the role that has it; -v shows each check that stands on it.
Exit code 0: nothing worse than a warning. 12: something does not work.";

const COLUMNS: &[Column] = &[
    Column::new("CHECK"),
    Column::new("STATE"),
    Column::new("FINDING"),
    Column::new("FIX").wide(),
];
/// So many names show what is wrong; `-o json` has all.
const EVIDENCE_SHOWN: usize = 5;

/// Flags of `doctor`.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub struct Args {
    /// Only these: an area as queues, or a check as nodes/plugin
    #[arg(value_name = "CHECK")]
    checks: Vec<String>,
    /// Write what a report of a fault needs into a new file, gzipped JSON without environment and arguments
    #[arg(long, value_name = "FILE", value_hint = clap::ValueHint::FilePath)]
    bundle: Option<PathBuf>,
    /// In the bundle, put stand-ins for names, and leave annotations and messages out
    #[arg(long, requires = "bundle")]
    redact: bool,
    /// Show the checks that found nothing, too
    #[arg(long)]
    all: bool,
    #[command(flatten)]
    sheet: SheetFlags,
}

/// A check: what it is called, and what it looks at.
struct Check {
    area: &'static str,
    name: &'static str,
    run: fn(&Facts) -> Result<Verdict, Unread>,
}

/// Every check, in the order in which one would look.
const CHECKS: &[Check] = &[
    Check { area: "server", name: "version", run: server::api_server },
    Check { area: "server", name: "clocks", run: server::clocks },
    Check { area: "server", name: "webhooks", run: server::dead_webhooks },
    Check { area: "install", name: "definitions", run: installed::definitions },
    Check { area: "install", name: "daemons", run: installed::daemons },
    Check { area: "install", name: "leaders", run: server::leaders },
    Check { area: "install", name: "restarts", run: installed::restarts },
    Check { area: "install", name: "versions", run: installed::versions },
    Check { area: "install", name: "one-scheduler", run: installed::one_scheduler },
    Check { area: "install", name: "priority-classes", run: installed::priority_classes },
    Check { area: "install", name: "policies", run: installed::policies },
    Check { area: "install", name: "seats", run: levels::own },
    Check { area: "install", name: "shards", run: installed::shards },
    Check { area: "install", name: "monitors", run: installed::monitors },
    Check { area: "admission", name: "registered", run: webhooks::registered },
    Check { area: "admission", name: "authorities", run: webhooks::authorities },
    Check { area: "admission", name: "timeouts", run: webhooks::timeouts },
    Check { area: "queues", name: "parents", run: queues::parents },
    Check { area: "queues", name: "zero-limits", run: queues::zero_limits },
    Check { area: "queues", name: "limits", run: queues::limits },
    Check { area: "queues", name: "children", run: queues::children },
    Check { area: "queues", name: "quotas", run: queues::quotas },
    Check { area: "queues", name: "named", run: queues::named },
    Check { area: "queues", name: "without", run: queues::without },
    Check { area: "nodes", name: "ready", run: nodes::ready },
    Check { area: "nodes", name: "leases", run: server::node_leases },
    Check { area: "nodes", name: "plugin", run: nodes::plugin },
    Check { area: "nodes", name: "lost-devices", run: nodes::lost },
    Check { area: "nodes", name: "labels", run: nodes::labels },
    Check { area: "nodes", name: "sliced", run: nodes::sliced },
    Check { area: "nodes", name: "topologies", run: nodes::topologies },
    Check { area: "nodes", name: "bypass", run: nodes::bypass },
    Check { area: "pods", name: "ungrouped", run: pods::ungrouped },
    Check { area: "pods", name: "unseen", run: pods::unseen },
    Check { area: "pods", name: "gates", run: pods::gates },
    Check { area: "pods", name: "empty-groups", run: pods::empty_groups },
    Check { area: "pods", name: "ending", run: pods::ending },
    Check { area: "pods", name: "broken-gangs", run: pods::broken_gangs },
    Check { area: "pods", name: "binds", run: pods::binds },
    Check { area: "shares", name: "orphans", run: shares::orphans },
    Check { area: "shares", name: "silent", run: shares::silent },
    Check { area: "shares", name: "unreserved", run: shares::unreserved },
    Check { area: "shares", name: "isolation", run: shares::isolation },
];

impl Check {
    fn title(&self) -> String {
        format!("{}/{}", self.area, self.name)
    }

    fn is(&self, word: &str) -> bool {
        word == self.area || word == self.title()
    }

    fn find(&self, facts: &Facts) -> Finding {
        let mut grant = None;
        let verdict = (self.run)(facts).unwrap_or_else(|unread| {
            grant = unread.grant;
            Verdict::unknown(unread.sentence)
        });
        let granted = grant.as_ref().map(|grant| grant.command.clone());
        Finding {
            name: self.title(),
            state: verdict.level,
            finding: clean(&verdict.sentence).into_owned(),
            evidence: verdict.evidence.iter().map(|line| clean(line).into_owned()).collect(),
            fix: verdict.fix.or(granted),
            role: grant.and_then(|grant| grant.role),
        }
    }
}

/// Holds what `doctor` found, as data.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct Findings {
    /// Tells whether everything works, as far as it could be read.
    healthy: bool,
    /// Every check that ran.
    items: Vec<Finding>,
}

/// Holds what a check found, as data.
#[derive(Debug, Serialize, JsonSchema)]
#[expect(clippy::struct_field_names, reason = "the field is the column of that name")]
struct Finding {
    /// Area and name of the check.
    name: String,
    /// ok, unknown, warning or error.
    state: Level,
    /// One sentence.
    finding: String,
    /// Holds what shows it.
    evidence: Vec<String>,
    /// A command that can be pasted, or what somebody has to do.
    fix: Option<String>,
    /// The role that would let this user look at it.
    #[serde(skip_serializing_if = "Option::is_none")]
    role: Option<&'static str>,
}

/// Runs `doctor`.
pub(crate) async fn run(args: &Args, context: &mut Context) -> Result<Exit, Error> {
    let checks = chosen(&args.checks)?;
    let format = Format::asked(context.globals.output.as_deref(), args.sheet.jq.as_deref())?;
    let cluster = context.cluster().await?;
    let system = context.globals.namespace.clone();
    let system = system.unwrap_or_else(|| kai_api::names::namespace::SYSTEM.to_owned());
    context.out.wait_for("reading the cluster");
    let facts = Facts::read(&cluster, &system).await;
    context.out.waited();
    if let Err(unread) = &facts.version {
        // Nothing else can be said of a cluster that does not answer.
        cluster.read("/version").await.map_err(|e| cluster.explain_any(&e))?;
        context.out.warn(&unread.sentence);
    }
    let items: Vec<Finding> = checks.iter().map(|check| check.find(&facts)).collect();
    let worst = items.iter().map(|item| item.state).max().unwrap_or(Level::Ok);
    let findings = Findings { healthy: worst < Level::Error, items };
    if let Some(path) = &args.bundle {
        let told = bundle::write(path, &facts, &json!(findings.items), args.redact)?;
        context.out.talk(&format!("wrote {}: {}", path.display(), told.join(", ")));
    }
    print(&findings, args, &format, context)?;
    Ok(if worst == Level::Error { Exit::Sick } else { Exit::Ok })
}

/// The checks that were asked for; all where none was.
fn chosen(words: &[String]) -> Result<Vec<&'static Check>, Error> {
    let unknown = words.iter().find(|word| !CHECKS.iter().any(|check| check.is(word)));
    if let Some(word) = unknown {
        let mut areas: Vec<&str> = CHECKS.iter().map(|check| check.area).collect();
        areas.dedup();
        areas.sort_unstable();
        areas.dedup();
        let titles = CHECKS.iter().map(Check::title);
        let near = titles.min_by_key(|title| strsim::damerau_levenshtein(title, word));
        return Err(Problem::new(
            number::USAGE,
            Exit::Usage,
            format!("there is no check \"{}\"", clean(word)),
        )
        .line(format!("areas: {}", areas.join(", ")))
        .fix(format!("kubectl kai doctor {}", near.unwrap_or_default()))
        .into());
    }
    Ok(CHECKS
        .iter()
        .filter(|check| words.is_empty() || words.iter().any(|word| check.is(word)))
        .collect())
}

fn print(
    found: &Findings,
    args: &Args,
    format: &Format,
    context: &mut Context,
) -> Result<(), Error> {
    let is_asked = args.all || !args.checks.is_empty();
    let is_folded = !args.all && context.globals.verbose == 0;
    let is_page = *format == Format::Table && args.sheet.of_rows().is_none();
    let body = if is_page {
        let shown = found.items.iter().filter(|item| is_asked || item.state > Level::Ok);
        let names = shown.clone().map(|item| item.name.clone()).collect();
        let (folded, shown): (Vec<_>, Vec<_>) =
            shown.partition(|item| is_folded && item.is_unread());
        let mut page = Page::new(context.out.columns());
        each(&mut page, &shown);
        unread::fold(&mut page, &folded);
        Body::Page { text: page.text, names }
    } else {
        Body::Table(table(&found.items))
    };
    let mut report = Report::new("DoctorReport", json!(found), body);
    report.footer = vec![total(&found.items)];
    let flags = args.sheet.list();
    report.arrange(&flags)?;
    let is_silent = matches!(&report.body, Body::Page { text, .. } if text.is_empty());
    report.print(format, &flags, &mut context.out)?;
    if is_silent && !context.out.is_terminal() {
        // A page without a line would leave open whether anything was looked at.
        context.out.talk(&total(&found.items));
    }
    Ok(())
}

fn table(items: &[Finding]) -> Table {
    let row = |item: &Finding| {
        let state = Cell::styled(item.state.word(), item.state.style());
        let fix = item.fix.clone().unwrap_or_else(|| "-".to_owned());
        Row::new(
            item.name.clone(),
            vec![item.name.as_str().into(), state, item.finding.as_str().into(), fix.into()],
        )
    };
    Table { columns: COLUMNS.to_vec(), rows: items.iter().map(row).collect() }
}

/// Says what is wrong, with what shows it and how to repair it.
fn each(page: &mut Page, items: &[&Finding]) {
    for item in items {
        let head = format!("{:<8} {}", item.state.word(), item.name);
        page.paragraph(0, &head, item.state.style());
        page.paragraph(9, &item.finding, Style::Plain);
        for line in item.evidence.iter().take(EVIDENCE_SHOWN) {
            page.paragraph(11, line, Style::Dim);
        }
        if item.evidence.len() > EVIDENCE_SHOWN {
            page.paragraph(
                11,
                &format!("and {} more: -o json", item.evidence.len() - EVIDENCE_SHOWN),
                Style::Dim,
            );
        }
        if let Some(fix) = &item.fix {
            page.paragraph(9, &format!("fix: {fix}"), Style::Plain);
        }
    }
}

/// Says how many checks there were, by what they found.
fn total(items: &[Finding]) -> String {
    let of = |level: Level| items.iter().filter(|item| item.state == level).count();
    format!(
        "{}: {} ok, {}, {}, {} unknown",
        count(items.len(), "check"),
        of(Level::Ok),
        count(of(Level::Warning), "warning"),
        count(of(Level::Error), "error"),
        of(Level::Unknown)
    )
}

#[cfg(test)]
mod tests {
    use std::collections::{BTreeMap, BTreeSet};

    use serde::Deserialize;
    use serde_json::Value;

    use super::facts::Source;
    use super::*;

    #[derive(Deserialize)]
    #[serde(deny_unknown_fields)]
    struct Case {
        check: String,
        facts: BTreeMap<String, Vec<Value>>,
        state: String,
        says: String,
    }

    #[test]
    fn checks_find_what_is_built_in() {
        let cases: Vec<Case> =
            serde_saphyr::from_str(include_str!("doctor/cases.yaml")).expect("the cases are YAML");
        let now = "2026-11-24T12:00:00Z".parse().expect("a time");
        let (mut bad, mut wrong) = (BTreeSet::new(), Vec::new());
        for case in &cases {
            let mut facts = case.facts.clone();
            let lists = Source::ALL
                .into_iter()
                .filter_map(|source| Some((source, Ok(Some(facts.remove(&source.title())?)))))
                .collect();
            assert!(facts.is_empty(), "{}: no such list: {facts:?}", case.check);
            let check = CHECKS.iter().find(|check| check.title() == case.check);
            let found = check.expect("the check is there").find(&Facts::given(now, lists));
            let got = (found.state.word(), found.finding.as_str());
            if got != (case.state.as_str(), case.says.as_str()) {
                wrong.push(format!("{}: {got:?} is not {:?}", case.check, case.says));
            }
            let is_bad = found.state > Level::Unknown;
            assert!(found.fix.is_some() || !is_bad, "{}: no fix", case.check);
            bad.insert(case.check.clone());
        }
        assert!(wrong.is_empty(), "{wrong:#?}");
        assert!(bad.len() > 30, "only {} checks are tried", bad.len());
    }
}
