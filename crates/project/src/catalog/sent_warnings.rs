//! Sent warnings: which warnings each client has received, kept beside the registry. Without this, a client that starts a
//! server for each call would receive the same warnings each time. If the file cannot be read or written, all warnings are
//! sent.

use crate::catalog::registry::{judge, make_folder, replace};
use crate::{Paths, trust};
use serde_json::{Map, Value};
use std::collections::HashSet;
use std::io;

const FILE: &str = "sent-warnings.json";

/// A larger file is not ours.
const LONGEST: u64 = 256 * 1024;

/// Only the most recent clients are kept.
const MOST_CLIENTS: usize = 50;

/// The beginning of a name is enough to tell clients apart.
const LONGEST_NAME: usize = 100;

#[derive(Debug, Clone)]
pub struct SentWarnings {
    paths: Paths,
}

impl SentWarnings {
    pub fn new(paths: &Paths) -> Self {
        Self { paths: paths.clone() }
    }

    /// The digests of the warnings that a client received last.
    pub fn of(&self, client: &str) -> HashSet<String> {
        let digests = self.all().remove(&*key(client));
        let digests = digests.as_ref().and_then(Value::as_array).into_iter().flatten();
        digests.filter_map(|digest| digest.as_str().map(str::to_owned)).collect()
    }

    /// Stores the warnings that a client has received, replacing the earlier ones.
    pub fn store(&self, client: &str, digests: &HashSet<String>) -> io::Result<()> {
        make_folder(&self.paths)?;
        if !judge(&self.paths).unwrap_or_default() {
            return Ok(());
        }
        let mut all = self.all();
        all.shift_remove(&*key(client));
        while all.len() >= MOST_CLIENTS {
            let oldest = all.keys().next().cloned().unwrap_or_default();
            all.shift_remove(&oldest);
        }
        let mut digests: Vec<&String> = digests.iter().collect();
        digests.sort_unstable();
        all.insert(key(client), digests.into_iter().cloned().collect());
        replace(&self.paths.registry, FILE, &format!("{}\n", Value::Object(all)))
    }

    fn all(&self) -> Map<String, Value> {
        if !judge(&self.paths).unwrap_or_default() {
            return Map::new();
        }
        let text = trust::read_in_trusted_folder(&self.paths.registry.join(FILE), LONGEST);
        let text = text.ok().flatten().unwrap_or_default();
        serde_json::from_slice(&text).unwrap_or_default()
    }
}

fn key(client: &str) -> String {
    client.chars().take(LONGEST_NAME).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;
    use std::os::unix::fs::{PermissionsExt, symlink};

    fn digests(names: &[&str]) -> HashSet<String> {
        names.iter().map(ToString::to_string).collect()
    }

    #[test]
    fn each_client_has_its_own_and_the_last_ones_are_kept() {
        let folder = tempfile::tempdir().unwrap();
        let sent = SentWarnings::new(&Paths::of(folder.path()));
        assert!(sent.of("a").is_empty());
        sent.store("a", &digests(&["1", "2"])).unwrap();
        sent.store("b", &digests(&["3"])).unwrap();
        sent.store("a", &digests(&["2"])).unwrap();
        assert_eq!((sent.of("a"), sent.of("b")), (digests(&["2"]), digests(&["3"])));
        for number in 0..MOST_CLIENTS {
            sent.store(&format!("{}{number}", "x".repeat(50)), &digests(&["4"])).unwrap();
        }
        assert!(sent.of("a").is_empty(), "forgotten");
        assert_eq!(sent.of(&format!("{}49", "x".repeat(50))), digests(&["4"]));
    }

    #[test]
    fn a_file_of_others_and_a_folder_that_cannot_be_written_are_left_alone() {
        let folder = tempfile::tempdir().unwrap();
        let registry = folder.path().join(".registry");
        let sent = SentWarnings::new(&Paths::of(folder.path()));
        for text in ["[", "[]", "{\"a\": 1}", "{\"a\": [1]}"] {
            fs::create_dir_all(&registry).unwrap();
            fs::write(registry.join(FILE), text).unwrap();
            assert!(sent.of("a").is_empty(), "{text}");
        }
        let elsewhere = folder.path().join("elsewhere");
        fs::write(&elsewhere, "{\"a\": [\"1\"]}").unwrap();
        fs::remove_file(registry.join(FILE)).unwrap();
        symlink(&elsewhere, registry.join(FILE)).unwrap();
        sent.store("a", &digests(&["2"])).unwrap();
        assert_eq!(fs::read_to_string(&elsewhere).unwrap(), "{\"a\": [\"1\"]}", "the link was replaced");
        fs::set_permissions(&registry, fs::Permissions::from_mode(0o777)).unwrap();
        assert!(sent.of("a").is_empty(), "others may have written it");
        sent.store("a", &digests(&["5"])).unwrap();
        fs::set_permissions(&registry, fs::Permissions::from_mode(0o755)).unwrap();
        assert_eq!(sent.of("a"), digests(&["2"]));
    }
}
