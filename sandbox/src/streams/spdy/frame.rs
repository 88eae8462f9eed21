//! Frames of SPDY/3.1. Pure.
//!
//! # Source
//! SPDY protocol draft 3.1, 2.6: control frames, and 2.6.10: name and value blocks, which are one compressed stream for each
//! direction. `dictionary.bin` is the dictionary of that section.

use std::collections::BTreeMap;

use bytes::{Buf as _, Bytes, BytesMut};
use flate2::{Compress, Compression, Decompress, FlushCompress, FlushDecompress};

static DICTIONARY: &[u8] = include_bytes!("dictionary.bin");

const VERSION: u16 = 3;
const SYN_STREAM: u16 = 1;
const SYN_REPLY: u16 = 2;
const RST_STREAM: u16 = 3;
const PING: u16 = 6;
const GO_AWAY: u16 = 7;
/// The flag of a stream's last frame.
const FIN: u8 = 1;
/// The largest frame that is read; Kubernetes' clients send far smaller ones.
const FRAME_BYTES_MAX: usize = 1 << 20;
/// The largest block of headers that is taken.
const HEADER_BYTES_MAX: usize = 64 * 1024;

/// Names in small letters, and their values.
pub(super) type Headers = BTreeMap<String, String>;

/// A frame, as far as it matters here.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Frame {
    /// A new stream; `is_last` when nothing follows on it.
    Open {
        id: u32,
        headers: Headers,
        is_last: bool,
    },
    /// The other side takes a stream.
    Accept {
        id: u32,
        headers: Headers,
    },
    Data {
        id: u32,
        bytes: Bytes,
        is_last: bool,
    },
    Reset {
        id: u32,
    },
    Ping {
        id: u32,
    },
    GoAway,
    /// One that may be passed over: settings, windows.
    Other,
}

/// The reason why a client is not understood.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub(super) enum Error {
    #[error("a frame is too short for its kind")]
    Short,
    #[error("a frame of {0} bytes is too large")]
    Large(usize),
    #[error("SPDY version {0} is not spoken here")]
    Version(u16),
    #[error("headers are not compressed as they should be")]
    Headers,
}

/// Reads frames.
pub(super) struct Reader {
    headers: Decompress,
}

impl Reader {
    pub(super) fn new() -> Self {
        Self { headers: Decompress::new(true) }
    }

    /// Takes a frame from the front; none while it is not all there.
    pub(super) fn read(&mut self, bytes: &mut BytesMut) -> Result<Option<Frame>, Error> {
        let Some(head) = bytes.first_chunk::<8>().copied() else { return Ok(None) };
        let flags = head[4];
        let length = usize::from(head[5]) << 16 | usize::from(head[6]) << 8 | usize::from(head[7]);
        if length > FRAME_BYTES_MAX {
            return Err(Error::Large(length));
        }
        if bytes.len() < head.len() + length {
            return Ok(None);
        }
        bytes.advance(head.len());
        let mut body = bytes.split_to(length).freeze();
        let is_last = flags & FIN != 0;
        if head[0] & 0x80 == 0 {
            let id = u32::from_be_bytes([head[0], head[1], head[2], head[3]]);
            return Ok(Some(Frame::Data { id, bytes: body, is_last }));
        }
        let version = u16::from_be_bytes([head[0] & 0x7f, head[1]]);
        if version != VERSION {
            return Err(Error::Version(version));
        }
        let mut number = || {
            let whole = body.try_get_u32().map_err(|_| Error::Short)?;
            Ok(whole & 0x7fff_ffff)
        };
        Ok(Some(match u16::from_be_bytes([head[2], head[3]]) {
            SYN_STREAM => {
                let id = number()?;
                let _associated = number()?;
                let _priority_and_slot = body.try_get_u16().map_err(|_| Error::Short)?;
                Frame::Open { id, headers: self.block(&body)?, is_last }
            }
            SYN_REPLY => Frame::Accept { id: number()?, headers: self.block(&body)? },
            RST_STREAM => Frame::Reset { id: number()? },
            PING => {
                // All 32 bits of it come back.
                Frame::Ping { id: body.try_get_u32().map_err(|_| Error::Short)? }
            }
            GO_AWAY => Frame::GoAway,
            _ => Frame::Other,
        }))
    }

