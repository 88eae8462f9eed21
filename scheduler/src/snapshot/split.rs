//! JSON text taken apart as it comes: keys, items and whole values, none of them read.
//!
//! No more is held than the value at hand, so that the memory of reading follows the largest object and not the file.

use std::io::{self, Read};

/// Bytes of one value at most. The API server takes no object above 3 MiB; the bound keeps a hostile file from filling
/// the memory with one that never ends.
pub(super) const VALUE_BYTES_MAX: usize = 32 << 20;
/// Bytes read at once.
const BUFFER_BYTES: usize = 256 << 10;

/// Says why text cannot be taken apart.
#[derive(thiserror::Error, Debug)]
pub(super) enum Fault {
    /// It cannot be read.
    #[error("{0}")]
    Io(#[from] io::Error),
    /// It ends in the middle of something.
    #[error("the file ends too early, after {at} bytes of JSON: {expected} was expected")]
    Cut { expected: &'static str, at: u64 },
    /// It is no JSON.
    #[error("{expected} was expected, found {found:?} (byte {at} of the JSON)")]
    Syntax { expected: &'static str, found: char, at: u64 },
    /// One value is larger than any object can be.
    #[error("one value has more than {} MiB, which no object of Kubernetes has", VALUE_BYTES_MAX >> 20)]
    TooLong,
    /// Finds what should not be there.
    #[error("{0}")]
    Value(String),
}

/// JSON text that is taken apart.
#[derive(Debug)]
pub(super) struct Splitter<R> {
    source: R,
    buffer: Vec<u8>,
    /// Begins what is not taken yet.
    start: usize,
    /// To here.
    end: usize,
    /// Bytes of the text before the buffer.
    passed: u64,
}

/// Says how far into a value a scan is.
#[derive(Default, Debug)]
struct Scan {
    depth: u32,
    in_text: bool,
    is_escaped: bool,
    /// A number or a word: it ends where something else begins.
    is_bare: bool,
}

impl Scan {
    /// Goes on with these bytes; how many of them still belong to the value, where it ends among them.
    fn advance(&mut self, bytes: &[u8]) -> Option<usize> {
        let mut at = 0;
        while at < bytes.len() {
            if self.in_text {
                at += self.text(&bytes[at..]);
                if !self.in_text && self.depth == 0 {
                    return Some(at);
                }
                continue;
            }
            let byte = bytes[at];
            at += 1;
            match byte {
                b'"' => self.in_text = true,
                b'{' | b'[' => self.depth += 1,
                b'}' | b']' if self.depth == 0 => return Some(at - 1),
                b'}' | b']' => {
                    self.depth -= 1;
                    if self.depth == 0 {
                        return Some(at);
                    }
                }
                b',' | b':' | b' ' | b'\n' | b'\r' | b'\t' if self.depth == 0 => {
                    return Some(at - 1);
                }
                _ => self.is_bare |= self.depth == 0,
            }
        }
        None
    }

    /// Goes on inside a text; how many bytes of it there are, with the quote where it ends.
    fn text(&mut self, bytes: &[u8]) -> usize {
        if std::mem::take(&mut self.is_escaped) {
            return 1;
        }
        match memchr::memchr2(b'"', b'\\', bytes) {
            None => bytes.len(),
            Some(at) => {
                self.is_escaped = bytes[at] == b'\\';
                self.in_text = self.is_escaped;
                at + 1
            }
        }
    }
}

impl<R: Read> Splitter<R> {
    pub(super) fn new(source: R) -> Self {
        Self { source, buffer: vec![0; BUFFER_BYTES], start: 0, end: 0, passed: 0 }
    }

    /// Takes the bracket that opens an object or an array; false, and nothing taken, where it is `null`.
    pub(super) fn open(&mut self, bracket: u8) -> Result<bool, Fault> {
        let expected = if bracket == b'{' { "an object" } else { "an array" };
        let found = self.peek(expected)?;
        if found == bracket {
            self.start += 1;
            return Ok(true);
        }
        let at = self.position();
        if found == b'n' && self.value()? == b"null" {
            return Ok(false);
        }
        Err(Fault::Syntax { expected, found: char::from(found), at })
    }

    /// The next key of an object that was opened; none where it ends.
    pub(super) fn key(&mut self, is_first: &mut bool) -> Result<Option<String>, Fault> {
        if !self.goes_on(b'}', is_first)? {
            return Ok(None);
        }
        self.expect(b'"', "a key")?;
        let key = serde_json::from_slice(self.value()?);
        let key = key.map_err(|error| Fault::Value(format!("a key cannot be read: {error}")))?;
        self.expect(b':', "a colon")?;
        self.start += 1;
        Ok(Some(key))
    }

    /// Goes to the next item of an array that was opened; tells whether there is one.
    pub(super) fn item(&mut self, is_first: &mut bool) -> Result<bool, Fault> {
        self.goes_on(b']', is_first)
    }

    /// The next value, as it is written.
    pub(super) fn value(&mut self) -> Result<&[u8], Fault> {
        self.peek("a value")?;
        let mut scan = Scan::default();
        let mut seen = 0;
        loop {
            if let Some(more) = scan.advance(&self.buffer[self.start + seen..self.end]) {
                return self.taken(seen + more);
            }
            seen = self.end - self.start;
            if !self.fill()? {
                return if scan.is_bare {
                    self.taken(seen)
                } else {
                    Err(self.cut("a whole value"))
                };
            }
        }
    }

    /// Passes over the next value, whatever its size.
    pub(super) fn skip(&mut self) -> Result<(), Fault> {
        self.peek("a value")?;
        let mut scan = Scan::default();
        loop {
            if let Some(more) = scan.advance(&self.buffer[self.start..self.end]) {
                self.start += more;
                return Ok(());
            }
            self.start = self.end;
            if !self.fill()? {
                return if scan.is_bare { Ok(()) } else { Err(self.cut("a whole value")) };
            }
        }
    }

    /// Nothing may follow but blanks; the source is read to its end, so that it can check itself.
    pub(super) fn finish(&mut self) -> Result<(), Fault> {
        match self.peek("") {
            Err(Fault::Cut { .. }) => Ok(()),
            Err(fault) => Err(fault),
            Ok(found) => {
                let (expected, found) = ("the end of the file", char::from(found));
                Err(Fault::Syntax { expected, found, at: self.position() })
            }
        }
    }

    fn taken(&mut self, length: usize) -> Result<&[u8], Fault> {
        let from = self.start;
        if length == 0 {
            let found = char::from(self.buffer[from]);
            return Err(Fault::Syntax { expected: "a value", found, at: self.position() });
        }
        self.start += length;
        Ok(&self.buffer[from..self.start])
    }

    /// Takes the comma between two parts; false, and the bracket taken, where there are no more.
    fn goes_on(&mut self, end: u8, is_first: &mut bool) -> Result<bool, Fault> {
        let expected = if end == b'}' { "a comma or }" } else { "a comma or ]" };
        let found = self.peek(expected)?;
        let is_first = std::mem::take(is_first);
        if found == end {
            self.start += 1;
            return Ok(false);
        }
        if !is_first {
            self.expect(b',', expected)?;
            self.start += 1;
        }
        Ok(true)
    }

    fn expect(&mut self, byte: u8, expected: &'static str) -> Result<(), Fault> {
        let found = self.peek(expected)?;
        if found == byte {
            return Ok(());
        }
        Err(Fault::Syntax { expected, found: char::from(found), at: self.position() })
    }

    /// The next byte that is no blank.
    fn peek(&mut self, expected: &'static str) -> Result<u8, Fault> {
        loop {
            while self.start < self.end {
                match self.buffer[self.start] {
                    b' ' | b'\n' | b'\r' | b'\t' => self.start += 1,
                    found => return Ok(found),
                }
            }
            if !self.fill()? {
                return Err(self.cut(expected));
            }
        }
    }

    /// Reads more behind what is not taken yet; false at the end.
    fn fill(&mut self) -> Result<bool, Fault> {
        if self.start > 0 {
            self.buffer.copy_within(self.start..self.end, 0);
            self.passed += self.start as u64;
            self.end -= self.start;
            self.start = 0;
        }
        if self.end == self.buffer.len() {
            if self.buffer.len() >= VALUE_BYTES_MAX {
                return Err(Fault::TooLong);
            }
            self.buffer.resize(self.buffer.len() * 2, 0);
        }
        loop {
            match self.source.read(&mut self.buffer[self.end..]) {
                Ok(count) => {
                    self.end += count;
                    return Ok(count > 0);
                }
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error.into()),
            }
        }
    }

    fn cut(&self, expected: &'static str) -> Fault {
        Fault::Cut { expected, at: self.passed + self.end as u64 }
    }

    fn position(&self) -> u64 {
        self.passed + self.start as u64
    }
}

#[cfg(test)]
mod tests;
