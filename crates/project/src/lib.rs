//! A project directory becomes a [`Catalog`].
//!
//! # Theory of operation
//!
//! [`Location::find`] decides which folder is served. [`Catalog::read`] walks it once and produces an immutable value:
//! who the server says it is, the tools and prompts it found, and [`Diagnostic`]s about what it skipped and why. A folder that is
//! half broken still gives a catalog of the other half. Nothing here speaks JSON-RPC or starts a process.

#![cfg_attr(test, allow(clippy::disallowed_methods, reason = "tests use files of their own"))]

mod about;
mod arguments;
mod canonical;
mod catalog;
mod checks;
mod client_capability;
mod collection;
mod completions;
mod diagnostic;
mod embedded;
mod entry;
mod files;
mod function_sign;
mod functions;
mod header_parameters;
mod hook;
mod icons;
mod identity;
mod json;
mod json_place;
mod listing;
mod location;
mod mapping;
mod merge;
mod metadata;
mod optional;
mod origins;
mod overlooked;
mod paths;
mod pauses;
mod prompt_files;
mod prompts;
mod providers;
#[cfg(test)]
mod published_schemas;
mod refusals;
mod register;
mod registry;
mod repair;
mod resource_files;
mod resource_provider;
mod resources;
pub mod roots;
mod run;
mod scan;
mod search;
mod secret;
mod sent_warnings;
mod server_config;
mod settling;
mod shares;
mod sighting;
mod sign;
mod skipped;
mod stamp;
mod stamps_file;
mod templates;
mod tools;
pub mod trust;
mod unread_arguments;
pub mod utc;
mod variable_names;
mod watch;
mod worker;
mod working_folder;
mod wrong_type;

pub use about::About;
pub use arguments::Argument;
pub use catalog::{Catalog, Reading};
pub use checks::{Surroundings, examine, interpreter_name, portability, quoted, unreachable};
pub use client_capability::ClientCapability;
pub use collection::Collection;
pub use completions::Completion;
pub use diagnostic::{Diagnostic, Severity};
pub use embedded::{is_staged, stage_embedded};
pub use files::beginning_with;
pub use function_sign::may_hold_functions;
pub use functions::{FunctionFile, ServedBy};
pub use header_parameters::{HeaderParameter, header_parameters};
pub use hook::HookError;
pub use identity::{Identity, title_case};
pub use listing::metadata_names;
pub use location::{Location, LocationError, no_project};
pub use mapping::{Mapping, Part, Template, Variable, Word, Words};
pub use metadata::without_metadata;
pub use origins::{Explained, Origin, origins};
pub use paths::Paths;
pub use pauses::Pauses;
pub use prompts::{Prompt, Source};
pub use providers::{Duplicate, Provider, excerpt};
pub use registry::RegistryError;
pub use repair::{Repair, Step};
pub use resource_provider::{OUR_PROVIDERS, provider_by_scheme, provider_script};
pub use resources::Resource;
pub use run::{Asked, Definitions, Hook, Run, Said, Unanswered};
pub use secret::{environment_without_secret, variable_without_secret};
pub use sent_warnings::SentWarnings;
pub use server_config::ServerConfig;
pub use settling::STILL;
pub use sign::Asks;
pub use stamp::Stamp;
pub use templates::ResourceTemplate;
pub use tools::{Execution, Timeouts, Tool};
pub use watch::{Changes, Folders, Looks, WatchedFile, tells_of_changes, watch};
pub use worker::{Worker, WorkerOptions, WorkerProgram};
pub use working_folder::WorkingFolder;