    /// Reads a block of headers: their number, then name and value with their lengths.
    fn block(&mut self, compressed: &[u8]) -> Result<Headers, Error> {
        let plain = self.inflate(compressed)?;
        let mut plain = plain.as_slice();
        let mut headers = Headers::new();
        let count = plain.try_get_u32().map_err(|_| Error::Headers)?;
        for _ in 0..count {
            let mut text = || {
                let length = plain.try_get_u32().map_err(|_| Error::Headers)?;
                let length = usize::try_from(length).map_err(|_| Error::Headers)?;
                let (own, rest) = plain.split_at_checked(length).ok_or(Error::Headers)?;
                plain = rest;
                String::from_utf8(own.to_vec()).map_err(|_| Error::Headers)
            };
            let (name, value) = (text()?, text()?);
            headers.insert(name.to_ascii_lowercase(), value);
        }
        Ok(headers)
    }

    fn inflate(&mut self, mut compressed: &[u8]) -> Result<Vec<u8>, Error> {
        let mut plain = Vec::with_capacity(1024);
        loop {
            let before = (self.headers.total_in(), self.headers.total_out());
            let took = self.headers.decompress_vec(compressed, &mut plain, FlushDecompress::Sync);
            let read = usize::try_from(self.headers.total_in() - before.0).unwrap_or(usize::MAX);
            compressed = compressed.get(read..).ok_or(Error::Headers)?;
            match took {
                Err(error) if error.needs_dictionary().is_some() => {
                    self.headers.set_dictionary(DICTIONARY).map_err(|_| Error::Headers)?;
                    continue;
                }
                Err(_) => return Err(Error::Headers),
                Ok(_) => {}
            }
            let stands_still = (self.headers.total_in(), self.headers.total_out()) == before;
            if stands_still || (compressed.is_empty() && plain.len() < plain.capacity()) {
                return Ok(plain);
            }
            if plain.len() > HEADER_BYTES_MAX {
                return Err(Error::Headers);
            }
            plain.reserve(1024);
        }
    }
}

/// Writes frames.
pub(super) struct Writer {
    headers: Compress,
}

impl Writer {
    /// A writer at the beginning of a connection.
    ///
    /// # Panics
    /// When the dictionary is refused, which depends on nothing that comes from outside.
    pub(super) fn new() -> Self {
        let mut headers = Compress::new(Compression::fast(), true);
        headers.set_dictionary(DICTIONARY).expect("a fresh compressor takes a dictionary");
        Self { headers }
    }

    /// The bytes of a frame.
    pub(super) fn write(&mut self, frame: &Frame) -> Vec<u8> {
        match frame {
            Frame::Open { id, headers, is_last } => {
                let mut body = id.to_be_bytes().to_vec();
                body.extend([0; 6]);
                body.extend(self.block(headers));
                control(SYN_STREAM, u8::from(*is_last), &body)
            }
            Frame::Accept { id, headers } => {
                let mut body = id.to_be_bytes().to_vec();
                body.extend(self.block(headers));
                control(SYN_REPLY, 0, &body)
            }
            Frame::Data { id, bytes, is_last } => self.data(*id, bytes, *is_last),
            Frame::Reset { id } => {
                let cancel: u32 = 5;
                control(RST_STREAM, 0, &[id.to_be_bytes(), cancel.to_be_bytes()].concat())
            }
            Frame::Ping { id } => control(PING, 0, &id.to_be_bytes()),
            Frame::GoAway => control(GO_AWAY, 0, &[0; 8]),
            Frame::Other => Vec::new(),
        }
    }

