//! Changes one value of a configuration file and leaves every other byte as the user wrote it.

use std::fs::{self, Permissions};
use std::io::{self, Write as _};
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _};
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

/// Bits of the mode of a new file that whoever may read its folder may read, as far as the umask lets.
pub(crate) const SHARED: u32 = 0o666;
/// Bits of the mode of one that is its owner's alone.
pub(crate) const PRIVATE: u32 = 0o600;

/// Replaces a file as a whole, so that a full disk leaves the old one. A link of the user's stays one, and a file of his
/// keeps its mode; a new one has `mode` less the umask.
///
/// # Errors
/// What the operating system says.
pub(crate) fn write(path: &Path, text: &str, mode: u32) -> io::Result<()> {
    let me = rustix::process::geteuid().as_raw();
    let is_mine = |seen: &fs::Metadata| seen.uid() == me;
    let link = path.symlink_metadata().ok().filter(|seen| seen.is_symlink() && is_mine(seen));
    let target = link.and_then(|_| path.canonicalize().ok()).unwrap_or_else(|| path.to_path_buf());
    let folder = target.parent().unwrap_or(Path::new("."));
    fs::create_dir_all(folder)?;
    let mode = Permissions::from_mode(mode);
    let mut file = tempfile::Builder::new().permissions(mode).tempfile_in(folder)?;
    if let Some(there) =
        target.symlink_metadata().ok().filter(|seen| seen.is_file() && is_mine(seen))
    {
        file.as_file().set_permissions(Permissions::from_mode(there.mode() & 0o777))?;
    }
    file.write_all(text.as_bytes())?;
    file.as_file().sync_all()?;
    file.persist(&target)?;
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

    #[test]
    fn a_link_stays_a_link_and_a_file_keeps_its_mode() {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let at = |name: &str| folder.path().join(name);
        let mode = |name: &str| at(name).metadata().expect("it is there").mode() & 0o777;
        fs::create_dir(at("dotfiles")).expect("the folder is ours");
        fs::write(at("dotfiles/kai.yaml"), "old").expect("the folder is ours");
        fs::set_permissions(at("dotfiles/kai.yaml"), Permissions::from_mode(0o640)).expect("ours");
        std::os::unix::fs::symlink("dotfiles/kai.yaml", at("config.yaml")).expect("ours");
        write(&at("config.yaml"), "new", PRIVATE).expect("the folder is ours");
        assert!(at("config.yaml").is_symlink());
        let text = fs::read_to_string(at("dotfiles/kai.yaml")).expect("it is there");
        assert_eq!((text.as_str(), mode("dotfiles/kai.yaml")), ("new", 0o640));
        // What any program makes has the umask's mode.
        fs::write(at("made"), "").expect("the folder is ours");
        write(&at("new/shared.yaml"), "x", SHARED).expect("the folder is ours");
        write(&at("new/private.yaml"), "x", PRIVATE).expect("the folder is ours");
        assert_eq!(mode("new/shared.yaml"), mode("made"));
        assert_eq!(mode("new/private.yaml") & 0o077, 0);
    }
}
