//! Writes of pod groups: what they make of the objects, until those are read again.

use std::collections::HashMap;

use crate::{
    actuate::{GroupChange, GroupPatch, Record, Task},
    names::Names,
};

/// Holds what our writes made of pod groups, by number.
#[derive(Debug, Default)]
pub struct GroupWrites(HashMap<u32, GroupWrite>);

/// Holds what our writes made of a group.
#[derive(Debug)]
struct GroupWrite {
    /// The version of the object that they were made from; what they made counts until it is read at another.
    base: Box<str>,
    /// Holds what the last of them makes of it.
    now: Written,
    /// Holds what the one before it made of it, in case the last fails; none where that was the object as it was read.
    before: Option<Written>,
    is_under_way: bool,
}

/// A group as its object was read.
#[derive(Clone, Copy, Debug)]
pub struct ReadGroup<'r> {
    /// By number.
    pub group: u32,
    /// The version of its object.
    pub version: &'r str,
    /// Holds what the object says of what is written here.
    pub record: &'r Record,
}

/// An object after a write.
#[derive(Clone, Debug)]
struct Written {
    record: Record,
    /// None while it is not known.
    version: Option<Box<str>>,
}

impl GroupWrites {
    /// Tells whether a write of a group has not ended.
    pub fn is_under_way(&self, group: u32) -> bool {
        self.0.get(&group).is_some_and(|write| write.is_under_way)
    }

    /// Gives what a group says: as our writes made it, else as its object was read.
    pub fn record<'r>(&'r self, read: ReadGroup<'r>) -> &'r Record {
        let write = self.0.get(&read.group).filter(|write| *write.base == *read.version);
        write.map_or(read.record, |write| &write.now.record)
    }

    /// Begins a write that makes `record` of a group.
    pub fn begin(
        &mut self,
        read: ReadGroup<'_>,
        record: Record,
        change: GroupChange,
        names: &Names,
    ) -> Task {
        let ReadGroup { group, version, .. } = read;
        let earlier = self.0.remove(&group).filter(|write| *write.base == *version);
        let before = earlier.map(|write| write.now);
        let guard = before.as_ref().and_then(|one| one.version.clone());
        let now = Written { record, version: guard.clone() };
        let base = Box::from(version);
        let write = GroupWrite { base, now, before, is_under_way: true };
        self.0.insert(group, write);
        let (namespace, name) = names.group_name(group);
        Task::Group(GroupPatch {
            group,
            uid: names.groups[group].uid.clone(),
            namespace: Box::from(namespace),
            name: Box::from(name),
            version: guard.unwrap_or_else(|| Box::from(version)),
            change,
        })
    }

    /// Ends the write of a group; one that failed left all as it was. One that was done made this version, from which the
    /// next may be written before the object is read again.
    pub fn end(&mut self, group: u32, settled: bool, version: Option<Box<str>>) {
        let Some(write) = self.0.get_mut(&group) else { return };
        write.is_under_way = false;
        write.now.version = version.or_else(|| write.now.version.take());
        if settled {
            write.before = None;
            return;
        }
        match write.before.take() {
            Some(before) => write.now = before,
            None => {
                self.0.remove(&group);
            }
        }
    }

    /// Forgets a group that is gone.
    pub fn forget(&mut self, group: u32) {
        self.0.remove(&group);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{actuate::Stamps, names::Number};

    /// A group that was read at version 1, and what is written of it.
    struct World {
        writes: GroupWrites,
        names: Names,
        read: Record,
    }

    fn started(at: i64) -> Record {
        let stamps = Stamps { last_start: Some(at), ..Stamps::default() };
        Record { stamps, ..Record::default() }
    }

    impl World {
        fn new() -> Self {
            let mut names = Names::new();
            assert_eq!(names.group("ml", "train").number(), 0);
            Self { writes: GroupWrites::default(), names, read: started(1) }
        }

        /// Begins a write from the object as it was read at a version; the version that guards it comes back.
        fn write(&mut self, read_at: &str, start: i64) -> Box<str> {
            let change = GroupChange::Conditions(Vec::new());
            let read = ReadGroup { group: 0, version: read_at, record: &self.read };
            let task = self.writes.begin(read, started(start), change, &self.names);
            let Task::Group(patch) = task else { panic!("{task:?} writes no group") };
            patch.version
        }

        fn says(&self, read_at: &str) -> Option<i64> {
            let read = ReadGroup { group: 0, version: read_at, record: &self.read };
            self.writes.record(read).stamps.last_start
        }
    }

    #[test]
    fn a_write_that_failed_left_what_was_there() {
        let mut world = World::new();
        assert_eq!((&*world.write("1", 2), world.says("1")), ("1", Some(2)));
        world.writes.end(0, false, None);
        assert_eq!(world.says("1"), Some(1));
        world.write("1", 2);
        world.writes.end(0, true, Some(Box::from("2")));
        assert_eq!((&*world.write("1", 3), world.says("1")), ("2", Some(3)));
        world.writes.end(0, false, None);
        assert_eq!((&*world.write("1", 3), world.says("1")), ("2", Some(3)));
    }

    #[test]
    fn what_was_read_during_a_write_counts() {
        let mut world = World::new();
        world.write("1", 2);
        assert_eq!(world.says("3"), Some(1));
        assert!(world.writes.is_under_way(0));
        world.writes.end(0, true, Some(Box::from("2")));
        assert!(!world.writes.is_under_way(0));
        assert_eq!((&*world.write("3", 4), world.says("3")), ("3", Some(4)));
    }

    #[test]
    fn the_object_as_it_was_before_a_write_says_nothing_against_it() {
        let mut world = World::new();
        world.write("1", 2);
        world.writes.end(0, true, Some(Box::from("2")));
        assert_eq!((world.says("1"), world.says("2")), (Some(2), Some(1)));
    }
}
