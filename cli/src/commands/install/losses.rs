//! Refuses what an installation would take away: by an older program, or from definitions of somebody else.

use super::older::{MINE, release};
use super::plan::{Entry, Plan};
use super::status::first;
use crate::print::error::{Error, Exit, Problem, number};
use crate::print::output::clean;

/// Checks that nothing is lost.
///
/// # Errors
/// Something that is there is newer than this program, or definitions of somebody else have what ours lack.
pub(super) fn check(plan: &Plan) -> Result<(), Error> {
    if let Some((version, names)) = newer(plan) {
        let what =
            format!("what is installed is of version {version}, and this program is older: {MINE}");
        return Err(Problem::new(number::EXISTS, Exit::Conflict, what)
            .line(first(&names))
            .line("definitions of an older version drop fields that newer ones have stored")
            .fix(format!(
                "take kubectl kai {version}   (to go back all the same: kubectl kai install --force-conflicts)"
            ))
            .into());
    }
    let of_others = plan.entries.iter().filter(|entry| !entry.lost.is_empty());
    let lines: Vec<String> = of_others
        .map(|entry| format!("{} has {}", entry.item.title(), first(&entry.lost)))
        .collect();
    if lines.is_empty() {
        return Ok(());
    }
    let what = "somebody else's definitions have what ours lack: objects would lose it";
    let problem = Problem::new(number::EXISTS, Exit::Conflict, what);
    let problem = lines.into_iter().take(3).fold(problem, Problem::line);
    Err(problem
        .fix("find out whose they are; to replace them: kubectl kai install --force-conflicts")
        .into())
}

/// Says which version is there, and what is of it; none where nothing is newer than this program.
pub(super) fn newer(plan: &Plan) -> Option<(String, Vec<String>)> {
    let found = plan.entries.iter().filter_map(|entry| Some((entry.newer.as_ref()?, entry)));
    let version = found.clone().map(|(version, _)| version).max_by_key(|text| release(text))?;
    Some((
        clean(version).into_owned(),
        found.map(|(_, entry): (_, &Entry)| entry.item.title()).collect(),
    ))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::commands::install::manifest::{Group, Options, items};
    use crate::commands::install::older::lost;
    use crate::commands::install::plan::State;

    #[test]
    fn an_older_program_and_a_narrower_definition_are_refused() {
        let items = items(&Options::default());
        let crds = items.into_iter().filter(|item| item.group == Group::Crds);
        let mut plan = Plan { entries: crds.map(|item| Entry::new(item, State::Change)).collect() };
        assert!(check(&plan).is_ok());
        let mut wider = plan.entries[0].item.object.clone();
        wider["spec"]["versions"][0]["schema"]["openAPIV3Schema"]["properties"]["spec"]["properties"]
            ["flavour"] = json!({"type": "string"});
        let mut second = wider["spec"]["versions"][0].clone();
        second["name"] = json!("v9");
        wider["spec"]["versions"].as_array_mut().expect("versions").push(second);
        plan.entries[0].lost = lost(&wider, &plan.entries[0].item.object);
        assert_eq!(plan.entries[0].lost, ["spec.flavour", "version v9"]);
        let said = check(&plan).expect_err("they would be lost").to_string();
        assert!(said.contains("spec.flavour, version v9") && said.contains("--force-conflicts"));
        plan.entries[1].newer = Some("99.0.0".to_owned());
        let said = check(&plan).expect_err("it is older").to_string();
        assert!(said.contains("of version 99.0.0, and this program is older"), "{said}");
    }
}
