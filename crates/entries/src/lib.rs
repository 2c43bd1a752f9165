//! Client entries: which clients there are, where their configuration files are, and how an entry is written to them
//! and read from them. This crate knows nothing about the protocol or projects: an entry is a name and a command, or a
//! name and an address.
//!
//! [`CLIENTS`] is the table, and [`ConfigFile::find`] returns the file of a client on this machine. [`entries`] and
//! [`all_entries`] read, [`install`] and [`uninstall`] say what would change, and [`Change::make`] changes it.

#![cfg_attr(test, allow(clippy::disallowed_methods, reason = "tests use files of their own"))]

mod change;
mod client;
mod clients;
mod config_file;
mod content;
mod difference;
mod edit;
mod entry;
mod find;
mod launching;
mod link;
mod lock;
mod place;
mod read;
mod refusal;
mod remote;
mod remote_snippet;
mod replaced;
mod replaces;
mod settled;
mod shape;
mod shown;
mod snippet;
mod surroundings;
mod text;
mod variables;

pub use change::{Change, Plan, install, install_remote, uninstall};
pub use client::{
    BadName, Client, ClientFile, Format, LinkForm, Note, Scope, UnknownClient, client, plain_name,
};
pub use clients::CLIENTS;
pub use config_file::{ConfigFile, NoFile};
pub use content::FileError;
pub use edit::{EditError, with_member};
pub use entry::Entry;
pub use find::installed_clients;
pub use launching::{NoWindows, PackageRunner, Windows};
pub use lock::Lock;
pub use read::{all_entries, entries, has_entry, has_name};
pub use refusal::Refusal;
pub use remote::{Remote, Token};
pub use replaced::Replaced;
pub use replaces::{Field, Form, Replaces};
pub use surroundings::{Surroundings, System};
pub use text::{ConfigText, Target};
pub use variables::supply::Supply;
