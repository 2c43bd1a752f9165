//! Tasks: on which threads they run, and what their panics cost.

pub(crate) mod panics;
mod workplaces;

pub(crate) use workplaces::{Weight, Workplaces};
