//! The modules of a crate, from the paths of its files, and where a path leads among them.

use std::collections::{BTreeMap, BTreeSet};

use super::imports::{Import, code, exports, imports};
use crate::repository::File;

/// A module as the names that lead to it; the root is empty.
pub(super) type Path = Vec<String>;

/// One file.
struct Module {
    file: String,
    imports: Vec<Import>,
    /// Names that it re-exports, with the path behind each.
    exports: BTreeMap<String, Path>,
}

/// All modules of a crate. A file of tests is none.
pub(super) struct Modules(BTreeMap<Path, Module>);

/// An import, as modules.
pub(super) struct Edge<'a> {
    pub(super) from: &'a Path,
    pub(super) to: Path,
    /// `file:line`.
    pub(super) at: String,
}

impl Modules {
    /// Reads the files below a folder of sources.
    pub(super) fn read(folder: &str, files: &[File]) -> Self {
        let mut modules = BTreeMap::new();
        for file in files {
            let below = file.path.strip_prefix(folder).and_then(|path| path.strip_prefix('/'));
            let Some(name) = below.and_then(|path| path.strip_suffix(".rs")) else { continue };
            let Some(text) = &file.text else { continue };
            let mut path: Path = name.split('/').map(str::to_owned).collect();
            match path.last().map(String::as_str) {
                Some("tests") => continue,
                Some("main") if path.len() == 1 => continue,
                Some("lib") if path.len() == 1 => path.clear(),
                Some(_) | None => {}
            }
            let code = code(text);
            let exports = exports(&code)
                .into_iter()
                .filter_map(|target| Some((target.last()?.clone(), target)))
                .collect();
            let module = Module { file: file.path.clone(), imports: imports(&code), exports };
            modules.insert(path, module);
        }
        Self(modules)
    }

    /// Every folder that has a module in it or below, the root first.
    pub(super) fn folders(&self) -> BTreeSet<Path> {
        let above = |path: &Path| -> Vec<Path> {
            (0..path.len()).map(|length| path[..length].to_vec()).collect()
        };
        self.0.keys().flat_map(above).collect()
    }

    /// The modules.
    pub(super) fn paths(&self) -> impl Iterator<Item = &Path> {
        self.0.keys()
    }

    /// Every import of a module by a module.
    pub(super) fn edges(&self) -> impl Iterator<Item = Edge<'_>> {
        self.0.iter().flat_map(move |(from, module)| {
            module.imports.iter().map(move |import| {
                let ups = import.path.iter().take_while(|name| *name == "super").count();
                let base = if ups == 0 { &[] } else { &from[..from.len().saturating_sub(ups)] };
                let names = &import.path[ups.max(1)..];
                let to = self.resolve(&[base, names].concat(), 0);
                Edge { from, to, at: format!("{}:{}", module.file, import.line) }
            })
        })
    }

    /// The module that defines what a path from the root names, through re-exports.
    fn resolve(&self, path: &[String], depth: usize) -> Path {
        let mut at = Path::new();
        for (index, name) in path.iter().enumerate() {
            let below = [at.as_slice(), std::slice::from_ref(name)].concat();
            if self.0.keys().any(|one| one.starts_with(&below)) {
                at = below;
                continue;
            }
            // Re-exports of re-exports end; those that go round do not compile.
            let target = self.0.get(&at).and_then(|module| module.exports.get(name));
            let Some(target) = target.filter(|_| depth < 8) else { break };
            let root = match target.first().map(String::as_str) {
                Some("crate") => target[1..].to_vec(),
                Some("self") => [at.as_slice(), &target[1..]].concat(),
                Some("super") => [&at[..at.len().saturating_sub(1)], &target[1..]].concat(),
                Some(_) | None => [at.as_slice(), target].concat(),
            };
            return self.resolve(&[root.as_slice(), &path[index + 1..]].concat(), depth + 1);
        }
        at
    }
}
