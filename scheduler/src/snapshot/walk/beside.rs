//! Two threads for one array: one takes its objects in, in their order, while the other one takes the text of the next ones
//! apart. Taking in is more work, so of pods the other one decodes a part as well.
//!
//! ```text
//! this thread   | decode 6..12 ──► channel | take apart 13..25         | decode 19..25 ...
//! the other one | decode and take in 0..5  | take in 6..12, decoded    | decode and take in 13..18 ...
//! ```

use std::{
    io::Read,
    mem::{replace, take},
    panic::resume_unwind,
    sync::mpsc,
    thread,
};

use super::{Pass, Place, Walk, Wrong};
use crate::{
    ingest::{Kind, WirePod},
    snapshot::{
        arrays::{Array, Of},
        split::Fault,
    },
};

/// Bytes of objects that lie in one batch.
const BATCH_BYTES: usize = 256 << 10;
/// Batches of a round, and how many of them are decoded where they are taken in: both threads are then done at about one
/// time.
const ROUND: usize = 13;
const OWN: usize = 6;

impl<R: Read> Walk<R> {
    /// Takes in the objects of an array that was opened, up to its end or to the first that is wrong.
    pub(super) fn read_beside(
        &mut self,
        array: &'static Array,
        pass: &mut impl Pass,
    ) -> Result<(), Wrong> {
        let mut at = Place::default();
        let mut index = 0;
        let mut round = self.round(&mut at, Vec::new());
        let mut spare = Vec::new();
        loop {
            let begun = index;
            let (taken, next) = thread::scope(|scope| {
                let (own, others) = round.split();
                let (sender, decoded) = mpsc::channel();
                let pass = &mut *pass;
                let taker = thread::Builder::new()
                    .spawn_scoped(scope, move || {
                        let ahead = others.iter().zip(decoded);
                        let own = own.iter().map(|batch| (batch, Vec::new()));
                        take_in(array, pass, begun, own.chain(ahead))
                    })
                    .map_err(|error| Wrong { index: None, fault: error.into() })?;
                for batch in others {
                    // Nobody takes them after one that is wrong, of which the other thread tells.
                    let _ = sender.send(decode(array, batch));
                }
                drop(sender);
                let spare = take(&mut spare);
                let next = round.end.is_none().then(|| self.round(&mut at, spare));
                Ok((taker.join().unwrap_or_else(|panic| resume_unwind(panic)), next))
            })?;
            // Those before the place where the text is wrong come first.
            index = taken?;
            match next {
                Some(next) => spare = replace(&mut round, next).batches,
                None => return round.end.unwrap_or(Ok(())),
            }
        }
    }

    /// Takes the text of some objects apart, in batches whose memory an earlier round had.
    fn round(&mut self, at: &mut Place, mut spare: Vec<Batch>) -> Round {
        let mut batches = Vec::with_capacity(ROUND + 1);
        let mut batch = Batch::emptied(spare.pop());
        let end = loop {
            match self.item(at) {
                Ok(Some(json)) => batch.push(json),
                Ok(None) => break Some(Ok(())),
                Err(wrong) => break Some(Err(wrong)),
            }
            if batch.json.len() >= BATCH_BYTES {
                batches.push(replace(&mut batch, Batch::emptied(spare.pop())));
                if batches.len() == ROUND {
                    break None;
                }
            }
        };
        batches.push(batch);
        Round { batches, end }
    }
}

/// Some objects of an array.
struct Round {
    batches: Vec<Batch>,
    /// Says how the array ended, where it did.
    end: Option<Result<(), Wrong>>,
}

impl Round {
    /// Gives the batches that are decoded where they are taken in, and the others.
    fn split(&self) -> (&[Batch], &[Batch]) {
        self.batches.split_at(OWN.min(self.batches.len()))
    }
}

/// Objects, one behind the other.
struct Batch {
    json: Vec<u8>,
    /// Ends of the objects in it.
    ends: Vec<usize>,
}

impl Batch {
    /// A batch without objects, in the memory of one that nobody needs any more.
    fn emptied(batch: Option<Self>) -> Self {
        let mut batch = batch.unwrap_or_else(|| Self {
            json: Vec::with_capacity(BATCH_BYTES + BATCH_BYTES / 16),
            ends: Vec::new(),
        });
        batch.json.clear();
        batch.ends.clear();
        batch
    }

    fn push(&mut self, json: &[u8]) {
        self.json.extend_from_slice(json);
        self.ends.push(self.json.len());
    }

    fn objects(&self) -> impl Iterator<Item = &[u8]> {
        let begins = [0].into_iter().chain(self.ends.iter().copied());
        begins.zip(&self.ends).map(|(begin, end)| &self.json[begin..*end])
    }
}

