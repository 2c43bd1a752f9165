//! Opening: how a command gets a server or a project: settings, location, connections, signals and timeouts.

pub(crate) mod connect;
pub(crate) mod end_signals;
pub(crate) mod examination;
pub(crate) mod failed_start;
pub(crate) mod log_files;
pub(crate) mod needs;
pub(crate) mod own_entry;
pub(crate) mod package_facts;
pub(crate) mod remote_arguments;
pub(crate) mod sandbox_check;
pub(crate) mod script_entries;
pub(crate) mod search_path;
pub(crate) mod secret_check;
pub(crate) mod shell_words;
pub(crate) mod startup;
pub(crate) mod talk;
pub(crate) mod time_limit;
