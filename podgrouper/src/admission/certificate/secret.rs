//! Steps about the Secret with the certificate, at any time and whatever is in it.
//!
//! A certificate is renewed in two steps, so that no connection fails on the way: first its successor lies beside it and
//! clients learn the successor's authority, then it takes its place.

use std::collections::BTreeMap;

use jiff::{SignedDuration, Timestamp};
use k8s_openapi::ByteString;
use k8s_openapi::api::core::v1::Secret;
use rustls::pki_types::UnixTime;

use super::{Material, Standing, judge};

/// Keys of the Secret: what is served, and the authorities that clients are told.
const CERTIFICATE: &str = "tls.crt";
const KEY: &str = "tls.key";
const AUTHORITIES: &str = "ca.crt";
/// Keys of what will be served next.
const NEXT_CERTIFICATE: &str = "next.crt";
const NEXT_KEY: &str = "next.key";
/// Annotation with the time since when the next one lies there.
const STAGED_AT: &str = "kai.scheduler/next-certificate-since";
/// Time that clients have to learn the next one's authority.
const STAGED_MIN: SignedDuration = SignedDuration::from_mins(10);

/// Contents of the Secret.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Held {
    pub(super) current: Material,
    next: Option<Material>,
    staged_at: Option<Timestamp>,
}

/// The next step about the Secret.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Step {
    /// Nothing.
    Keep,
    /// Write back what is served: others destroyed it.
    Restore(String),
    /// Make a new certificate at once, for the reason given.
    Replace(String),
    /// Make the next certificate and lay it beside the one that is served.
    Stage,
    /// Serve the next certificate.
    Promote,
}

impl Held {
    pub(super) fn of(secret: &Secret) -> Self {
        let empty = BTreeMap::new();
        let data = secret.data.as_ref().unwrap_or(&empty);
        let text = |key: &str| {
            let bytes = data.get(key).map(|bytes| bytes.0.clone()).unwrap_or_default();
            String::from_utf8(bytes).unwrap_or_default()
        };
        let current = Material {
            certificate: text(CERTIFICATE),
            key: text(KEY),
            authorities: text(AUTHORITIES),
        };
        let next = data.contains_key(NEXT_CERTIFICATE).then(|| Material {
            certificate: text(NEXT_CERTIFICATE),
            key: text(NEXT_KEY),
            authorities: text(AUTHORITIES),
        });
        let annotations = secret.metadata.annotations.as_ref();
        let staged_at = annotations.and_then(|rows| rows.get(STAGED_AT)?.parse().ok());
        Self { current, next, staged_at }
    }

    /// Makes the contents of a Secret with one certificate only.
    pub(super) fn only(current: Material) -> Self {
        Self { current, next: None, staged_at: None }
    }

    /// The same with another certificate beside the one that is served.
    pub(super) fn stage(&self, next: &Material, now: Timestamp) -> Self {
        // The newest comes first; of those that were before, only the one that is served still matters.
        let authorities = format!("{}{}", next.authorities, self.current.authorities);
        let with =
            |material: &Material| Material { authorities: authorities.clone(), ..material.clone() };
        Self { current: with(&self.current), next: Some(with(next)), staged_at: Some(now) }
    }

    /// The same with the next certificate served.
    pub(super) fn promote(&self) -> Self {
        Self::only(self.next.clone().unwrap_or_else(|| self.current.clone()))
    }

    /// Writes it into a Secret; whatever else is in it stays.
    pub(super) fn write(&self, secret: &mut Secret) {
        let data = secret.data.get_or_insert_default();
        let mut put = |key: &str, text: &str| {
            data.insert(key.to_owned(), ByteString(text.as_bytes().to_vec()));
        };
        put(CERTIFICATE, &self.current.certificate);
        put(KEY, &self.current.key);
        put(AUTHORITIES, &self.current.authorities);
        if let Some(next) = &self.next {
            put(NEXT_CERTIFICATE, &next.certificate);
            put(NEXT_KEY, &next.key);
        } else {
            data.remove(NEXT_CERTIFICATE);
            data.remove(NEXT_KEY);
        }
        let annotations = secret.metadata.annotations.get_or_insert_default();
        match self.staged_at {
            Some(since) => annotations.insert(STAGED_AT.to_owned(), since.to_string()),
            None => annotations.remove(STAGED_AT),
        };
    }
}

