//! Reads files that nobody named: only regular ones, and of a project only those that the user or root wrote.

use std::ffi::OsString;
use std::fs::{File, OpenOptions};
use std::io::{self, Read as _};
use std::os::unix::ffi::OsStringExt as _;
use std::os::unix::fs::{MetadataExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};

use rustix::fs::OFlags;
use rustix::io::Errno;

use crate::print::output::clean;

/// The bit of a file's mode that lets everybody write to it.
const EVERYBODY_WRITES: u32 = 0o002;

/// More links in a row than anybody makes.
const LINKS_MAX: usize = 8;

/// Holds what lies at a path itself.
enum Lying {
    File(File),
    Link { owner: u32, to: PathBuf },
}

/// Reads a regular file; a pipe or a device, which may have no end, is refused without waiting for it.
///
/// # Errors
/// What the operating system says, or that it is no regular file.
pub(crate) fn read(path: &Path) -> io::Result<String> {
    text(open(path, OFlags::empty())?)
}

/// Reads a regular file that the user or root owns and that not everybody may write to, else says whose it is and what to
/// do about it: whoever else wrote it would say what this user runs. The same holds of links to it, which are followed one
/// by one: each is looked at as it was opened, so that nobody puts another in its place between.
///
/// # Errors
/// What the operating system says.
pub(crate) fn read_of_project(path: &Path) -> io::Result<Result<String, String>> {
    let me = rustix::process::geteuid().as_raw();
    let mut path = path.to_path_buf();
    for _ in 0..=LINKS_MAX {
        match lying(&path)? {
            Lying::File(file) => {
                let seen = file.metadata()?;
                return match distrust(&path, seen.uid(), seen.mode(), me) {
                    Some(why) => Ok(Err(why)),
                    None => text(file).map(Ok),
                };
            }
            // Whoever made a link chose what it leads to; its mode says nothing.
            Lying::Link { owner, to } => {
                if let Some(why) = distrust(&path, owner, 0, me) {
                    return Ok(Err(why));
                }
                path = path.parent().unwrap_or(Path::new(".")).join(to);
            }
        }
    }
    Err(Errno::LOOP.into())
}

/// Opens what lies at a path, a link for what it says.
fn lying(path: &Path) -> io::Result<Lying> {
    match open(path, OFlags::NOFOLLOW) {
        Err(error) if Errno::from_io_error(&error) == Some(Errno::LOOP) => {
            let flags = (OFlags::PATH | OFlags::NOFOLLOW).bits().cast_signed();
            let link = OpenOptions::new().read(true).custom_flags(flags).open(path)?;
            let owner = link.metadata()?.uid();
            let to = rustix::fs::readlinkat(&link, "", Vec::new())?;
            Ok(Lying::Link { owner, to: OsString::from_vec(to.into_bytes()).into() })
        }
        opened => opened.map(Lying::File),
    }
}

fn open(path: &Path, flags: OFlags) -> io::Result<File> {
    let flags = (OFlags::NONBLOCK | flags).bits().cast_signed();
    let file = OpenOptions::new().read(true).custom_flags(flags).open(path)?;
    if file.metadata()?.is_file() {
        return Ok(file);
    }
    let what = format!("{} is no regular file", path.display());
    Err(io::Error::new(io::ErrorKind::InvalidInput, what))
}

fn text(mut file: File) -> io::Result<String> {
    let mut text = String::new();
    file.read_to_string(&mut text)?;
    Ok(text)
}

