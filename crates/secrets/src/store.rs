//! Store: the operator's own file of secrets. It holds values, which `mcp-bash secret set` writes, and references, which a
//! person writes. Only its owner can read it.

use crate::error::FileFault;
use crate::private_file::{self, Guard};
use crate::source::Author;
use crate::sources::Sources;
use mcp_bash_files::Replacement;
use rustix::fs::{FlockOperation, flock};
use serde_json::{Map, Value, json};
use std::fs::{DirBuilder, File};
use std::io;
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};
use thiserror::Error;

/// The longest file that is read, in bytes.
const LONGEST: u64 = 4 * 1024 * 1024;

/// An operator's file of secrets, which may not exist yet.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Store {
    path: PathBuf,
}

#[derive(Debug, Error)]
pub enum StoreError {
    #[error("{}: {why}", .path.display())]
    Unreadable { path: PathBuf, why: FileFault },
    #[error("{}: it is no JSON object of secrets: line {line}, column {column}", .path.display())]
    NotJson { path: PathBuf, line: usize, column: usize },
    #[error("{} cannot be written: {why}", .path.display())]
    Unwritable { path: PathBuf, why: io::Error },
}

impl Store {
    pub fn new(path: PathBuf) -> Self {
        Self { path }
    }

    /// The file in the user's configuration folder. `None` if there is no such folder.
    pub fn of_user() -> Option<Self> {
        let folder = |name: &str| std::env::var_os(name).map(PathBuf::from).filter(|path| path.is_absolute());
        let configuration = folder("XDG_CONFIG_HOME").or_else(|| Some(folder("HOME")?.join(".config")))?;
        Some(Self::new(configuration.join("mcp-bash/secrets.json")))
    }

    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Its entries. None if there is no file.
    pub fn read(&self) -> Result<Sources, StoreError> {
        Ok(Sources::parse(&self.entries()?, Author::Operator))
    }

    /// Adds or replaces a value. The caller has checked it and the name.
    pub fn set(&self, name: &str, value: &str) -> Result<(), StoreError> {
        self.change(|entries| {
            entries.insert(name.to_owned(), json!({ "value": value }));
            true
        })?;
        Ok(())
    }

    /// Removes an entry. False if there is none.
    pub fn remove(&self, name: &str) -> Result<bool, StoreError> {
        self.change(|entries| entries.shift_remove(name).is_some())
    }

    fn entries(&self) -> Result<Map<String, Value>, StoreError> {
        let path = || self.path.clone();
        let bytes = match private_file::read_up_to(&self.path, Guard::Mode, LONGEST) {
            Ok(bytes) => zeroize::Zeroizing::new(bytes),
            Err(FileFault::Missing) => return Ok(Map::new()),
            Err(why) => return Err(StoreError::Unreadable { path: path(), why }),
        };
        // The words of the parser would repeat some of the text.
        serde_json::from_slice(&bytes).map_err(|error| {
            let (line, column) = (error.line(), error.column());
            StoreError::NotJson { path: path(), line, column }
        })
    }

    /// Changes the file under a lock, if `change` says that something is different.
    fn change(&self, change: impl FnOnce(&mut Map<String, Value>) -> bool) -> Result<bool, StoreError> {
        let unwritable = |why| StoreError::Unwritable { path: self.path.clone(), why };
        let _lock = self.lock().map_err(unwritable)?;
        let mut entries = self.entries()?;
        let is_changed = change(&mut entries);
        if is_changed {
            self.write(&entries).map_err(unwritable)?;
        }
        Ok(is_changed)
    }

    /// One change at a time, in a folder that only its owner can enter.
    fn lock(&self) -> io::Result<File> {
        let folder = self.path.parent().unwrap_or(Path::new("/"));
        DirBuilder::new().recursive(true).mode(0o700).create(folder)?;
        let folder = mcp_bash_files::open_folder(folder)?;
        flock(&folder, FlockOperation::LockExclusive)?;
        Ok(folder)
    }

    fn write(&self, entries: &Map<String, Value>) -> io::Result<()> {
        let mut text = zeroize::Zeroizing::new(serde_json::to_vec_pretty(entries)?);
        text.push(b'\n');
        let mut name = self.path.file_name().unwrap_or_default().to_owned();
        name.push(".new");
        let mut file = Replacement::create_again(self.path.with_file_name(name), self.path.clone(), 0o600)?;
        file.write(&text)?;
        file.publish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Source;
    use std::fs::{self, Permissions};
    use std::os::unix::fs::PermissionsExt;

    #[test]
    fn a_value_is_kept_where_only_its_owner_reads_it() {
        let folder = tempfile::tempdir().unwrap();
        let store = Store::new(folder.path().join("mcp-bash/secrets.json"));
        assert_eq!(store.read().unwrap(), Sources::default());
        store.set("github", "first-value").unwrap();
        store.set("gitlab", "other \"value\"\nof lines").unwrap();
        store.set("github", "second-value").unwrap();
        let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
        assert_eq!((mode(store.path()), mode(store.path().parent().unwrap())), (0o600, 0o700));
        let sources = store.read().unwrap();
        assert_eq!(sources.names().collect::<Vec<_>>(), ["github", "gitlab"]);
        let Some(Ok(Source::Value(secret))) = sources.get("gitlab") else { panic!("{sources:?}") };
        assert_eq!(secret.reveal(), b"other \"value\"\nof lines");
        assert!(store.remove("github").unwrap());
        assert!(!store.remove("github").unwrap());
        let files: Vec<_> = fs::read_dir(store.path().parent().unwrap()).unwrap().collect();
        assert_eq!(files.len(), 1, "nothing is left beside it: {files:?}");
    }

    #[test]
    fn entries_that_a_person_wrote_stay() {
        let folder = tempfile::tempdir().unwrap();
        let store = Store::new(folder.path().join("secrets.json"));
        fs::write(store.path(), r#"{"a": {"command": ["pass", "a"]}}"#).unwrap();
        fs::set_permissions(store.path(), Permissions::from_mode(0o600)).unwrap();
        store.set("b", "12345678").unwrap();
        assert!(matches!(store.read().unwrap().get("a"), Some(Ok(Source::Command { .. }))));
    }

    #[test]
    fn a_file_that_others_read_or_that_is_broken_is_refused_and_not_overwritten() {
        let folder = tempfile::tempdir().unwrap();
        let store = Store::new(folder.path().join("secrets.json"));
        for (text, mode, said) in
            [("{}", 0o644, "chmod 600"), (r#"{"a": "hunter2-hunter2"#, 0o600, "line 1, column")]
        {
            fs::write(store.path(), text).unwrap();
            fs::set_permissions(store.path(), Permissions::from_mode(mode)).unwrap();
            let error = store.set("a", "12345678").unwrap_err().to_string();
            assert!(error.contains(said) && !error.contains("hunter2"), "{error}");
            assert!(store.read().is_err());
            assert_eq!(fs::read_to_string(store.path()).unwrap(), text);
        }
    }

    #[test]
    fn changes_at_the_same_time_lose_nothing() {
        let folder = tempfile::tempdir().unwrap();
        let store = Store::new(folder.path().join("secrets.json"));
        std::thread::scope(|scope| {
            for number in 0..8 {
                let store = &store;
                scope.spawn(move || store.set(&format!("s{number}"), "12345678").unwrap());
            }
        });
        assert_eq!(store.read().unwrap().names().count(), 8);
    }
}
