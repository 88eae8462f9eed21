//! The README's picture of a terminal, from a session that the tests play.

use std::fs;

use anstyle_svg::Term;

use super::{Generated, root};

/// The session; the file says what of it is drawn.
const SESSION: &str = "cli/tests/transcripts/sandbox/picture.md";
/// Stands before what is drawn.
const START: &str = "<!-- picture -->";
/// Columns of the terminal.
const COLUMNS: usize = 96;

/// Draws the picture.
pub(super) fn file() -> Generated {
    let session = fs::read_to_string(root().join(SESSION)).expect("it is in the repository");
    let (_, drawn) = session.split_once(START).expect("it says where the picture begins");
    let text = Term::new().render_svg(&screen(drawn));
    Generated { path: "docs/picture.svg".to_owned(), text }
}

/// What a terminal shows: commands, and what they print on stdout and stderr.
fn screen(session: &str) -> String {
    let mut out = String::new();
    let mut lines = session.lines();
    while let Some(line) = lines.next() {
        if line != "```console" {
            continue;
        }
        for line in lines.by_ref().take_while(|line| !line.starts_with("```")) {
            let command = line.strip_prefix("$ ").map(|command| {
                let typed = command.trim_start_matches("CLICOLOR_FORCE=1 ");
                format!("\u{1b}[1;34m$\u{1b}[0m \u{1b}[1m{typed}\u{1b}[0m")
            });
            let line = line.strip_prefix("! ").unwrap_or(line);
            out += &wrapped(command.as_deref().unwrap_or(line));
            out.push('\n');
        }
        out.push('\n');
    }
    out.trim_end().to_owned() + "\n"
}

/// A line broken between words where the terminal ends, with the indentation that it had.
fn wrapped(line: &str) -> String {
    let indent = line.chars().take_while(|c| *c == ' ').count();
    let mut out = String::new();
    let mut column = 0;
    for (i, word) in line.split(' ').enumerate() {
        let width = visible(word);
        if i > 0 && column + 1 + width > COLUMNS {
            out.push('\n');
            out += &" ".repeat(indent + 2);
            column = indent + 2;
        } else if i > 0 {
            out.push(' ');
            column += 1;
        }
        out += word;
        column += width;
    }
    out
}

/// Characters of a word without its colours.
fn visible(word: &str) -> usize {
    let mut is_colour = false;
    word.chars()
        .filter(|c| {
            let counts = !is_colour && *c != '\u{1b}';
            is_colour = (is_colour && *c != 'm') || *c == '\u{1b}';
            counts
        })
        .count()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_ends_where_the_terminal_does() {
        let long = format!("  {} \u{1b}[1m{}\u{1b}[0m end", "a".repeat(60), "b".repeat(34));
        let lines: Vec<String> = wrapped(&long).lines().map(str::to_owned).collect();
        assert_eq!(lines.len(), 2, "{lines:?}");
        assert!(lines[1].starts_with("    \u{1b}[1mb"), "{lines:?}");
        assert!(lines.iter().all(|line| visible(line) <= COLUMNS), "{lines:?}");
    }

    #[test]
    fn a_screen_has_commands_and_both_streams() {
        let session = "```console\n$ CLICOLOR_FORCE=1 kubectl kai list\nx\n! y\n```\nprose\n";
        let screen = screen(session);
        assert!(screen.ends_with("kubectl kai list\u{1b}[0m\nx\ny\n"), "{screen:?}");
    }
}
