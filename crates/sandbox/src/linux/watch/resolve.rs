//! Resolution: what a reported call would touch, by the files that exist at that moment.

use super::HiddenHome;
use super::process::{Address, WatchedProcess, low_half};
use crate::attempts::{Attempt, Deed, Target};
use crate::seccomp::watched::{How, Named};
use std::fs;
use std::path::{Component, Path, PathBuf};

/// Paths that lead to the descriptors of the process that opens them.
const DESCRIPTORS: [&str; 6] =
    ["/proc/self/fd", "/proc/thread-self/fd", "/dev/fd", "/dev/stdin", "/dev/stdout", "/dev/stderr"];

/// The terminal, which shells try to open when they start, and calls do not have.
const TERMINAL: &str = "/dev/tty";

/// Paths that lead to the process that opens them.
const ITSELF: [&str; 2] = ["/proc/self", "/proc/thread-self"];

/// What a call names could not be read.
pub(super) struct Unread;

/// The attempt of a call, if what it names is touched at all.
pub(super) fn attempt(
    process: &WatchedProcess,
    named: Named,
    arguments: &[u64; 6],
    home: Option<&HiddenHome>,
) -> Result<Option<Attempt>, Unread> {
    let argument = |index: u8| arguments.get(usize::from(index)).copied().unwrap_or_default();
    match named {
        Named::Path { folder, path, how } => {
            let written = process.path(argument(path), folder.map(argument)).ok_or(Unread)?;
            let flags = match how {
                How::Open(flags) => low_half(argument(flags)),
                How::OpenAsToldBy(how) => low_half(process.number(argument(how)).ok_or(Unread)?),
                _ => 0,
            };
            Ok(on_path(&written, how, flags, home))
        }
        Named::Peer { address, length } => {
            let address = process.socket_address(argument(address), argument(length));
            Ok(address.map(|address| Attempt { deed: Deed::Connect, target: target(address) }))
        }
        Named::Own { address, length } => {
            let address = process.socket_address(argument(address), argument(length));
            Ok(address.map(|address| {
                let deed = if matches!(address, Address::Path(_)) { Deed::Create } else { Deed::Listen };
                Attempt { deed, target: target(address) }
            }))
        }
    }
}

fn target(address: Address) -> Target {
    match address {
        Address::Internet(address) => Target::Address(address),
        Address::Path(path) => Target::Path(fs::canonicalize(&path).unwrap_or(path)),
        Address::Abstract(name) => Target::Abstract(name),
    }
}

fn on_path(written: &Path, how: How, flags: i32, home: Option<&HiddenHome>) -> Option<Attempt> {
    if written == Path::new(TERMINAL) || DESCRIPTORS.iter().any(|own| written.starts_with(own)) {
        return None;
    }
    let follows = !matches!(how, How::Make | How::Replace | How::Remove);
    let (path, exists) = resolved(written, follows);
    let deed = match how {
        How::Open(_) | How::OpenAsToldBy(_) => opened(flags, exists),
        How::OpenNew => Some(if exists { Deed::Write } else { Deed::Create }),
        How::Run => exists.then_some(Deed::Run),
        How::Make => (!exists).then_some(Deed::Create),
        How::Replace => Some(Deed::Create),
        How::Remove => exists.then_some(Deed::Remove),
        How::Truncate => exists.then_some(Deed::Write),
        How::Look => None,
    };
    let (path, deed) = match deed {
        Some(deed) => (path, deed),
        None if !exists && !matches!(how, How::Make | How::Remove) => {
            (hidden(written, &path, home?)?, Deed::Read)
        }
        None => return None,
    };
    Some(Attempt { deed, target: Target::Path(path) })
}

/// What `open` does with these flags.
fn opened(flags: i32, exists: bool) -> Option<Deed> {
    if flags & libc::O_PATH != 0 {
        return None;
    }
    let writes = flags & libc::O_ACCMODE != libc::O_RDONLY || flags & libc::O_TRUNC != 0;
    match (exists, writes) {
        (true, true) => Some(Deed::Write),
        (true, false) => Some(Deed::Read),
        (false, _) => (flags & libc::O_CREAT != 0).then_some(Deed::Create),
    }
}

