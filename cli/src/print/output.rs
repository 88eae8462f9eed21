//! The only place that prints: data goes to stdout, talk to stderr, and neither carries what a terminal would obey.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::fmt;
use std::io::{self, IsTerminal as _, Write};

use indicatif::ProgressBar;
use serde_json::Value;

use crate::print::error::{Error, Exit, Problem, number};
use crate::print::{log, progress};

/// When to colour.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, clap::ValueEnum)]
pub enum Color {
    /// On a terminal, unless `NO_COLOR` is set.
    #[default]
    Auto,
    /// Also on a pipe.
    Always,
    /// Never.
    Never,
}

/// Says how a piece of text looks where colour is on; colour is never the only signal.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Style {
    /// As it is.
    #[default]
    Plain,
    /// Headings, names.
    Bold,
    /// Beside the point.
    Dim,
    /// Runs, succeeded.
    Good,
    /// Waits.
    Warn,
    /// Failed.
    Bad,
    /// One of six colours that tell ranks apart.
    Rank(u8),
}

impl Style {
    fn ansi(self) -> anstyle::Style {
        use anstyle::AnsiColor::{Blue, BrightBlue, Cyan, Green, Magenta, Red, Yellow};
        match self {
            Self::Rank(n) => {
                let color = [Cyan, Magenta, Blue, Green, Yellow, BrightBlue][usize::from(n) % 6];
                anstyle::Style::new().fg_color(Some(color.into()))
            }
            Self::Plain => anstyle::Style::new(),
            Self::Bold => anstyle::Style::new().bold(),
            Self::Dim => anstyle::Style::new().dimmed(),
            Self::Good => anstyle::Style::new().fg_color(Some(Green.into())),
            Self::Warn => anstyle::Style::new().fg_color(Some(Yellow.into())),
            Self::Bad => anstyle::Style::new().fg_color(Some(Red.into())),
        }
    }

    /// The same style for the same rank, in every run.
    pub fn of_rank(rank: &str) -> Self {
        Self::Rank(rank.bytes().fold(0, u8::wrapping_add) % 6)
    }

    /// The text in this style; [`Output`] takes the codes out again where colour is off.
    pub fn paint(self, text: &str) -> String {
        match self {
            Self::Plain => text.to_owned(),
            Self::Bold | Self::Dim | Self::Good | Self::Warn | Self::Bad | Self::Rank(_) => {
                let style = self.ansi();
                format!("{style}{text}{style:#}")
            }
        }
    }
}

struct Stream {
    write: Box<dyn Write + Send>,
    color: bool,
    terminal: bool,
}

impl Stream {
    fn write(&mut self, text: &str) -> io::Result<()> {
        if self.color {
            self.write.write_all(text.as_bytes())?;
        } else {
            for part in anstream::adapter::strip_str(text) {
                self.write.write_all(part.as_bytes())?;
            }
        }
        Ok(())
    }
}

/// Says where a command writes, and what that place can show.
pub struct Output {
    stdout: Stream,
    stderr: Stream,
    quiet: bool,
    ascii: bool,
    columns: usize,
    rows: usize,
    /// Tells whether stderr shows a log, which a moving line would break.
    logs: bool,
    progress: Option<ProgressBar>,
}

impl fmt::Debug for Output {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Output")
            .field("quiet", &self.quiet)
            .field("ascii", &self.ascii)
            .field("columns", &self.columns)
            .finish_non_exhaustive()
    }
}

/// Columns of a place that does not say: wide enough that nothing is dropped on a pipe.
const COLUMNS_OF_A_PIPE: usize = 100_000;
/// Lines of a terminal that does not say.
const ROWS: usize = 24;

