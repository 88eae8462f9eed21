//! Folds what could not be read: a line for each missing right, rather than one for each check that stands on it.

use std::collections::BTreeSet;

use super::Finding;
use super::finding::Level;
use crate::print::output::Style;
use crate::print::page::Page;

/// The role that has all rights to look, which makes the others needless.
const ALL_OF_THEM: &str = "kai-admin";

/// Checks that stand on one thing which was not read.
struct Missing<'f> {
    first: &'f Finding,
    checks: usize,
}

impl Finding {
    /// Tells whether the check was not made because something could not be read.
    pub(super) fn is_unread(&self) -> bool {
        self.state == Level::Unknown && self.evidence.is_empty()
    }
}

/// Writes a line for each thing that was not read, those with most checks first, and how the rights are given.
pub(super) fn fold(page: &mut Page, items: &[&Finding]) {
    let mut missing: Vec<Missing<'_>> = Vec::new();
    for item in items {
        match missing.iter_mut().find(|one| one.first.finding == item.finding) {
            Some(one) => one.checks += 1,
            None => missing.push(Missing { first: item, checks: 1 }),
        }
    }
    missing.sort_by_key(|one| std::cmp::Reverse(one.checks));
    for Missing { first, checks } in &missing {
        let checks = if *checks == 1 { first.name.clone() } else { format!("{checks} checks") };
        let role = first.role.map_or_else(String::new, |role| format!(" (role {role})"));
        let text = format!("{:<8} {}: {checks}{role}", Level::Unknown.word(), first.finding);
        page.paragraph(0, &text, Level::Unknown.style());
    }
    let grants: BTreeSet<(Option<&str>, &str)> = missing
        .iter()
        .filter_map(|one| Some((one.first.role, one.first.fix.as_deref()?)))
        .collect();
    let has_all = grants.iter().any(|(role, _)| *role == Some(ALL_OF_THEM));
    for (role, command) in &grants {
        let note = match role {
            Some(ALL_OF_THEM) if grants.len() > 1 => "   (an administrator; for all checks)",
            Some(_) if has_all => "   (an administrator; for those of this role)",
            _ => "   (an administrator)",
        };
        page.paragraph(9, &format!("fix: {command}{note}"), Style::Plain);
    }
}
