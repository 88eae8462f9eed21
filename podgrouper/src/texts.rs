//! Labels and annotations of many pods: small, and what is equal is stored once.
//!
//! A map of strings takes a kilobyte a pod. The pods of a gang have nearly all labels in common, and often all.

use std::sync::Arc;

use kai_api::names;
use serde::{Serialize, Serializer};

use crate::interner::{Interner, Weigh};
use crate::object::OwnerRef;
use crate::pod::Pod;

/// A key and its text.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
struct Entry {
    key: Arc<str>,
    text: Arc<str>,
}

/// So many bytes are kept of the labels of a pod or owner, and of its annotations; and so many of one text.
const BYTES_MAX: usize = 16 << 10;
const TEXT_BYTES_MAX: usize = 4 << 10;
/// Keys that come first where there are more: those that daemons write, by which they find what they did.
const OURS: [&str; 4] = [
    names::annotation::POD_GROUP,
    names::annotation::BOUND_QUEUE,
    names::annotation::BOUND_PREEMPTIBILITY,
    names::label::SUBGROUP,
];
/// Beginnings of keys that come next: those that rules read. There may be any number of them.
const FIRST: [&str; 3] = ["kai.scheduler/", names::annotation::POD_GROUP, names::label::USER];

/// Keys with texts, sorted by key.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash)]
pub struct Texts(Arc<[Arc<Entry>]>);

impl Texts {
    /// The text of a key.
    pub fn get(&self, key: &str) -> Option<&str> {
        self.shared(key).map(|text| &**text)
    }

    /// Those that are kept of a pod.
    pub(crate) fn kept<'a>(pairs: impl Iterator<Item = (&'a str, &'a str)>) -> Self {
        bounded(pairs).into_iter().collect()
    }

    /// The text of a key, to be held beside the table.
    pub(crate) fn shared(&self, key: &str) -> Option<&Arc<str>> {
        let at = self.0.binary_search_by(|entry| (*entry.key).cmp(key)).ok()?;
        Some(&self.0[at].text)
    }

    /// Sets the text of a key, or removes it.
    pub(crate) fn set(&mut self, key: &str, text: Option<&str>) {
        let others = self.0.iter().filter(|entry| *entry.key != *key).cloned();
        let own = text.map(|text| Arc::new(Entry { key: key.into(), text: text.into() }));
        let mut all: Vec<_> = others.chain(own).collect();
        all.sort();
        self.0 = all.into();
    }
}

/// Picks those that are kept of an object's labels or annotations: a user may write some hundred kilobytes, and as many objects
/// as they like.
pub(crate) fn bounded<'a>(
    pairs: impl Iterator<Item = (&'a str, &'a str)>,
) -> Vec<(&'a str, &'a str)> {
    let mut all: Vec<(&str, &str)> =
        pairs.filter(|(_, text)| text.len() <= TEXT_BYTES_MAX).collect();
    let bytes = |pair: &(&str, &str)| pair.0.len() + pair.1.len();
    if all.iter().map(bytes).sum::<usize>() > BYTES_MAX {
        let is_first = |key: &str| FIRST.iter().any(|first| key.starts_with(first));
        let rank = |key: &str| (!OURS.contains(&key), !is_first(key));
        all.sort_by_key(|(key, _)| (rank(key), *key));
        let mut left = BYTES_MAX;
        all.retain(|pair| {
            left.checked_sub(bytes(pair)).is_some_and(|less| {
                left = less;
                true
            })
        });
    }
    all
}

impl<'a> FromIterator<(&'a str, &'a str)> for Texts {
    fn from_iter<I: IntoIterator<Item = (&'a str, &'a str)>>(pairs: I) -> Self {
        let entry =
            |(key, text): (&str, &str)| Arc::new(Entry { key: key.into(), text: text.into() });
        let mut all: Vec<Arc<Entry>> = pairs.into_iter().map(entry).collect();
        all.sort();
        Self(all.into())
    }
}

impl Serialize for Texts {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(self.0.iter().map(|entry| (&*entry.key, &*entry.text)))
    }
}

