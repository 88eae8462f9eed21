//! Folders are layers: inside a crate, each folder imports only from those below it, and none in a circle.
//!
//! The arrows are those of `use crate::..` and `super::..`, followed through re-exports to the file that defines the name.
//! Tests at the end of a file may import what they like. Where a row says so, types get their methods in their own folder.

mod graph;
mod impls;
mod imports;
mod modules;

use super::Finding;
use crate::repository::File;
use graph::Graph;
use modules::Modules;

/// A folder of sources whose members are layers.
struct Row {
    /// The folder, as `cli/src`.
    folder: &'static str,
    /// Its files and folders without `lib` and `main`, the lowest first; empty where any order without a circle will do.
    order: &'static [&'static str],
    /// True if types get their methods in the member that defines them.
    keeps_impls: bool,
}

/// The order of layers, a row a crate. A circle is also looked for in every folder below.
const TABLE: &[Row] = &[
    Row {
        folder: "cli/src",
        order: &[
            "threads", "print", "globals", "settings", "cluster", "workload", "context", "plan",
            "commands", "tryout", "args", "run", "program",
        ],
        keeps_impls: false,
    },
    Row {
        folder: "engine/src",
        order: &[
            "base", "told", "decided", "config", "state", "queues", "fit", "place", "pending",
            "evict", "cluster", "actions",
        ],
        keeps_impls: true,
    },
    Row { folder: "sandbox/src/server", order: &[], keeps_impls: false },
    Row {
        folder: "scheduler/src",
        order: &[
            "short",
            "wording",
            "cel",
            "names",
            "serve",
            "server",
            "message",
            "usage",
            "settings",
            "actuate",
            "dispatch",
            "bind_requests",
            "sharing",
            "ingest",
            "watch",
            "report",
            "run",
            "snapshot",
            "start",
            "program",
        ],
        keeps_impls: false,
    },
];

/// Finds arrows that go up, and circles between the files and folders of a folder.
pub(super) fn layers(files: &[File]) -> Vec<Finding> {
    TABLE.iter().flat_map(|row| check(row, files)).collect()
}

fn check(row: &Row, files: &[File]) -> Vec<Finding> {
    let modules = Modules::read(row.folder, files);
    let mut findings =
        if row.keeps_impls { impls::strangers(row.folder, files) } else { Vec::new() };
    for folder in modules.folders() {
        let graph = Graph::of(&folder, &modules);
        if folder.is_empty() && !row.order.is_empty() {
            findings.extend(upwards(row, &graph));
        } else if let Some(circle) = graph.circle() {
            let at = [&[row.folder.to_owned()], folder.as_slice()].concat().join("/");
            findings.push(Finding::new(at, format!("imports go in a circle: {circle}")));
        }
    }
    findings
}

/// The arrows that go up, and the members that have no place in the order.
fn upwards(row: &Row, graph: &Graph) -> Vec<Finding> {
    let rank = |name: &str| row.order.iter().position(|one| *one == name);
    let mut findings: Vec<Finding> = graph
        .members()
        .filter(|name| rank(name).is_none())
        .map(|name| {
            Finding::new(row.folder, format!("`{name}` has no place in the order of layers"))
        })
        .collect();
    for arrow in graph.arrows() {
        if rank(&arrow.from).zip(rank(&arrow.to)).is_some_and(|(from, to)| from < to) {
            let what = format!("`{}` imports from `{}`, which is above it", arrow.from, arrow.to);
            findings.push(Finding::new(&arrow.at, what));
        }
    }
    findings
}

#[cfg(test)]
mod tests {
    use super::*;

    const ROW: Row = Row { folder: "a/src", order: &["low", "high"], keeps_impls: true };

    fn check_that(files: &[(&str, &str)], expect: &[&str]) {
        let files: Vec<File> = files
            .iter()
            .map(|(path, text)| File { path: (*path).into(), text: Some((*text).into()) })
            .collect();
        let found: Vec<String> = check(&ROW, &files)
            .into_iter()
            .map(|one| format!("{}: {}", one.at, one.what))
            .collect();
        assert_eq!(found, expect);
    }

    #[test]
    fn an_arrow_goes_down() {
        let low = ("a/src/low.rs", "//! x\npub struct Low;\n");
        check_that(&[low, ("a/src/high.rs", "use crate::low::Low;\n")], &[]);
        let up = "a/src/low.rs:2: `low` imports from `high`, which is above it";
        let high = ("a/src/high.rs", "pub struct High;\n");
        check_that(&[high, ("a/src/low.rs", "\nuse crate::{high::High};\n")], &[up]);
        check_that(
            &[high, ("a/src/low/x.rs", ""), ("a/src/low.rs", "\nlet x = crate::high::High;\n")],
            &[up],
        );
        let tests = "\n#[cfg(test)]\nmod tests {\n    use crate::high::High;\n}\n";
        check_that(&[high, ("a/src/low.rs", tests)], &[]);
        check_that(&[high, ("a/src/low.rs", "/// As [`crate::high`] does.\n")], &[]);
    }

    #[test]
    fn a_name_of_the_root_is_where_it_was_defined() {
        let root = ("a/src/lib.rs", "mod high;\nmod low;\npub use high::inner::High;\n");
        let high = ("a/src/high/inner.rs", "pub struct High;\n");
        let low = ("a/src/low/x.rs", "use super::super::High;\n");
        check_that(
            &[root, ("a/src/high.rs", ""), high, ("a/src/low.rs", ""), low],
            &["a/src/low/x.rs:1: `low` imports from `high`, which is above it"],
        );
    }

    #[test]
    fn methods_stay_at_home() {
        let low = ("a/src/low.rs", "pub struct Low;\n");
        let found = "a/src/high.rs:1: `Low` gets methods in `high`, but is one of `low`";
        check_that(&[low, ("a/src/high.rs", "impl Low {\n")], &[found]);
    }

    #[test]
    fn each_member_has_a_place() {
        let found = "a/src: `else` has no place in the order of layers";
        check_that(&[("a/src/low.rs", ""), ("a/src/else.rs", "")], &[found]);
    }

    #[test]
    fn no_circle_below() {
        let (one, two) = ("use super::two::Two;\n", "use crate::low::{three, one::{self, One}};\n");
        check_that(
            &[("a/src/low.rs", ""), ("a/src/low/one.rs", one), ("a/src/low/two.rs", two)],
            &[
                "a/src/low: imports go in a circle: one -> two (a/src/low/one.rs:1) -> one (a/src/low/two.rs:1)",
            ],
        );
        check_that(
            &[("a/src/low.rs", ""), ("a/src/low/one.rs", one), ("a/src/low/two.rs", "")],
            &[],
        );
    }
}
