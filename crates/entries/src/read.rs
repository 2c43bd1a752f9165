//! Existing entries: the servers in a client's file.

use crate::client::Client;
use crate::config_file::ConfigFile;
use crate::content::Content;
use crate::entry::Entry;
use crate::refusal::Refusal;
use crate::surroundings::Surroundings;
use crate::text::{ConfigText, Target};
use std::path::Path;

/// The entries of a file that start a command; empty if there is no file.
pub fn entries(file: &ConfigFile) -> Result<Vec<Entry>, Refusal> {
    let Some(text) = Content::read(&file.path)?.text else { return Ok(Vec::new()) };
    Ok(ConfigText::read(file, text)?.entries())
}

/// Whether a file has an entry of that name, of any kind.
pub fn has_name(file: &ConfigFile, name: &str) -> Result<bool, Refusal> {
    of_text(file, |text| text.find(name).is_some())
}

/// Whether a file has an entry of that name that leads to `target`.
pub fn has_entry(file: &ConfigFile, name: &str, target: Target<'_>) -> Result<bool, Refusal> {
    of_text(file, |text| text.leads_to(name, target))
}

fn of_text(file: &ConfigFile, holds: impl FnOnce(&ConfigText<'_>) -> bool) -> Result<bool, Refusal> {
    let Some(text) = Content::read(&file.path)?.text else { return Ok(false) };
    Ok(holds(&ConfigText::read(file, text)?))
}

/// Each existing file of a client, with its entries or why it cannot be read. `folder` is the one that the client works
/// in.
pub fn all_entries(
    client: &'static Client,
    surroundings: &Surroundings,
    folder: &Path,
) -> Vec<(ConfigFile, Result<Vec<Entry>, Refusal>)> {
    let files = ConfigFile::existing(client, surroundings, folder);
    files.map(|file| (entries(&file), file)).map(|(entries, file)| (file, entries)).collect()
}
