//! Secrets by reference. A script names the secrets that it needs (`needs.rs`), the operator or the project says where each
//! is (`source.rs`), and a value (`secret.rs`) reaches that script alone. Everything that scripts say passes through a
//! `Redactor` (`redaction/`), which replaces the values that are in use.
//!
//! This crate reads variables and files. It starts no process: the caller runs the command of a [`Source::Command`].

#![cfg_attr(test, allow(clippy::disallowed_methods, reason = "tests use files of their own"))]

mod descriptor;
mod error;
mod known;
mod name;
mod needs;
mod private_file;
mod redaction;
mod secret;
mod source;
mod sources;
mod store;

pub use error::{CommandFault, FileFault, SecretError, SourceError, StoreError};
pub use known::KnownSecrets;
pub use name::{is_secret_name, is_variable_name};
pub use needs::{Given, Need, NeedError, Needs};
pub use redaction::{Pieces, Redactor};
pub use secret::{LONGEST, SHORTEST, Secret, Unfit};
pub use source::{Author, Source};
pub use sources::{Places, Sources};
pub use store::Store;
