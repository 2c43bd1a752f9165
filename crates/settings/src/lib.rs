//! Settings: what users set by environment variables, and projects in their own file.
//!
//! Every setting is one row of [`TABLE`]: its name, its type and range, its default and its meaning. The parsing of a
//! text, the message about a value that cannot be used, the page `docs/settings.md` ([`reference()`]) and the list of
//! effective values ([`in_force()`]) follow from the row. [`Settings`] is built from the rows, once, at the start.
//!
//! A row is read through its own constant, so there is no way to read a name that has no row. Tests check that every
//! row is read, and that no other crate reads a variable of ours by itself.

mod environment;
mod environment_only;
mod folders;
mod given;
mod http;
mod in_force;
mod kind;
mod logs;
mod moot;
mod names;
mod parking;
mod policy;
mod problem;
mod project;
mod reader;
mod reference;
mod resources;
mod row;
mod settings;
mod table;
mod tasks;
mod token;
mod unknown;
mod words;
mod workers;

pub use environment::EnvironmentMode;
pub use folders::ProjectFolders;
pub use given::{InForce, Source};
pub use http::{HttpSettings, IdentitySettings};
pub use in_force::{in_force, in_force_with_project};
pub use logs::audit::AuditSettings;
pub use logs::{LogSettings, TraceSettings};
pub use moot::MOOT;
pub use parking::ParkingSettings;
pub use policy::{AllowedNames, ToolPolicy};
pub use problem::SettingProblem;
pub use project::ProjectSettings;
pub use reference::reference;
pub use resources::ResourceSettings;
pub use row::Setting;
pub use settings::Settings;
pub use table::{CONNECTION_SETTING, PROCESS_SETTING, TABLE};
pub use tasks::{TaskSettings, names_database};
pub use token::RemoteToken;
pub use unknown::{UnknownName, unknown_names};
pub use words::{ClientName, RecordedArguments};
pub use workers::WorkerSettings;
