//! `mcp-bash install` and `uninstall`.

mod entries;
mod files;
mod replaced_texts;
mod while_written;
