//! Existing entries: the servers in a client's file.

use crate::client::Client;
use crate::config_file::ConfigFile;
use crate::content::Content;
use crate::entry::Entry;
use crate::refusal::Refusal;
use crate::surroundings::Surroundings;
use crate::text::ConfigText;
use std::path::Path;

/// The entries of a file that start a command; empty if there is no file.
pub fn entries(file: &ConfigFile) -> Result<Vec<Entry>, Refusal> {
    let Some(text) = Content::read(&file.path)?.text else { return Ok(Vec::new()) };
    Ok(ConfigText::read(file, text)?.entries())
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