/// Decides what to do about what the Secret holds (none: there is no Secret), where `served` is what connections get
/// now.
pub(super) fn step(
    held: Option<&Held>,
    served: Option<&Material>,
    names: &[String],
    now: Timestamp,
) -> Step {
    let at = unix(now);
    let is_usable = |material: &&Material| !matches!(judge(material, names, at), Standing::Bad(_));
    let broken = |why: String| {
        if served.as_ref().is_some_and(is_usable) { Step::Restore(why) } else { Step::Replace(why) }
    };
    let Some(held) = held else { return broken("there is none".to_owned()) };
    match judge(&held.current, names, at) {
        Standing::Bad(why) => broken(why),
        Standing::Good => Step::Keep,
        Standing::Due => match (held.next.as_ref().filter(is_usable), held.staged_at) {
            (Some(_), Some(since)) if now.duration_since(since) >= STAGED_MIN => Step::Promote,
            (Some(_), Some(_)) => Step::Keep,
            (None, _) | (_, None) => Step::Stage,
        },
    }
}

/// A time as certificates are judged at.
pub(super) fn unix(time: Timestamp) -> UnixTime {
    let seconds = u64::try_from(time.as_second()).unwrap_or_default();
    UnixTime::since_unix_epoch(std::time::Duration::from_secs(seconds))
}

#[cfg(test)]
mod tests {
    use super::super::make;
    use super::*;

    const NAME: &str = "admission.kai-scheduler.svc";

    fn day(number: i64) -> Timestamp {
        Timestamp::from_second(number * 86_400).expect("a time")
    }

    fn material(made: i64) -> Material {
        make(&[NAME.to_owned()], unix(day(made))).expect("a certificate")
    }

    fn check(held: Option<&Held>, served: Option<&Material>, at: i64, expect: &str) {
        let found = format!("{:?}", step(held, served, &[NAME.to_owned()], day(at)));
        assert!(found.starts_with(expect), "day {at}: {found}, want {expect}");
    }

    #[test]
    fn every_state_has_its_step() {
        let (old, new) = (material(1000), material(1300));
        let of_old = Held::only(old.clone());
        check(None, None, 1000, "Replace(\"there is none\")");
        check(None, Some(&old), 1000, "Restore");
        check(None, Some(&old), 2000, "Replace");
        check(Some(&of_old), None, 1000, "Keep");
        check(Some(&of_old), Some(&new), 1274, "Keep");
        check(Some(&of_old), None, 1276, "Stage");
        check(Some(&of_old), None, 1366, "Replace(\"tls.crt");
        // Of two replicas, the one whose certificate still holds puts it back.
        let broken = Held::only(Material { key: String::new(), ..old.clone() });
        check(Some(&broken), Some(&old), 1000, "Restore(\"tls.key");
        check(Some(&broken), None, 1000, "Replace(\"tls.key");
        let staged = of_old.stage(&new, day(1300));
        check(Some(&staged), Some(&old), 1300, "Keep");
        check(Some(&staged), Some(&old), 1301, "Promote");
        let timeless = Held { staged_at: None, ..staged.clone() };
        check(Some(&timeless), Some(&old), 1301, "Stage");
        let next = staged.next.clone().map(|next| Material { key: String::new(), ..next });
        let unusable = Held { next, ..staged.clone() };
        check(Some(&unusable), Some(&old), 1301, "Stage");
        let promoted = staged.promote();
        check(Some(&promoted), Some(&old), 1301, "Keep");
        check(Some(&promoted), Some(&old), 1400, "Keep");
    }

    #[test]
    fn both_certificates_are_accepted_while_one_follows_the_other() {
        let (old, new) = (material(1000), material(1300));
        let staged = Held::only(old).stage(&new, day(1300));
        let promoted = staged.promote();
        for material in [&staged.current, &promoted.current] {
            // What clients were told before the change and after it knows both.
            assert_eq!(material.authorities, staged.current.authorities);
            let standing = judge(material, &[NAME.to_owned()], unix(day(1301)));
            assert!(!matches!(standing, Standing::Bad(_)), "{standing:?}");
        }
        assert_eq!(promoted.current.certificate, new.certificate);
    }

    #[test]
    fn a_secret_holds_what_was_written_and_what_others_put_there() {
        let staged = Held::only(material(1000)).stage(&material(1300), day(1300));
        let mut secret = Secret::default();
        secret.data.get_or_insert_default().insert("other".into(), ByteString(vec![1]));
        staged.write(&mut secret);
        assert_eq!(Held::of(&secret), staged);
        let promoted = staged.promote();
        promoted.write(&mut secret);
        assert_eq!(Held::of(&secret), promoted);
        let data = secret.data.expect("data");
        assert!(data.contains_key("other") && !data.contains_key(NEXT_KEY));
        let annotations = secret.metadata.annotations.expect("annotations");
        assert_eq!(annotations.get(STAGED_AT), None);
    }
}
