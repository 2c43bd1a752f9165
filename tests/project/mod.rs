//! The parts of a project: discovery, registration, settings, reloading, trust.

mod deep_json;
mod discovery;
mod location;
mod odd_files;
mod policy;
mod policy_file;
mod policy_meanwhile;
mod policy_replaced;
mod registration;
mod registry;
mod reload;
mod settings;
mod signs;
mod trust;
