//! Words and statements of a script: quotes, variables, `&&`, `||`, and output that goes to `/dev/null`.

/// When a statement runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum After {
    Anything,
    /// `&&`
    Success,
    /// `||`
    Failure,
}

/// A program with its arguments.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Statement {
    pub(super) after: After,
    pub(super) words: Vec<Word>,
    pub(super) hides_stdout: bool,
    pub(super) hides_stderr: bool,
}

impl Statement {
    fn new(after: After) -> Self {
        Self { after, words: Vec::new(), hides_stdout: false, hides_stderr: false }
    }

    fn is_empty(&self) -> bool {
        self.words.is_empty() && !self.hides_stdout && !self.hides_stderr
    }
}

/// A word before its variables are filled in.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(super) struct Word {
    parts: Vec<Part>,
    /// Makes it a word even when it is empty.
    is_quoted: bool,
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum Part {
    Text(String),
    Variable(String),
}

impl Word {
    /// The word with its variables; none when nothing is left of it.
    pub(super) fn expand(&self, value: &dyn Fn(&str) -> String) -> Option<String> {
        let parts = self.parts.iter().map(|part| match part {
            Part::Text(text) => text.clone(),
            Part::Variable(name) => value(name),
        });
        let text: String = parts.collect();
        (self.is_quoted || !text.is_empty()).then_some(text)
    }

    fn is_begun(&self) -> bool {
        self.is_quoted || !self.parts.is_empty()
    }

    fn push(&mut self, letter: char) {
        match self.parts.last_mut() {
            Some(Part::Text(text)) => text.push(letter),
            Some(Part::Variable(_)) | None => self.parts.push(Part::Text(letter.to_string())),
        }
    }

    fn text(&self) -> Option<&str> {
        match self.parts.as_slice() {
            [Part::Text(text)] if !self.is_quoted => Some(text),
            _ => None,
        }
    }
}

/// Reads a script.
///
/// # Errors
/// What in it is not understood.
pub(super) fn statements(text: &str) -> Result<Vec<Statement>, String> {
    let mut script = Script {
        rest: text,
        done: Vec::new(),
        now: Statement::new(After::Anything),
        word: Word::default(),
    };
    while let Some(letter) = script.next() {
        script.take(letter)?;
    }
    script.end(After::Anything)?;
    Ok(script.done)
}

/// A script that is being read.
struct Script<'t> {
    rest: &'t str,
    done: Vec<Statement>,
    now: Statement,
    word: Word,
}

impl Script<'_> {
    fn next(&mut self) -> Option<char> {
        let letter = self.rest.chars().next()?;
        self.rest = &self.rest[letter.len_utf8()..];
        Some(letter)
    }

    /// Passes over a text if it comes next.
    fn has(&mut self, text: &str) -> bool {
        match self.rest.strip_prefix(text) {
            Some(rest) => {
                self.rest = rest;
                true
            }
            None => false,
        }
    }

    fn take(&mut self, letter: char) -> Result<(), String> {
        match letter {
            ' ' | '\t' => self.end_word(),
            ';' | '\n' => self.end(After::Anything)?,
            '&' if self.has("&") => self.end(After::Success)?,
            '|' if self.has("|") => self.end(After::Failure)?,
            '&' | '|' | '(' | ')' | '<' | '`' | '{' | '}' => return Err(letter.to_string()),
            '#' if !self.word.is_begun() => {
                self.rest = self.rest.find('\n').map_or("", |end| &self.rest[end..]);
            }
            '>' => self.hide()?,
            '$' => self.variable()?,
            '\\' => {
                if let Some(next) = self.next().filter(|next| *next != '\n') {
                    self.word.push(next);
                }
            }
            '\'' => {
                self.word.is_quoted = true;
                let end = self.rest.find('\'').ok_or("a quote that does not end")?;
                let (inside, rest) = self.rest.split_at(end);
                inside.chars().for_each(|letter| self.word.push(letter));
                self.rest = &rest[1..];
            }
            '"' => self.double_quoted()?,
            _ => self.word.push(letter),
        }
        Ok(())
    }

    fn double_quoted(&mut self) -> Result<(), String> {
        self.word.is_quoted = true;
        loop {
            match self.next().ok_or("a quote that does not end")? {
                '"' => return Ok(()),
                '$' => self.variable()?,
                '`' => return Err("`".to_owned()),
                '\\' if self.rest.starts_with(['"', '$', '\\', '`']) => {
                    let next = self.next();
                    if let Some(letter) = next {
                        self.word.push(letter);
                    }
                }
                letter => self.word.push(letter),
            }
        }
    }

    /// Reads what stands behind a `$`.
    fn variable(&mut self) -> Result<(), String> {
        if self.rest.starts_with('(') {
            return Err("$(".to_owned());
        }
        let is_part = |letter: char| letter.is_ascii_alphanumeric() || letter == '_';
        let name = if self.has("?") {
            "?".to_owned()
        } else if self.has("{") {
            let end = self.rest.find('}').ok_or("${ without }")?;
            let (name, rest) = self.rest.split_at(end);
            self.rest = &rest[1..];
            if !name.chars().all(is_part) {
                return Err(format!("${{{name}}}"));
            }
            name.to_owned()
        } else {
            let end = self.rest.find(|letter| !is_part(letter)).unwrap_or(self.rest.len());
            let (name, rest) = self.rest.split_at(end);
            self.rest = rest;
            name.to_owned()
        };
        if name.is_empty() {
            self.word.push('$');
        } else {
            self.word.parts.push(Part::Variable(name));
        }
        Ok(())
    }

    /// Reads where output goes: only to nowhere, and errors where output goes.
    fn hide(&mut self) -> Result<(), String> {
        let stream = match self.word.text() {
            Some("2") => {
                self.word = Word::default();
                2
            }
            Some("1") => {
                self.word = Word::default();
                1
            }
            _ => {
                self.end_word();
                1
            }
        };
        if stream == 2 && self.has("&1") {
            self.now.hides_stderr |= self.now.hides_stdout;
            return Ok(());
        }
        self.rest = self.rest.trim_start_matches(' ');
        if !self.has("/dev/null") {
            return Err(">".to_owned());
        }
        if stream == 2 {
            self.now.hides_stderr = true;
        } else {
            self.now.hides_stdout = true;
        }
        Ok(())
    }

    fn end_word(&mut self) {
        if self.word.is_begun() {
            self.now.words.push(std::mem::take(&mut self.word));
        }
    }

    /// Ends a statement; the next one runs after it as said.
    fn end(&mut self, next: After) -> Result<(), String> {
        self.end_word();
        let now = std::mem::replace(&mut self.now, Statement::new(next));
        if !now.is_empty() {
            self.done.push(now);
        } else if next != After::Anything {
            return Err("&& or || with nothing before it".to_owned());
        }
        Ok(())
    }
}
