//! Token file edits: one at a time, atomic, and with the permissions of the file preserved.

use super::token_file::{TokenFileError, TokenLine, TokenText};
use crate::http::secrets::guarded_file::{GuardedFileError, read_secret};
use mcp_bash_files::Replacement;
use rustix::fs::{FlockOperation, fchown, flock};
use std::fs::{self, File, Permissions};
use std::io::{self, Write};
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};

#[derive(Debug, thiserror::Error)]
pub enum TokenEditError {
    #[error(transparent)]
    File(#[from] GuardedFileError),
    #[error("`{}`, {problem}; fix that line first", path.display())]
    Line { path: PathBuf, problem: TokenFileError },
    #[error(
        "`{}` has a token for `{name}` already; choose another name, or take that one out first with `mcp-bash token remove {name} --file {}`",
        path.display(), path.display()
    )]
    Exists { path: PathBuf, name: String },
    #[error("`{}` has no token for `{name}`", path.display())]
    Missing { path: PathBuf, name: String },
    #[error("`{}` cannot be written: {error}", path.display())]
    Write { path: PathBuf, error: io::Error },
}

/// Reads the tokens of a file, and its invalid lines.
pub fn read_tokens(path: &Path) -> Result<TokenText, TokenEditError> {
    Ok(TokenText::parse(&read_secret(path)?))
}

/// Adds a token. If the file does not exist, it is created readable only by its owner.
pub fn add_token(path: &Path, token: &TokenLine) -> Result<(), TokenEditError> {
    change(path, |mut text| {
        let known = TokenText::parse(text.as_bytes());
        if known.tokens.iter().any(|known| known.name() == token.name()) {
            return Err(TokenEditError::Exists { path: path.to_owned(), name: token.name().to_string() });
        }
        // An invalid line could be one of the same name.
        if let Some(problem) = known.problems.into_iter().next() {
            return Err(TokenEditError::Line { path: path.to_owned(), problem });
        }
        if !text.is_empty() && !text.ends_with('\n') {
            text.push('\n');
        }
        Ok(format!("{text}{token}\n"))
    })
}

/// Removes the token of that name, even if its line is invalid.
pub fn remove_token(path: &Path, name: &str) -> Result<(), TokenEditError> {
    // A missing file is an error here, not an empty file.
    read_secret(path)?;
    change(path, |text| {
        TokenText::without(&text, name)
            .ok_or_else(|| TokenEditError::Missing { path: path.to_owned(), name: name.to_owned() })
    })
}

fn change(
    path: &Path,
    edit: impl FnOnce(String) -> Result<String, TokenEditError>,
) -> Result<(), TokenEditError> {
    let failed = |error| TokenEditError::Write { path: path.to_owned(), error };
    // The target of a symbolic link, so that the link itself is not replaced.
    let target = path.canonicalize().unwrap_or_else(|_| path.to_owned());
    let _lock = lock(&target).map_err(failed)?;
    let text = match read_secret(&target) {
        Ok(bytes) => String::from_utf8(bytes)
            .map_err(|_| TokenEditError::Line { path: path.to_owned(), problem: TokenFileError::NoText })?,
        Err(GuardedFileError::Unreadable { error, .. }) if error.kind() == io::ErrorKind::NotFound => {
            String::new()
        }
        Err(error) => return Err(error.into()),
    };
    replace(&target, &edit(text)?).map_err(failed)
}

/// Locks the folder of the file against concurrent edits until the lock is dropped.
fn lock(path: &Path) -> io::Result<File> {
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let folder = mcp_bash_files::open_folder(folder)?;
    flock(&folder, FlockOperation::LockExclusive)?;
    Ok(folder)
}

/// Writes a new file and renames it over the old one. Owner, group and mode are preserved, for a server that runs as another
/// user.
fn replace(path: &Path, text: &str) -> io::Result<()> {
    let name = path.file_name().ok_or(io::ErrorKind::InvalidInput)?;
    let beside = path.with_file_name(format!(".{}.new", name.to_string_lossy()));
    // A file of that name was left by a killed process: the lock excludes other writers.
    let mut draft = Replacement::create_again(beside, path.to_owned(), 0o600)?;
    write_like(&mut draft.file, path, text)?;
    draft.publish()
}

