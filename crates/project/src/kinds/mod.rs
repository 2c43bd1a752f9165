//! Kinds of entries: tools, function files, providers, resources, templates, prompts and completions.

pub(crate) mod completions;
pub(crate) mod functions;
pub(crate) mod picking;
pub(crate) mod prompt_files;
pub(crate) mod prompts;
pub(crate) mod providers;
pub(crate) mod resource_files;
pub(crate) mod resource_provider;
pub(crate) mod resources;
pub(crate) mod served_by;
pub(crate) mod templates;
pub(crate) mod tools;
