//! What happened to a pod, as far as whoever remembers evictions has to know.

use crate::{base::ids::GroupId, state::rows::Phase};

/// How far a pod is, and of which group it is.
#[derive(Clone, Copy, Default, Debug)]
pub(crate) struct PodProgress {
    pub(crate) phase: Phase,
    pub(crate) group: Option<GroupId>,
}

impl PodProgress {
    /// Whether a pod comes from `before` to here without anybody's doing but the scheduler's, who had it bound or
    /// evicted.
    pub(crate) fn follows(self, before: Self) -> bool {
        use Phase::{
            Absent, Binding, Bound, Failed, Gated, Pending, Releasing, Running, Stuck, Succeeded,
        };
        // What is nobody's yet and nowhere is of no concern to anybody.
        let waits_alone =
            |at: Self| at.group.is_none() && matches!(at.phase, Absent | Gated | Pending);
        self.phase == before.phase
            || (waits_alone(self) && waits_alone(before))
            || match self.phase {
                Bound => before.phase == Binding,
                Running => matches!(before.phase, Binding | Bound),
                Succeeded | Failed | Absent => {
                    matches!(before.phase, Releasing | Stuck | Succeeded | Failed)
                }
                // Who makes a pod again may put gates on it, and take them off.
                Pending => before.phase == Gated,
                Gated | Binding | Releasing | Stuck => false,
            }
    }
}
