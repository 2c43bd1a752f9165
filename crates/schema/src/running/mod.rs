//! Running: applies a program to a value within limits.

pub(crate) mod applicators;
pub(crate) mod assertions;
pub(crate) mod marks;
pub(crate) mod meter;
pub(crate) mod place;
pub(crate) mod room;
pub(crate) mod run;
pub(crate) mod violation;
