//! Folders of a server: the private folder, the folders of its calls, and those that dead servers left behind.

pub(crate) mod call_folder;
pub(crate) mod dead_servers;
pub(crate) mod private_folder;
pub(crate) mod remove;
pub(crate) mod state_dir;
