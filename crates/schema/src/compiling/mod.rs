//! Compiling: from the text of a schema to a program.

pub(crate) mod address;
pub(crate) mod builder;
pub(crate) mod compile;
pub(crate) mod conformity;
pub(crate) mod draft;
pub(crate) mod keywords;
pub(crate) mod meta;
pub(crate) mod pattern;
pub(crate) mod program;
pub(crate) mod resources;
pub(crate) mod rules;
