//! `.registry/*.json`: what was found, kept on disk so that an unchanged project need not be read again.

use crate::Paths;
use crate::collection::Collection;
use crate::entry::Entry;
use crate::search::Known;
use crate::stamps_file;
use crate::utc::now;
use mcp_bash_wire::write;
use memchr::memchr2;
use serde::Deserialize;
use std::fs::{self, File};
use std::io::{self, Write as _};
use std::path::Path;
use std::sync::Arc;
use thiserror::Error;

/// Why a registry was not written.
#[derive(Debug, Error)]
pub enum RegistryError {
    #[error("the registry has {size} bytes, more than {limit}; MCPBASH_REGISTRY_MAX_BYTES sets the limit")]
    TooLarge { size: usize, limit: usize },
    #[error("the registry cannot be written: {0}")]
    Write(#[from] io::Error),
}

#[derive(Deserialize)]
struct Envelope<W> {
    version: u64,
    items: Vec<W>,
    #[serde(default)]
    hash: String,
}

/// Whether it takes noticeable time to read the registry of a kind.
pub(crate) fn is_large<T: Entry>(paths: &Paths) -> bool {
    const LARGE: u64 = 256 * 1024;
    fs::metadata(paths.registry.join(format!("{}.json", T::REGISTRY))).is_ok_and(|file| file.len() > LARGE)
}

/// Reads a registry back: nothing where it is missing, too large, or not what we wrote.
pub(crate) fn load<T: Entry>(paths: &Paths, limit: usize) -> Option<Known<T>> {
    let text = read_bounded(&paths.registry.join(format!("{}.json", T::REGISTRY)), limit)?;
    let envelope: Envelope<T::Written> = serde_json::from_str(&one_line(text)).ok()?;
    if envelope.version != 1 {
        return None;
    }
    let items = envelope.items.into_iter().map(|written| T::remembered(written, paths).map(Arc::new));
    let items: Vec<Arc<T>> = items.collect::<Option<_>>()?;
    let stamps = read_bounded(&paths.registry.join(stamps_of::<T>()), limit);
    let stamps = stamps.and_then(|text| stamps_file::parse(&text)).unwrap_or_default();
    Some(Known::new(items, stamps, Some(envelope.hash).filter(|hash| hash.len() == 64)))
}

/// As we write it, it is one line; somebody may have made it more.
fn one_line(text: String) -> String {
    let is_one = memchr2(b'\n', b'\r', text.trim_end().as_bytes()).is_none();
    if is_one { text } else { write::compact(&text) }
}

/// Writes the registry of a kind, and what its files looked like, unless it is there already.
pub(crate) fn store<T: Entry>(
    paths: &Paths,
    collection: &Collection<T>,
    limit: usize,
) -> Result<(), RegistryError> {
    if collection.is_stored {
        return Ok(());
    }
    let items: Vec<&str> = collection.items().iter().map(|item| item.registry_text()).collect();
    let (now, hash, total) = (now(), collection.hash(), collection.len());
    let text = format!(
        "{{\"version\":1,\"generatedAt\":\"{now}\",\"items\":[{}],\"hash\":\"{hash}\",\"total\":{total}}}\n",
        items.join(",")
    );
    if text.len() > limit {
        return Err(RegistryError::TooLarge { size: text.len(), limit });
    }
    fs::create_dir_all(&paths.registry)?;
    replace(&paths.registry, &format!("{}.json", T::REGISTRY), &text)?;
    replace(&paths.registry, &stamps_of::<T>(), &stamps_file::write(&collection.stamps))?;
    Ok(())
}

/// Hidden, since it means nothing to anybody else.
fn stamps_of<T: Entry>() -> String {
    format!(".{}.stamps", T::REGISTRY)
}

fn read_bounded(path: &Path, limit: usize) -> Option<String> {
    let size = fs::metadata(path).ok()?.len();
    (size <= limit as u64).then(|| fs::read_to_string(path).ok()).flatten()
}

/// Puts a file in the place of another in one step, so that nobody ever reads half of it.
fn replace(folder: &Path, name: &str, text: &str) -> io::Result<()> {
    let draft = folder.join(format!(".{name}.{}", std::process::id()));
    let written = File::create(&draft).and_then(|mut file| file.write_all(text.as_bytes()));
    let replaced = written.and_then(|()| fs::rename(&draft, folder.join(name)));
    if replaced.is_err() {
        let _ = fs::remove_file(&draft);
    }
    replaced
}