/// Says why a file of this owner and mode is not taken; none where it may be.
fn distrust(path: &Path, owner: u32, mode: u32, me: u32) -> Option<String> {
    // Its folder may be called as somebody else likes, too.
    let path = path.display().to_string();
    let path = clean(&path);
    let word = shlex::try_quote(&path).unwrap_or_default();
    if owner != me && owner != 0 {
        return Some(format!(
            "{path} belongs to user {owner}, and you are {me}; if you trust what it says, copy it to a folder of yours, \
             or: sudo chown {me} {word}"
        ));
    }
    (mode & EVERYBODY_WRITES != 0).then(|| {
        format!("everybody may write to {path}; if you trust what it says: chmod o-w {word}")
    })
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::os::unix::fs::{PermissionsExt as _, lchown, symlink};

    use super::*;

    /// Says how a file is taken by the user 7.
    fn check(owner: u32, mode: u32, expect: Result<(), &str>) {
        match (distrust(Path::new("f.yaml"), owner, mode, 7), expect) {
            (None, Ok(())) => {}
            (Some(why), Err(part)) => assert!(why.contains(part), "{why}"),
            (why, _) => panic!("{owner} {mode:o}: {why:?}, not {expect:?}"),
        }
    }

    #[test]
    fn what_somebody_else_wrote_is_not_taken() {
        check(7, 0o644, Ok(()));
        check(7, 0o664, Ok(()));
        check(0, 0o644, Ok(()));
        check(8, 0o644, Err("f.yaml belongs to user 8, and you are 7"));
        check(7, 0o646, Err("chmod o-w f.yaml"));
        check(0, 0o666, Err("everybody may write to f.yaml"));
    }

    #[test]
    fn what_is_to_be_pasted_is_one_word() {
        let why = distrust(Path::new("/tmp/$(id)\u{1b}/.kai.yaml"), 8, 0o644, 7);
        let why = why.expect("it belongs to another");
        let (_, command) = why.split_once("or: ").expect("a way to go on");
        let words = shlex::split(command).expect("its quotes are closed");
        assert_eq!(words, ["sudo", "chown", "7", "/tmp/$(id)\\u{1b}/.kai.yaml"], "{command}");
        assert!(!command.contains(" /tmp/$("), "{command}");
    }

    #[test]
    fn the_mode_counts_of_what_a_link_leads_to() {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let (path, link) = (folder.path().join("f.yaml"), folder.path().join("link.yaml"));
        fs::write(&path, "x").expect("the folder is ours");
        symlink(&path, &link).expect("the folder is ours");
        for (mode, is_taken) in [(0o644, true), (0o646, false)] {
            fs::set_permissions(&path, fs::Permissions::from_mode(mode)).expect("it is ours");
            let taken = |path: &PathBuf| read_of_project(path).expect("it is there").is_ok();
            assert_eq!([taken(&path), taken(&link)], [is_taken; 2]);
        }
    }

    #[test]
    fn each_link_on_the_way_counts() {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let at = |name: &str| folder.path().join(name);
        fs::create_dir(at("below")).expect("the folder is ours");
        fs::write(at("below/f.yaml"), "x").expect("the folder is ours");
        symlink("f.yaml", at("below/second.yaml")).expect("the folder is ours");
        symlink("below/second.yaml", at("first.yaml")).expect("the folder is ours");
        symlink("circle.yaml", at("circle.yaml")).expect("the folder is ours");
        let taken = || read_of_project(&at("first.yaml")).expect("it is there");
        assert_eq!(taken().as_deref(), Ok("x"));
        assert!(read_of_project(&at("circle.yaml")).is_err());
        // Nobody else can give a link away.
        if rustix::process::geteuid().is_root() {
            lchown(at("below/second.yaml"), Some(7), None).expect("root may");
            let why = taken().expect_err("somebody else made one");
            assert!(why.contains("second.yaml belongs to user 7"), "{why}");
        }
    }

    #[test]
    fn a_pipe_is_refused_and_not_waited_for() {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let pipe = folder.path().join("pipe.yaml");
        let (kind, mode) = (rustix::fs::FileType::Fifo, rustix::fs::Mode::RUSR);
        rustix::fs::mknodat(rustix::fs::CWD, &pipe, kind, mode, 0).expect("the folder is ours");
        for path in [pipe.as_path(), folder.path()] {
            let error = read(path).expect_err("it is no file");
            assert!(error.to_string().contains("is no regular file"), "{error}");
        }
    }
}
