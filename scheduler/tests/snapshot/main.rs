//! Snapshots: broken and odd files by data, and what is written against what is read.
//!
//! A case is a YAML file with the JSON of a snapshot as a text (`json`), or as YAML (`snapshot`), and `expect`: what was
//! understood of it and what would be decided, or why it cannot be read. `zip` puts it into an archive in some odd way.

mod round;

use std::{
    fmt::Write as _,
    fs,
    io::Write as _,
    path::{Path, PathBuf},
    time::Duration,
};

use flate2::{Compression, write::DeflateEncoder};
use kai_engine::{Change, Plan};
use kai_scheduler::{message, names::Number, snapshot::Snapshot};
use rawzip::{CompressionMethod, ZipArchiveWriter};
use serde::Deserialize;
use serde_json::Value;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Case {
    title: String,
    #[serde(default)]
    json: Option<String>,
    #[serde(default)]
    snapshot: Option<Value>,
    #[serde(default)]
    zip: Zip,
    expect: String,
}

/// Says how the file is made.
#[derive(Deserialize, Default, Clone, Copy, PartialEq, Eq)]
#[serde(rename_all = "kebab-case")]
enum Zip {
    #[default]
    Deflated,
    /// No archive at all.
    None,
    Stored,
    /// By a method that is not known.
    Odd,
    /// Under another name.
    Misnamed,
    Twice,
    /// Beside a file that has nothing to do with it.
    Beside,
    /// Cut in the middle.
    Cut,
    /// One byte of the packed text is another.
    Damaged,
    /// The archive's own sum is of something else.
    Belied,
}

fn packed(text: &[u8], how: Zip) -> Vec<u8> {
    let mut bytes = Vec::new();
    let mut archive = ZipArchiveWriter::new(&mut bytes);
    let mut names = vec![if how == Zip::Misnamed { "cluster.json" } else { "snapshot.json" }];
    names.extend((how == Zip::Twice).then_some("snapshot.json"));
    names.extend((how == Zip::Beside).then_some("README"));
    for name in names {
        let is_plain = matches!(how, Zip::Stored | Zip::Odd);
        let method = match is_plain {
            true if how == Zip::Odd => CompressionMethod::from(93),
            true => CompressionMethod::STORE,
            false => CompressionMethod::DEFLATE,
        };
        let file = archive.new_file(name).compression_method(method);
        let (mut entry, config) = file.start().expect("an entry");
        let mut sums = if is_plain {
            let mut writer = config.wrap(&mut entry);
            writer.write_all(text).expect("memory");
            writer.finish().expect("memory").1
        } else {
            let mut writer = config.wrap(DeflateEncoder::new(&mut entry, Compression::default()));
            writer.write_all(text).expect("memory");
            let (deflate, sums) = writer.finish().expect("memory");
            deflate.finish().expect("memory");
            sums
        };
        if how == Zip::Belied {
            sums = rawzip::DataDescriptorOutput::new(1, sums.uncompressed_size());
        }
        entry.finish(sums).expect("memory");
    }
    archive.finish().expect("memory");
    if how == Zip::None {
        return text.to_vec();
    }
    if how == Zip::Cut {
        bytes.truncate(bytes.len() / 2);
    }
    if how == Zip::Damaged {
        bytes[60] ^= 0xff;
    }
    bytes
}

/// Says what was understood, a line each.
pub(crate) fn understood(snapshot: &mut Snapshot) -> String {
    let counts: Vec<String> =
        snapshot.counts.iter().map(|(key, count)| format!("{key}={count}")).collect();
    let mut text = format!("{}\n", counts.join(" "));
    for problem in snapshot.settings.problems.iter().chain(&snapshot.left_out) {
        let _ = writeln!(text, "note {problem}");
    }
    let plan = snapshot.plan();
    text += &decided(snapshot, &plan);
    assert_eq!(snapshot.cluster.check(), Vec::<String>::new(), "the books are right");
    text
}

fn decided(snapshot: &Snapshot, plan: &Plan) -> String {
    let names = &snapshot.ingest.context.names;
    let mut lines: Vec<String> = plan
        .changes
        .iter()
        .map(|change| {
            let (verb, pod, node) = match change {
                Change::Place { pod, node, .. } => ("place", pod, node),
                Change::Nominate { pod, node, .. } => ("nominate", pod, node),
                Change::Evict { pod, node, .. } => ("evict", pod, node),
            };
            format!(
                "{verb} {} on {}",
                names.pods[pod.number()].name,
                names.nodes.key(node.number())
            )
        })
        .collect();
    let mut waits: Vec<String> = plan
        .verdicts
        .iter()
        .filter_map(|verdict| {
            let group = verdict.group.number();
            let facts = snapshot.cluster.group(verdict.group);
            let told = message::told(&verdict.why, message::Waiting { group, facts, names })?;
            let (_, name) = names.group_name(verdict.group.number());
            Some(format!("wait {name}: {}", told.text().replace('\n', " ")))
        })
        .collect();
    waits.sort();
    lines.extend(waits);
    lines.push(String::new());
    lines.join("\n")
}

