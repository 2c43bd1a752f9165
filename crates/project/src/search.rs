//! Looks for the entries of one kind, and reads those that are not known yet.

use crate::Diagnostic;
use crate::collection::Collection;
use crate::entry::{Context, Entry};
use crate::scan::Sighted;
use crate::shares::{cores, in_shares};
use crate::sighting::Candidate;
use crate::stamp::Stamps;
use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::Arc;

/// The entries that are known from before, by their path, with what their files looked like.
pub(crate) struct Known<T> {
    pub(crate) entries: HashMap<Box<str>, (Arc<T>, Option<Stamps>)>,
    /// Candidates that are known to be none, by their path.
    pub(crate) others: HashMap<Box<str>, Stamps>,
    /// The hash of just these, where that is known.
    pub(crate) hash: Option<String>,
}

impl<T> Default for Known<T> {
    fn default() -> Self {
        Self { entries: HashMap::new(), others: HashMap::new(), hash: None }
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
        Self { entries, others, hash }
    }

    pub(crate) fn of(collection: &Collection<T>) -> Self {
        let items = collection.items().iter().cloned();
        Self::new(items, collection.stamps.clone(), collection.known_hash().cloned())
    }
}

/// All entries of a kind. Those in `known` whose files look as they did are not read again. With `only`, no other part
/// of their folder was looked at, and what is known of the rest is taken as it is, as are `diagnostics`.
pub(crate) fn search<T: Entry>(
    context: &Context<'_>,
    sighted: Sighted,
    mut known: Known<T>,
    only: Option<&[PathBuf]>,
    mut diagnostics: Vec<Diagnostic>,
) -> Collection<T> {
    let folder = T::folder(context.paths);
    let known_before = known.entries.len();
    let (mut items, mut fresh) = (Vec::with_capacity(known_before), Vec::new());
    let mut stamps = HashMap::with_capacity(known_before);
    if let Some(parts) = only {
        let is_inside = |path: &str| parts.iter().any(|part| folder.join(path).starts_with(part));
        let kept =
            known.entries.extract_if(|path, (item, _)| !is_inside(path) && item.is_current(context.paths));
        for (path, (item, looks)) in kept {
            items.push(item);
            stamps.extend(looks.map(|looks| (path, looks)));
        }
        stamps.extend(known.others.extract_if(|path, _| !is_inside(path)));
    }
    diagnostics.extend(sighted.diagnostics);
    for sighting in sighted.sightings {
        let path = sighting.path.to_string_lossy();
        match known.entries.remove_entry(&*path) {
            Some((path, (item, looks)))
                if looks == Some(sighting.stamps) && item.is_current(context.paths) =>
            {
                items.push(item);
                stamps.insert(path, sighting.stamps);
            }
            None if known.others.get(&*path) == Some(&sighting.stamps) => {
                stamps.insert(path.into(), sighting.stamps);
            }
            _ => fresh.push((path.into(), sighting.candidate(folder))),
        }
    }
    let is_known = fresh.is_empty() && known.entries.is_empty() && items.len() == known_before;
    for read in read_all::<T>(fresh, context) {
        if let Some(item) = read.item {
            // What had a problem is read again each time, so that it is told again each time.
            if read.problems.is_empty() && !item.has_parts_elsewhere() {
                stamps.insert(read.path, read.stamps);
            }
            items.push(Arc::new(item));
        } else if T::REMEMBERS_OTHERS && read.problems.is_empty() {
            stamps.insert(read.path, read.stamps);
        }
        let told = read.problems.into_iter().map(|problem| Diagnostic::new(&read.described_in, problem));
        diagnostics.extend(told);
    }
    let found = Collection::new(items, stamps, folder, diagnostics);
    let is_known = is_known && found.len() == known_before;
    let found = found.stored(is_known);
    match known.hash {
        Some(hash) if is_known => found.with_hash(hash),
        _ => found,
    }
}

/// What came of a candidate.
struct Read<T> {
    path: Box<str>,
    stamps: Stamps,
    described_in: PathBuf,
    item: Option<T>,
    problems: Vec<String>,
}

/// Reads candidates, by several threads where there are many.
fn read_all<T: Entry>(fresh: Vec<(Box<str>, Candidate)>, context: &Context<'_>) -> Vec<Read<T>> {
    let read_some = |some: Vec<(Box<str>, Candidate)>| -> Vec<Read<T>> {
        some.into_iter().map(|(path, candidate)| read(path, candidate, context)).collect()
    };
    if fresh.len() < T::MANY {
        return read_some(fresh);
    }
    // Those that wait for a process do not need a core of their own.
    let threads = if T::MANY < 16 { 16 } else { cores() };
    in_shares(fresh, threads, read_some).into_iter().flatten().collect()
}

fn read<T: Entry>(path: Box<str>, candidate: Candidate, context: &Context<'_>) -> Read<T> {
    let (stamps, mut problems) = (candidate.stamps, Vec::new());
    let regular = stamps.file.require_regular().map_err(|error| error.to_string());
    let described_in = candidate.metadata.clone().filter(|_| regular.is_ok());
    let described_in = described_in.unwrap_or_else(|| candidate.file.clone());
    let item = match regular.and_then(|()| T::read(candidate, context, &mut problems)) {
        Ok(item) => item,
        Err(problem) => {
            problems.push(format!("is skipped: {problem}"));
            None
        }
    };
    if let Some(item) = &item {
        // Written here, where several threads share the work.
        item.canonical();
    }
    Read { path, stamps, described_in, item, problems }
}
