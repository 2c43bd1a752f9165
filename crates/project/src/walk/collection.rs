//! Collection: all entries of one kind.

use crate::Diagnostic;
use crate::ground::stamp::Stamps;
use crate::walk::entry::Entry;
use sha2::{Digest, Sha256};
use std::collections::HashMap;
use std::fmt::Write as _;
use std::path::Path;
use std::sync::{Arc, OnceLock};

/// The entries of one kind, sorted by name; each name is unique.
#[derive(Debug)]
pub struct Collection<T> {
    items: Vec<Arc<T>>,
    /// The stamps of their files, by path.
    pub(crate) stamps: HashMap<Box<str>, Stamps>,
    hash: OnceLock<String>,
    /// Whether the registry on disk says the same.
    pub(crate) is_stored: bool,
    /// Whether entries were skipped because another one has their name.
    pub(crate) has_clashes: bool,
    /// Whether an entry is as it was before, because its file is being written.
    pub(crate) is_unsettled: bool,
    /// What was skipped, and why.
    pub(crate) diagnostics: Vec<Diagnostic>,
}

impl<T> Default for Collection<T> {
    fn default() -> Self {
        Self {
            items: Vec::new(),
            stamps: HashMap::new(),
            hash: OnceLock::new(),
            is_stored: false,
            has_clashes: false,
            is_unsettled: false,
            diagnostics: Vec::new(),
        }
    }
}

impl<T> Collection<T> {
    pub fn items(&self) -> &[Arc<T>] {
        &self.items
    }

    pub fn len(&self) -> usize {
        self.items.len()
    }

    pub fn is_empty(&self) -> bool {
        self.items.is_empty()
    }
}

#[expect(private_bounds, reason = "which kinds there are is this crate's own business")]
impl<T: Entry> Collection<T> {
    /// Of entries with the same name, the first by path is taken; the others are reported as skipped.
    pub(crate) fn new(
        mut items: Vec<Arc<T>>,
        mut stamps: HashMap<Box<str>, Stamps>,
        folder: &Path,
        mut diagnostics: Vec<Diagnostic>,
    ) -> Self {
        items.sort_by(|one, other| (one.name(), one.path()).cmp(&(other.name(), other.path())));
        let count = items.len();
        let mut left: Vec<Arc<T>> = Vec::with_capacity(count);
        for item in items {
            match left.last() {
                Some(known) if known.name() == item.name() => {
                    // Without a stamp it is read again each time, so that it is reported again each time.
                    stamps.remove(item.path());
                    let (name, known, other) = (item.name(), known.path(), item.path());
                    let skipped = format!("is skipped: {known} is called `{name}` too; rename one of them");
                    let served =
                        format!("is served as `{name}`, and {other}, which is called so too, is not");
                    diagnostics.push(Diagnostic::new(folder.join(other), skipped));
                    diagnostics.push(Diagnostic::new(folder.join(known), served));
                }
                _ => left.push(item),
            }
        }
        let has_clashes = left.len() < count;
        let hash = OnceLock::new();
        Self { items: left, stamps, hash, is_stored: false, has_clashes, is_unsettled: false, diagnostics }
    }

    /// The index of the entry of that name in [`Collection::items`].
    pub fn place(&self, name: &str) -> Option<usize> {
        self.items.binary_search_by(|item| item.name().cmp(name)).ok()
    }

    pub fn get(&self, name: &str) -> Option<&Arc<T>> {
        Some(&self.items[self.place(name)?])
    }

    /// The same collection, marked whether the registry on disk agrees.
    pub(crate) fn stored(self, is_stored: bool) -> Self {
        Self { is_stored, ..self }
    }

    /// The same collection, marked whether it must be read again once its files are no longer being written.
    pub(crate) fn unsettled(self, is_unsettled: bool) -> Self {
        Self { is_unsettled, ..self }
    }

    /// The same collection, with its known hash.
    pub(crate) fn with_hash(self, hash: String) -> Self {
        Self { hash: hash.into(), ..self }
    }

    /// The hash, if it was computed already.
    pub(crate) fn known_hash(&self) -> Option<&String> {
        self.hash.get()
    }

    /// Changes when the entries do. Computed on first use, because most servers never need it.
    pub fn hash(&self) -> &str {
        self.hash.get_or_init(|| {
            let mut digest = Sha256::new();
            digest.update(b"[");
            for (index, item) in self.items.iter().enumerate() {
                if index > 0 {
                    digest.update(b",");
                }
                digest.update(item.canonical());
            }
            digest.update(b"]");
            let mut text = String::with_capacity(64);
            for byte in digest.finalize() {
                let _ = write!(text, "{byte:02x}");
            }
            text
        })
    }
}
