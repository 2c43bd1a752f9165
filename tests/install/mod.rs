//! `mcp-bash install` and `uninstall`.

mod entries;
mod files;
mod needed_variables;
mod remote_entries;
mod replaced_texts;
mod while_written;
