//! Lines of work, one for each tenant: who has had a turn waits until all others that have work had one.

use std::{
    collections::{BTreeMap, VecDeque},
    sync::Arc,
};

/// Work that waits, by tenant.
#[derive(Debug)]
pub struct Fair<T> {
    lines: BTreeMap<Arc<str>, VecDeque<T>>,
    /// Tenants that have work, in the order of their turns.
    turns: VecDeque<Arc<str>>,
    /// The number of all work.
    count: usize,
}

impl<T> Default for Fair<T> {
    fn default() -> Self {
        Self { lines: BTreeMap::new(), turns: VecDeque::new(), count: 0 }
    }
}

impl<T> Fair<T> {
    /// Adds work at the end of a tenant's line.
    pub fn push(&mut self, tenant: &Arc<str>, work: T) {
        self.line(tenant).push_back(work);
    }

    /// Adds work that was begun: it comes first in the tenant's next turn.
    pub fn go_on(&mut self, tenant: &Arc<str>, work: T) {
        self.line(tenant).push_front(work);
    }

    /// The line of a tenant, for one work more.
    fn line(&mut self, tenant: &Arc<str>) -> &mut VecDeque<T> {
        self.count += 1;
        let turns = &mut self.turns;
        self.lines.entry(Arc::clone(tenant)).or_insert_with(|| {
            turns.push_back(Arc::clone(tenant));
            VecDeque::new()
        })
    }

    /// The next work, and whose it is.
    pub fn pop(&mut self) -> Option<(Arc<str>, T)> {
        self.pop_where(|_| true)
    }

    /// The next work of a tenant that may have a turn, and whose it is; the others keep theirs.
    ///
    /// # Cost
    /// The tenants before it.
    pub fn pop_where(&mut self, may: impl Fn(&str) -> bool) -> Option<(Arc<str>, T)> {
        let at = self.turns.iter().position(|tenant| may(tenant))?;
        let tenant = self.turns.remove(at)?;
        let line = self.lines.get_mut(&tenant)?;
        let work = line.pop_front()?;
        self.count -= 1;
        if line.is_empty() {
            self.lines.remove(&tenant);
        } else {
            self.turns.push_back(Arc::clone(&tenant));
        }
        Some((tenant, work))
    }

    /// Takes away what comes first in a tenant's line, as long as it is to be passed over.
    ///
    /// # Cost
    /// What is taken away, and the tenants where the line has nothing else.
    pub fn pass_over(&mut self, tenant: &str, mut is_past: impl FnMut(&T) -> bool) {
        let Some(line) = self.lines.get_mut(tenant) else { return };
        while line.front().is_some_and(&mut is_past) {
            line.pop_front();
            self.count -= 1;
        }
        if line.is_empty() {
            self.lines.remove(tenant);
            self.turns.retain(|one| **one != *tenant);
        }
    }

    /// Takes away the first work of the tenant that has the most, and says whose it was.
    ///
    /// # Cost
    /// The tenants that have work.
    pub fn shed(&mut self) -> Option<(Arc<str>, T)> {
        let (tenant, _) = self.lines.iter().max_by_key(|(_, line)| line.len())?;
        let tenant = Arc::clone(tenant);
        let line = self.lines.get_mut(&tenant)?;
        let work = line.pop_front()?;
        self.count -= 1;
        if line.is_empty() {
            self.lines.remove(&tenant);
            self.turns.retain(|one| *one != tenant);
        }
        Some((tenant, work))
    }

    /// Counts the work that waits.
    pub fn len(&self) -> usize {
        self.count
    }

    /// Tells whether nobody has work.
    pub fn is_empty(&self) -> bool {
        self.turns.is_empty()
    }

    /// The last work of a tenant's line, to be added to.
    pub fn last_mut(&mut self, tenant: &str) -> Option<&mut T> {
        self.lines.get_mut(tenant)?.back_mut()
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::Fair;

    #[test]
    fn who_has_most_loses_the_oldest_first() {
        let mut fair = Fair::default();
        for (tenant, work) in [("a", 1), ("b", 2), ("b", 3), ("b", 4), ("a", 5)] {
            fair.push(&Arc::from(tenant), work);
        }
        let shed: Vec<i32> =
            std::iter::repeat_with(|| fair.shed()).take(2).flatten().map(|it| it.1).collect();
        assert_eq!((&*shed, fair.len()), (&[2, 3][..], 3), "b has as many as a only then");
        let order: Vec<i32> = std::iter::from_fn(|| fair.pop()).map(|it| it.1).collect();
        assert_eq!(order, [1, 4, 5]);
        fair.push(&Arc::from("c"), 6);
        assert_eq!(fair.shed().map(|it| it.1), Some(6));
        assert!(fair.is_empty() && fair.pop().is_none());
    }

    #[test]
    fn what_is_passed_over_has_no_turn() {
        let mut fair = Fair::default();
        for (tenant, work) in [("a", 1), ("b", 3), ("a", 2), ("a", 3), ("b", 5)] {
            fair.push(&Arc::from(tenant), work);
        }
        for tenant in ["a", "b", "c"] {
            fair.pass_over(tenant, |work| work % 2 == 1);
        }
        assert_eq!(fair.len(), 2, "b has nothing else, and a has what comes behind others");
        let order: Vec<i32> = std::iter::from_fn(|| fair.pop()).map(|it| it.1).collect();
        assert_eq!(order, [2, 3]);
        assert!(fair.is_empty());
    }

    #[test]
    fn who_may_have_no_turn_keeps_it() {
        let mut fair = Fair::default();
        for (tenant, work) in [("a", 1), ("b", 2), ("b", 3)] {
            fair.push(&Arc::from(tenant), work);
        }
        assert_eq!(fair.pop_where(|tenant| tenant != "a").map(|it| it.1), Some(2));
        assert_eq!(fair.pop_where(|tenant| tenant == "c").map(|it| it.1), None);
        let order: Vec<i32> = std::iter::from_fn(|| fair.pop()).map(|it| it.1).collect();
        assert_eq!(order, [1, 3]);
    }
}