impl Weigh for Entry {
    fn weight(&self) -> usize {
        size_of_val(self)
    }
}

impl Weigh for [Arc<Entry>] {
    fn weight(&self) -> usize {
        size_of_val(self)
    }
}

impl Weigh for [OwnerRef] {
    fn weight(&self) -> usize {
        let texts = |owner: &OwnerRef| {
            [&owner.api_version, &owner.kind, &owner.name, &owner.uid].map(String::len)
        };
        size_of_val(self) + self.iter().flat_map(texts).sum::<usize>()
    }
}

/// Texts that pods have in common.
#[derive(Debug, Default)]
pub(crate) struct Common {
    words: Interner<str>,
    entries: Interner<Entry>,
    tables: Interner<[Arc<Entry>]>,
    owners: Interner<[OwnerRef]>,
}

impl Common {
    /// Replaces what the pod has in common with others by theirs. Its name and UID it has alone.
    pub(crate) fn share(&mut self, pod: &mut Pod) {
        for word in [&mut pod.namespace, &mut pod.priority_class, &mut pod.node] {
            *word = self.words.intern(word.clone());
        }
        for texts in [&mut pod.labels, &mut pod.annotations] {
            *texts = self.texts(texts);
        }
        pod.owners = self.owners.intern(pod.owners.clone());
    }

    fn texts(&mut self, texts: &Texts) -> Texts {
        let entries: Arc<[Arc<Entry>]> = texts.0.iter().map(|entry| self.entry(entry)).collect();
        Texts(self.tables.intern(entries))
    }

    fn entry(&mut self, entry: &Entry) -> Arc<Entry> {
        let key = self.words.intern(entry.key.clone());
        let text = self.words.intern(entry.text.clone());
        self.entries.intern(Arc::new(Entry { key, text }))
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
    fn of_very_many_texts_those_are_kept_that_rules_read() {
        let of = |count: usize, text: &str| -> Vec<(String, String)> {
            (0..count).map(|n| (format!("a-{n:04}"), text.to_owned())).collect()
        };
        let own = [("pod-group-name", "g"), ("kai.scheduler/bound-queue", "q")];
        let own = own.map(|(key, text)| (key.to_owned(), text.to_owned()));
        for (more, expect) in [
            (of(100, &"x".repeat(100)), 102),
            (of(100, &"x".repeat(1_000)), 18),
            (of(100_000, ""), 2_499),
            (of(100, &"x".repeat(5_000)), 2),
        ] {
            let all: Vec<_> = more.into_iter().chain(own.clone()).collect();
            let kept = Texts::kept(all.iter().map(|(key, text)| (&**key, &**text)));
            assert_eq!(kept.0.len(), expect);
            assert_eq!(
                (kept.get("pod-group-name"), kept.get("kai.scheduler/bound-queue")),
                (Some("g"), Some("q"))
            );
        }
    }

    #[test]
    fn what_daemons_wrote_is_kept_beside_any_number_of_keys_like_it() {
        let more: Vec<String> = (0..1_000).map(|n| format!("kai.scheduler/a-{n:04}")).collect();
        let more = more.iter().map(|key| (key.as_str(), ""));
        let own = super::OURS.map(|key| (key, "own"));
        let kept = Texts::kept(more.chain(own));
        assert_eq!(super::OURS.map(|key| kept.get(key)), [Some("own"); 4]);
    }

    fn pod(index: &str) -> Pod {
        Pod { labels: [("index", index), ("key", "text")].into_iter().collect(), ..Pod::default() }
    }

    #[test]
    fn what_pods_have_in_common_is_stored_once() {
        let mut common = Common::default();
        let (mut one, mut same, mut other) = (pod("1"), pod("1"), pod("2"));
        for pod in [&mut one, &mut same, &mut other] {
            common.share(pod);
        }
        assert!(Arc::ptr_eq(&one.labels.0, &same.labels.0));
        assert!(Arc::ptr_eq(&one.labels.0[1], &other.labels.0[1]));
        assert!(Arc::ptr_eq(&one.owners, &other.owners));
        assert_eq!((one, other), (pod("1"), pod("2")));
    }
}