/// Pods of a batch as they were decoded, in its order; none where there are none, or where one is no pod.
type Pods<'b> = Vec<Option<WirePod<'b>>>;

/// Decodes the pods of a batch; of other kinds nothing. Who takes in says what is wrong with those that are none.
fn decode<'b>(array: &Array, batch: &'b Batch) -> Pods<'b> {
    let is_pods = array.of == Of::Kind(Kind::Pod);
    let objects = batch.objects().filter(|_| is_pods);
    objects.map(WirePod::decode).collect()
}

/// Takes objects in as they come, up to the first that is wrong: which it is, or the number of those up to the end.
fn take_in<'b>(
    array: &'static Array,
    pass: &mut impl Pass,
    begun: usize,
    batches: impl Iterator<Item = (&'b Batch, Pods<'b>)>,
) -> Result<usize, Wrong> {
    let mut index = begun;
    for (batch, pods) in batches {
        let pods = pods.iter().map(Option::as_ref).chain(std::iter::repeat(None));
        for (json, pod) in batch.objects().zip(pods) {
            let taken = pass.object(array, json, pod);
            taken.map_err(|what| Wrong::at(index, Fault::Value(what)))?;
            index += 1;
        }
    }
    Ok(index)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::snapshot::{
        arrays,
        walk::{Head, Threads, walk},
    };

    /// Notes what comes, up to the object that it refuses.
    struct Notes {
        sizes: Vec<usize>,
        decoded: usize,
        refused: Option<usize>,
    }

    impl Pass for Notes {
        fn head(&mut self, _: Head, _: &[u8]) -> Result<(), String> {
            Ok(())
        }

        fn wants_objects(&mut self) -> Result<bool, String> {
            Ok(true)
        }

        fn wants(&self, _: &'static Array) -> bool {
            true
        }

        fn object(
            &mut self,
            _: &'static Array,
            json: &[u8],
            pod: Option<&WirePod<'_>>,
        ) -> Result<(), String> {
            if self.refused == Some(self.sizes.len()) {
                return Err(String::from("it is refused"));
            }
            self.sizes.push(json.len());
            self.decoded += usize::from(pod.is_some());
            Ok(())
        }

        fn passed(&mut self, _: &'static Array) -> Result<(), String> {
            Ok(())
        }
    }

    /// Objects of 1 to 3 KB, all of other sizes than their neighbours, in more than two rounds.
    const OBJECTS: usize = 5_000;

    fn text(key: &str) -> String {
        let object = |index: usize| {
            format!("{{\"metadata\":{{\"name\":\"{}\"}}}}", "x".repeat(1000 + index % 2000))
        };
        let objects: Vec<String> = (0..OBJECTS).map(object).collect();
        format!("{{\"rawObjects\":{{\"{key}\":[{}]}}}}", objects.join(","))
    }

    fn read(text: &str, threads: Threads, refused: Option<usize>) -> (Notes, Option<String>) {
        let mut notes = Notes { sizes: Vec::new(), decoded: 0, refused };
        let result = walk(text.as_bytes(), &mut notes, threads);
        (notes, result.err().map(|problem| problem.to_string()))
    }

    /// Two threads come by the same objects in the same order as one, and stop at the same place for the same reason.
    fn check(text: &str, refused: Option<usize>) {
        let (one, wrong_of_one) = read(text, Threads::One, refused);
        let (two, wrong_of_two) = read(text, Threads::Two, refused);
        assert_eq!(one.sizes, two.sizes, "refused: {refused:?}");
        assert_eq!(wrong_of_one, wrong_of_two);
        assert_eq!(one.decoded, 0);
    }

    #[test]
    fn two_threads_read_what_one_does() {
        let pods = text("pods");
        for refused in [None, Some(0), Some(3), Some(1_700), Some(OBJECTS - 1)] {
            check(&pods, refused);
        }
        // The text ends in the middle of a round.
        for length in [pods.len() - 1, pods.len() / 2, pods.len() / 3, 40] {
            check(&pods[..length], None);
        }
    }

    #[test]
    fn a_part_of_the_pods_is_decoded_before_and_nothing_else() {
        let (notes, wrong) = read(&text("pods"), Threads::Two, None);
        assert_eq!(wrong, None);
        assert!((OBJECTS / 3..OBJECTS).contains(&notes.decoded), "{}", notes.decoded);
        let nodes = text("nodes");
        assert!(arrays::find("nodes").is_some());
        assert_eq!(read(&nodes, Threads::Two, None).0.decoded, 0);
    }
}
