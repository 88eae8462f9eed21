//! One pass over `snapshot.json`: its parts by name, its objects one by one.

use std::{
    io::Read,
    mem::take,
    panic::resume_unwind,
    sync::mpsc::{self, Receiver},
    thread,
};

use super::{
    arrays::{self, Array},
    error::Problem,
    split::{Fault, Splitter},
};

/// A part of the file that is no array of objects.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Head {
    Config,
    SchedulerParams,
    Discovery,
    /// Ours: what could not be read when the file was written.
    LeftOut,
    /// Ours: for how long work may run, as its own objects say.
    RunTimes,
}

const HEADS: [(&str, Head); 5] = [
    ("config", Head::Config),
    ("schedulerParams", Head::SchedulerParams),
    ("discovery", Head::Discovery),
    ("leftOut", Head::LeftOut),
    ("runTimes", Head::RunTimes),
];

/// Holds what a pass does with what it comes by. Errors say what is wrong; where is known here.
pub(super) trait Pass: Send {
    /// A part, whole.
    fn head(&mut self, head: Head, json: &[u8]) -> Result<(), String>;
    /// The objects are next: whether they are wanted now.
    fn wants_objects(&mut self) -> Result<bool, String>;
    /// Tells whether the objects of an array are wanted.
    fn wants(&self, array: &'static Array) -> bool;
    /// One of them.
    fn object(&mut self, array: &'static Array, json: &[u8]) -> Result<(), String>;
    /// An array was read to its end.
    fn passed(&mut self, array: &'static Array) -> Result<(), String>;
}

/// Walks through the whole text.
pub(super) fn walk(json: impl Read, pass: &mut impl Pass, threads: Threads) -> Result<(), Problem> {
    let mut walk = Walk { splitter: Splitter::new(json), threads, place: String::new() };
    walk.whole(pass).map_err(|fault| Problem::at(&walk.place, &fault))
}

/// Says how many threads read.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Threads {
    /// This one.
    One,
    /// This one takes the text apart while another one takes the objects in, which is more work.
    Two,
}

struct Walk<R> {
    splitter: Splitter<R>,
    threads: Threads,
    /// Says where it is, for what is wrong there.
    place: String,
}

impl<R: Read> Walk<R> {
    fn whole(&mut self, pass: &mut impl Pass) -> Result<(), Fault> {
        if !self.splitter.open(b'{')? {
            return Err(Fault::Value(String::from("an object was expected, found null")));
        }
        let mut is_first = true;
        while let Some(key) = self.splitter.key(&mut is_first)? {
            self.place.clone_from(&key);
            let head = HEADS.iter().find(|(name, _)| name.eq_ignore_ascii_case(&key));
            if let Some((name, head)) = head {
                self.place = String::from(*name);
                pass.head(*head, self.splitter.value()?).map_err(Fault::Value)?;
            } else if key.eq_ignore_ascii_case("rawObjects") {
                // What can be wrong before the first object is how they are to be read.
                self.place = String::from("config");
                let is_wanted = pass.wants_objects().map_err(Fault::Value)?;
                self.place = String::from("rawObjects");
                if is_wanted {
                    self.objects(pass)?;
                } else {
                    self.splitter.skip()?;
                }
            } else {
                self.splitter.skip()?;
            }
            self.place.clear();
        }
        self.splitter.finish()
    }

    fn objects(&mut self, pass: &mut impl Pass) -> Result<(), Fault> {
        if !self.splitter.open(b'{')? {
            return Ok(());
        }
        let mut is_first = true;
        while let Some(key) = self.splitter.key(&mut is_first)? {
            match arrays::find(&key).filter(|array| pass.wants(array)) {
                Some(array) => self.array(array, pass)?,
                None => self.splitter.skip()?,
            }
            self.place = String::from("rawObjects");
        }
        Ok(())
    }

    fn array(&mut self, array: &'static Array, pass: &mut impl Pass) -> Result<(), Fault> {
        let of_array = format!("rawObjects.{}", array.key);
        self.place.clone_from(&of_array);
        if self.splitter.open(b'[')? {
            let read = match self.threads {
                Threads::One => self.read(|index, json| {
                    pass.object(array, json).map_err(|what| Wrong::at(index, Fault::Value(what)))
                }),
                Threads::Two => self.read_beside(array, pass),
            };
            read.map_err(|wrong| {
                if let Some(index) = wrong.index {
                    self.place = format!("{of_array}[{index}]");
                }
                wrong.fault
            })?;
        }
        pass.passed(array).map_err(Fault::Value)
    }

    /// Gives away the objects of an array that was opened, up to its end or to the first that is wrong.
    fn read(
        &mut self,
        mut give: impl FnMut(usize, &[u8]) -> Result<(), Wrong>,
    ) -> Result<(), Wrong> {
        let mut is_first = true;
        let mut index = 0_usize;
        let between = |fault| Wrong { index: None, fault };
        while self.splitter.item(&mut is_first).map_err(between)? {
            give(index, self.splitter.value().map_err(|fault| Wrong::at(index, fault))?)?;
            index += 1;
        }
        Ok(())
    }

    /// Does the same while another thread takes the objects in.
    fn read_beside(&mut self, array: &'static Array, pass: &mut impl Pass) -> Result<(), Wrong> {
        thread::scope(|scope| {
            let (sender, batches) = mpsc::sync_channel(BATCHES_AHEAD);
            let taker = thread::Builder::new()
                .spawn_scoped(scope, move || take_in(array, pass, &batches))
                .map_err(|error| Wrong { index: None, fault: error.into() })?;
            let mut batch = Batch::default();
            let read = self.read(|_, json| {
                batch.push(json);
                if batch.json.len() < BATCH_BYTES {
                    return Ok(());
                }
                // Nobody takes them after one that is wrong, of which the other thread tells.
                let is_taken = sender.send(take(&mut batch)).is_ok();
                if is_taken { Ok(()) } else { Err(Wrong::nowhere()) }
            });
            // Those before the place where the text is wrong come first.
            let _nobody = sender.send(batch);
            drop(sender);
            taker.join().unwrap_or_else(|panic| resume_unwind(panic)).and(read)
        })
    }
}
/// Says what is wrong with an array.
struct Wrong {
    /// The object with which it is; none where it is between two of them.
    index: Option<usize>,
    fault: Fault,
}

impl Wrong {
    fn at(index: usize, fault: Fault) -> Self {
        Self { index: Some(index), fault }
    }

    /// Stands for what is wrong elsewhere.
    fn nowhere() -> Self {
        Self { index: None, fault: Fault::Value(String::new()) }
    }
}

/// Bytes of objects that are handed on at once.
const BATCH_BYTES: usize = 256 << 10;
/// Batches that wait at most.
const BATCHES_AHEAD: usize = 4;

/// Objects, one behind the other.
#[derive(Default)]
struct Batch {
    json: Vec<u8>,
    /// Ends of the objects in it.
    ends: Vec<usize>,
}

impl Batch {
    fn push(&mut self, json: &[u8]) {
        self.json.extend_from_slice(json);
        self.ends.push(self.json.len());
    }

    fn objects(&self) -> impl Iterator<Item = &[u8]> {
        let begins = [0].into_iter().chain(self.ends.iter().copied());
        begins.zip(&self.ends).map(|(begin, end)| &self.json[begin..*end])
    }
}

/// Takes objects in as they come, up to the first that is wrong: which it is.
fn take_in(
    array: &'static Array,
    pass: &mut impl Pass,
    batches: &Receiver<Batch>,
) -> Result<(), Wrong> {
    let mut index = 0_usize;
    for batch in batches {
        for json in batch.objects() {
            pass.object(array, json).map_err(|what| Wrong::at(index, Fault::Value(what)))?;
            index += 1;
        }
    }
    Ok(())
}