impl Output {
    /// The streams of this process.
    pub fn process(env: &BTreeMap<String, String>) -> Self {
        let size = terminal_size::terminal_size();
        let columns = size.map(|(columns, _)| usize::from(columns.0));
        let out_terminal = io::stdout().is_terminal();
        let mut output = Self {
            stdout: Stream { write: Box::new(io::stdout()), color: false, terminal: out_terminal },
            stderr: Stream {
                write: Box::new(io::stderr()),
                color: false,
                terminal: io::stderr().is_terminal(),
            },
            quiet: false,
            ascii: !utf8(env),
            columns: match columns {
                Some(columns) if out_terminal => columns,
                Some(_) | None => COLUMNS_OF_A_PIPE,
            },
            rows: size.map_or(ROWS, |(_, rows)| usize::from(rows.0)),
            logs: false,
            progress: None,
        };
        output.color(Color::Auto, env);
        output
    }

    /// Other places, as the demo and tests use them: no terminal, no colour until [`Output::color`] says so.
    pub fn given(stdout: Box<dyn Write + Send>, stderr: Box<dyn Write + Send>) -> Self {
        Self {
            stdout: Stream { write: stdout, color: false, terminal: false },
            stderr: Stream { write: stderr, color: false, terminal: false },
            quiet: false,
            ascii: false,
            columns: COLUMNS_OF_A_PIPE,
            rows: ROWS,
            logs: false,
            progress: None,
        }
    }

    /// Sets the width in columns that tables may use.
    pub fn set_columns(&mut self, columns: usize) {
        self.columns = columns;
    }

    /// Switches bars and trees to ASCII.
    pub fn set_ascii(&mut self) {
        self.ascii = true;
    }

    /// Drops talk; errors and data stay.
    pub fn set_quiet(&mut self) {
        self.quiet = true;
    }

    /// Starts to log, the more the higher `verbose` is; silent under `--quiet`.
    pub(crate) fn log(&mut self, verbose: u8) {
        if verbose > 0 && !self.quiet {
            self.logs = true;
            log::start(verbose, self.stderr.color);
        }
    }

    /// Decides on colour: the flag, then `NO_COLOR` and `CLICOLOR_FORCE`, then whether it is a terminal.
    pub fn color(&mut self, choice: Color, env: &BTreeMap<String, String>) {
        let set = |name: &str| env.get(name).is_some_and(|v| !v.is_empty());
        let dumb = env.get("TERM").is_some_and(|t| t == "dumb");
        let decide = |terminal: bool| match choice {
            Color::Always => true,
            Color::Never => false,
            Color::Auto if set("NO_COLOR") => false,
            Color::Auto => set("CLICOLOR_FORCE") || (terminal && !dumb),
        };
        self.stdout.color = decide(self.stdout.terminal);
        self.stderr.color = decide(self.stderr.terminal);
    }

    /// Tells whether stdout is coloured.
    pub(crate) fn is_colored(&self) -> bool {
        self.stdout.color
    }

    /// Tells whether bars and trees must be ASCII.
    pub fn is_ascii(&self) -> bool {
        self.ascii
    }

    /// The width in columns that a table on stdout may use.
    pub fn columns(&self) -> usize {
        self.columns
    }

    /// The height in lines of the terminal.
    pub(crate) fn rows(&self) -> usize {
        self.rows
    }

    /// Looks again how large the terminal is.
    pub(crate) fn measure(&mut self) {
        if let Some((columns, rows)) =
            terminal_size::terminal_size().filter(|_| self.stdout.terminal)
        {
            (self.columns, self.rows) = (usize::from(columns.0), usize::from(rows.0));
        }
    }

    /// Makes it a terminal, as tests of what terminals are sent need it.
    pub fn set_terminal(&mut self) {
        (self.stdout.terminal, self.stderr.terminal) = (true, true);
    }

    /// Tells whether somebody looks at stdout.
    pub fn is_terminal(&self) -> bool {
        self.stdout.terminal
    }

    /// Tells whether somebody reads stderr, so that a question can be asked there.
    pub fn talks_to_terminal(&self) -> bool {
        self.stderr.terminal
    }

