//! Common ground: paths, diagnostics, repairs, stamps of files and readers of JSON that the other folders share.

pub(crate) mod canonical;
pub(crate) mod diagnostic;
pub(crate) mod embedded;
pub(crate) mod excerpt;
pub(crate) mod interpreters;
pub(crate) mod json;
pub(crate) mod json_place;
pub(crate) mod location;
pub(crate) mod loose_scripts;
pub(crate) mod optional;
pub(crate) mod paths;
pub(crate) mod pauses;
pub(crate) mod repair;
pub(crate) mod secret;
pub(crate) mod shares;
pub(crate) mod stamp;
pub(crate) mod typed_paths;
pub(crate) mod wrong_type;
