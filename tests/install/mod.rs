//! `mcp-bash install` and `uninstall`.

mod entries;
mod files;
mod needed_variables;
mod package_runners;
mod remote_entries;
mod replaced_texts;
// It counts with inotify how often a file is opened.
#[cfg(target_os = "linux")]
mod while_written;
mod wsl;
