//! Watched folders of a project.

use crate::Paths;
use crate::walk::limits::DEPTH;
use std::path::Path;

/// The folders whose changes matter, and how many levels below them.
pub(super) fn watched(paths: &Paths) -> impl Iterator<Item = (&Path, usize)> {
    let entries = [&*paths.tools, &*paths.resources, &*paths.prompts, &*paths.lib];
    let scripts = [&*paths.server, &*paths.completions, &*paths.providers];
    let all = entries.map(|folder| (folder, DEPTH - 1)).into_iter();
    all.chain(scripts.map(|folder| (folder, 1))).chain([(&*paths.root, 0)])
}
