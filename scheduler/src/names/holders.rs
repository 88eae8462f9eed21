//! Lists the pods of each group, and counts those that hold places.

use kai_engine::GpuRequest;

use super::{Names, PodRow};

impl Names {
    /// Notes that a plan gives a pod a place with the GPUs that it asks for, or that it did not get it. Gives its group where
    /// it was the last that held one.
    pub fn place(&mut self, pod: u32, gpus: Option<&GpuRequest>) -> Option<u32> {
        let old = self.held_for(pod);
        self.pods[pod].is_placed = gpus.is_some();
        self.pods[pod].keep_given(gpus.filter(|gpus| **gpus != GpuRequest::None));
        self.hold(old, self.held_for(pod))
    }

    /// The group for which a pod holds a place.
    pub fn held_for(&self, pod: u32) -> Option<u32> {
        let pod = &self.pods[pod];
        pod.group.filter(|_| pod.node.is_some() || pod.is_placed)
    }

    /// Moves a pod that holds a place from one group to another. Gives the old one where it was the last that did.
    pub fn hold(&mut self, old: Option<u32>, new: Option<u32>) -> Option<u32> {
        if old == new {
            return None;
        }
        if let Some(new) = new {
            self.groups[new].holders += 1;
        }
        let left = &mut self.groups[old?].holders;
        *left -= 1;
        (*left == 0).then_some(old).flatten()
    }

    /// Lists a pod among those of a group.
    pub fn enlist(&mut self, group: u32, pod: u32) {
        let pods = &mut self.groups[group].pods;
        let seat = u32::try_from(pods.len()).expect("a cluster has fewer than 2^32 pods");
        self.pods[pod].seat = seat;
        pods.push(pod);
    }

    /// Strikes a pod off the list of its group, where the last one takes its place.
    ///
    /// # Cost
    /// The same however many there are: those of a large group may all go at once.
    pub fn strike(&mut self, group: u32, pod: u32) {
        let seat = self.pods[pod].seat;
        let pods = &mut self.groups[group].pods;
        assert_eq!(pods.swap_remove(seat as usize), pod, "a pod is listed where its row says");
        if let Some(moved) = pods.get(seat as usize) {
            self.pods[*moved].seat = seat;
        }
    }
}

impl PodRow {
    /// Keeps the GPUs that a plan gives it, or none.
    pub fn keep_given(&mut self, gpus: Option<&GpuRequest>) {
        if self.gpus_given.as_deref() != gpus {
            let given = gpus.cloned().map(Box::new);
            self.edit(|extras| extras.gpus_given = given);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::names::Number as _;

    #[test]
    fn pods_leave_the_list_of_their_group_in_any_order() {
        let mut names = Names::new();
        let group = names.group("ns", "gang").number();
        for uid in ["a", "b", "c", "d"] {
            let pod = names.pod(uid).number();
            names.enlist(group, pod);
        }
        for (gone, left) in [(1, vec![0, 3, 2]), (3, vec![0, 2]), (0, vec![2]), (2, Vec::new())] {
            names.strike(group, gone);
            assert_eq!(names.groups[group].pods, left);
        }
    }
}
