//! Templates of `JSONPath`, beside kubectl's.

use std::{fs, process::Command};

use anyhow::{Context as _, Result};
use kai_api::json_path::Template;
use kai_tests::control_plane::leave_out;
use proptest::prelude::*;
use serde_json::{Value, json};

use super::{cases, corpus::WATCHED, drawn, spoil};

const TEMPLATES: &[&str] = &[
    "{.contexts[*].name}",
    "{.contexts[0].context.cluster}",
    "{range .contexts[*]}{.name}{\"\\t\"}{.context.user}{\"\\n\"}{end}",
    "{.contexts[?(@.name==\"b\")].context.namespace}",
    "{.contexts[?(@.context.namespace!=\"n\")].name}",
    "{.contexts[-1:].name}",
    "{.contexts[0:2].name}",
    "{.contexts[1,0].name}",
    "{..name}",
    "{.clusters[*]['name','cluster']}",
    "{$.current-context}",
    "{.kind}/{@.apiVersion}",
    "{.nothing.at.all}",
    "{['kind']}",
    "text {.users[0].name} and more",
];

fn kubeconfig() -> Value {
    let context = |name: &str, namespace: &str| json!({"name": name, "context": {"cluster": "one", "user": "u", "namespace": namespace}});
    json!({
        "apiVersion": "v1", "kind": "Config", "current-context": "a", "preferences": {},
        "clusters": [{"name": "one", "cluster": {"server": "https://127.0.0.1:1"}}, {"name": "two", "cluster": {"server": "https://127.0.0.1:2"}}],
        "contexts": [context("a", "n"), context("b", "m"), context("c", "n")],
        "users": [{"name": "u", "user": {"username": "x"}}],
    })
}

proptest! {
    #![proptest_config(cases(1))]
    #[test]
    fn templates_are_read_or_refused_at_a_place(
        at in 0..TEMPLATES.len(), next in 0..TEMPLATES.len(), of in 0..WATCHED.len(),
        damage in spoil::damage(), of_value in spoil::much(),
    ) {
        let text = spoil::text_among(TEMPLATES[at], TEMPLATES, damage);
        let mut object = WATCHED[of].clone();
        spoil::value_among(&mut object, &WATCHED, of_value);
        let next = TEMPLATES[next];
        let both = Template::parse(&format!("{text}{next}"));
        match Template::parse(&text) {
            Ok(template) => {
                let printed = template.apply(&object);
                prop_assert_eq!(&printed, &template.apply(&object));
                if !text.contains('{') {
                    prop_assert_eq!(&printed, &text);
                }
                // One template behind another prints what both print.
                let next = Template::parse(next).expect("it is whole").apply(&object);
                prop_assert_eq!(both.map(|both| both.apply(&object)), Ok(printed + &next));
            }
            Err(error) => prop_assert!(!error.to_string().is_empty()),
        }
    }
}

/// Checks that what kubectl prints of a template is what is printed here; what it refuses may be refused or may find nothing.
#[test]
fn templates_print_what_kubectl_prints() -> Result<()> {
    if Command::new("kubectl").args(["version", "--client"]).output().is_err() {
        leave_out("fuzz of JSONPath", "needs kubectl in PATH");
        return Ok(());
    }
    let folder = tempfile::tempdir()?;
    let file = folder.path().join("config");
    fs::write(&file, kubeconfig().to_string())?;
    let printed = |text: &str| -> Result<Option<String>> {
        let output = Command::new("kubectl")
            .args(["config", "view", "--raw", "-o", &format!("jsonpath={text}"), "--kubeconfig"])
            .arg(&file)
            .output()
            .context("failed to start kubectl")?;
        let text = String::from_utf8_lossy(&output.stdout).into_owned();
        Ok(output.status.success().then_some(text))
    };
    let (mut taken, mut other) = (0, Vec::new());
    for (at, damage) in drawn((0..TEMPLATES.len(), spoil::damage()), 64) {
        let text = spoil::text(TEMPLATES[at], damage);
        if text.contains('\0') || text.trim().is_empty() {
            continue;
        }
        let Some(theirs) = printed(&text)? else { continue };
        taken += 1;
        let ours = match Template::parse(&text) {
            Ok(template) => template.apply(&kubeconfig()),
            // What is refused here prints nothing there: kubectl does not read what stands in a path that finds nothing.
            Err(error)
                if printed(&format!("{{{}}}", error.part))?.is_none_or(|text| text.is_empty()) =>
            {
                continue;
            }
            Err(error) => format!("refused: {error}"),
        };
        if !agree(&text, &ours, &theirs) {
            other.push(format!("{text:?}\n  ours    {ours:?}\n  kubectl {theirs:?}"));
        }
    }
    assert!(taken > 5, "kubectl took {taken} templates only");
    assert!(
        other.is_empty(),
        "{} of {taken} come out otherwise:\n{}",
        other.len(),
        other.join("\n")
    );
    Ok(())
}

/// Tells whether what is printed here is what kubectl prints, but for what is of no use to anybody.
fn agree(template: &str, ours: &str, theirs: &str) -> bool {
    let json = |text: &str| serde_json::from_str::<Value>(text).ok();
    // An index that is not said is the first.
    let has_no_index = [",]", "[,", ",,", "[]"].iter().any(|gap| template.contains(gap));
    // A number behind a step or a text is another thing to print to it, which it prints in place of what was before; one beyond 64
    // bits it prints by its power of ten.
    let follows =
        |before: &str| (0..=9).any(|digit| template.contains(&format!("{before}{digit}")));
    let is_long = template.split(|letter: char| !letter.is_ascii_digit()).any(|it| it.len() > 18);
    let has_number = is_long || ["]", "\"", "'"].into_iter().any(follows);
    // What stands in a filter is not read before there is something to compare.
    let is_lenient = ours.starts_with("refused: ")
        && (ours.contains("without {end}")
            || has_no_index
            || has_number
            || template.contains("?("));
    // A dot before a bracket or another beginning, or at the end, is a name that is empty to it, of which nothing comes. It reads
    // dots in a quoted name as steps, so that one at its beginning is `..`.
    let is_dotted = [".[", ".}", ".$", ".@", "'."].iter().any(|dot| template.contains(dot));
    // It prints what `..` finds in an order of its own, and some letters of objects by their numbers.
    ours == theirs
        || is_lenient
        || is_dotted
        || sorted(template, ours) == sorted(template, theirs)
        || json(ours).is_some_and(|ours| Some(ours) == json(theirs))
}

/// The letters in the order of the alphabet, where kubectl's own order of values differs from run to run.
fn sorted(template: &str, printed: &str) -> String {
    if !template.contains("..") {
        return printed.to_owned();
    }
    let mut letters: Vec<char> = printed.chars().collect();
    letters.sort_unstable();
    letters.into_iter().collect()
}
