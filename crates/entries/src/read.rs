//! The servers that a file of a client has.

use crate::change::Refusal;
use crate::client::Client;
use crate::config_file::ConfigFile;
use crate::content::Content;
use crate::entry::Entry;
use crate::surroundings::Surroundings;
use std::path::Path;

/// The entries of a file that start a command; none where there is no file.
pub fn entries(file: &ConfigFile) -> Result<Vec<Entry>, Refusal> {
    let Some(text) = Content::read(&file.path)?.text else { return Ok(Vec::new()) };
    let refusal = |error| Refusal::Edit { path: file.path.clone(), error };
    let whole = file.at(None).parse(&text).map_err(refusal)?;
    let at = file.at(Some(&whole));
    let servers = at.servers(&whole).into_iter();
    Ok(servers.filter_map(|(name, value)| file.shape().entry(name, value)).collect())
}

/// Each file of a client that is there, with its entries or why it cannot be read. `folder` is the one that the client
/// works in.
pub fn all_entries(
    client: &'static Client,
    surroundings: &Surroundings,
    folder: &Path,
) -> Vec<(ConfigFile, Result<Vec<Entry>, Refusal>)> {
    let files = ConfigFile::existing(client, surroundings, folder);
    files.map(|file| (entries(&file), file)).map(|(entries, file)| (file, entries)).collect()
}