fn write_like(file: &mut File, old: &Path, text: &str) -> io::Result<()> {
    if let Ok(old) = fs::metadata(old) {
        let new = file.metadata()?;
        if (old.uid(), old.gid()) != (new.uid(), new.gid()) {
            let (owner, group) = (rustix::fs::Uid::from_raw(old.uid()), rustix::fs::Gid::from_raw(old.gid()));
            fchown(&*file, Some(owner), Some(group))?;
        }
        file.set_permissions(Permissions::from_mode(old.mode() & 0o777))?;
    }
    file.write_all(text.as_bytes())?;
    file.sync_all()
}

#[cfg(test)]
mod tests {
    use super::super::token_file::Grant;
    use super::*;
    use std::os::unix::fs::{PermissionsExt, symlink};

    fn token(name: &str) -> TokenLine {
        TokenLine::generate(name, Grant::default()).unwrap().0
    }

    fn names(path: &Path) -> Vec<String> {
        read_tokens(path).unwrap().tokens.iter().map(|token| token.name().to_string()).collect()
    }

    fn mode(path: &Path) -> u32 {
        fs::metadata(path).unwrap().mode() & 0o777
    }

    #[test]
    fn tokens_come_and_go_and_the_rest_stays() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("tokens");
        add_token(&path, &token("alice")).unwrap();
        assert_eq!(mode(&path), 0o600);
        let text = fs::read_to_string(&path).unwrap();
        fs::write(&path, format!("# ours\n{}", text.trim_end())).unwrap();
        fs::set_permissions(&path, Permissions::from_mode(0o640)).unwrap();
        add_token(&path, &token("bob")).unwrap();
        assert_eq!((names(&path), mode(&path)), (vec!["alice".to_owned(), "bob".to_owned()], 0o640));
        assert!(matches!(add_token(&path, &token("bob")), Err(TokenEditError::Exists { .. })));
        remove_token(&path, "alice").unwrap();
        assert!(matches!(remove_token(&path, "alice"), Err(TokenEditError::Missing { .. })));
        assert!(fs::read_to_string(&path).unwrap().starts_with("# ours\nbob sha256:"));
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1, "nothing is left beside it");
    }

    #[test]
    fn many_at_once_lose_nothing() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("tokens");
        std::thread::scope(|scope| {
            for number in 0..16 {
                let path = &path;
                scope.spawn(move || add_token(path, &token(&format!("n{number}"))).unwrap());
            }
        });
        assert_eq!(names(&path).len(), 16);
    }

    #[test]
    fn a_link_stays_one_and_a_writable_file_is_not_trusted() {
        let folder = tempfile::tempdir().unwrap();
        let [path, link] = ["tokens", "link"].map(|name| folder.path().join(name));
        add_token(&path, &token("alice")).unwrap();
        symlink(&path, &link).unwrap();
        add_token(&link, &token("bob")).unwrap();
        assert!(link.is_symlink() && names(&path).len() == 2);
        fs::set_permissions(&path, Permissions::from_mode(0o666)).unwrap();
        assert!(matches!(add_token(&path, &token("eve")), Err(TokenEditError::File(_))));
        assert!(matches!(remove_token(&path, "bob"), Err(TokenEditError::File(_))));
    }

    #[test]
    fn an_invalid_line_must_be_fixed_or_removed_first() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("tokens");
        add_token(&path, &token("alice")).unwrap();
        let text = fs::read_to_string(&path).unwrap();
        fs::write(&path, format!("{text}bob hunter2\n")).unwrap();
        let refused = add_token(&path, &token("bob")).unwrap_err();
        assert!(matches!(refused, TokenEditError::Line { .. }) && !refused.to_string().contains("hunter2"));
        remove_token(&path, "bob").unwrap();
        add_token(&path, &token("bob")).unwrap();
        // A file left by a killed process does no harm.
        fs::write(folder.path().join(".tokens.new"), "half").unwrap();
        remove_token(&path, "bob").unwrap();
        assert_eq!(names(&path), ["alice"]);
    }
}
