//! Profiles of MIG instances.
//!
//! The scheduler, records and metrics of queues count instances in GPUs; this is the one place that says in how many, so that
//! no two of them differ.

use crate::names::resource;

/// Returns the GPUs of one instance of a MIG resource, or `None` for a resource of another kind: `nvidia.com/mig-3g.20gb` has
/// 3, and so has `nvidia.com/mig-1c.3g.40gb.me`. A profile that says nothing of them counts as one whole GPU: none may be had
/// for nothing.
///
/// # Source
/// docs/behaviour.md 2.1.
#[must_use]
pub fn gpus(resource_name: &str) -> Option<u16> {
    let profile = resource_name.strip_prefix(resource::MIG_PREFIX)?;
    let slices = profile.split('.').find_map(|part| part.strip_suffix('g')?.parse().ok());
    Some(slices.unwrap_or(1))
}

#[cfg(test)]
mod tests {
    use super::gpus;

    #[test]
    fn every_profile_counts() {
        for (name, expect) in [
            ("nvidia.com/mig-3g.20gb", Some(3)),
            ("nvidia.com/mig-1c.3g.40gb", Some(3)),
            ("nvidia.com/mig-1g.10gb.me", Some(1)),
            ("nvidia.com/mig-unheard-of", Some(1)),
            ("nvidia.com/gpu", None),
        ] {
            assert_eq!(gpus(name), expect, "{name}");
        }
    }
}
