//! Commands that print what they found: once, or again whenever it changes.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use serde_json::Value;
use tokio::signal::unix::{SignalKind, signal};

use crate::commands::outage::Outage;
use crate::context::Context;
use crate::print::error::{Error, Exit, Problem, number};
use crate::print::flags::{ListFlags, WatchFlags};
use crate::print::format::Format;
use crate::print::output::{Output, escaped};
use crate::print::page::wrap;
use crate::print::report::{Body, Report, Table, words};
use crate::print::screen::Screen;
use crate::print::table::Cell;

/// A question to the cluster that can be asked again.
pub(crate) trait Find {
    /// Finds the answer; `format` says in which form it will be printed, since some forms need more than others.
    fn find(
        &self,
        context: &mut Context,
        format: &Format,
    ) -> impl Future<Output = Result<Report, Error>> + Send;
}

/// Changes come in crowds: so long the first of one waits for the others.
const CROWD: Duration = Duration::from_millis(200);
/// So often a live screen is drawn anew though nothing changed: ages go on.
const TICK: Duration = Duration::from_secs(1);
/// So often kinds are looked for again that could not be listed: nothing says when they can be.
const AGAIN: Duration = Duration::from_secs(10);
/// The share of the time that drawing may take: one part in so many.
const REST: u32 = 10;

/// Finds and prints; goes on where the flags say so, until Ctrl-C.
///
/// # Errors
/// As the question's, and as [`Report::print`].
pub(crate) async fn show(
    question: &impl Find,
    list: &ListFlags,
    watch: WatchFlags,
    context: &mut Context,
) -> Result<Exit, Error> {
    let format = Format::asked(context.globals.output.as_deref(), list.sheet.jq.as_deref())?;
    if !watch.is_on() {
        let mut report = question.find(context, &format).await?;
        report.arrange(list)?;
        report.print(&format, list, &mut context.out)?;
        return Ok(report.exit);
    }
    if watch.live && !(context.out.is_terminal() && format.is_table()) {
        let what = "--live draws a table on a terminal, and this is none";
        return Err(Problem::new(number::USAGE, Exit::Usage, what)
            .fix("-w, which prints what changes below")
            .into());
    }
    let mut view = View {
        format,
        list: list.clone(),
        screen: watch.live.then(Screen::default),
        seen: None,
        is_away: false,
    };
    let ended = tokio::select! {
        biased;
        () = stopped() => Ok(Exit::Interrupted),
        ended = go_on(question, &mut view, context) => ended,
    };
    view.end(&mut context.out)?;
    ended
}

/// Waits for Ctrl-C, or for a request to end.
pub(crate) async fn stopped() {
    let interrupted = tokio::signal::ctrl_c();
    match signal(SignalKind::terminate()) {
        Ok(mut terminated) => {
            tokio::select! { _ = interrupted => {}, _ = terminated.recv() => {} }
        }
        Err(_) => {
            let _ = interrupted.await;
        }
    }
}

async fn go_on(
    question: &impl Find,
    view: &mut View,
    context: &mut Context,
) -> Result<Exit, Error> {
    let mirror = context.mirror(|_| {}).await?;
    let mut outage = Outage::default();
    loop {
        let begin = Instant::now();
        let found = question.find(context, &view.format).await;
        // What cannot be found at all ends the command; who was there once may come back.
        let found = match found {
            Err(error) if view.seen.is_none() => return Err(error),
            found => outage.sit_out(found, &mut context.out)?,
        };
        // Nothing tells when a list that failed would be answered.
        let again = match &found {
            None => Some(TICK),
            Some(report) if report.exit != Exit::Ok => Some(AGAIN),
            Some(_) => None,
        };
        if let Some(mut report) = found {
            report.arrange(&view.list)?;
            view.take(report, mirror.trouble(), &mut context.out)?;
            if view.screen.is_none() {
                context.warn_of_cut();
            }
        }
        let again = again.or(view.is_away.then_some(TICK));
        let took = begin.elapsed();
        let rest = TICK.max(took * REST);
        if view.screen.is_some() {
            tokio::select! { () = mirror.changed() => {}, () = tokio::time::sleep(rest) => continue }
        } else if let Some(again) = again {
            tokio::select! { () = mirror.changed() => {}, () = tokio::time::sleep(again) => {} }
        } else {
            mirror.changed().await;
        }
        tokio::time::sleep(CROWD.max(took)).await;
    }
}

