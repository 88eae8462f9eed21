//! The live region below the story: queues with their bars, and who is on which GPU.

use std::collections::BTreeMap;

use unicode_width::UnicodeWidthStr as _;

use super::witness::{Device, Witness};
use crate::print::error::Error;
use crate::print::output::{Output, Style};

/// Cells of a queue's bar; one GPU each.
const BAR: usize = 16;
/// Columns of the region.
const WIDTH: usize = 78;
/// Up, and clear from here to the end of the screen.
const CLEAR: &str = "\x1b[J";

/// A queue of the story.
#[derive(Clone, Copy, Debug)]
pub(super) struct Row {
    pub(super) name: &'static str,
    pub(super) parent: Option<&'static str>,
    /// Its GPU quota.
    pub(super) quota: u32,
}

/// The region and how it is drawn.
#[derive(Debug)]
pub(super) struct Screen {
    live: bool,
    ascii: bool,
    /// Lines on the screen below the story.
    height: usize,
    drawn: Vec<String>,
}

impl Screen {
    /// Live on a terminal that is wide enough for it, absent elsewhere: lines that wrap would leave copies behind.
    pub(super) fn new(out: &Output) -> Self {
        let live = out.is_terminal() && out.columns() >= WIDTH;
        Self { live, ascii: out.is_ascii(), height: 0, drawn: Vec::new() }
    }

    /// Tells whether there is a live region.
    pub(super) fn is_live(&self) -> bool {
        self.live
    }

    /// Prints a line of the story above the region.
    pub(super) fn say(
        &mut self,
        out: &mut Output,
        witness: &Witness,
        text: &str,
    ) -> Result<(), Error> {
        self.close(out)?;
        out.data(text)?;
        self.draw(out, witness)
    }

    /// Draws the region where it is, if it changed.
    pub(super) fn draw(&mut self, out: &mut Output, witness: &Witness) -> Result<(), Error> {
        if !self.live {
            return Ok(());
        }
        let lines = region(witness, &super::QUEUES, self.ascii);
        if lines == self.drawn {
            return Ok(());
        }
        let text = lines.join("\n") + "\n";
        out.raw(&format!("{}{text}", self.up()))?;
        self.height = lines.len();
        self.drawn = lines;
        Ok(())
    }

    /// Takes the region away.
    pub(super) fn close(&mut self, out: &mut Output) -> Result<(), Error> {
        if self.live && self.height > 0 {
            out.raw(&self.up())?;
        }
        self.height = 0;
        self.drawn.clear();
        Ok(())
    }

    fn up(&self) -> String {
        if self.height == 0 { CLEAR.to_owned() } else { format!("\x1b[{}A\r{CLEAR}", self.height) }
    }
}

/// The region as lines: queues on the left, nodes on the right, and what the letters mean.
fn region(witness: &Witness, queues: &[Row], ascii: bool) -> Vec<String> {
    let letters = letters(witness);
    let nodes: Vec<String> = witness
        .nodes
        .iter()
        .map(|(name, devices)| {
            let cells: String =
                devices.iter().map(|device| cell(device, &letters, ascii)).collect();
            format!("{name:<8} {cells}")
        })
        .collect();
    let bars: Vec<String> = queues.iter().map(|row| bar(row, witness, queues, ascii)).collect();
    let rule = if ascii { "-" } else { "─" };
    let mut lines = vec![Style::Dim.paint(&rule.repeat(WIDTH))];
    for index in 0..bars.len().max(nodes.len().min(8)) {
        let left = bars.get(index).map_or("", String::as_str);
        let right = nodes.get(index).map_or("", String::as_str);
        let pad = " ".repeat(48_usize.saturating_sub(left.width()));
        lines.push(format!("{left}{pad}{right}").trim_end().to_owned());
    }
    let legend: Vec<String> =
        letters.iter().map(|(name, letter)| format!("{letter} {name}")).collect();
    if !legend.is_empty() {
        lines.push(Style::Dim.paint(&legend.join("   ")));
    }
    lines
}

/// One queue: name, use and quota, bar.
fn bar(row: &Row, witness: &Witness, queues: &[Row], ascii: bool) -> String {
    let own = witness.used(row.name);
    let below: u32 = queues
        .iter()
        .filter(|child| child.parent == Some(row.name))
        .map(|child| witness.used(child.name))
        .sum();
    let used = own + below;
    let tenths = used / 100;
    let name = if row.parent.is_some() { format!("  {}", row.name) } else { row.name.to_owned() };
    let quota = usize::try_from(row.quota).unwrap_or(BAR).min(BAR);
    let full = usize::try_from(used.div_ceil(1000)).unwrap_or(BAR);
    let (inside, over, free) = if ascii { ("#", "+", ".") } else { ("█", "▓", "·") };
    let cells = format!(
        "{}{}{}",
        inside.repeat(full.min(quota)),
        over.repeat(full.saturating_sub(quota).min(BAR)),
        free.repeat(quota.saturating_sub(full))
    );
    format!("{name:<11}{:>4}.{}/{:<3} {cells}", tenths / 10, tenths % 10, row.quota)
}

/// A letter for each workload that holds a GPU, the first of its name that is free.
fn letters(witness: &Witness) -> BTreeMap<String, char> {
    let holders: std::collections::BTreeSet<&String> = witness
        .nodes
        .values()
        .flatten()
        .flat_map(|device| device.users.iter().map(|(workload, _)| workload))
        .collect();
    let mut letters: BTreeMap<String, char> = BTreeMap::new();
    for name in holders {
        let free = |letter: &char| !letters.values().any(|taken| taken == letter);
        let own = name.chars().filter(char::is_ascii_alphanumeric);
        let letter = own.chain('A'..='Z').find(free).unwrap_or('?');
        letters.insert(name.clone(), letter);
    }
    letters
}

fn cell(device: &Device, letters: &BTreeMap<String, char>, ascii: bool) -> String {
    match device.users.as_slice() {
        [] => (if ascii { "." } else { "·" }).to_owned(),
        [(workload, _)] => {
            Style::Good.paint(&letters.get(workload).copied().unwrap_or('?').to_string())
        }
        [_, ..] => Style::Good.paint(if ascii { "%" } else { "½" }),
    }
}
