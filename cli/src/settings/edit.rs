//! Changes one value of a configuration file and leaves every other byte as the user wrote it.

use std::io::{self, Write as _};
use std::path::Path;

use super::file;
use crate::print::error::{Error, Exit, Problem, number};
use crate::print::yaml;

/// The text with `name` set under `defaults`, or removed when there is no value.
///
/// # Errors
/// When the text is wrong, or written in a way that a line cannot be changed in; then it says what to write by hand.
pub(crate) fn set(
    path: &str,
    text: &str,
    name: &str,
    value: Option<&str>,
) -> Result<String, Error> {
    let before = file::parse(path, text)?;
    let edited = lines(text, &before, name, value);
    let holds = file::parse(path, &edited).is_ok_and(|after| {
        let others = |file: &file::File| {
            let mut defaults = file.defaults.clone();
            defaults.remove(name);
            let texts: Vec<_> = defaults.into_iter().map(|(k, v)| (k, v.text)).collect();
            (
                texts,
                file.aliases.clone(),
                file.templates.clone(),
                file.mounts.len(),
                file.contexts.len(),
            )
        };
        after.defaults.get(name).map(|v| v.text.as_str()) == value
            && others(&after) == others(&before)
    });
    if holds {
        return Ok(edited);
    }
    let wanted =
        value.map_or_else(|| format!("remove {name}"), |value| format!("write {name}: {value}"));
    Err(Problem::new(
        number::CONFIG,
        Exit::Failure,
        format!("{path} is written in a way that cannot be edited here"),
    )
    .fix(format!("{wanted} under defaults: by hand"))
    .into())
}

/// Tells whether `name` is set under `defaults`.
///
/// # Errors
/// When the text is wrong.
pub(crate) fn has(path: &str, text: &str, name: &str) -> Result<bool, Error> {
    Ok(file::parse(path, text)?.defaults.contains_key(name))
}

fn lines(text: &str, before: &file::File, name: &str, value: Option<&str>) -> String {
    let mut lines: Vec<String> = text.lines().map(str::to_owned).collect();
    let entry = value.map(|value| format!("{name}: {}", yaml::scalar(value)));
    let found = before.defaults.get(name).and_then(|v| usize::try_from(v.line).ok());
    match (found, entry) {
        (Some(line), Some(entry)) => {
            let old = &lines[line - 1];
            let indent = &old[..old.len() - old.trim_start().len()];
            let comment = old.find(" #").map_or("", |at| &old[at..]);
            lines[line - 1] = format!("{indent}{entry}{comment}");
        }
        (Some(line), None) => {
            lines.remove(line - 1);
        }
        (None, Some(entry)) => match lines.iter().position(|l| l.trim_end() == "defaults:") {
            Some(at) => {
                let next = lines.get(at + 1).filter(|l| l.starts_with(' '));
                let indent = next.map_or(2, |l| l.len() - l.trim_start().len());
                lines.insert(at + 1, format!("{}{entry}", " ".repeat(indent)));
            }
            None => lines.extend(["defaults:".to_owned(), format!("  {entry}")]),
        },
        (None, None) => {}
    }
    // A mapping without entries reads as null; it has nothing to say any more.
    if let Some(at) = lines.iter().position(|l| l.trim_end() == "defaults:")
        && lines.get(at + 1).is_none_or(|l| !l.starts_with(' '))
    {
        lines.remove(at);
    }
    lines.iter().fold(String::new(), |all, line| all + line + "\n")
}

/// Replaces a file as a whole, so that a full disk leaves the old one.
///
/// # Errors
/// What the operating system says.
pub(crate) fn write(path: &Path, text: &str) -> io::Result<()> {
    let folder = path.parent().unwrap_or(Path::new("."));
    std::fs::create_dir_all(folder)?;
    let mut file = tempfile::NamedTempFile::new_in(folder)?;
    file.write_all(text.as_bytes())?;
    file.as_file().sync_all()?;
    file.persist(path)?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, name: &str, value: Option<&str>, expect: &str) {
        assert_eq!(set("config.yaml", text, name, value).expect("editable"), expect);
    }

    #[test]
    fn one_line_changes_and_the_rest_stays() {
        check("", "queue", Some("team-a"), "defaults:\n  queue: team-a\n");
        check(
            "# mine\ndefaults:\n    image: x # why\n",
            "image",
            Some("y"),
            "# mine\ndefaults:\n    image: \"y\" # why\n",
        );
        check(
            "defaults:\n  image: x\n",
            "queue",
            Some("no"),
            "defaults:\n  queue: \"no\"\n  image: x\n",
        );
        check("defaults:\n  image: x\naliases: {}\n", "image", None, "aliases: {}\n");
    }

    #[test]
    fn flow_style_is_left_to_its_owner() {
        let text = "defaults: {queue: a, image: b}\n";
        assert!(set("config.yaml", text, "queue", Some("c")).is_err());
    }
}