/// Says what was printed last.
#[derive(Debug)]
enum Seen {
    /// The cells of each row, without those that go by the clock.
    Rows(BTreeMap<String, Vec<String>>),
    Page(String),
    Data(Value),
}

/// Holds what is on the screen, or below which changes are printed.
struct View {
    format: Format,
    list: ListFlags,
    screen: Option<Screen>,
    seen: Option<Seen>,
    /// Tells whether it was said that the server does not answer.
    is_away: bool,
}

impl View {
    fn take(
        &mut self,
        report: Report,
        trouble: Option<String>,
        out: &mut Output,
    ) -> Result<(), Error> {
        if let Some(screen) = &mut self.screen {
            out.measure();
            let wide = self.format == Format::Wide;
            let text = match &report.body {
                Body::Table(table) => table.text(wide, &self.list, out.columns()),
                Body::Page { text, .. } => text.clone(),
            };
            let trouble = trouble.map(|why| format!("the API server does not answer: {why}"));
            let below = report.warnings.iter().chain(&report.footer).cloned().chain(trouble);
            let columns = out.columns();
            let below: Vec<String> = below.flat_map(|line| wrap(&line, columns)).collect();
            screen.draw(&text, &below, out)?;
            self.seen = Some(Seen::Page(String::new()));
            return Ok(());
        }
        self.tell(trouble.as_deref(), out);
        match (&self.format, &report.body) {
            (Format::Table | Format::Wide | Format::Name | Format::Csv, Body::Table(table)) => {
                let rows = rows(table);
                match &self.seen {
                    Some(Seen::Rows(seen)) => self.changes(table, seen, &rows, out)?,
                    Some(_) | None => report.print(&self.format, &self.list, out)?,
                }
                self.seen = Some(Seen::Rows(rows));
            }
            (Format::Table | Format::Wide | Format::Name, Body::Page { text, .. }) => {
                let page = without_ages(text);
                if !matches!(&self.seen, Some(Seen::Page(seen)) if *seen == page) {
                    if self.seen.is_some() && self.format != Format::Name {
                        out.data("")?;
                    }
                    report.print(&self.format, &self.list, out)?;
                }
                self.seen = Some(Seen::Page(page));
            }
            (format, _) => {
                if !matches!(&self.seen, Some(Seen::Data(seen)) if *seen == report.data) {
                    if *format == Format::Json {
                        // A line each, so that a program can tell them apart.
                        out.data(&escaped(&report.whole().to_string()))?;
                    } else {
                        report.print(format, &self.list, out)?;
                    }
                }
                self.seen = Some(Seen::Data(report.data));
            }
        }
        Ok(())
    }

    /// Says once that the server does not answer, and once that it does again.
    fn tell(&mut self, trouble: Option<&str>, out: &mut Output) {
        match trouble {
            Some(why) if !self.is_away => {
                out.warn(&format!(
                    "the API server does not answer: {why}; trying again until it does"
                ));
            }
            None if self.is_away => out.talk("the API server answers again"),
            Some(_) | None => {}
        }
        self.is_away = trouble.is_some();
    }

    /// Prints the rows that are new or changed, and those that are gone.
    fn changes(
        &self,
        table: &Table,
        seen: &BTreeMap<String, Vec<String>>,
        rows: &BTreeMap<String, Vec<String>>,
        out: &mut Output,
    ) -> Result<(), Error> {
        let is_new = |key: &String| seen.get(key) != rows.get(key);
        if self.format == Format::Name {
            let changed = table.rows.iter().filter(|row| is_new(&row.key));
            words(changed.map(|row| row.name.as_str()), out)?;
        } else {
            let mut flags = self.list.clone();
            flags.sheet.no_headers = true;
            let lines = table.lines(&self.format, &flags, out.columns());
            for (row, line) in table.rows.iter().zip(&lines) {
                if is_new(&row.key) {
                    out.document(&format!("{line}\n"))?;
                }
            }
        }
        for key in seen.keys().filter(|key| !rows.contains_key(*key)) {
            out.talk(&format!("{key} is gone"));
        }
        Ok(())
    }

