//! Candidates in a folder of tools: files that may hold functions or provide tools.

use crate::ground::stamp::Stamp;
use crate::walk::function_sign::language_of_file;
use crate::walk::listing::Listing;
use crate::walk::sighting::Sighting;
use std::path::Path;

/// The files that may hold functions.
pub(crate) fn may_hold_functions(listing: &Listing<'_>) -> Vec<Sighting> {
    let names = listing.plain_files().filter(|name| language_of_file(Path::new(name)).is_some());
    let names = names.filter(|name| listing.metadata_beside(name).is_none());
    names.filter_map(|name| Some(listing.sighting(name, listing.stamp(name)?, None))).collect()
}

/// The executables that may provide tools.
pub(crate) fn may_provide_tools(listing: &Listing<'_>) -> Vec<Sighting> {
    let executable = listing.plain_files().filter(|name| listing.metadata_beside(name).is_none());
    let executable = executable.filter_map(|name| {
        let is_program = |stamp: &Stamp| stamp.is_executable() && stamp.require_regular().is_ok();
        let stamp = listing.stamp(name).filter(is_program)?;
        Some(listing.sighting(name, stamp, None))
    });
    executable.collect()
}
