//! Draws the view: lines of styled text in rectangles, the same on every terminal of a size.
//!
//! ```text
//!  head                      head
//!  nodes                     nodes │ queues        from 140 columns on
//!  queues                    workloads
//!  workloads                 what is chosen, in full
//!  what is chosen, in full   keys
//!  keys
//! ```

use std::collections::BTreeSet;

use jiff::Timestamp;
use ratatui::Frame;
use ratatui::layout::Rect;
use ratatui::style::{Modifier, Style as Paint};
use ratatui::text::{Line, Span};
use ratatui::widgets::{Clear, Paragraph};
use unicode_width::UnicodeWidthStr as _;

use crate::cluster::queue::Amount;
use crate::commands::queues::bar;
use crate::commands::top::live::look::{Look, title};
use crate::commands::top::live::map;
use crate::commands::top::live::picture::{Queue, Work};
use crate::commands::top::live::screen::{Page, Pane, Screen};
use crate::print::duration;
use crate::print::output::Style;
use crate::print::page::wrap;
use crate::print::table::cut;

/// On a terminal as wide as this, queues stand beside the nodes.
const WIDTH_BESIDE: u16 = 140;
/// The width of queues there.
const WIDTH_OF_QUEUES: u16 = 80;
/// Rows without which nothing sensible can be drawn.
const ROWS_MIN: u16 = 12;
/// From so many rows on three of them tell of what is chosen, else two.
const ROWS_OF_THREE: u16 = 30;

/// Draws a screen at a moment.
pub(in crate::commands::top) fn draw(
    screen: &mut Screen,
    look: Look,
    now: Timestamp,
    frame: &mut Frame<'_>,
) {
    let area = frame.area();
    if area.height < ROWS_MIN {
        frame.render_widget(Paragraph::new("the terminal is too low for top -i"), area);
        return;
    }
    let bottom = area.bottom() - 1;
    put(frame, row(area, 0), vec![head(screen, look, area.width)]);
    put(frame, row(area, bottom), vec![foot(screen, look)]);
    let body = Rect { y: 1, height: area.height - 2, ..area };
    if let Some(page) = screen.page.clone() {
        screen.page_rows = usize::from(body.height.saturating_sub(1));
        draw_page(&page, look, body, frame);
        return;
    }
    let told = if area.height < ROWS_OF_THREE { 2 } else { 3 };
    let body = Rect { height: body.height - told, ..body };
    let below = Rect { y: body.bottom(), height: told, ..area };
    put(frame, below, chosen(screen, look, below));
    let [nodes, queues, works] = areas(screen, body);
    screen.columns = map::columns(screen, nodes.width);
    for (pane, area) in Pane::ALL.into_iter().zip([nodes, queues, works]) {
        let titles = if pane == Pane::Works { 2 } else { 1 };
        screen.fit(pane, usize::from(area.height.saturating_sub(titles)));
    }
    put(frame, nodes, map::draw(screen, look, nodes));
    put(frame, queues, draw_queues(screen, look, queues));
    put(frame, works, draw_works(screen, look, now, works));
}

fn row(area: Rect, y: u16) -> Rect {
    Rect { y, height: 1, ..area }
}

fn put(frame: &mut Frame<'_>, area: Rect, lines: Vec<Line<'static>>) {
    frame.render_widget(Clear, area);
    frame.render_widget(Paragraph::new(lines), area);
}

/// Divides the height: nodes and queues get what they need of their parts, and of what workloads do not need.
fn areas(screen: &Screen, body: Rect) -> [Rect; 3] {
    let count = |pane: Pane| u16::try_from(screen.place(pane).shown.len()).unwrap_or(u16::MAX);
    let (queues, works) = (count(Pane::Queues).max(1), count(Pane::Works).max(1));
    let is_beside = body.width >= WIDTH_BESIDE;
    let width = if is_beside { body.width - WIDTH_OF_QUEUES - 2 } else { body.width };
    let columns = u16::try_from(map::columns(screen, width)).unwrap_or(1);
    let nodes = count(Pane::Nodes).div_ceil(columns.max(1)).max(1);
    // Each pane has a title, and workloads have a header.
    let room = body.height.saturating_sub(if is_beside { 3 } else { 4 });
    if is_beside {
        let high = nodes.max(queues).min((room / 2).max(room.saturating_sub(works)));
        let top = Rect { height: high + 1, width, ..body };
        let right = Rect { x: width + 2, width: WIDTH_OF_QUEUES, ..top };
        let below = Rect { y: top.bottom(), height: body.bottom() - top.bottom(), ..body };
        return [top, right, below];
    }
    let [mut nodes_high, mut queues_high] = [nodes.min(room * 4 / 10), queues.min(room * 3 / 10)];
    let mut spare = room.saturating_sub(works).saturating_sub(nodes_high + queues_high);
    for (high, all) in [(&mut nodes_high, nodes), (&mut queues_high, queues)] {
        let more = spare.min(all - *high);
        *high += more;
        spare -= more;
    }
    let first = Rect { height: nodes_high + 1, ..body };
    let second = Rect { y: first.bottom(), height: queues_high + 1, ..body };
    let third = Rect { y: second.bottom(), height: body.bottom() - second.bottom(), ..body };
    [first, second, third]
}