    fn end(&mut self, out: &mut Output) -> Result<(), Error> {
        match self.screen.take() {
            Some(screen) => screen.end(out),
            None => Ok(()),
        }
    }
}

/// Says what each row says: cells under their titles, without those that say nothing and those that go by the clock.
fn rows(table: &Table) -> BTreeMap<String, Vec<String>> {
    let cells = |cells: &[Cell]| {
        let titled = table.columns.iter().zip(cells);
        let said = titled.filter(|(column, cell)| !column.ages && cell.text != "-");
        said.map(|(column, cell)| format!("{} {}", column.title, cell.text)).collect()
    };
    table.rows.iter().map(|row| (row.key.clone(), cells(&row.cells))).collect()
}

/// A page without words such as `3h12m` and `14s`, which change by themselves.
fn without_ages(text: &str) -> String {
    let is_age = |word: &str| {
        word.chars().all(|c| c.is_ascii_digit() || "dhmsy".contains(c))
            && word.starts_with(|c: char| c.is_ascii_digit())
            && word.ends_with(['d', 'h', 'm', 's', 'y'])
    };
    let words = text.split([' ', '\n']).filter(|word| !word.is_empty() && !is_age(word));
    words.collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::print::output::tests::page;
    use crate::print::report::Row;
    use crate::print::table::Column;

    /// A list of workloads, `name status age` each.
    fn report(rows: &[&str]) -> Report {
        let columns = ["NAME", "STATUS"].map(Column::new).into_iter();
        let columns = columns.chain([Column::new("AGE").ages()]).collect();
        let items: Vec<Value> = rows.iter().map(|row| json!(row.rsplit_once(' '))).collect();
        let row = |text: &&str| {
            let cells: Vec<Cell> = text.split(' ').map(Cell::from).collect();
            Row::new(cells[0].text.clone(), cells)
        };
        let table = Table { columns, rows: rows.iter().map(row).collect() };
        Report::new("TestList", json!({ "items": items.len() }), Body::Table(table))
    }

    /// Says what is printed of one state after the other.
    fn check(output: &str, states: &[&[&str]], expect: &str) {
        let format = Format::read(Some(output)).expect("a form");
        let mut view =
            View { format, list: ListFlags::default(), screen: None, seen: None, is_away: false };
        let said =
            page(|out| states.iter().try_for_each(|rows| view.take(report(rows), None, out)));
        assert_eq!(said.expect("it prints"), expect, "-o {output}");
    }

    #[test]
    fn only_what_changes_is_printed_below() {
        let states: &[&[&str]] = &[
            &["a Pending 1s", "b Running 9m"],
            &["a Pending 2s", "b Running 10m"],
            &["a Running 3s", "b Running 10m"],
            &["a Running 3s", "c Pending 0s"],
        ];
        check(
            "table",
            states,
            "NAME  STATUS   AGE\na     Pending  1s\nb     Running  9m\na     Running  3s\nc     Pending  0s\n",
        );
        check("name", states, "a\nb\na\nc\n");
        check("name", &[&["a Pending 1s"], &["a Running 1s", "--all Pending 1s"]], "a\na\n");
        check(
            "csv",
            states,
            "NAME,STATUS,AGE\na,Pending,1s\nb,Running,9m\na,Running,3s\nc,Pending,0s\n",
        );
        let lines = |n: usize| {
            format!(
                "{{\"apiVersion\":\"cli.kai.scheduler/v1\",\"kind\":\"TestList\",\"items\":{n}}}\n"
            )
        };
        check("json", &[&["a b c"], &["a b d"], &["a b c", "d e f"]], &(lines(1) + &lines(2)));
    }

    #[test]
    fn ages_change_nothing() {
        assert_eq!(
            without_ages("llama  Pending for 14m\n  3h12m ago 2x"),
            "llama Pending for ago 2x"
        );
    }
}
