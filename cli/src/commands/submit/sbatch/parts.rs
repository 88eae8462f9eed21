//! Splits a script for a shell into the commands that it calls: words in quotes, comments and here-documents are none, what
//! is put in their place by `$( )` is. Pure.

/// A command, with one mark for each part of it that is quoted, or made by another command.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Part {
    pub(super) line: usize,
    pub(super) text: String,
}

/// Stands where something is quoted.
const QUOTED: char = '"';

/// Says what the text is at one place, from the outermost inwards.
enum Frame {
    /// Commands, up to a `)` or a backtick, or up to the end.
    Code { text: String, line: usize, end: Option<char> },
    /// Text in double quotes or of a here-document, in which a `$( )` is a command.
    Text { end: Option<char> },
}

/// A here-document that begins with the next line.
struct Document<'t> {
    end: &'t str,
    /// Tabs may stand before its end.
    has_tabs: bool,
    /// Nothing in it is a command.
    is_quoted: bool,
}

struct Splitter<'t> {
    rest: &'t str,
    line: usize,
    frames: Vec<Frame>,
    documents: Vec<Document<'t>>,
    parts: Vec<Part>,
}

/// The commands of a script, in the order of their ends.
pub(super) fn parts(text: &str) -> Vec<Part> {
    split(text, 1, Frame::Code { text: String::new(), line: 1, end: None })
}

fn split(text: &str, line: usize, whole: Frame) -> Vec<Part> {
    let (documents, parts) = (Vec::new(), Vec::new());
    let mut splitter = Splitter { rest: text, line, frames: vec![whole], documents, parts };
    while let Some(c) = splitter.next() {
        match splitter.frames.last() {
            Some(Frame::Code { end, .. }) if *end == Some(c) => splitter.close(),
            Some(Frame::Code { .. }) => splitter.code(c),
            Some(Frame::Text { end }) if *end == Some(c) => splitter.close(),
            Some(Frame::Text { .. }) => splitter.quoted(c),
            None => break,
        }
    }
    while !splitter.frames.is_empty() {
        splitter.close();
    }
    splitter.parts
}

impl<'t> Splitter<'t> {
    fn next(&mut self) -> Option<char> {
        let c = self.rest.chars().next()?;
        self.skip(c.len_utf8());
        Some(c)
    }

    /// Goes on behind so many bytes, which are returned.
    fn skip(&mut self, bytes: usize) -> &'t str {
        let (skipped, rest) = self.rest.split_at(bytes);
        self.line += skipped.matches('\n').count();
        self.rest = rest;
        skipped
    }

    /// Adds to the command.
    fn put(&mut self, c: char) {
        let here = self.line;
        if let Some(Frame::Code { text, line, .. }) = self.frames.last_mut() {
            if text.trim_start().is_empty() {
                *line = here;
            }
            text.push(c);
        }
    }

    /// Returns what stands before this place in the command.
    fn before(&self) -> Option<char> {
        match self.frames.last() {
            Some(Frame::Code { text, .. }) => text.chars().next_back(),
            Some(Frame::Text { .. }) | None => None,
        }
    }

    /// Ends the command.
    fn flush(&mut self) {
        if let Some(Frame::Code { text, line, .. }) = self.frames.last_mut() {
            let part = Part { line: *line, text: std::mem::take(text) };
            if !part.text.trim().is_empty() {
                self.parts.push(part);
            }
        }
    }

    fn open(&mut self, end: char) {
        self.frames.push(Frame::Code { text: String::new(), line: self.line, end: Some(end) });
    }

    fn close(&mut self) {
        self.flush();
        self.frames.pop();
    }

    /// Takes in a character of a command.
    fn code(&mut self, c: char) {
        match c {
            '\\' => match self.next() {
                Some('\n') => self.put(' '),
                Some(_) | None => self.put(QUOTED),
            },
            '\'' => self.literal(),
            '"' => {
                self.put(QUOTED);
                self.frames.push(Frame::Text { end: Some('"') });
            }
            '#' if self.before().is_none_or(char::is_whitespace) => {
                let end = self.rest.find('\n').unwrap_or(self.rest.len());
                self.skip(end);
            }
            '`' => {
                self.put(QUOTED);
                self.open('`');
            }
            '(' => {
                // What `$( )`, `<( )` and `=( )` make is a word of a command; others are commands by themselves.
                let is_word = self.before().is_some_and(|c| "$=<>".contains(c));
                if is_word {
                    self.put(QUOTED);
                } else {
                    self.flush();
                }
                self.open(')');
            }
            // That of a pattern of `case`.
            ')' | ';' | '|' | '&' => self.flush(),
            '<' if self.rest.starts_with("<<") => {
                self.skip(2);
            }
            '<' if self.rest.starts_with('<') => self.document(),
            '\n' => {
                self.flush();
                self.bodies();
            }
            other => self.put(other),
        }
    }

    /// Takes in a character of quoted text.
    fn quoted(&mut self, c: char) {
        let in_ticks = |frame: &Frame| matches!(frame, Frame::Code { end: Some('`'), .. });
        match c {
            '\\' => {
                self.next();
            }
            '$' if self.rest.starts_with('(') => {
                self.skip(1);
                self.open(')');
            }
            '`' => match self.frames.iter().rposition(in_ticks) {
                Some(at) => {
                    while self.frames.len() > at {
                        self.close();
                    }
                }
                None => self.open('`'),
            },
            _ => {}
        }
    }

    /// Skips text in single quotes; in those behind a `$` a backslash keeps one from ending it.
    fn literal(&mut self) {
        let has_escapes = self.before() == Some('$');
        self.put(QUOTED);
        while let Some(c) = self.next() {
            match c {
                '\'' => break,
                '\\' if has_escapes => {
                    self.next();
                }
                _ => {}
            }
        }
    }

    /// Notes a here-document, where there is one: the second `<` is next.
    fn document(&mut self) {
        self.skip(1);
        let word = self.rest.trim_start_matches('-');
        let has_tabs = word.len() < self.rest.len();
        let word = word.trim_start_matches([' ', '\t']);
        let ends = |c: char| c.is_whitespace() || ";|&()<>".contains(c);
        let word = &word[..word.find(ends).unwrap_or(word.len())];
        let end = word.trim_matches(['\'', '"', '\\']);
        let document = Document { end, has_tabs, is_quoted: end.len() < word.len() };
        // A shift of bits has no end.
        if !end.is_empty() && self.rest.lines().skip(1).any(|line| document.is_end(line)) {
            self.documents.push(document);
        }
    }

    /// Takes in the here-documents that begin here.
    fn bodies(&mut self) {
        for document in std::mem::take(&mut self.documents) {
            let first = self.line;
            let lines = self.rest.split_inclusive('\n');
            let bytes: usize = lines.take_while(|line| !document.is_end(line)).map(str::len).sum();
            let body = self.skip(bytes);
            let end = self.rest.find('\n').map_or(self.rest.len(), |at| at + 1);
            self.skip(end);
            if !document.is_quoted {
                self.parts.extend(split(body, first, Frame::Text { end: None }));
            }
        }
    }
}

