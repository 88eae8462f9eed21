//! One pass over `snapshot.json`: its parts by name, its objects one by one.

use std::io::Read;

use super::{
    arrays::{self, Array},
    error::Problem,
    split::{Fault, Splitter},
};
use crate::ingest::WirePod;

mod beside;

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
    /// One of them; a pod also as it was decoded before, where it was.
    fn object(
        &mut self,
        array: &'static Array,
        json: &[u8],
        pod: Option<&WirePod<'_>>,
    ) -> Result<(), String>;
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
    /// This one takes the text apart, and decodes some pods, while another one takes the objects in.
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
                Threads::One => self.read(array, pass),
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

    /// Takes in the objects of an array that was opened, up to its end or to the first that is wrong.
    fn read(&mut self, array: &'static Array, pass: &mut impl Pass) -> Result<(), Wrong> {
        let mut at = Place::default();
        while let Some(json) = self.item(&mut at)? {
            let taken = pass.object(array, json, None);
            taken.map_err(|what| Wrong::at(at.index - 1, Fault::Value(what)))?;
        }
        Ok(())
    }

    /// Gives the next object of an array; none at its end.
    fn item(&mut self, at: &mut Place) -> Result<Option<&[u8]>, Wrong> {
        let between = |fault| Wrong { index: None, fault };
        if !self.splitter.item(&mut at.is_first).map_err(between)? {
            return Ok(None);
        }
        let json = self.splitter.value().map_err(|fault| Wrong::at(at.index, fault))?;
        at.index += 1;
        Ok(Some(json))
    }
}

/// Place in an array.
struct Place {
    is_first: bool,
    /// The number of objects before it.
    index: usize,
}

impl Default for Place {
    fn default() -> Self {
        Self { is_first: true, index: 0 }
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
}