    /// Writes a line of data.
    ///
    /// # Errors
    /// [`Error::Quiet`] when nobody reads any more, a problem when it cannot be written (a full disk).
    pub fn data(&mut self, text: &str) -> Result<(), Error> {
        self.raw(&format!("{text}\n"))
    }

    /// Writes data as it is, without a line end of its own.
    ///
    /// # Errors
    /// As [`Output::data`].
    pub fn raw(&mut self, text: &str) -> Result<(), Error> {
        self.waited();
        let written = self.stdout.write(text).and_then(|()| self.stdout.write.flush());
        written.map_err(|e| match e.kind() {
            io::ErrorKind::BrokenPipe => Error::Quiet(Exit::Ok),
            _ => {
                Problem::new(number::FILE, Exit::Failure, format!("failed to write to stdout: {e}"))
                    .into()
            }
        })
    }

    /// Writes data for programs: as it is on a pipe, and without what a terminal would obey where somebody looks.
    ///
    /// # Errors
    /// As [`Output::data`].
    pub(crate) fn document(&mut self, text: &str) -> Result<(), Error> {
        if !self.stdout.terminal {
            return self.raw(text);
        }
        let shown: Vec<Cow<'_, str>> = text.split('\n').map(clean_line).collect();
        self.raw(&shown.join("\n"))
    }

    /// Writes what steers the terminal, as it is.
    ///
    /// # Errors
    /// As [`Output::data`].
    pub(crate) fn control(&mut self, codes: &str) -> Result<(), Error> {
        self.bytes(codes.as_bytes())
    }

    /// A text as stdout shows it: without colours where there are none.
    pub(crate) fn shown(&self, text: &str) -> String {
        if self.stdout.color {
            text.to_owned()
        } else {
            anstream::adapter::strip_str(text).to_string()
        }
    }

    /// Writes a value as JSON; characters that a terminal would obey are escaped, which means the same.
    ///
    /// # Errors
    /// As [`Output::data`].
    pub(crate) fn json(&mut self, value: &Value) -> Result<(), Error> {
        self.data(&escaped(&format!("{value:#}")))
    }

    /// Writes a line of data whose second part is printed byte for byte, colour codes included.
    ///
    /// # Errors
    /// As [`Output::data`].
    pub fn data_as_is(&mut self, head: &str, rest: &str) -> Result<(), Error> {
        self.waited();
        let written = self
            .stdout
            .write(head)
            .and_then(|()| self.stdout.write.write_all(rest.as_bytes()))
            .and_then(|()| self.stdout.write.write_all(b"\n"))
            .and_then(|()| self.stdout.write.flush());
        written.map_err(|e| unwritable(&e))
    }

    /// Writes data that is no text, as it is.
    ///
    /// # Errors
    /// As [`Output::data`].
    pub fn bytes(&mut self, bytes: &[u8]) -> Result<(), Error> {
        self.waited();
        let written = self.stdout.write.write_all(bytes).and_then(|()| self.stdout.write.flush());
        written.map_err(|e| unwritable(&e))
    }

    /// Writes what a command elsewhere complained of to stderr, as it is; not even `--quiet` hides that.
    pub(crate) fn complain(&mut self, bytes: &[u8]) {
        self.waited();
        // Nobody can be told when stderr itself is gone.
        let _gone = self.stderr.write.write_all(bytes).and_then(|()| self.stderr.write.flush());
    }

    /// Says something beside the data, a line on stderr; silent under `--quiet`.
    pub fn talk(&mut self, text: &str) {
        if !self.quiet {
            self.say(text);
        }
    }

    /// Tells whether what is said beside the data is seen.
    pub(crate) fn talks(&self) -> bool {
        !self.quiet
    }

    /// Warns; silent under `--quiet`.
    pub fn warn(&mut self, text: &str) {
        let mark = Style::Warn.paint("warning:");
        self.talk(&format!("{mark} {text}"));
    }

