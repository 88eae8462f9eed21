//! Counts the pods of each group that hold places.

use super::Names;

impl Names {
    /// Notes that a plan gives a pod a place, or that it did not get it. Gives its group where it was the last that held one.
    pub fn place(&mut self, pod: u32, is_placed: bool) -> Option<u32> {
        let old = self.held_for(pod);
        self.pods[pod].is_placed = is_placed;
        if !is_placed && self.pods[pod].share_asked.is_some() {
            self.pods[pod].edit(|extras| extras.share_asked = None);
        }
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
}
