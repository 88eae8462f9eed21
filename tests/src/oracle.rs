//! Judges the engine by `oracle/1` files: facts restated from a peer's test tables.
//!
//! `tests/oracle/README.md` says what counts, `tests/oracle/SCHEMA.md` what the files hold. A family of cases is a
//! module: it reads its cases and says where we differ.

use std::{
    collections::BTreeMap,
    fs,
    panic::{AssertUnwindSafe, catch_unwind},
    path::{Path, PathBuf},
};

use anyhow::Context;
use serde::Serialize;
use serde_json::Value;

pub mod bound;
pub mod pod_grouping;
pub mod quota;
pub mod scheduling;

/// Outcome of a case.
#[derive(Clone, Debug, Default)]
pub struct Verdict {
    /// Level at which it binds.
    pub level: String,
    /// Features that a scheduler must support for it to make sense.
    pub features: Vec<String>,
    /// Differences of ours; none when it passes.
    pub differences: Vec<String>,
}

/// One line of the result.
#[derive(Clone, Debug, Serialize)]
pub struct Line {
    /// The id of the case.
    pub id: String,
    /// Its name.
    pub name: String,
    /// Its family.
    pub family: String,
    /// Level at which it binds.
    pub level: String,
    /// Features that it is about.
    pub features: Vec<String>,
    /// Differences of ours; none when it passes.
    pub differences: Vec<String>,
}

/// Judges every case of every `oracle/1` file below `folder`, in order of paths. Files of a family that is not known
/// are named in the second list.
///
/// # Errors
///
/// Names the file that cannot be read, or is no `oracle/1` file.
pub fn judge_folder(folder: &Path) -> anyhow::Result<(Vec<Line>, Vec<String>)> {
    let (mut lines, mut unknown) = (Vec::new(), Vec::new());
    for path in json_files(folder)? {
        let text = fs::read_to_string(&path)
            .with_context(|| format!("failed to read {}", path.display()))?;
        let file: Value = serde_json::from_str(&text)
            .with_context(|| format!("failed to read {}", path.display()))?;
        if file["schema"] != "oracle/1" || !file["cases"].is_array() {
            continue;
        }
        match file["family"].as_str().unwrap_or("") {
            "scheduling" => lines.extend(each_case(&file, scheduling::judge)),
            "quota" => lines.extend(each_case(&file, quota::judge)),
            "pod-grouping" => lines.extend(pod_groups(&file)),
            family => unknown.push(format!("{} ({family})", path.display())),
        }
    }
    Ok((lines, unknown))
}

/// Every text of KAI that the scheduling cases below `folder` keep of a job, with ours: the job with its case, the
/// KAI's, ours.
///
/// # Errors
///
/// Names the file that cannot be read, or the case.
pub fn texts_of_folder(folder: &Path) -> anyhow::Result<Vec<[String; 3]>> {
    let mut all = Vec::new();
    for path in json_files(folder)? {
        let text = fs::read_to_string(&path)
            .with_context(|| format!("failed to read {}", path.display()))?;
        let file: Value = serde_json::from_str(&text)
            .with_context(|| format!("failed to read {}", path.display()))?;
        for case in cases(&file).filter(|_| file["family"] == "scheduling") {
            let id = case["id"].as_str().unwrap_or_default();
            let texts = scheduling::words::texts(case).with_context(|| format!("case {id}"))?;
            all.extend(
                texts.into_iter().map(|[job, peer, ours]| [format!("{id} {job}"), peer, ours]),
            );
        }
    }
    Ok(all)
}

/// Judges the cases of a file one by one.
fn each_case(file: &Value, judge: fn(Value) -> anyhow::Result<Verdict>) -> Vec<Line> {
    cases(file).map(|case| line(file, case, guarded(case, judge))).collect()
}

/// These cases compare with each other, so a file is judged as a whole.
fn pod_groups(file: &Value) -> Vec<Line> {
    let findings: BTreeMap<String, Vec<String>> =
        pod_grouping::run_file(file).into_iter().collect();
    cases(file)
        .map(|case| {
            let not_run = || vec!["did not run".to_owned()];
            let id = case["id"].as_str().unwrap_or("");
            let differences = findings.get(id).cloned().unwrap_or_else(not_run);
            line(file, case, Verdict { differences, ..given(case) })
        })
        .collect()
}

fn cases(file: &Value) -> impl Iterator<Item = &Value> {
    file["cases"].as_array().into_iter().flatten()
}

fn line(file: &Value, case: &Value, verdict: Verdict) -> Line {
    let text = |value: &Value| value.as_str().unwrap_or("").to_owned();
    Line {
        id: text(&case["id"]),
        name: text(&case["name"]),
        family: text(&file["family"]),
        level: verdict.level,
        features: verdict.features,
        differences: verdict.differences,
    }
}

/// A case that cannot be read, or on which the engine panics, differs.
fn guarded(case: &Value, judge: fn(Value) -> anyhow::Result<Verdict>) -> Verdict {
    match catch_unwind(AssertUnwindSafe(|| judge(case.clone()))) {
        Ok(Ok(verdict)) => verdict,
        Ok(Err(error)) => Verdict { differences: vec![format!("{error:#}")], ..given(case) },
        Err(panic) => {
            let text = panic.downcast_ref::<String>().map(String::as_str);
            let text =
                text.or_else(|| panic.downcast_ref::<&str>().copied()).unwrap_or("no message");
            Verdict { differences: vec![format!("the engine panicked: {text}")], ..given(case) }
        }
    }
}

/// Takes what the file says of a case that did not run to its end.
fn given(case: &Value) -> Verdict {
    let features = case["features"].as_array().into_iter().flatten();
    Verdict {
        level: case["classification"]["level"].as_str().unwrap_or("must").to_owned(),
        features: features.filter_map(|feature| feature.as_str().map(str::to_owned)).collect(),
        differences: Vec::new(),
    }
}

fn json_files(folder: &Path) -> anyhow::Result<Vec<PathBuf>> {
    let entries =
        fs::read_dir(folder).with_context(|| format!("failed to read {}", folder.display()))?;
    let mut paths: Vec<PathBuf> =
        entries.map(|entry| Ok(entry?.path())).collect::<anyhow::Result<_>>()?;
    paths.sort();
    let mut files = Vec::new();
    for path in paths {
        if path.is_dir() {
            files.extend(json_files(&path)?);
        } else if path.extension().is_some_and(|extension| extension == "json") {
            files.push(path);
        }
    }
    Ok(files)
}