    /// The bytes of a data frame.
    #[expect(clippy::unused_self, reason = "frames leave through one writer, in one order")]
    pub(super) fn data(&mut self, id: u32, part: &[u8], is_last: bool) -> Vec<u8> {
        let mut frame = id.to_be_bytes().to_vec();
        frame.extend(flags_and_length(u8::from(is_last), part.len()));
        frame.extend(part);
        frame
    }

    fn block(&mut self, headers: &Headers) -> Vec<u8> {
        let length = |text: &str| u32::try_from(text.len()).unwrap_or(u32::MAX).to_be_bytes();
        let mut plain = u32::try_from(headers.len()).unwrap_or(u32::MAX).to_be_bytes().to_vec();
        for (name, value) in headers {
            plain.extend(length(name));
            plain.extend(name.bytes());
            plain.extend(length(value));
            plain.extend(value.bytes());
        }
        // A flush ends a block at a whole byte, in a few bytes more than what stands in it.
        let mut compressed = Vec::with_capacity(plain.len() * 2 + 256);
        let took = self.headers.compress_vec(&plain, &mut compressed, FlushCompress::Sync);
        debug_assert!(took.is_ok(), "memory is compressed into memory");
        compressed
    }
}

fn control(kind: u16, flags: u8, body: &[u8]) -> Vec<u8> {
    let mut frame = (VERSION | 0x8000).to_be_bytes().to_vec();
    frame.extend(kind.to_be_bytes());
    frame.extend(flags_and_length(flags, body.len()));
    frame.extend(body);
    frame
}

fn flags_and_length(flags: u8, length: usize) -> [u8; 4] {
    let length = u32::try_from(length).unwrap_or(u32::MAX).to_be_bytes();
    [flags, length[1], length[2], length[3]]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn frames_are_read_as_they_were_written_in_whatever_pieces_they_come() {
        let headers = |pairs: &[(&str, &str)]| {
            pairs.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect()
        };
        let open = |id, kind: &str| Frame::Open {
            id,
            headers: headers(&[("streamtype", kind), ("port", "8888"), ("requestid", "0")]),
            is_last: kind == "error",
        };
        let frames = [
            open(1, "error"),
            open(3, "data"),
            Frame::Accept { id: 1, headers: Headers::new() },
            Frame::Data { id: 3, bytes: Bytes::from_static(b"GET / HTTP/1.1\r\n"), is_last: false },
            Frame::Ping { id: 0x8000_0001 },
            Frame::Data { id: 3, bytes: Bytes::new(), is_last: true },
            Frame::Reset { id: 1 },
            Frame::GoAway,
        ];
        let mut writer = Writer::new();
        let all: Vec<u8> = frames.iter().flat_map(|frame| writer.write(frame)).collect();
        for piece in [1, 7, all.len()] {
            let (mut reader, mut bytes, mut read) = (Reader::new(), BytesMut::new(), Vec::new());
            for part in all.chunks(piece) {
                bytes.extend_from_slice(part);
                while let Some(frame) = reader.read(&mut bytes).expect("it was written above") {
                    read.push(frame);
                }
            }
            assert_eq!(read, frames, "pieces of {piece}");
        }
    }

    #[test]
    fn a_client_that_speaks_something_else_is_told_apart() {
        for (bytes, expect) in [
            (&b"\x80\x02\x00\x01\x00\x00\x00\x00"[..], Error::Version(2)),
            (&b"\x80\x03\x00\x06\x00\x00\x00\x00"[..], Error::Short),
            (&b"\x80\x03\x00\x02\x00\x00\x00\x06\x00\x00\x00\x01xx"[..], Error::Headers),
            (&b"GET / HTTP"[..], Error::Large(0x20_4854)),
        ] {
            assert_eq!(Reader::new().read(&mut BytesMut::from(bytes)), Err(expect), "{bytes:?}");
        }
    }
}
