//! The container: a zip archive with the one entry `snapshot.json`. The bare JSON is taken as well, as it is left by whoever
//! unpacked one. Source: docs/contract.md 8.2.

use std::{
    fs::File,
    io::{self, BufReader, Read, Seek},
    path::Path,
};

use flate2::read::DeflateDecoder;
use kai_engine::Timestamp;
use rawzip::{
    CompressionMethod, FileReader, RECOMMENDED_BUFFER_SIZE, ZipArchive, ZipArchiveEntryWayfinder,
    time::ZipDateTimeKind,
};

use super::error::Problem;

/// The name of the entry.
pub(super) const ENTRY: &str = "snapshot.json";
/// Bytes of JSON at most: a million pods of 8 KiB each. Deflate makes a thousand bytes of one, so a small file could keep
/// a reader busy for days; the memory is bounded by the largest value already (`split`), and by the number of objects
/// (`load`).
const JSON_BYTES_MAX: u64 = 8 << 30;
/// Entries that are looked at: more are no snapshot, whatever they are.
const ENTRIES_MAX: usize = 1000;
/// Bytes of the compressed file that are read at once.
const READ_BYTES: usize = 64 << 10;

/// Says where the JSON is.
#[derive(Debug)]
pub(super) struct Container {
    form: Form,
    /// When it was written, where that is told.
    pub(super) taken: Option<Timestamp>,
}

#[derive(Debug)]
enum Form {
    Zip { archive: ZipArchive<FileReader>, entry: ZipArchiveEntryWayfinder, is_deflated: bool },
    Json(File),
}

impl Container {
    /// Finds the entry.
    pub(super) fn open(path: &Path) -> Result<Self, Problem> {
        let mut file = File::open(path).map_err(Problem::Open)?;
        if file.metadata().map_err(Problem::Open)?.is_dir() {
            return Err(Problem::Open(io::ErrorKind::IsADirectory.into()));
        }
        if is_json(&mut file).map_err(Problem::Open)? {
            return Ok(Self { form: Form::Json(file), taken: None });
        }
        let zip = |error: rawzip::Error| Problem::Zip(error.to_string());
        let mut buffer = vec![0; RECOMMENDED_BUFFER_SIZE];
        let archive = ZipArchive::from_file(file, &mut buffer).map_err(zip)?;
        let mut found = Vec::new();
        let mut entries = archive.entries(&mut buffer);
        for _ in 0..ENTRIES_MAX {
            let Some(entry) = entries.next_entry().map_err(zip)? else { break };
            if entry.file_path().as_ref() == ENTRY.as_bytes() {
                found.push((
                    entry.wayfinder(),
                    entry.compression_method(),
                    moment(&entry.last_modified()),
                ));
            }
        }
        let &[(entry, method, taken)] = found.as_slice() else {
            return Err(Problem::Entries(found.len()));
        };
        let is_deflated = match method {
            CompressionMethod::DEFLATE => true,
            CompressionMethod::STORE => false,
            other => return Err(Problem::Method(other.as_u16())),
        };
        Ok(Self { form: Form::Zip { archive, entry, is_deflated }, taken })
    }

    /// The JSON from its beginning; what is damaged fails as it is read.
    pub(super) fn json(&mut self) -> Result<Box<dyn Read + Send + '_>, Problem> {
        let json: Box<dyn Read + Send + '_> = match &mut self.form {
            Form::Json(file) => {
                file.rewind().map_err(Problem::Open)?;
                Box::new(file)
            }
            Form::Zip { archive, entry, is_deflated } => {
                let entry =
                    archive.get_entry(*entry).map_err(|error| Problem::Zip(error.to_string()))?;
                let packed = BufReader::with_capacity(READ_BYTES, entry.reader());
                if *is_deflated {
                    Box::new(entry.verifying_reader(DeflateDecoder::new(packed)))
                } else {
                    Box::new(entry.verifying_reader(packed))
                }
            }
        };
        Ok(Box::new(Bounded { json, left: JSON_BYTES_MAX }))
    }
}

/// Tells whether the file begins as a JSON object does.
fn is_json(file: &mut File) -> io::Result<bool> {
    let mut head = [0; 64];
    let count = file.read(&mut head)?;
    file.rewind()?;
    let first = head[..count].iter().find(|byte| !byte.is_ascii_whitespace());
    Ok(first == Some(&b'{'))
}

/// Says when an entry was written. Go writes no time unless it is given one, which reads as the first day that zip knows.
fn moment(at: &ZipDateTimeKind) -> Option<Timestamp> {
    let (year, text) = match at {
        ZipDateTimeKind::Utc(at) => (at.year(), at.to_string()),
        ZipDateTimeKind::Local(at) => (at.year(), format!("{at}Z")),
    };
    (year > 1980).then(|| crate::server::wire::milliseconds(&text).map(Timestamp)).flatten()
}

/// A source that ends with an error where it goes on for too long.
struct Bounded<R> {
    json: R,
    left: u64,
}

impl<R: Read> Read for Bounded<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let count = self.json.read(buffer)?;
        let Some(left) = self.left.checked_sub(count as u64) else {
            let what = format!(
                "it unpacks to more than {} GiB, which no snapshot does",
                JSON_BYTES_MAX >> 30
            );
            return Err(io::Error::other(what));
        };
        self.left = left;
        Ok(count)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_unpacks_to_too_much_ends_with_an_error() {
        let mut text = Vec::new();
        let mut bounded = Bounded { json: io::repeat(b' '), left: 1000 };
        let error = bounded.read_to_end(&mut text).expect_err("it never ends");
        assert_eq!(error.to_string(), "it unpacks to more than 8 GiB, which no snapshot does");
        let mut whole = Bounded { json: &b"{}"[..], left: 2 };
        assert_eq!(whole.read_to_end(&mut text).expect("it is small enough"), 2);
    }
}