fn said(case: &Case, file: &Path) -> String {
    let text = match (&case.json, &case.snapshot) {
        (Some(text), _) => text.clone(),
        (None, Some(value)) => value.to_string(),
        (None, None) => String::new(),
    };
    fs::write(file, packed(text.as_bytes(), case.zip)).expect("a file can be written");
    let [said, alone] =
        [Snapshot::read, Snapshot::read_in_one_thread].map(|read| match read(file) {
            Ok(mut snapshot) => understood(&mut snapshot),
            Err(error) => error.to_string().replace(&file.display().to_string(), "FILE"),
        });
    assert_eq!(said, alone, "two threads read what one does");
    said
}

fn cases() -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/snapshot");
    let entries = fs::read_dir(folder).expect("the folder is there");
    let files = entries.map(|entry| entry.expect("the folder can be read").path());
    let mut files: Vec<PathBuf> =
        files.filter(|path| path.extension().is_some_and(|end| end == "yaml")).collect();
    files.sort();
    files
}

#[test]
fn every_file_is_read_as_it_says() {
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("snapshot.zip");
    let mut failures = String::new();
    let mut count = 0;
    for path in cases() {
        let text = fs::read_to_string(&path).expect("the file can be read");
        let cases: Vec<Case> = serde_saphyr::from_multiple(&text)
            .unwrap_or_else(|error| panic!("{}: {error}", path.display()));
        for case in cases {
            count += 1;
            let said = said(&case, &file);
            if said.trim() != case.expect.trim() {
                let _ = writeln!(failures, "{} ({}):\n{said}", path.display(), case.title);
            }
        }
    }
    assert!(count > 20, "the cases are missing");
    assert!(failures.is_empty(), "read otherwise than expected:\n{failures}");
}

/// Bounds what a plan waits for: whoever may write claims decides what their selectors cost.
#[test]
fn what_is_not_decided_of_selectors_is_said() {
    let text =
        fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/snapshot/binds.yaml"));
    let text = text.expect("the file can be read");
    let cases: Vec<Case> = serde_saphyr::from_multiple(&text).expect("it has cases");
    let case = cases.iter().find(|case| case.title.contains("the selectors of claims"));
    let json = case.and_then(|case| case.json.as_deref()).expect("one is about selectors");
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("snapshot.zip");
    fs::write(&file, packed(json.as_bytes(), Zip::Deflated)).expect("a file can be written");
    let mut snapshot = Snapshot::read_within(&file, Duration::ZERO).expect("it is one");
    let said = understood(&mut snapshot);
    assert!(said.contains("note selectors of devices: "), "{said}");
    assert!(!said.contains("place "), "{said}");
    snapshot.tell().expect("nothing is asked");
    assert_eq!(snapshot.left_out.len(), 1, "{:?}", snapshot.left_out);
}

#[test]
fn a_cut_of_a_file_of_kai_is_read() {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/snapshot/kai-v0.17.zip");
    let mut snapshot = Snapshot::read(&file).expect("KAI wrote it");
    assert_eq!(
        snapshot.server_version.as_deref(),
        Some("v0.0.0-master+8e16b12fda5b1dccc41a6de48b3e356cc7d5048b")
    );
    assert!(!snapshot.is_dated, "KAI does not say when");
    let text = fs::read_to_string(file.with_extension("txt")).expect("beside it");
    let said = understood(&mut snapshot);
    assert_eq!(said.trim(), text.trim(), "{said}");
}

/// The whole file, where it is at hand: `KAI_SNAPSHOT=FILE`.
#[test]
fn a_whole_file_of_kai_is_read() {
    let Some(file) = std::env::var_os("KAI_SNAPSHOT") else {
        leave_out("snapshot: left out, needs a whole file of KAI: set KAI_SNAPSHOT to one");
        return;
    };
    let mut snapshot = Snapshot::read(Path::new(&file)).expect("KAI wrote it");
    let said = understood(&mut snapshot);
    let head: Vec<&str> = said.lines().take(1).collect();
    assert!(head[0].contains("bindRequests=148") && head[0].contains("nodes=500"), "{head:?}");
    assert!(head[0].contains("pods=4000") && head[0].contains("queues=2"), "{head:?}");
}

/// Says past the capture of the test runner that a test is left out, also in the file that `cargo xtask ci` counts.
fn leave_out(line: &str) {
    let _ = writeln!(std::io::stderr(), "{line}");
    if let Some(file) = std::env::var_os("KAI_TEST_LEFT_OUT") {
        let mut file = fs::File::options().create(true).append(true).open(file).expect("it opens");
        writeln!(file, "{line}").expect("it is written");
    }
}