/// The path without links, and whether it exists.
fn resolved(path: &Path, follows: bool) -> (PathBuf, bool) {
    if ITSELF.iter().any(|itself| path.starts_with(itself)) {
        return (path.to_owned(), true);
    }
    if follows && let Ok(path) = fs::canonicalize(path) {
        return (path, true);
    }
    let parent = path.parent().and_then(|parent| fs::canonicalize(parent).ok());
    match (parent, path.file_name()) {
        (Some(parent), Some(name)) => {
            let path = parent.join(name);
            let exists = !follows && fs::symlink_metadata(&path).is_ok();
            (path, exists)
        }
        _ => (without_dots(path), false),
    }
}

/// The path without `.` and `..`, as far as the text tells.
fn without_dots(path: &Path) -> PathBuf {
    let mut clean = PathBuf::new();
    for part in path.components() {
        match part {
            Component::ParentDir => drop(clean.pop()),
            Component::CurDir => {}
            other => clean.push(other),
        }
    }
    clean
}

/// The file of the user's home that a process does not see, if it looked for it in its own.
fn hidden(written: &Path, resolved: &Path, home: &HiddenHome) -> Option<PathBuf> {
    let written = without_dots(written);
    let below = home.own.iter().find_map(|own| {
        written.strip_prefix(own).or_else(|_| resolved.strip_prefix(own)).ok().map(Path::to_owned)
    })?;
    if below.as_os_str().is_empty() {
        return None;
    }
    fs::canonicalize(home.user.join(below)).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_call_touches_what_exists_or_would_be_created() {
        let folder = tempfile::tempdir().unwrap();
        let root = fs::canonicalize(folder.path()).unwrap();
        fs::write(root.join("a"), "").unwrap();
        std::os::unix::fs::symlink("a", root.join("link")).unwrap();
        let deed = |name: &str, how, flags| {
            on_path(&root.join(name), how, flags, None).map(|attempt| match attempt.target {
                Target::Path(path) => (attempt.deed, path.strip_prefix(&root).unwrap().to_owned()),
                other => panic!("{other:?}"),
            })
        };
        let on = |deed, name: &str| Some((deed, PathBuf::from(name)));
        let open = How::Open(1);
        assert_eq!(deed("link", open, libc::O_RDONLY), on(Deed::Read, "a"));
        assert_eq!(deed("x/../a", open, libc::O_RDONLY), None);
        assert_eq!(deed("a", open, libc::O_RDWR | libc::O_CREAT), on(Deed::Write, "a"));
        assert_eq!(deed("b", open, libc::O_WRONLY | libc::O_CREAT), on(Deed::Create, "b"));
        assert_eq!(deed("b", open, libc::O_RDONLY), None);
        assert_eq!(deed("a", open, libc::O_PATH), None);
        assert_eq!(deed("link", How::Remove, 0), on(Deed::Remove, "link"));
        assert_eq!((deed("b", How::Remove, 0), deed("a", How::Make, 0)), (None, None));
        assert_eq!(deed("a", How::Replace, 0), on(Deed::Create, "a"));
        assert_eq!(deed("a", How::Look, 0), None);
    }

    #[test]
    fn a_file_that_only_the_users_home_has_was_looked_for() {
        let folder = tempfile::tempdir().unwrap();
        let root = fs::canonicalize(folder.path()).unwrap();
        fs::create_dir_all(root.join("user/.ssh")).unwrap();
        fs::write(root.join("user/.ssh/id"), "").unwrap();
        fs::create_dir(root.join("own")).unwrap();
        let home = HiddenHome { own: vec![root.join("own")], user: root.join("user") };
        let look = |name: &str| on_path(&root.join(name), How::Look, 0, Some(&home));
        let expected = Attempt { deed: Deed::Read, target: Target::Path(root.join("user/.ssh/id")) };
        assert_eq!(look("own/.ssh/id"), Some(expected));
        assert_eq!((look("own/.ssh/none"), look("own"), look("elsewhere/.ssh/id")), (None, None, None));
    }
}
