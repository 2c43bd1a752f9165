//! Walk: finds the files that may be entries and reads those that are not known yet. Generic over the kinds of entries.

pub(crate) mod collection;
pub(crate) mod entry;
pub(crate) mod function_sign;
pub(crate) mod known;
pub(crate) mod limits;
pub(crate) mod listing;
pub(crate) mod run;
pub(crate) mod scan;
pub(crate) mod search;
pub(crate) mod settling;
pub(crate) mod sighting;
pub(crate) mod sign;
