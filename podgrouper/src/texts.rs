//! Labels and annotations of many pods: small, and what is equal is stored once.
//!
//! A map of strings takes a kilobyte a pod; the pods of a gang have nearly all of it in common.

use std::collections::HashSet;
use std::sync::Arc;

use serde::{Serialize, Serializer};

use crate::object::OwnerRef;
use crate::pod::Pod;

/// Keys with texts, sorted by key.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Texts(Box<[(Arc<str>, Arc<str>)]>);

impl Texts {
    /// The text of a key.
    pub fn get(&self, key: &str) -> Option<&str> {
        let at = self.0.binary_search_by(|(found, _)| (**found).cmp(key)).ok()?;
        Some(&self.0[at].1)
    }

    /// Sets the text of a key, or removes it.
    pub(crate) fn set(&mut self, key: &str, text: Option<&str>) {
        let others = self.0.iter().filter(|(found, _)| **found != *key).cloned();
        let own = text.map(|text| (Arc::from(key), Arc::from(text)));
        let mut all: Vec<_> = others.chain(own).collect();
        all.sort();
        self.0 = all.into();
    }
}

impl<'a> FromIterator<(&'a str, &'a str)> for Texts {
    fn from_iter<I: IntoIterator<Item = (&'a str, &'a str)>>(pairs: I) -> Self {
        let mut all: Vec<(Arc<str>, Arc<str>)> =
            pairs.into_iter().map(|(key, text)| (key.into(), text.into())).collect();
        all.sort();
        Self(all.into())
    }
}

impl Serialize for Texts {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(self.0.iter().map(|(key, text)| (&**key, &**text)))
    }
}

/// What pods have in common.
#[derive(Debug, Default)]
pub(crate) struct Common {
    texts: HashSet<Arc<str>>,
    owners: HashSet<Arc<[OwnerRef]>>,
    /// How many entries there were after nobody's were dropped last.
    kept: usize,
}

impl Common {
    /// Replaces what the pod has in common with others by theirs.
    pub(crate) fn share(&mut self, pod: &mut Pod) {
        for texts in [&mut pod.labels, &mut pod.annotations] {
            for (key, text) in &mut texts.0 {
                *key = self.text(key);
                *text = self.text(text);
            }
        }
        if let Some(known) = self.owners.get(&pod.owners) {
            pod.owners = known.clone();
        } else {
            self.owners.insert(pod.owners.clone());
        }
        if self.texts.len() + self.owners.len() > 2 * self.kept + 1_000 {
            self.texts.retain(|text| Arc::strong_count(text) > 1);
            self.owners.retain(|owners| Arc::strong_count(owners) > 1);
            self.kept = self.texts.len() + self.owners.len();
        }
    }

    fn text(&mut self, text: &Arc<str>) -> Arc<str> {
        if let Some(known) = self.texts.get(text) {
            return known.clone();
        }
        self.texts.insert(text.clone());
        text.clone()
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::{Common, Texts};
    use crate::pod::Pod;

    #[test]
    fn texts_are_found_set_and_removed() {
        let mut texts: Texts = [("b", "2"), ("a", "1")].into_iter().collect();
        texts.set("c", Some("3"));
        texts.set("a", None);
        texts.set("b", Some("4"));
        assert_eq!((texts.get("a"), texts.get("b"), texts.get("c")), (None, Some("4"), Some("3")));
    }

    #[test]
    fn what_pods_have_in_common_is_stored_once() {
        let mut common = Common::default();
        let pod = || Pod { labels: [("key", "text")].into_iter().collect(), ..Pod::default() };
        let (mut one, mut two) = (pod(), pod());
        common.share(&mut one);
        common.share(&mut two);
        assert!(Arc::ptr_eq(&one.labels.0[0].1, &two.labels.0[0].1));
        assert!(Arc::ptr_eq(&one.owners, &two.owners));
        assert_eq!(one, pod());
    }
}
