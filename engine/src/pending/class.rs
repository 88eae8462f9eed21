//! Classes of groups that could stand in for each other.

use crate::{
    base::{
        ids::{ClassId, GroupId, Id, PodId, ShapeId},
        resources::Charge,
    },
    pending::{Class, ClassKey, Classes, Pending},
    state::{
        State,
        tree::{Member, Tree},
    },
};

impl Classes {
    /// The class of a key.
    fn find(&self, key: &[u32]) -> Option<ClassId> {
        let is_it =
            |class: &ClassId| self.rows[*class].as_ref().is_some_and(|row| *row.key == *key);
        self.last.filter(is_it).or_else(|| self.by_key.get(key).copied())
    }
}

impl Pending {
    /// The class of a group, a new one where there is none like it; it counts one use more.
    pub(super) fn classify(&mut self, state: &mut State, group: GroupId) -> ClassId {
        let mut scratch = std::mem::take(&mut self.scratch);
        scratch.clear();
        class_key(state, group, &mut scratch);
        let class = match self.classes.find(&scratch) {
            Some(class) => {
                let row = self.classes.rows[class].as_mut();
                row.expect("a keyed class has a row").uses += 1;
                class
            }
            None => self.new_class(state, group, scratch.as_slice().into()),
        };
        self.classes.last = Some(class);
        self.scratch = scratch;
        class
    }

    fn new_class(&mut self, state: &mut State, group: GroupId, key: ClassKey) -> ClassId {
        let row = &state.groups()[group];
        let mut shapes: Vec<ShapeId> =
            row.pods.iter().map(|pod| state.pods()[*pod].shape).collect();
        shapes.sort_unstable();
        shapes.dedup();
        let pods = state.to_place(group);
        let mut ask = Charge::default();
        let mut ask_mib = 0;
        for pod in &pods {
            let shape = &state.shapes()[state.pods()[*pod].shape];
            ask += shape.charge;
            ask_mib += shape.gpu_mib;
        }
        for shape in &shapes {
            state.retain(*shape);
        }
        let classes = &mut self.classes;
        let class = classes.free.pop().unwrap_or_else(|| classes.rows.push(None));
        classes.rows[class] = Some(Class { key: key.clone(), uses: 1, shapes, ask, ask_mib });
        classes.by_key.insert(key, class);
        class
    }

    /// Takes a use of a class away; the last one ends it.
    pub(super) fn declassify(&mut self, state: &mut State, class: ClassId) {
        let classes = &mut self.classes;
        let row = classes.rows[class].as_mut().expect("a listed class has a row");
        row.uses -= 1;
        if row.uses > 0 {
            return;
        }
        let row = classes.rows[class].take().expect("a listed class has a row");
        classes.by_key.remove(&row.key);
        classes.free.push(class);
        // Its number may soon be another's.
        self.patience.retain(|(_, of, _), _| *of != class);
        for shape in row.shapes {
            state.release(shape);
        }
    }
}

/// Writes down what decides where the waiting pods of a group may go, as numbers.
fn class_key(state: &State, group: GroupId, key: &mut Vec<u32>) {
    let row = &state.groups()[group];
    let facts = row.facts.as_ref().expect("a group that waits is live");
    key.push(u32::from(facts.preemptible));
    let mut alone = !row.tree.is_free(Member::Set(0));
    let is_plain = row.tree.plain().is_some();
    if is_plain {
        // No set needs as many members: what a group without sub-groups has is all in its leaf.
        key.push(u32::MAX);
    } else {
        sets_key(&row.tree, 0, key);
    }
    for (_, leaf) in row.tree.leaves_with_pods() {
        key.extend([leaf.min, leaf.count.active, leaf.count.used]);
        let from = key.len();
        for pod in leaf.pods.iter().filter(|pod| state.pods().status[**pod].is_waiting()) {
            let shape = state.pods()[*pod].shape;
            alone |= state.shapes()[shape].has_pod_affinity();
            let number = u32::try_from(shape.row()).expect("shapes are numbered by u32");
            if key.len() > from && key[key.len() - 2] == number {
                *key.last_mut().expect("a run was begun") += 1;
            } else {
                key.extend([number, 1]);
            }
        }
        key.push(u32::MAX);
    }
    let waits = |pod: PodId| state.pods().status[pod].is_waiting();
    if alone || (!is_plain && lacks_members(&row.tree, 0, &waits)) {
        key.extend([u32::MAX, u32::try_from(group.row()).expect("groups are numbered by u32")]);
    }
}

/// Writes down which members of a set have pods, and how many of the others there are, of each kind, then all that of the sets
/// among them.
fn sets_key(tree: &Tree, set: u16, key: &mut Vec<u32>) {
    let number = |count: usize| u32::try_from(count).unwrap_or(u32::MAX);
    let (row, walked) = (&tree.sets[usize::from(set)], tree.walked(set));
    let others = [number(row.members.len()), number(tree.idle(set))];
    key.extend([number(row.needed()), others[0], others[1], number(walked.len())]);
    for member in walked {
        key.push(match *member {
            Member::Set(set) => u32::from(set) << 1,
            Member::Leaf(leaf) => u32::from(leaf) << 1 | 1,
        });
    }
    for member in walked {
        if let Member::Set(inner) = *member {
            sets_key(tree, inner, key);
        }
    }
}

/// Tells whether a set, or one below it, has fewer members that can be filled than it needs, and others without pods: which of
/// its members come then depends on where those without pods stand between them, which no key says.
///
/// # Cost
/// In the pods of such a set.
fn lacks_members(tree: &Tree, set: u16, waits: &impl Fn(PodId) -> bool) -> bool {
    let (row, walked) = (&tree.sets[usize::from(set)], tree.walked(set));
    let known = walked.len() + tree.idle(set);
    let is_open = row.needed().max(known) < row.members.len();
    let lacks_below = |member: &Member| match *member {
        Member::Set(inner) => lacks_members(tree, inner, waits),
        Member::Leaf(_) => false,
    };
    (is_open && !tree.can_fill(Member::Set(set), waits)) || walked.iter().any(lacks_below)
}
