//! Draws the map of nodes: a sign for each device.

use ratatui::layout::Rect;
use ratatui::style::{Modifier, Style as Paint};
use ratatui::text::{Line, Span};
use unicode_width::UnicodeWidthStr as _;

use crate::commands::top::live::look::{Look, title};
use crate::commands::top::live::picture::{Cell, Look as Kind, Node, Work};
use crate::commands::top::live::screen::{Pane, Screen};
use crate::print::output::Style;

/// More devices of a node than are drawn on the map.
const CELLS_MAX: usize = 16;
/// The longest name that stands in full.
const NAME_MAX: usize = 20;
/// Columns between two nodes.
const GAP: usize = 2;

/// The widths of a node's parts.
struct Widths {
    name: usize,
    cells: usize,
    held: usize,
}

impl Widths {
    fn of(screen: &Screen) -> Self {
        let shown = &screen.place(Pane::Nodes).shown;
        let nodes = shown.iter().map(|at| &screen.picture.nodes[*at]);
        let most = |of: fn(&Node) -> usize| nodes.clone().map(of).max().unwrap_or(0);
        Self {
            name: most(|node| node.name.width() + mark(node).len()).clamp(4, NAME_MAX),
            cells: most(|node| node.cells.len()).clamp(1, CELLS_MAX),
            held: most(|node| node.held.width()).clamp(3, 9),
        }
    }

    fn sum(&self) -> usize {
        self.name + self.cells + self.held + 4
    }
}

/// Says how many nodes stand beside each other.
pub(super) fn columns(screen: &Screen, width: u16) -> usize {
    let each = Widths::of(screen).sum() + GAP;
    ((usize::from(width) + GAP) / each).max(1)
}

/// A sign behind the name of a node that takes no pods, or not all.
fn mark(node: &Node) -> &'static str {
    if node.marks.is_empty() { "" } else { "!" }
}

pub(super) fn draw(screen: &Screen, look: Look, area: Rect) -> Vec<Line<'static>> {
    let place = screen.place(Pane::Nodes);
    let widths = Widths::of(screen);
    let columns = screen.columns.max(1);
    let mut lines = vec![title(screen, Pane::Nodes, "NODES", look, area.width)];
    if place.shown.is_empty() {
        lines.push(look.span("  no node", Style::Dim).into());
        return lines;
    }
    let rows = usize::from(area.height.saturating_sub(1));
    let work = screen.work().filter(|_| screen.pane == Pane::Works).map(Work::key);
    let chosen = work.and_then(|key| screen.picture.works.iter().position(|one| one.key() == key));
    for row in place.top..(place.top + rows) {
        let mut spans = Vec::new();
        for column in 0..columns {
            let at = row * columns + column;
            let Some(node) = place.shown.get(at).map(|at| &screen.picture.nodes[*at]) else {
                break;
            };
            let is_chosen = screen.pane == Pane::Nodes && at == place.chosen;
            let mut entry = entry(screen, node, &widths, look, chosen);
            if is_chosen {
                entry = entry
                    .into_iter()
                    .map(|span| span.patch_style(Paint::new().add_modifier(Modifier::REVERSED)))
                    .collect();
            }
            spans.push(Span::raw(if is_chosen { "> " } else { "  " }));
            spans.extend(entry);
            spans.push(Span::raw(" ".repeat(GAP)));
        }
        lines.push(Line::from(spans));
    }
    lines
}

fn entry(
    screen: &Screen,
    node: &Node,
    widths: &Widths,
    look: Look,
    chosen: Option<usize>,
) -> Vec<Span<'static>> {
    let style = if node.marks.is_empty() { Style::Plain } else { Style::Warn };
    let name = format!("{}{}", node.name, mark(node));
    let mut spans = vec![look.span(look.pad(&name, widths.name), style), Span::raw(" ")];
    let shown = if node.cells.len() > CELLS_MAX { CELLS_MAX - 1 } else { node.cells.len() };
    for cell in &node.cells[..shown] {
        spans.push(sign(screen, cell, look, chosen));
    }
    let mut drawn = shown;
    if shown < node.cells.len() {
        spans.push(Span::raw("+"));
        drawn += 1;
    }
    spans.push(Span::raw(" ".repeat(widths.cells.saturating_sub(drawn) + 1)));
    spans.push(Span::raw(look.pad(&node.held, widths.held)));
    spans
}

/// A device as one character.
fn sign(screen: &Screen, cell: &Cell, look: Look, chosen: Option<usize>) -> Span<'static> {
    let work = cell.holders.iter().find_map(|holder| holder.work);
    let letter = work.and_then(|at| screen.letters.get(at).copied().flatten());
    let text = match cell.look {
        Kind::Bad => '!',
        Kind::Whole => letter.unwrap_or(if look.is_ascii { '#' } else { '█' }),
        Kind::Shared(tenths) => part(tenths, look),
        Kind::Free if look.is_ascii => '.',
        Kind::Free => '·',
        Kind::Unknown => '?',
        Kind::Slices if cell.holders.is_empty() => 'm',
        Kind::Slices => 'M',
    };
    let paint = match (cell.look, work) {
        (Kind::Bad, _) => look.paint(Style::Bad),
        (Kind::Free | Kind::Unknown, _) => look.paint(Style::Dim),
        (Kind::Whole, Some(at)) => color(screen, at, look),
        (Kind::Shared(_), _) => look.paint(Style::Warn),
        (Kind::Whole | Kind::Slices, _) => look.paint(Style::Plain),
    };
    let is_its = chosen.is_some() && cell.holders.iter().any(|holder| holder.work == chosen);
    let paint = if is_its { paint.add_modifier(Modifier::REVERSED) } else { paint };
    Span::styled(text.to_string(), paint)
}

/// A shared device: how much of it is held, in tenths.
fn part(tenths: u8, look: Look) -> char {
    const BARS: [char; 7] = ['▁', '▂', '▃', '▄', '▅', '▆', '▇'];
    let tenths = tenths.clamp(1, 9);
    if look.is_ascii {
        return char::from_digit(u32::from(tenths), 10).unwrap_or('9');
    }
    BARS[usize::from(tenths - 1) * 6 / 8]
}

/// The colour of a workload, by its letter.
pub(super) fn color(screen: &Screen, work: usize, look: Look) -> Paint {
    let letter = screen.letters.get(work).copied().flatten();
    let style = letter.map(|letter| Style::Rank(u8::try_from(letter).unwrap_or(0)));
    look.paint(style.unwrap_or_default())
}

/// All who hold devices of a node, a device after the other.
pub(super) fn holders(node: &Node) -> String {
    let each = node.cells.iter().filter(|cell| !cell.holders.is_empty() || !cell.note.is_empty());
    let each = each.map(|cell| {
        let names = cell.holders.iter().map(|holder| holder.name.as_str());
        let parts: Vec<&str> = names.chain(Some(cell.note.as_str())).collect();
        parts.into_iter().filter(|part| !part.is_empty()).collect::<Vec<_>>().join(" + ")
    });
    let mut counted: Vec<(String, usize)> = Vec::new();
    for names in each {
        match counted.last_mut().filter(|(last, _)| *last == names) {
            Some((_, count)) => *count += 1,
            None => counted.push((names, 1)),
        }
    }
    let each = counted.into_iter().map(|(names, count)| match count {
        1 => names,
        count => format!("{count} x {names}"),
    });
    each.collect::<Vec<_>>().join(", ")
}
