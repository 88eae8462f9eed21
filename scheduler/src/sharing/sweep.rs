//! The search for reservation pods that failed while nobody looked.

use std::sync::Arc;

use crate::actuate::{Clear, Leftover, ShareTask, Task, Template};

/// Says how far the search is. No reservation pod is made before its list is there: the list would have one that fails meanwhile,
/// which would go, and with it the reason.
#[derive(Default, Debug)]
pub(super) enum Sweep {
    /// It was not begun.
    #[default]
    Due,
    /// Its list was asked for.
    UnderWay,
    /// These are to be deleted.
    Found(Vec<Leftover>),
    /// There is nothing left to do.
    Over,
}

impl Sweep {
    /// Takes the next step.
    pub(super) fn next(&mut self, template: &Arc<Template>) -> Option<Task> {
        let template = Arc::clone(template);
        match std::mem::replace(self, Self::Over) {
            Self::Due => {
                *self = Self::UnderWay;
                Some(Task::Share(ShareTask::Sweep(template)))
            }
            Self::UnderWay => {
                *self = Self::UnderWay;
                None
            }
            Self::Found(leftovers) => (!leftovers.is_empty())
                .then(|| Task::Share(ShareTask::Clear(Clear { leftovers, template }))),
            Self::Over => None,
        }
    }

    /// Tells whether its list is there.
    pub(super) fn is_listed(&self) -> bool {
        match self {
            Self::Due | Self::UnderWay => false,
            Self::Found(_) | Self::Over => true,
        }
    }
}
