//! Search: finds the entries of one kind, and reads those that are not known yet.

use crate::Diagnostic;
use crate::ground::shares::{cores, in_shares};
use crate::ground::stamp::Stamps;
use crate::walk::collection::Collection;
use crate::walk::entry::{Context, Entry, Unread};
use crate::walk::known::Known;
use crate::walk::scan::Sighted;
use crate::walk::settling::is_being_written;
use crate::walk::sighting::Candidate;
use mcp_bash_files::{look, shortage};
use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// All entries of a kind. Those in `known` whose files look unchanged are not read again. With `only`, no other part of
/// their folder was walked, and known entries and `diagnostics` of the rest stay as they are.
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
            before => {
                let before = before.map(|(_, (item, _))| item);
                let was_other = known.others.get(&*path).copied();
                let path = path.into();
                fresh.push(Fresh { path, candidate: sighting.candidate(folder), before, was_other });
            }
        }
    }
    let mut is_unsettled = false;
    let is_known = fresh.is_empty() && known.entries.is_empty() && items.len() == known_before;
    for read in read_all::<T>(fresh, context) {
        is_unsettled |= read.state == ReadState::Unsettled;
        if matches!(read.state, ReadState::Awaited | ReadState::Unsettled) {
            // Until the file's new definitions are known, the old entry stays; without a stamp, or with the old one, it is
            // read again.
            items.extend(read.before);
            stamps.extend(read.was_other.map(|looks| (read.path, looks)));
            let wrong = known.diagnostics.iter().filter(|told| told.path == read.described_in);
            diagnostics.extend(wrong.cloned());
        } else if read.state == ReadState::NotNow {
            items.extend(read.before.filter(|_| context.is_followed));
        } else if let Some(item) = read.item {
            // An entry with a problem is read again each time, so that it is reported again each time.
            if read.problems.is_empty() && !read.met_shortage && !item.has_parts_elsewhere() {
                stamps.insert(read.path, read.stamps);
            }
            items.push(Arc::new(item));
        } else if T::REMEMBERS_OTHERS && read.problems.is_empty() && !read.met_shortage {
            stamps.insert(read.path, read.stamps);
        }
        let told = read.problems.into_iter().map(|problem| Diagnostic::new(&read.described_in, problem));
        diagnostics.extend(told);
    }
    let found = Collection::new(items, stamps, folder, diagnostics).unsettled(is_unsettled);
    let is_known = is_known && found.len() == known_before;
    let found = found.stored(is_known);
    match known.hash {
        Some(hash) if is_known => found.with_hash(hash),
        _ => found,
    }
}

/// A candidate that is not known, or looks different from the known one.
struct Fresh<T> {
    path: Box<str>,
    candidate: Candidate,
    before: Option<Arc<T>>,
    /// Its stamps when it was known not to be an entry of this kind.
    was_other: Option<Stamps>,
}

/// The result of reading a candidate.
struct Read<T> {
    path: Box<str>,
    stamps: Stamps,
    described_in: PathBuf,
    item: Option<T>,
    state: ReadState,
    /// Whether the system was short of something, so that the result may be incomplete.
    met_shortage: bool,
    before: Option<Arc<T>>,
    was_other: Option<Stamps>,
    problems: Vec<String>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum ReadState {
    /// It is what was read.
    Known,
    /// It is being asked for its definitions.
    Awaited,
    /// It could not report its definitions, and is asked again.
    NotNow,
    /// It is being written.
    Unsettled,
}

/// From this many candidates on, several threads read them.
const MANY: usize = 256;

/// Reads candidates, with several threads if there are many.
fn read_all<T: Entry>(fresh: Vec<Fresh<T>>, context: &Context<'_>) -> Vec<Read<T>> {
    let read_some = |some: Vec<Fresh<T>>| -> Vec<Read<T>> {
        some.into_iter().map(|fresh| read(fresh, context)).collect()
    };
    if fresh.len() < MANY {
        return read_some(fresh);
    }
    in_shares(fresh, cores(), read_some).into_iter().flatten().collect()
}

fn read<T: Entry>(fresh: Fresh<T>, context: &Context<'_>) -> Read<T> {
    let Fresh { path, candidate, before, was_other } = fresh;
    let (stamps, mut problems, mut state) = (candidate.stamps, Vec::new(), ReadState::Known);
    let regular = stamps.file.require_regular();
    let described_in = candidate.metadata.clone().filter(|_| regular.is_ok());
    let described_in = described_in.unwrap_or_else(|| candidate.file.clone());
    let files = [Some(candidate.file.clone()), candidate.metadata.clone()];
    let reading = || {
        regular?;
        T::read(candidate, context, &mut problems)
    };
    let (read, shortage) = shortage::during(reading);
    let item = match read {
        Ok(item) => item,
        Err(Unread::Awaited) => {
            state = ReadState::Awaited;
            None
        }
        Err(Unread::NotNow(problem)) => {
            state = ReadState::NotNow;
            let is_kept = context.is_followed && before.is_some();
            let happens = if is_kept { "is served as it was before" } else { "is skipped" };
            problems.push(format!("{happens}: {problem}"));
            None
        }
        Err(Unread::Unusable(problem)) => {
            problems.push(format!("is skipped: {problem}"));
            None
        }
    };
    if state == ReadState::Known && context.is_followed {
        // An empty file is not what its author meant: it is about to be written. The same goes for a file that has lost
        // what made it an entry of another kind, or its description.
        let is_lost = match (&item, &before) {
            (None, before) => before.is_some(),
            (Some(item), Some(before)) => before.is_described() && !item.is_described(),
            (Some(item), None) => was_other.is_some() && !item.is_described(),
        };
        let is_lost = is_lost || files.iter().flatten().any(|file| is_empty(file));
        let parts = before.as_ref().map(|known| known.parts(context.paths)).unwrap_or_default();
        if is_lost && files.iter().flatten().chain(&parts).any(|file| is_being_written(file)) {
            state = ReadState::Unsettled;
            problems.clear();
        }
    }
    if let Some(item) = &item {
        // Computed here, where several threads share the work.
        item.canonical();
    }
    let met_shortage = shortage.is_some();
    Read { path, stamps, described_in, item, state, met_shortage, before, was_other, problems }
}

fn is_empty(file: &Path) -> bool {
    look::metadata(file).is_ok_and(|file| file.len() == 0)
}
