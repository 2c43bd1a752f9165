//! Names that say that something may be lost or leave the house.

const DANGEROUS: [&str; 38] = [
    "apply",
    "clean",
    "clear",
    "clobber",
    "dd",
    "delete",
    "deploy",
    "destroy",
    "distclean",
    "down",
    "drop",
    "erase",
    "fdisk",
    "force",
    "format",
    "kill",
    "killall",
    "mkfs",
    "nuke",
    "overwrite",
    "parted",
    "pkill",
    "prune",
    "publish",
    "purge",
    "push",
    "release",
    "remove",
    "reset",
    "rm",
    "rmdir",
    "rollback",
    "shred",
    "truncate",
    "uninstall",
    "unlink",
    "wipe",
    "wipefs",
];

/// Whether a word of the name is one of those: `db:reset`, `clean-all`, `rm`.
pub(crate) fn sounds_destructive(name: &str) -> bool {
    let mut words = name.split(|letter: char| !letter.is_ascii_alphanumeric());
    words.any(|word| DANGEROUS.contains(&&*word.to_ascii_lowercase()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_word_of_the_name_tells() {
        assert!(DANGEROUS.is_sorted());
        for name in ["clean", "db:reset", "clean-all", "rm", "Deploy_Prod"] {
            assert!(sounds_destructive(name), "{name}");
        }
        for name in ["build", "information", "cleaner-fish", "test"] {
            assert!(!sounds_destructive(name), "{name}");
        }
    }
}