    /// Shows what is waited for and how long already, in one moving line below what was said; until data is written or
    /// [`Output::waited`] is called. Only a terminal sees it, and not under `--quiet` or beside a log.
    pub(crate) fn wait_for(&mut self, what: &str) {
        if self.stderr.terminal && !self.quiet && !self.logs {
            let bar = self.progress.get_or_insert_with(|| progress::start(self.ascii));
            bar.set_message(clean(what).into_owned());
        }
    }

    /// Takes the line of [`Output::wait_for`] away.
    pub(crate) fn waited(&mut self) {
        if let Some(bar) = self.progress.take() {
            bar.finish_and_clear();
        }
    }

    /// Prints what stopped the command.
    pub fn error(&mut self, error: &Error) {
        self.waited();
        if let Error::Problems(problems) = error {
            for problem in problems {
                // It may repeat a word that was typed, or copied from somewhere.
                let text = problem.to_string();
                let lines: Vec<Cow<'_, str>> = text.split('\n').map(clean_line).collect();
                let text = lines.join("\n");
                let (head, rest) = text.split_at(text.find(':').unwrap_or(0));
                self.say(&format!("{}{rest}", Style::Bad.paint(head)));
            }
        }
    }

    fn say(&mut self, text: &str) {
        // Nobody can be told when stderr itself is gone.
        let mut write =
            || self.stderr.write(&format!("{text}\n")).and_then(|()| self.stderr.write.flush());
        let _ = match &self.progress {
            Some(bar) => bar.suspend(write),
            None => write(),
        };
    }
}

fn utf8(env: &BTreeMap<String, String>) -> bool {
    let locale = ["LC_ALL", "LC_CTYPE", "LANG"]
        .iter()
        .find_map(|name| env.get(*name).filter(|v| !v.is_empty()))
        .map_or_else(String::new, |v| v.to_ascii_lowercase());
    // A container often has no locale at all, and its terminal speaks UTF-8 all the same.
    locale.is_empty() || locale.contains("utf-8") || locale.contains("utf8")
}

fn unwritable(error: &io::Error) -> Error {
    match error.kind() {
        io::ErrorKind::BrokenPipe => Error::Quiet(Exit::Ok),
        _ => {
            Problem::new(number::FILE, Exit::Failure, format!("failed to write to stdout: {error}"))
                .into()
        }
    }
}

/// A line of a log for a terminal: colours and tabs stay, everything else that a terminal would obey is written out.
/// A progress bar that rewrites its line shows as its last state.
pub fn clean_log(line: &str) -> String {
    let line = line.rsplit('\r').find(|part| !part.is_empty()).unwrap_or(line);
    let mut out = String::with_capacity(line.len());
    let mut rest = line;
    while let Some(c) = rest.chars().next() {
        if let Some(length) = color_code(rest) {
            out += &rest[..length];
            rest = &rest[length..];
            continue;
        }
        if c == '\t' || !is_unsafe(c) {
            out.push(c);
        } else {
            out.extend(c.escape_default());
        }
        rest = &rest[c.len_utf8()..];
    }
    if out.contains('\u{1b}') { out + "\u{1b}[0m" } else { out }
}

/// The length of a colour code (`ESC [ digits ; … m`) at the beginning of a text.
fn color_code(text: &str) -> Option<usize> {
    let tail = text.strip_prefix("\u{1b}[")?;
    let digits =
        tail.len() - tail.trim_start_matches(|c: char| c.is_ascii_digit() || c == ';').len();
    tail[digits..].starts_with('m').then_some(digits + 3)
}

/// The text with control characters and direction overrides written out, so that a name or message from the cluster
/// cannot move the cursor, set a title or hide a line.
pub fn clean(text: &str) -> Cow<'_, str> {
    if !text.chars().any(is_unsafe) {
        return Cow::Borrowed(text);
    }
    let mut out = String::with_capacity(text.len() + 8);
    for c in text.chars() {
        if is_unsafe(c) {
            out.extend(c.escape_default());
        } else {
            out.push(c);
        }
    }
    Cow::Owned(out)
}

