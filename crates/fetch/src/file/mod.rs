//! Files beneath the folders that may be read.

mod beneath;
mod flags;
mod roots;
mod walk;

pub use roots::{FileContent, Roots};

#[cfg(test)]
pub(crate) use {beneath::open_beneath, walk::walk_beneath};
