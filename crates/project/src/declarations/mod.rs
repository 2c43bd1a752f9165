//! Declarations: what authors write about entries and about the server, in metadata files, script comments and `server.d/`.

pub(crate) mod about;
pub(crate) mod arguments;
pub(crate) mod client_capability;
pub(crate) mod confirm;
pub(crate) mod error;
pub(crate) mod header_parameters;
pub(crate) mod icons;
pub(crate) mod identity;
pub(crate) mod launcher;
pub(crate) mod mapping;
pub(crate) mod metadata;
pub(crate) mod policy_file;
pub(crate) mod refusals;
pub mod roots;
pub(crate) mod sandbox;
pub(crate) mod secrets;
pub(crate) mod server_config;
pub(crate) mod task_support;
pub(crate) mod unread_arguments;
pub(crate) mod values;
pub(crate) mod variable_names;
pub(crate) mod worker;
pub(crate) mod working_folder;
