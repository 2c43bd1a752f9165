//! `mcp-bash install` and `uninstall`.

mod entries;
mod files;
mod remote_entries;
mod replaced_texts;
mod while_written;
