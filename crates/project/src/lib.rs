//! Project: a directory becomes a [`Catalog`].
//!
//! # Theory of operation
//!
//! [`Location::find`] decides which folder is served. [`Catalog::read`] walks it once and produces an immutable value: the
//! identity of the server, the tools, resources and prompts it found, and [`Diagnostic`]s about what it skipped and why. A
//! folder that is half broken still gives a catalog of the other half. Nothing here speaks JSON-RPC or starts a process.
//!
//! The folders depend on each other in one direction: [`trust`] decides which files are believed; `ground` holds what all
//! share; `declarations` reads what authors write; `walk` finds files that may be entries; `watch` waits for changes;
//! `kinds` makes entries of them; `catalog` puts them together; `checks` looks for mistakes.

#![cfg_attr(test, allow(clippy::disallowed_methods, reason = "tests use files of their own"))]

mod catalog;
mod checks;
mod declarations;
mod ground;
mod kinds;
mod languages;
pub mod trust;
mod walk;
mod watch;

pub use catalog::Catalog;
pub use catalog::origins::{Explained, Origin, metadata_beside, origins};
pub use catalog::reading::Reading;
pub use catalog::registry::RegistryError;
pub use catalog::secret_users::SecretUser;
pub use catalog::sent_warnings::SentWarnings;
pub use checks::{Surroundings, examine, portability, unreachable, variables_from_outside};
pub use declarations::about::About;
pub use declarations::arguments::Argument;
pub use declarations::client_capability::ClientCapability;
pub use declarations::confirm::{Confirm, ConfirmScope};
pub use declarations::header_parameters::{HeaderParameter, header_parameters};
pub use declarations::identity::{Identity, title_case};
pub use declarations::mapping::{Mapping, Part, Template, Variable, Word, Words};
pub use declarations::metadata::without_metadata;
pub use declarations::policy_file::PolicyFile;
pub use declarations::roots;
pub use declarations::server_config::ServerConfig;
pub use declarations::task_support::{Priority, TaskExecution, TaskSupport};
pub use declarations::worker::{Worker, WorkerOptions, WorkerProgram};
pub use declarations::working_folder::WorkingFolder;
pub use ground::diagnostic::{Diagnostic, Severity};
pub use ground::embedded::{is_staged, stage_embedded};
pub use ground::excerpt::excerpt;
pub use ground::interpreters::interpreter_name;
pub use ground::location::{Location, LocationError, no_project};
pub use ground::loose_scripts::{import_hint, loose_scripts};
pub use ground::paths::Paths;
pub use ground::pauses::Pauses;
pub use ground::repair::{Repair, Step};
pub use ground::secret::{environment_without_secret, variable_without_secret};
pub use ground::stamp::Stamp;
pub use ground::typed_paths::beginning_with;
pub use kinds::completions::Completion;
pub use kinds::functions::FunctionFile;
pub use kinds::prompts::{Prompt, Source};
pub use kinds::providers::{Duplicate, Provider};
pub use kinds::resource_provider::{OUR_PROVIDERS, provider_by_scheme, provider_script};
pub use kinds::resources::Resource;
pub use kinds::served_by::ServedBy;
pub use kinds::templates::ResourceTemplate;
pub use kinds::tools::{Execution, Timeouts, Tool, ToolOptions};
pub use languages::{
    Compilation, Language, LanguageHost, ProgramFolders, SdkVariable, Waiting, language_of_script, languages,
};
pub use mcp_bash_utc as utc;
pub use walk::collection::Collection;
pub use walk::function_sign::language_of_file;
pub use walk::listing::metadata_names;
pub use walk::run::{Asked, Definitions, Hook, HookError, Run, Said, Unanswered};
pub use walk::settling::STILL;
pub use walk::sign::Asks;
pub use watch::{Changes, Folders, Looks, WatchedFile, tells_of_changes, watch};
