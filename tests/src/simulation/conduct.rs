//! Conduct of daemons on their way to the API server. None may, whatever goes wrong, write without a guard, write without its
//! Lease, or ask for the same without a pause.

use http::Request;
use kube::client::Body;

use super::{
    haste::Haste,
    holders::{Claim, Holders},
};
use crate::guards;

/// A process, as it was seen so far.
#[derive(Debug, Default)]
pub(super) struct Conduct {
    haste: Haste,
    claim: Claim,
}

impl Conduct {
    /// Looks at a request that leaves; gives it back, and what is wrong with it.
    pub(super) async fn look(
        &self,
        request: Request<Body>,
        holders: &Holders,
    ) -> kube::Result<(Request<Body>, Vec<String>)> {
        let (request, unguarded) = guards::look(request).await?;
        let path = request.uri().path().to_owned();
        let hasty = self.haste.asks(request.method(), &path);
        let without = self.claim.finding(&request, holders);
        let request =
            if path.contains("/leases") { self.claim.asked(request).await? } else { request };
        Ok((request, [hasty, unguarded, without].into_iter().flatten().collect()))
    }

    /// Notes that the process may not use its Lease.
    pub(super) fn lease_refused(&self) {
        self.claim.refused();
    }
}
