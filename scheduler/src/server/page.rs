//! One page of a list, bounded in memory.

use bytes::{Bytes, BytesMut};
use futures::StreamExt;
use http_body_util::BodyExt;
use kube::client::Body;

/// Number of objects of one page.
const LIMIT: u32 = 500;
/// Bounds the memory of one page: one with more bytes is asked for again with fewer objects. Five hundred of the largest that a
/// user may make would fill the memory at each start.
pub(crate) const PAGE_BYTES_MAX: usize = 64 << 20;
/// So many times fewer.
const SHRINK: u32 = 8;

/// Says for how many objects the next page is asked.
#[derive(Debug)]
pub(crate) struct PageSize(u32);

impl Default for PageSize {
    fn default() -> Self {
        Self(LIMIT)
    }
}

impl PageSize {
    /// Returns the number of its objects.
    pub(crate) fn limit(&self) -> u32 {
        self.0
    }

    /// Returns the number of bytes that it may have: one object is taken however large it is.
    pub(crate) fn bytes_max(&self) -> usize {
        if self.0 == 1 { usize::MAX } else { PAGE_BYTES_MAX }
    }

    /// Has fewer be asked for, and tells whether fewer can be.
    pub(crate) fn shrink(&mut self) -> bool {
        let fewer = (self.0 / SHRINK).max(1);
        std::mem::replace(&mut self.0, fewer) > fewer
    }

    /// Has more be asked for again, as a page was read.
    pub(crate) fn grow(&mut self) {
        self.0 = LIMIT.min(2 * self.0);
    }
}

/// Reads the whole of an answer; nothing where it has more bytes.
pub(crate) async fn within(body: Body, bytes_max: usize) -> Result<Option<Bytes>, kube::Error> {
    let mut frames = body.into_data_stream();
    let mut whole = BytesMut::new();
    while let Some(frame) = frames.next().await {
        whole.extend_from_slice(&frame?);
        if whole.len() > bytes_max {
            return Ok(None);
        }
    }
    Ok(Some(whole.freeze()))
}