/// A line without what a terminal would obey; tabs stay.
fn clean_line(line: &str) -> Cow<'_, str> {
    if line.contains('\t') {
        return line.split('\t').map(clean).collect::<Vec<_>>().join("\t").into();
    }
    clean(line)
}

/// JSON in which no character is one that a terminal would obey: they only stand in texts, where an escape means the
/// same.
pub(crate) fn escaped(json: &str) -> Cow<'_, str> {
    let obeyed = |c: char| c != '\n' && is_unsafe(c);
    if !json.chars().any(obeyed) {
        return Cow::Borrowed(json);
    }
    let mut out = String::with_capacity(json.len() + 8);
    for c in json.chars() {
        if obeyed(c) {
            let mut units = [0; 2];
            c.encode_utf16(&mut units).iter().for_each(|unit| out += &format!("\\u{unit:04x}"));
        } else {
            out.push(c);
        }
    }
    Cow::Owned(out)
}

fn is_unsafe(c: char) -> bool {
    c.is_control()
        || matches!(c, '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{feff}')
        || matches!(c, '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

#[cfg(test)]
pub(crate) mod tests {
    use std::sync::{Arc, Mutex};

    use super::*;

    /// Says what is written to stdout, without colour.
    pub(crate) fn page(
        write: impl FnOnce(&mut Output) -> Result<(), Error>,
    ) -> Result<String, Error> {
        let page = Page::default();
        let mut out = Output::given(Box::new(page.clone()), Box::new(io::sink()));
        write(&mut out)?;
        Ok(page.text())
    }

    /// Text that was written.
    #[derive(Clone, Default)]
    pub(crate) struct Page(Arc<Mutex<Vec<u8>>>);

    impl Page {
        pub(crate) fn text(&self) -> String {
            let bytes = self.0.lock().expect("nobody panics with it");
            String::from_utf8_lossy(&bytes).into_owned()
        }

        /// Gives an output whose data and talk are both written here.
        pub(crate) fn output(&self) -> Output {
            Output::given(Box::new(self.clone()), Box::new(self.clone()))
        }
    }

    impl Write for Page {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            self.0.lock().expect("nobody panics with it").extend_from_slice(bytes);
            Ok(bytes.len())
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    #[test]
    fn json_is_escaped_where_a_terminal_would_obey() {
        for text in ["a\u{1b}[2J", "\u{9b}2J", "\u{202e}x", "größe", "two\nlines\t"] {
            let json = serde_json::json!({ "text": text }).to_string();
            let shown = escaped(&json);
            assert_eq!(shown.chars().find(|c| is_unsafe(*c)), None, "{text:?}");
            let read: Value = serde_json::from_str(&shown).expect("it is JSON");
            assert_eq!(read["text"], text);
        }
    }

    #[test]
    fn logs_keep_colours_and_nothing_else() {
        for (line, shown) in [
            ("\u{1b}[31mred\u{1b}[0m\tend", "\u{1b}[31mred\u{1b}[0m\tend\u{1b}[0m"),
            ("\u{1b}]0;title\u{7}x", "\\u{1b}]0;title\\u{7}x"),
            ("10%\r50%\r100%", "100%"),
        ] {
            assert_eq!(clean_log(line), shown);
        }
    }

    #[test]
    fn control_characters_are_written_out() {
        for (text, shown) in [
            ("llama-ft", "llama-ft"),
            ("a\u{1b}[2Jb", "a\\u{1b}[2Jb"),
            ("two\nlines", "two\\nlines"),
            ("\u{202e}gnp.exe", "\\u{202e}gnp.exe"),
            ("1\u{61c}0", "1\\u{61c}0"),
            ("größe 模型", "größe 模型"),
        ] {
            assert_eq!(clean(text), shown);
        }
    }
}
