//! Packages of a project: facts go in, files come out. MCPB bundles (`manifest/`, `zip/`), the program beside a project
//! (`vendored.rs`), the entry of a registry (`server_json/`) and the recipe of a container image (`image/`).
//!
//! Nothing here opens a file, reads a clock or reaches a network. The same facts always give the same bytes.

mod about;
mod conf;
mod error;
pub mod image;
mod launcher;
mod left_out;
mod manifest;
mod png;
mod program;
mod server_json;
mod vendored;
mod version;
mod zip;

pub use about::{About, Person, from_words};
pub use conf::Conf;
pub use error::PackagingError;
pub use launcher::{BUNDLED_LAUNCHER, VENDORED_LAUNCHER};
pub use left_out::{Reason, holds_private_key, reason};
pub use manifest::{
    Listed, ListedPrompt, Manifest, ManifestFacts, SecretInput, Start, problems as manifest_problems,
};
pub use png::{Png, png};
pub use program::{Architecture, MARK, Platform, Program};
pub use server_json::{
    Entry, PackageFacts, VariableFacts, problems as server_json_problems, variables_of_manifest,
};
pub use vendored::{Lock, sha256};
pub use version::Version;
pub use zip::{Archive, ZipError, ZipWriter};
