//! Reads lists page by page: while one page is decoded the next one is on its way.

use std::ops::ControlFlow;

use futures::future::join;
use serde_json::Value;

use super::pages::{self, Detail, PAGE, PAGE_MAX, Page, Wanted};
use super::{Call, Cluster, Failure, Select, beside, joined};

/// A part of a list that is being read.
#[derive(Debug)]
pub(crate) enum Part {
    /// The objects of a page, in the order of the server: by namespace and name.
    Objects(Vec<Value>),
    /// The server forgot the list in the middle of it: it comes again from its first object, as it is now.
    Again,
}

impl Cluster {
    /// Reads all objects of a kind, page by page; `None` when the server doesn't serve the kind.
    pub(crate) async fn list(
        &self,
        call: &Call<'_>,
        select: &Select<'_>,
    ) -> Result<Option<Vec<Value>>, Failure> {
        self.list_in(call, select, Detail::Whole).await
    }

    /// Does the same without what only nodes and the scheduler read of pods and of their templates, such as
    /// volumes and commands: what lists and sums are made from, in a fraction of the time.
    pub(crate) async fn outline(
        &self,
        call: &Call<'_>,
        select: &Select<'_>,
    ) -> Result<Option<Vec<Value>>, Failure> {
        self.list_in(call, select, Detail::Outline).await
    }

    /// Reads so much of each object.
    pub(crate) async fn list_in(
        &self,
        call: &Call<'_>,
        select: &Select<'_>,
        detail: Detail,
    ) -> Result<Option<Vec<Value>>, Failure> {
        if let Some(mirror) = &self.mirror {
            let list = mirror.list(&self.client, call, select, detail);
            let found = tokio::time::timeout(self.timeout, list).await;
            return found.unwrap_or(Err(Failure::Slow(self.timeout)));
        }
        let mut items = Vec::new();
        let take = |part| {
            match part {
                Part::Objects(objects) => items.extend(objects),
                Part::Again => items.clear(),
            }
            ControlFlow::Continue(())
        };
        let is_served = self.parts(call, select, detail, take).await?;
        Ok(is_served.then_some(items))
    }

    /// Reads so much of each object, and gives the objects away as they come, until it is told to stop; `false` when the
    /// server doesn't serve the kind. What a command goes on looking at is not read in this way.
    pub(crate) async fn parts(
        &self,
        call: &Call<'_>,
        select: &Select<'_>,
        detail: Detail,
        mut take: impl FnMut(Part) -> ControlFlow<()>,
    ) -> Result<bool, Failure> {
        let (mut next, mut objects) = (Some(String::new()), PAGE);
        let mut decoding = None;
        loop {
            let fetch = async {
                let wanted = Wanted { next: next.as_deref()?, metadata_only: false, objects };
                Some(self.fetch(pages::request(call, select, &wanted)).await)
            };
            let give = async {
                let Some(task) = decoding.take() else { return Ok::<_, Failure>(None) };
                let page: Page = joined(task).await?;
                let token = page.token().to_owned();
                self.note_cut(call.resource, page.cut());
                let flow = take(Part::Objects(page.items().collect()));
                Ok(Some((token, flow)))
            };
            let (fetched, given) = join(fetch, give).await;
            let given = given?;
            if matches!(given, Some((_, ControlFlow::Break(())))) {
                return Ok(true);
            }
            let bytes = match fetched {
                Some(Ok((bytes, _))) => bytes,
                Some(Err(Failure::Refused(refusal))) if refusal.code == 404 => return Ok(false),
                // The token of the next page has expired: begin again rather than miss objects.
                Some(Err(Failure::Refused(refusal)))
                    if refusal.code == 410 && next.as_deref() != Some("") =>
                {
                    if take(Part::Again).is_break() {
                        return Ok(true);
                    }
                    (next, objects) = (Some(String::new()), PAGE);
                    continue;
                }
                Some(Err(failure)) => return Err(failure),
                // The page before was asked for the token, since its head did not tell.
                None => match given {
                    Some((token, _)) if !token.is_empty() => {
                        next = Some(token);
                        continue;
                    }
                    _ => return Ok(true),
                },
            };
            objects = (objects * 4).min(PAGE_MAX);
            next = pages::token(&bytes).filter(|token| !token.is_empty());
            let decode = move |bytes: &[u8]| {
                Page::decode(bytes, detail).map_err(|e| Failure::Unreadable(e.to_string()))
            };
            decoding = Some(tokio::spawn(beside(bytes, decode)));
        }
    }
}
