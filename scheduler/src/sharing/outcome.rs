//! Takes in what became of writes about shared GPUs.

use kai_api::names::no_reservation;

use super::{RETRY_MS, Sharing, device::Unseen, sweep::Sweep};
use crate::actuate::{Ending, ShareOutcome};

impl Sharing {
    /// Takes in what became of a write.
    pub fn ended(&mut self, outcome: ShareOutcome, now: i64) {
        match outcome {
            ShareOutcome::Reserved { device, refused } => self.reserved(device, refused, now),
            ShareOutcome::Unreserved { device, has_failed, ending } => {
                self.unreserved(device, has_failed, ending, now);
            }
            ShareOutcome::Asked { device, told, done } => {
                let Some(known) = self.wrote(device) else { return };
                if done {
                    known.asked(told);
                } else {
                    known.not_before = now.saturating_add(RETRY_MS);
                }
            }
            ShareOutcome::Unprotected { device, done } => {
                let Some(known) = self.wrote(device) else { return };
                if done {
                    // They leave as any pod does; nothing more has to be written for that.
                    known.users.values_mut().for_each(|is_leaving| *is_leaving = true);
                } else {
                    known.not_before = now.saturating_add(RETRY_MS);
                }
                self.fail(device, no_reservation::GONE, true);
            }
            ShareOutcome::Stripped { pod, done } => {
                let Some(sharer) = self.pods.get_mut(&pod) else { return };
                sharer.is_stripping = false;
                if done {
                    // The watch shows the pod without them; where it did already, the pod is forgotten.
                    sharer.is_stripping = sharer.is_labelled;
                }
                self.settle_pod_later(pod, now.saturating_add(RETRY_MS));
            }
            ShareOutcome::Swept(leftovers) => {
                self.sweep = Sweep::Found(leftovers);
                self.due.extend(self.devices.keys());
            }
        }
    }

    /// The device, of which nothing is being written any more.
    fn wrote(&mut self, device: u32) -> Option<&mut super::Device> {
        let known = self.devices.get_mut(&device)?;
        known.is_writing = false;
        self.due.insert(device);
        Some(known)
    }

    fn reserved(&mut self, device: u32, refused: Option<String>, now: i64) {
        let patience_ms = self.patience_ms;
        let Some(known) = self.wrote(device) else { return };
        match refused {
            None if known.reservation.is_none() && !known.has_failed => {
                known.unseen = Unseen::Made;
                known.deadline = Some(now.saturating_add(patience_ms));
            }
            None => {}
            Some(reason) => {
                // Where the answer was lost, it may have been made.
                if known.reservation.is_none() {
                    known.unseen = Unseen::Left;
                }
                let reason = format!("{}: {reason}", no_reservation::REFUSED);
                self.fail(device, &reason, false);
            }
        }
    }

    fn unreserved(&mut self, device: u32, has_failed: bool, ending: Ending, now: i64) {
        let Some(known) = self.wrote(device) else { return };
        match ending {
            Ending::InUse | Ending::Refused => known.not_before = now.saturating_add(RETRY_MS),
            Ending::Gone(said) => {
                known.others.clear();
                known.deleted = known.reservation.take().map(|reservation| reservation.pod);
                known.has_failed = false;
                known.unseen = Unseen::Nothing;
                known.deadline = None;
                let node = known.node;
                let waits = self.waiting.iter().any(|one| one.devices.contains(&device));
                if has_failed && waits {
                    let reason =
                        said.unwrap_or_else(|| String::from("it did not say its device in time"));
                    if let Some(node) = node {
                        self.set_aside(node, now, &reason);
                    }
                    self.fail(device, &format!("{}: {reason}", no_reservation::FAILED), true);
                }
            }
        }
    }
}
