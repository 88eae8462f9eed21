//! The work itself: ask, decide, write, as often as it takes.

use std::thread;
use std::time::Duration;

use crate::api::{Client, Own, Trouble};
use crate::device::{Given, Unclear};

/// Wait after a first failure, doubled up to the longest.
const WAIT_MIN: Duration = Duration::from_millis(250);
const WAIT_MAX: Duration = Duration::from_secs(15);

/// Way in which the pod came to carry its device.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Reported {
    /// It did before: the container was started again.
    Before(String),
    /// It does now.
    Now(Given),
}

/// The reason why it does not.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// It is not clear which device it is.
    #[error(transparent)]
    Unclear(#[from] Unclear),
    /// The API server does not take it.
    #[error(transparent)]
    Api(Trouble),
}

/// Sees to it that this pod carries its device, for as long as that takes; `tell` hears of each failure that is tried
/// again.
///
/// `find` is asked once, and only where nothing is written on the pod yet: a container that is started again has the
/// device that its pod was given.
///
/// # Errors
/// What does not go away by itself.
pub fn report(
    client: &Client,
    find: impl FnOnce() -> Result<Given, Unclear>,
    mut tell: impl FnMut(&str),
) -> Result<Reported, Error> {
    let own = insist(|| client.read(), &mut tell, thread::sleep)?;
    if let Some(device) = own.device {
        return Ok(Reported::Before(device));
    }
    let given = find()?;
    let mut known = Some(own);
    let step = || attempt(&mut known, || client.read(), |own| write(client, own, &given.uuid));
    insist(step, &mut tell, thread::sleep)?;
    Ok(Reported::Now(given))
}

/// Tries once to write. Only the first try may use what was read before: a further one failed perhaps because somebody else
/// wrote, the kubelet for one.
fn attempt(
    known: &mut Option<Own>,
    read: impl FnOnce() -> Result<Own, Trouble>,
    write: impl FnOnce(&Own) -> Result<(), Trouble>,
) -> Result<(), Trouble> {
    let own = known.take().map_or_else(read, Ok)?;
    write(&own)
}

/// Writes the device unless it is there: an answer may have been lost.
fn write(client: &Client, own: &Own, device: &str) -> Result<(), Trouble> {
    if own.device.as_deref() == Some(device) {
        return Ok(());
    }
    client.write(own, device)
}

/// Tries until it works or never will, and sleeps between two tries.
fn insist<T>(
    mut step: impl FnMut() -> Result<T, Trouble>,
    tell: &mut impl FnMut(&str),
    mut sleep: impl FnMut(Duration),
) -> Result<T, Error> {
    let mut wait = WAIT_MIN;
    loop {
        match step() {
            Ok(done) => return Ok(done),
            Err(Trouble::Passing(why)) => {
                tell(&format!("{why}; trying again in {} ms", wait.as_millis()));
                sleep(wait);
                wait = wait.saturating_mul(2).min(WAIT_MAX);
            }
            Err(lasting) => return Err(Error::Api(lasting)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Whatever stands there by the second read, the device is the one that was found.
    #[test]
    fn only_its_own_device_counts_as_written() {
        for (device, is_written) in [(None, false), (Some("GPU-b"), false), (Some("GPU-a"), true)] {
            let (uid, version) = (String::from("u"), String::from("1"));
            let own = Own { uid, version, device: device.map(String::from) };
            let written = write(&Client::unreachable(), &own, "GPU-a");
            assert_eq!(written.is_ok(), is_written, "{device:?}: {written:?}");
        }
    }

    #[test]
    fn waits_double_up_to_the_longest() {
        let (mut waits, mut left) = (Vec::new(), 9);
        let step = || {
            left -= 1;
            if left == 0 { Ok(()) } else { Err(Trouble::Passing(String::from("down"))) }
        };
        let done = insist(step, &mut |_: &str| {}, |wait| waits.push(wait.as_millis()));
        done.expect("the last try works");
        assert_eq!(waits, [250, 500, 1000, 2000, 4000, 8000, 15_000, 15_000]);
    }

    /// The kubelet writes the pod's status beside us: the version of the first read is soon an old one.
    #[test]
    fn each_further_try_reads_again() {
        let own = |version: u32| Own {
            uid: String::from("u"),
            version: version.to_string(),
            device: None,
        };
        let (mut known, mut version, mut written) = (Some(own(1)), 1, Vec::new());
        let step = || {
            let read = || {
                version += 1;
                Ok(own(version))
            };
            attempt(&mut known, read, |own| {
                written.push(own.version.clone());
                if own.version == "3" {
                    return Ok(());
                }
                Err(Trouble::Passing(String::from("conflict")))
            })
        };
        let mut waits = 0;
        let sleep = |_| {
            waits += 1;
            assert!(waits < 10, "it tries the same for ever");
        };
        insist(step, &mut |_: &str| {}, sleep).expect("the third version is the newest");
        assert_eq!(written, ["1", "2", "3"]);
    }
}