fn head(screen: &Screen, look: Look, width: u16) -> Line<'static> {
    let picture = &screen.picture;
    let separator = if look.is_ascii { " - " } else { " · " };
    let mut parts = vec![picture.devices(), picture.counts()];
    parts.extend(picture.namespace.iter().map(|name| format!("namespace {name}")));
    let text = format!("{separator}{}", parts.join(separator));
    let room = usize::from(width).saturating_sub(text.width());
    let place = cut(&picture.place, room.max(8), look.is_ascii);
    Line::from(vec![look.span(place, Style::Bold), look.span(text, Style::Plain)])
}

fn foot(screen: &Screen, look: Look) -> Line<'static> {
    if screen.is_typing {
        let cursor = Span::styled(" ", Paint::new().add_modifier(Modifier::REVERSED));
        let filter = look.span(format!("/{}", screen.filter), Style::Plain);
        return Line::from(vec![filter, cursor]);
    }
    let mut parts = Vec::new();
    if !screen.filter.is_empty() {
        parts.push(look.span(format!("/{}  ", screen.filter), Style::Bold));
    }
    if let Some(trouble) = &screen.trouble {
        parts.push(look.span(format!("the API server does not answer: {trouble}"), Style::Bad));
        return Line::from(parts);
    }
    let keys = match (screen.page.is_some(), screen.is_all) {
        (true, _) => "q back  j/k scroll  e explain  d describe  l logs",
        (false, false) => "q quit  / filter  w all  e explain  d describe  l logs  Tab  ? help",
        (false, true) => "q quit  / filter  w waiting  e explain  d describe  l logs  Tab  ? help",
    };
    parts.push(look.span(keys, Style::Dim));
    parts.extend(
        screen.picture.notes.iter().map(|note| look.span(format!("  {note}"), Style::Warn)),
    );
    Line::from(parts)
}

/// Returns what a queue holds of its quota.
fn used(queue: &Queue, look: Look) -> String {
    format!("{}/{}", queue.used, Amount::from(queue.quota_milli).show(look.is_ascii))
}

/// All that is known of what is chosen, in a few lines.
fn chosen(screen: &Screen, look: Look, area: Rect) -> Vec<Line<'static>> {
    let separator = if look.is_ascii { " - " } else { " · " };
    let (name, parts) = match screen.pane {
        Pane::Nodes => {
            let Some(node) = screen.node() else { return Vec::new() };
            let mut parts = vec![format!("{} GPUs held", node.held)];
            parts.extend([&node.product, &node.marks].map(Clone::clone));
            parts.push(map::holders(node));
            (node.name.clone(), parts)
        }
        Pane::Queues => {
            let Some(queue) = screen.queue() else { return Vec::new() };
            let text = format!(
                "{} GPUs held, fair share {}, limit {}, {} waited for",
                used(queue, look),
                queue.share,
                Amount::from(queue.limit_milli).show(look.is_ascii),
                queue.pending
            );
            (queue.name.clone(), vec![text, queue.note.clone()])
        }
        Pane::Works => {
            let Some(work) = screen.work() else { return Vec::new() };
            let code =
                if work.code.is_empty() { String::new() } else { format!("[{}]", work.code) };
            let parts = [work.status.clone(), work.why.clone(), work.nodes.join(" "), code];
            (work.name.clone(), parts.to_vec())
        }
    };
    let parts: Vec<String> = parts.into_iter().filter(|part| !part.is_empty()).collect();
    let text = format!("{name}  {}", parts.join(separator));
    let mut lines = wrap(&text, usize::from(area.width));
    if lines.len() > usize::from(area.height) {
        lines.truncate(usize::from(area.height));
        if let Some(last) = lines.last_mut() {
            *last = cut(&format!("{last} ...."), usize::from(area.width), look.is_ascii);
        }
    }
    let mut lines = lines.into_iter();
    let first = lines.next().unwrap_or_default();
    let rest = first.strip_prefix(&name).unwrap_or_default().to_owned();
    let first = Line::from(vec![look.span(name, Style::Bold), Span::raw(rest)]);
    std::iter::once(first).chain(lines.map(Line::from)).collect()
}

