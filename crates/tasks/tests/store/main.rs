//! Task stores: what each of them has to do, and the folder of files.

#![allow(clippy::disallowed_methods, reason = "tests use files of their own")]

mod contract;
mod folder;
