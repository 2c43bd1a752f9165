//! Releases: what a copy of the program says about itself, whether there is a newer one, and the text and images of a release.

mod files;
mod images;
mod notes;
mod tag;
mod upgrade_check;
mod version;
