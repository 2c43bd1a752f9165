//! Resources, templates, prompts, and the completion of their arguments.

mod completion;
mod prompts;
mod resource_providers;
mod resource_templates;
mod resources;
mod resources_hostile;