impl Document<'_> {
    fn is_end(&self, line: &str) -> bool {
        let line = line.trim_end_matches(['\n', '\r']);
        let line = if self.has_tabs { line.trim_start_matches('\t') } else { line };
        line == self.end
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The commands as `line: words`.
    fn check(text: &str, expect: &[&str]) {
        let words = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ");
        let said: Vec<String> = parts(text)
            .iter()
            .map(|part| format!("{}: {}", part.line, words(&part.text)))
            .collect();
        assert_eq!(said, expect, "{text}");
    }

    #[test]
    fn words_in_quotes_are_no_commands() {
        check("echo \"a; b (c\" d; e", &["1: echo \" d", "1: e"]);
        check("python -c '\nx; y\n' z\nw", &["1: python -c \" z", "4: w"]);
        check("echo $'it\\'s; a' b", &["1: echo $\" b"]);
        check("echo it\\'s; a # don't; b\nc", &["1: echo it\"s", "1: a", "2: c"]);
        check("echo $# ${#x}; a", &["1: echo $# ${#x}", "1: a"]);
    }

    #[test]
    fn what_is_put_in_place_is_a_command() {
        check("x=\"$(a \"b; c\")\" d", &["1: a \"", "1: x=\" d"]);
        check("x=`a` && b", &["1: a", "1: x=\"", "1: b"]);
        check("echo \"`a \"b\"`; c\" d", &["1: a \"", "1: echo \" d"]);
        check("f() { a; }\n(b)", &["1: f", "1: { a", "1: }", "2: b"]);
        check("a \\\n --b\nc", &["1: a --b", "3: c"]);
        check("case $x in\na) b;;\nesac", &["1: case $x in", "2: a", "2: b", "3: esac"]);
        check("\"a", &["1: \""]);
        check(")(", &[]);
    }

    #[test]
    fn here_documents_are_text() {
        check("cat <<EOF; a\nb; $(c\nd)\nEOF\ne", &["1: cat EOF", "1: a", "2: c", "3: d", "5: e"]);
        check("cat <<-'E'\n$(b)\n\tE\nc", &["1: cat -\"", "4: c"]);
        check("cat <<<\"a; b\"; c", &["1: cat \"", "1: c"]);
        check("x=$((1 << n))\ny", &["1: 1 n", "1: x=$\"", "2: y"]);
    }
}
