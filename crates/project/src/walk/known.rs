//! Known entries: from the registry, or from the catalog that a reload replaces.

use crate::Diagnostic;
use crate::ground::stamp::{Stamp, Stamps};
use crate::walk::collection::Collection;
use crate::walk::entry::Entry;
use crate::walk::listing::KnownFiles;
use std::collections::HashMap;
use std::sync::Arc;

/// The known entries, by path, with the stamps of their files.
pub(crate) struct Known<T> {
    pub(crate) entries: HashMap<Box<str>, (Arc<T>, Option<Stamps>)>,
    /// Candidates known not to be entries, by path.
    pub(crate) others: HashMap<Box<str>, Stamps>,
    /// The hash of exactly these, if it is known.
    pub(crate) hash: Option<String>,
    /// What was wrong.
    pub(crate) diagnostics: Vec<Diagnostic>,
}

impl<T> Default for Known<T> {
    fn default() -> Self {
        Self { entries: HashMap::new(), others: HashMap::new(), hash: None, diagnostics: Vec::new() }
    }
}

impl<T: Entry> Known<T> {
    pub(crate) fn new(
        items: impl IntoIterator<Item = Arc<T>>,
        mut stamps: HashMap<Box<str>, Stamps>,
        hash: Option<String>,
    ) -> Self {
        let entries = items.into_iter().map(|item| match stamps.remove_entry(item.path()) {
            Some((path, looks)) => (path, (item, Some(looks))),
            None => (item.path().into(), (item, None)),
        });
        let entries = entries.collect();
        let others = if T::REMEMBERS_OTHERS { stamps } else { HashMap::new() };
        Self { entries, others, hash, diagnostics: Vec::new() }
    }

    pub(crate) fn of(collection: &Collection<T>) -> Self {
        let items = collection.items().iter().cloned();
        let known = Self::new(items, collection.stamps.clone(), collection.known_hash().cloned());
        Self { diagnostics: collection.diagnostics.clone(), ..known }
    }
}

impl<T: Send + Sync> KnownFiles for Known<T> {
    fn is_known(&self, path: &str, stamp: Stamp) -> bool {
        let looks = Some(Stamps { file: stamp, metadata: None });
        self.entries.get(path).is_some_and(|(_, known)| *known == looks)
    }

    fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }
}