fn draw_page(page: &Page, look: Look, area: Rect, frame: &mut Frame<'_>) {
    let dash = if look.is_ascii { "-" } else { "─" };
    let rows = usize::from(area.height.saturating_sub(1));
    let seen = match &page.lines {
        Some(lines) if lines.len() > rows => {
            let last = (page.top + rows).min(lines.len());
            format!(" {}-{last} of {}", page.top + 1, lines.len())
        }
        Some(_) | None => String::new(),
    };
    let text = format!("{dash}> {}{seen} ", page.title);
    let rest = usize::from(area.width).saturating_sub(text.width());
    let mut lines = vec![Line::from(vec![
        look.span(text, Style::Bold),
        look.span(dash.repeat(rest), Style::Dim),
    ])];
    match &page.lines {
        None => lines.push(look.span("asking the cluster ...", Style::Dim).into()),
        Some(text) => {
            let seen = text.iter().skip(page.top).take(rows);
            lines.extend(seen.map(|line| Line::from(line.clone())));
        }
    }
    put(frame, area, lines);
}

/// Columns of a bar.
const BAR: usize = 20;

fn draw_queues(screen: &Screen, look: Look, area: Rect) -> Vec<Line<'static>> {
    let place = screen.place(Pane::Queues);
    let queues = &screen.picture.queues;
    let mut lines = vec![title(screen, Pane::Queues, "QUEUES", look, area.width)];
    let named = |at: &usize| queues[*at].name.width() + 2 * queues[*at].depth;
    let room = usize::from(area.width).saturating_sub(BAR + 36).max(8);
    let name_width = place.shown.iter().map(named).max().unwrap_or(8).min(room);
    let rows = usize::from(area.height.saturating_sub(1));
    for (row, at) in place.shown.iter().enumerate().skip(place.top).take(rows) {
        let queue = &queues[*at];
        let is_chosen = screen.pane == Pane::Queues && row == place.chosen;
        let name = format!("{}{}", "  ".repeat(queue.depth), queue.name);
        let is_over = queue.quota_milli.is_some_and(|quota| queue.used_milli > quota);
        let style = if is_over { Style::Warn } else { Style::Good };
        let waits =
            if queue.pending == "0" { String::new() } else { format!("  waits {}", queue.pending) };
        let numbers = format!(" {} share {:<5}", look.pad_left(&used(queue, look), 9), queue.share);
        let line = Line::from(vec![
            Span::raw(if is_chosen { "> " } else { "  " }),
            Span::raw(look.pad(&name, name_width)),
            Span::raw(" "),
            look.span(bar(queue.used_milli, queue.quota_milli, BAR, look.is_ascii), style),
            Span::raw(numbers),
            look.span(waits, Style::Warn),
            look.span(format!("  {}", queue.note), Style::Warn),
        ]);
        lines.push(reversed(line, is_chosen));
    }
    if place.shown.is_empty() {
        lines.push(look.span("  no queue", Style::Dim).into());
    }
    lines
}

/// The widths of the list's columns that depend on what is in them.
struct Widths {
    name: usize,
    namespace: usize,
    queue: usize,
    status: usize,
}

impl Widths {
    fn of(screen: &Screen, width: u16) -> Self {
        let works = screen.place(Pane::Works).shown.iter().map(|at| &screen.picture.works[*at]);
        let most = |of: fn(&Work) -> &str, least: usize, most: usize| {
            works.clone().map(|work| of(work).width()).max().unwrap_or(0).clamp(least, most)
        };
        let is_wide = width >= WIDTH_BESIDE;
        let namespaces: BTreeSet<&str> =
            works.clone().map(|work| work.namespace.as_str()).collect();
        let is_one = namespaces.len() < 2;
        Self {
            name: most(|work| &work.name, 8, if is_wide { 40 } else { 16 }),
            namespace: if is_one {
                0
            } else {
                most(|work| &work.namespace, 9, if is_wide { 24 } else { 10 })
            },
            queue: most(|work| &work.queue, 5, if is_wide { 24 } else { 10 }),
            status: most(
                if screen.is_all { |work| &work.status } else { reason },
                6,
                if is_wide { 32 } else { 20 },
            ),
        }
    }
}

