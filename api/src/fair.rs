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

    /// Has work come first in the tenant's next turn, whether it waits already or not.
    ///
    /// # Cost
    /// What the tenant has that waits.
    pub fn bring_first(&mut self, tenant: &Arc<str>, work: T)
    where
        T: PartialEq,
    {
        if let Some(line) = self.lines.get_mut(tenant)
            && let Some(at) = line.iter().position(|one| *one == work)
            && line.remove(at).is_some()
        {
            self.count -= 1;
        }
        self.go_on(tenant, work);
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
    fn what_is_brought_first_waits_once() {
        let (a, b): (Arc<str>, Arc<str>) = (Arc::from("a"), Arc::from("b"));
        let mut fair = Fair::default();
        for (tenant, work) in [(&a, 1), (&a, 2), (&b, 3)] {
            fair.push(tenant, work);
        }
        for (tenant, work) in [(&a, 2), (&b, 3), (&b, 4)] {
            fair.bring_first(tenant, work);
        }
        assert_eq!(fair.len(), 4);
        let order: Vec<i32> = std::iter::from_fn(|| fair.pop()).map(|it| it.1).collect();
        assert_eq!(order, [2, 4, 1, 3]);
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
