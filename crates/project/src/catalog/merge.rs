//! Tool list: merges the tools of scripts and of providers.

use crate::kinds::functions::FunctionFile;
use crate::kinds::providers::{Duplicate, Provider};
use crate::walk::collection::Collection;
use crate::walk::entry::Entry;
use crate::{Diagnostic, Paths, Tool};
use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

/// The entries that were found, and those of function files. A name that several share belongs to the first.
pub(crate) fn joined<T: Entry>(
    found: &Arc<Collection<T>>,
    functions: &Collection<FunctionFile>,
    of: impl Fn(&FunctionFile) -> &Vec<Arc<T>>,
    paths: &Paths,
    diagnostics: &mut Vec<Diagnostic>,
) -> Arc<Collection<T>> {
    let more: Vec<Arc<T>> = functions.items().iter().flat_map(|file| of(file).iter().cloned()).collect();
    if more.is_empty() {
        return Arc::clone(found);
    }
    let all = found.items().iter().cloned().chain(more).collect();
    let joined = Collection::new(all, HashMap::new(), T::folder(paths), Vec::new());
    diagnostics.extend(joined.diagnostics.iter().cloned());
    Arc::new(joined)
}

/// Merges both. If several tools share a name and one of them is provided, none of them gets it.
pub(crate) fn merge(
    scripts: &Arc<Collection<Tool>>,
    providers: &Collection<Provider>,
    paths: &Paths,
    diagnostics: &mut Vec<Diagnostic>,
) -> (Arc<Collection<Tool>>, Vec<Duplicate>) {
    if providers.is_empty() {
        return (Arc::clone(scripts), Vec::new());
    }
    let mut by_name: BTreeMap<&str, Vec<&Arc<Tool>>> = BTreeMap::new();
    let provided = providers.items().iter().flat_map(|provider| &provider.tools);
    for tool in scripts.items().iter().chain(provided) {
        by_name.entry(&tool.name).or_default().push(tool);
    }
    let (mut tools, mut duplicates) = (Vec::new(), Vec::new());
    for (name, named) in by_name {
        match &named[..] {
            [tool] => tools.push(Arc::clone(tool)),
            several => {
                let files = several.iter().rev().map(|tool| tool.script.clone()).collect();
                let duplicate = Duplicate { name: name.to_owned(), files };
                let problem = format!(
                    "is skipped: it gives a tool a name that another has too ({duplicate}); rename one of them"
                );
                diagnostics.push(Diagnostic::new(&several[several.len() - 1].script, problem));
                duplicates.push(duplicate);
            }
        }
    }
    let merged = Collection::new(tools, HashMap::new(), &paths.tools, Vec::new());
    (Arc::new(merged), duplicates)
}
