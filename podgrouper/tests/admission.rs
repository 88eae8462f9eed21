//! Questions of the API server as files: an object in, a changed object, a refusal or warnings out.
//!
//! `admission/*.yaml` hold one idea each. A file names what it is about (`what`), which question is asked (`hook`), the
//! Config (`config`) and the queues that there are (`queues`), then `cases`: an `object`, the one before it (`old`, which
//! makes it an UPDATE), and what must come out: exactly what it `becomes`, parts of the message with which it is
//! `refused`, or else that it stays as it is; and parts of the `warnings`, all of them.
//!
//! A pod that comes out changed is asked about twice more: again, which must change nothing, and whether it is right,
//! which it must be unless the file says that it is `refused_later`.

use std::collections::BTreeMap;
use std::error::Error;
use std::path::Path;
use std::sync::Arc;

use kai_api::config::ConfigSpec;
use kai_podgrouper::Object;
use kai_podgrouper::admission::review::{Answer, Context, Hook, Request, Verdict, answer};
use kai_podgrouper::admission::settings::{Flags, Settings};
use serde::Deserialize;
use serde_json::Value;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    #[serde(rename = "what")]
    _what: String,
    hook: String,
    #[serde(default)]
    config: ConfigSpec,
    queues: Option<Vec<Value>>,
    cases: Vec<Case>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Case {
    object: Value,
    old: Option<Value>,
    becomes: Option<Value>,
    #[serde(default)]
    refused: Vec<String>,
    #[serde(default)]
    refused_later: bool,
    #[serde(default)]
    warnings: Vec<String>,
}

struct World {
    settings: Settings,
    queues: Option<BTreeMap<String, Arc<Object>>>,
}

impl World {
    fn ask(&self, hook: Hook, object: &Value, old: Option<&Value>) -> Answer {
        let request = Request {
            uid: "u".to_owned(),
            operation: if old.is_some() { "UPDATE" } else { "CREATE" }.to_owned(),
            namespace: String::new(),
            object: object.clone(),
            old_object: old.cloned().unwrap_or_default(),
        };
        let context =
            Context { settings: &self.settings, queues: self.queues.as_ref(), token: "abc1234" };
        answer(hook, &request, &context)
    }
}

#[test]
#[expect(clippy::panic_in_result_fn, reason = "a test ends in its assertion")]
fn every_question_is_answered_as_its_file_says() -> Result<(), Box<dyn Error>> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/admission");
    let mut broken = Vec::new();
    let mut count = 0;
    for entry in std::fs::read_dir(&folder)? {
        let path = entry?.path();
        let file: File = serde_saphyr::from_str(&std::fs::read_to_string(&path)?)
            .map_err(|error| format!("{}: {error}", path.display()))?;
        for (number, line) in check(&file)? {
            broken.push(format!("{}: case {number}: {line}", path.display()));
        }
        count += file.cases.len();
    }
    assert!(count > 100, "{count} cases in {}", folder.display());
    assert!(broken.is_empty(), "of {count} cases:\n{}", broken.join("\n"));
    Ok(())
}

fn check(file: &File) -> Result<Vec<(usize, String)>, String> {
    let hook = Hook::ALL.into_iter().find(|hook| hook.name() == file.hook);
    let hook = hook.ok_or_else(|| format!("no hook {}", file.hook))?;
    let flags = Flags {
        scheduler: "kai-scheduler".to_owned(),
        queue_label: "kai.scheduler/queue".to_owned(),
    };
    let queues = file.queues.as_ref().map(|rows| {
        let object = |row: &Value| Arc::new(Object::new(row.clone()));
        rows.iter().map(|row| (object(row).name().to_owned(), object(row))).collect()
    });
    let world = World { settings: Settings::of(Some(&file.config), &flags), queues };
    let mut findings = Vec::new();
    for (number, case) in file.cases.iter().enumerate() {
        // YAML takes a number without quotes for one, and the API has only texts there.
        let texts = case.object["metadata"]["annotations"].as_object().into_iter().flatten();
        if let Some((key, _)) = texts.into_iter().find(|(_, value)| !value.is_string()) {
            return Err(format!("case {}: annotation {key} is no text", number + 1));
        }
        let answer = world.ask(hook, &case.object, case.old.as_ref());
        let found = judge(&world, case, &answer);
        findings.extend(found.into_iter().map(|line| (number + 1, line)));
    }
    Ok(findings)
}

fn judge(world: &World, case: &Case, answer: &Answer) -> Vec<String> {
    let mut findings = Vec::new();
    match (&answer.verdict, &case.becomes) {
        (Verdict::Denied(why), _) if case.refused.is_empty() => {
            findings.push(format!("refused: {why}"));
        }
        (Verdict::Denied(why), _) => {
            let missing = case.refused.iter().filter(|part| !why.contains(*part));
            findings.extend(missing.map(|part| format!("{why:?} lacks {part:?}")));
        }
        (found, _) if !case.refused.is_empty() => findings.push(format!("not refused: {found:?}")),
        (Verdict::Patched(patch), Some(want)) => {
            let mut changed = case.object.clone();
            if let Err(error) = json_patch::patch(&mut changed, patch) {
                findings.push(format!("the patch does not fit: {error}"));
            }
            if changed != *want {
                findings.push(format!("becomes {changed}\n  want    {want}"));
            }
            findings.extend(ask_again(world, case, &changed));
        }
        (Verdict::Allowed, None) => {}
        (Verdict::Allowed, Some(_)) => findings.push("it stays as it is".to_owned()),
        (Verdict::Patched(patch), None) => {
            findings.push(format!("changed: {}", serde_json::json!(patch)));
        }
    }
    let is_told = answer.warnings.len() == case.warnings.len()
        && answer.warnings.iter().zip(&case.warnings).all(|(found, want)| found.contains(want));
    if !is_told {
        findings.push(format!("warnings {:?}, want {:?}", answer.warnings, case.warnings));
    }
    findings
}

fn ask_again(world: &World, case: &Case, changed: &Value) -> Vec<String> {
    let mut findings = Vec::new();
    let old = case.old.as_ref();
    let again = world.ask(Hook::MutatePod, changed, old);
    if again.verdict != Verdict::Allowed {
        findings.push(format!("changed again: {:?}", again.verdict));
    }
    let judged = world.ask(Hook::ValidatePod, changed, old);
    if (judged.verdict == Verdict::Allowed) == case.refused_later {
        findings.push(format!("afterwards: {:?}", judged.verdict));
    }
    findings
}