fn draw_works(screen: &Screen, look: Look, now: Timestamp, area: Rect) -> Vec<Line<'static>> {
    let place = screen.place(Pane::Works);
    let widths = Widths::of(screen, area.width);
    let name = if screen.is_all { "WORKLOADS" } else { "WAITING" };
    let mut lines = vec![title(screen, Pane::Works, name, look, area.width)];
    if place.shown.is_empty() {
        let none = match (screen.filter.is_empty(), screen.is_all) {
            (false, _) => "  nothing has the filter in it; Esc shows all",
            (true, true) => "  no workload",
            (true, false) => "  nothing waits; w shows what runs",
        };
        lines.push(look.span(none, Style::Dim).into());
        return lines;
    }
    lines.push(look.span(header(&widths, look, screen.is_all), Style::Dim).into());
    let rows = usize::from(area.height.saturating_sub(2));
    for (row, at) in place.shown.iter().enumerate().skip(place.top).take(rows) {
        let is_chosen = screen.pane == Pane::Works && row == place.chosen;
        let line = work_line(screen, *at, &widths, look, now);
        let mark = if is_chosen { "> " } else { "  " };
        let mut spans = vec![Span::raw(mark)];
        spans.extend(line);
        lines.push(reversed(Line::from(spans), is_chosen));
    }
    lines
}

/// The reason why it waits, in a word, where all do: `NoCapacity` of `Pending (NoCapacity)`.
fn reason(work: &Work) -> &str {
    let inside = work.status.split_once('(').map(|(_, inside)| inside.trim_end_matches(')'));
    inside.unwrap_or(&work.status)
}

fn header(widths: &Widths, look: Look, is_all: bool) -> String {
    let namespace = if widths.namespace == 0 {
        String::new()
    } else {
        format!("{} ", look.pad("NAMESPACE", widths.namespace))
    };
    let middle = if is_all { "READY " } else { "POS   " };
    format!(
        "    {namespace}{} {} {:>5} {middle} {:<6} {} {}",
        look.pad("NAME", widths.name),
        look.pad("QUEUE", widths.queue),
        "GPU",
        "AGE",
        look.pad(if is_all { "STATUS" } else { "REASON" }, widths.status),
        if is_all { "NODES" } else { "WHY" },
    )
}

fn work_line(
    screen: &Screen,
    at: usize,
    widths: &Widths,
    look: Look,
    now: Timestamp,
) -> Vec<Span<'static>> {
    let work = &screen.picture.works[at];
    let letter = screen.letters.get(at).copied().flatten();
    let age = work.created.map(|then| duration::short(now.as_second() - then.as_second()));
    let place = work.place.map_or_else(|| "-".to_owned(), |place| place.to_string());
    let middle = if screen.is_all { work.ready.clone() } else { place };
    let last = if screen.is_all && !work.waits { work.nodes.join(" ") } else { work.why.clone() };
    let namespace = if widths.namespace == 0 {
        String::new()
    } else {
        format!("{} ", look.pad(&work.namespace, widths.namespace))
    };
    let letter = letter.map_or_else(|| "  ".to_owned(), |letter| format!("{letter} "));
    let front = format!(
        "{namespace}{} {} {} {} {} ",
        look.pad(&work.name, widths.name),
        look.pad(&work.queue, widths.queue),
        look.pad_left(&work.gpu, 5),
        look.pad(&middle, 6),
        look.pad(&age.unwrap_or_else(|| "-".to_owned()), 6),
    );
    vec![
        Span::styled(letter, map::color(screen, at, look)),
        Span::raw(front),
        look.span(
            look.pad(if screen.is_all { &work.status } else { reason(work) }, widths.status),
            work.style,
        ),
        Span::raw(format!(" {last}")),
    ]
}

/// A line that is chosen.
fn reversed(line: Line<'static>, is_chosen: bool) -> Line<'static> {
    if is_chosen { line.patch_style(Paint::new().add_modifier(Modifier::REVERSED)) } else { line }
}
