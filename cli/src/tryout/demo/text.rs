//! Lines that fit: wrapped paragraphs, and commands continued as a shell takes them.

use unicode_width::UnicodeWidthStr as _;

/// Breaks a paragraph at spaces; a line end in it stays one.
pub(super) fn wrap(text: &str, columns: usize, indent: &str) -> Vec<String> {
    let mut lines = Vec::new();
    for paragraph in text.lines() {
        let mut line = indent.to_owned();
        for word in paragraph.split(' ') {
            let glue = usize::from(line.len() > indent.len());
            if glue > 0 && line.width() + glue + word.width() > columns {
                lines.push(std::mem::replace(&mut line, indent.to_owned()));
            } else if glue > 0 {
                line.push(' ');
            }
            line.push_str(word);
        }
        lines.push(line);
    }
    lines
}

/// A command as it is typed, continued with a backslash where it is too long for a line.
pub(super) fn command_lines(words: &[&str], columns: usize) -> Vec<String> {
    let mut lines = Vec::new();
    let mut line = "   $ kubectl kai".to_owned();
    for piece in pieces(words) {
        if line.width() + 1 + piece.width() + 2 > columns {
            lines.push(format!("{line} \\"));
            line = format!("       {piece}");
        } else {
            line.push(' ');
            line.push_str(&piece);
        }
    }
    lines.push(line);
    lines
}

/// Says what stays on one line: a flag with its value, and everything after `--`.
fn pieces(words: &[&str]) -> Vec<String> {
    let (flags, rest) =
        words.split_at(words.iter().position(|word| *word == "--").unwrap_or(words.len()));
    let mut pieces: Vec<String> = Vec::new();
    for word in flags {
        match pieces.last_mut() {
            Some(flag)
                if flag.starts_with('-') && !flag.contains(' ') && !word.starts_with('-') =>
            {
                flag.push(' ');
                flag.push_str(word);
            }
            _ => pieces.push((*word).to_owned()),
        }
    }
    if !rest.is_empty() {
        pieces.push(rest.join(" "));
    }
    pieces
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paragraphs_are_wrapped() {
        assert_eq!(wrap("one two three", 9, " "), [" one two", " three"]);
        assert_eq!(wrap("a\nb", 9, ""), ["a", "b"]);
    }

    #[test]
    fn commands_are_continued() {
        let lines = command_lines(&["submit", "x", "--gpu", "4", "--", "a", "b"], 32);
        assert_eq!(lines, ["   $ kubectl kai submit x \\", "       --gpu 4 -- a b"]);
    }
}
