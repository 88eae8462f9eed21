//! Says how things look on a terminal, and draws what stands over each pane.

use ratatui::style::{Color, Modifier, Style as Paint};
use ratatui::text::{Line, Span};
use unicode_width::UnicodeWidthStr as _;

use crate::commands::top::live::screen::{Pane, Screen};
use crate::print::output::Style;
use crate::print::table::cut;

/// Says how things look on a terminal.
#[derive(Clone, Copy, Debug)]
pub(in crate::commands::top) struct Look {
    pub(super) is_ascii: bool,
    pub(super) is_colored: bool,
}

impl Look {
    /// A style of the command line on this terminal; without colour what is bold or dim stays so.
    pub(super) fn paint(self, style: Style) -> Paint {
        let color =
            |color: Color| if self.is_colored { Paint::new().fg(color) } else { Paint::new() };
        match style {
            Style::Plain => Paint::new(),
            Style::Bold => Paint::new().add_modifier(Modifier::BOLD),
            Style::Dim => Paint::new().add_modifier(Modifier::DIM),
            Style::Good => color(Color::Green),
            Style::Warn => color(Color::Yellow),
            Style::Bad => color(Color::Red),
            Style::Rank(n) => {
                let colors = [
                    Color::Cyan,
                    Color::Magenta,
                    Color::Blue,
                    Color::Green,
                    Color::Yellow,
                    Color::LightBlue,
                ];
                color(colors[usize::from(n) % colors.len()])
            }
        }
    }

    /// A text in a style.
    pub(super) fn span(self, text: impl Into<String>, style: Style) -> Span<'static> {
        Span::styled(text.into(), self.paint(style))
    }

    /// A text that is exactly so wide: cut, or filled up with blanks.
    pub(super) fn pad(self, text: &str, width: usize) -> String {
        let mut text = cut(text, width, self.is_ascii);
        let blanks = width.saturating_sub(text.width());
        text.extend(std::iter::repeat_n(' ', blanks));
        text
    }

    /// The same with the text at the right.
    pub(super) fn pad_left(self, text: &str, width: usize) -> String {
        let text = cut(text, width, self.is_ascii);
        format!("{}{text}", " ".repeat(width.saturating_sub(text.width())))
    }
}

/// A line over a pane: its name, what of it is seen, and whether it is the one that keys move in.
pub(super) fn title(
    screen: &Screen,
    pane: Pane,
    name: &str,
    look: Look,
    width: u16,
) -> Line<'static> {
    let place = screen.place(pane);
    let columns = if pane == Pane::Nodes { screen.columns.max(1) } else { 1 };
    let rows = screen.rows[Pane::ALL.iter().position(|one| *one == pane).unwrap_or(0)];
    let (first, count) = (place.top * columns, place.shown.len());
    let last = (first + rows * columns).min(count);
    let seen = match count {
        0 => String::new(),
        _ if first == 0 && last == count => format!(" {count}"),
        _ => format!(" {}-{last} of {count}", first + 1),
    };
    let dash = if look.is_ascii { "-" } else { "─" };
    let mark = if screen.pane == pane { ">" } else { dash };
    let text = format!("{dash}{mark} {name}{seen} ");
    let rest = usize::from(width).saturating_sub(text.width());
    let style = if screen.pane == pane { Style::Bold } else { Style::Dim };
    Line::from(vec![look.span(text, style), look.span(dash.repeat(rest), Style::Dim)])
}
