//! Registry: `.registry/*.json`, the entries that were found, kept on disk so that an unchanged project need not be read
//! again.

use crate::catalog::stamps_file;
use crate::trust::{self, Distrust};
use crate::walk::collection::Collection;
use crate::walk::entry::Entry;
use crate::walk::known::Known;
use crate::walk::sign::Asks;
use crate::{Diagnostic, Paths, Reading};
use mcp_bash_runner::is_in_removed_folder;
use mcp_bash_utc::now;
use mcp_bash_wire::write;
use memchr::memchr2;
use serde::Deserialize;
use serde_json::Value;
use std::borrow::Cow;
use std::fs::{self, DirBuilder};
use std::io::{self, Write as _};
use std::os::unix::fs::DirBuilderExt;
use std::path::Path;
use std::sync::Arc;
use std::time::{SystemTime, UNIX_EPOCH};
use thiserror::Error;

/// Why a registry was not written.
#[derive(Debug, Error)]
pub enum RegistryError {
    #[error("the registry has {size} bytes, more than {limit}; MCPBASH_REGISTRY_MAX_BYTES sets the limit")]
    TooLarge { size: usize, limit: usize },
    #[error("the registry cannot be written: {0}")]
    Write(#[from] io::Error),
    #[error("the registry is not written, since it would not be believed: {0}")]
    Distrusted(#[from] Distrust),
}

#[derive(Deserialize)]
struct Envelope<W> {
    /// Missing in files of an older version.
    #[serde(default = "one")]
    format_version: u64,
    version: u64,
    items: Vec<W>,
    #[serde(default)]
    hash: String,
    /// What the first record of its own stamps file says besides the rules. Two servers that write at once may leave the
    /// registry of one and the stamps of the other.
    #[serde(default)]
    stamps: String,
}

fn one() -> u64 {
    1
}

/// Whether reading the registry of a kind takes noticeable time.
pub(crate) fn is_large<T: Entry>(paths: &Paths) -> bool {
    const LARGE: u64 = 256 * 1024;
    fs::metadata(paths.registry.join(format!("{}.json", T::REGISTRY))).is_ok_and(|file| file.len() > LARGE)
}

/// Whether the folder of the registries exists and is trusted; if not, why.
pub(crate) fn judge(paths: &Paths) -> Result<bool, Diagnostic> {
    match trust::judge_folder(&paths.registry, &paths.root) {
        Ok(()) => Ok(true),
        Err(Distrust::Unreadable(_)) => Ok(false),
        Err(distrust) => Err(not_believed(&paths.registry, &distrust)),
    }
}

/// Reads a registry back from a trusted folder. Returns nothing if it is missing or not in our format, and a diagnostic if
/// another user may have written it, if it is too large or if it is not a regular file.
pub(crate) fn load<T: Entry>(paths: &Paths, reading: &Reading) -> Result<Option<Known<T>>, Diagnostic> {
    let read = |name: String| {
        let path = paths.registry.join(name);
        let text = trust::read_in_trusted_folder(&path, reading.registry_limit as u64);
        text.map_err(|distrust| not_believed(&path, &distrust))
    };
    let (registry, stamps) = (read(format!("{}.json", T::REGISTRY))?, read(stamps_of::<T>())?);
    let Some(registry) = registry else { return Ok(None) };
    if let Some(known) = parse(&registry, stamps, paths, rules(reading)) {
        return Ok(Some(known));
    }
    malformed(&registry).map_or(Ok(None), |problem| {
        let path = paths.registry.join(format!("{}.json", T::REGISTRY));
        Err(Diagnostic::new(path, format!("is ignored, and the project read instead: {problem}")))
    })
}

/// What is wrong with a registry that no version of any program can have written. Another version's is not wrong.
fn malformed(registry: &[u8]) -> Option<String> {
    let envelope: Value = match serde_json::from_slice(registry) {
        Ok(envelope) => envelope,
        Err(error) => return Some(format!("it is not valid JSON: {error}")),
    };
    let Some(items) = envelope["items"].as_array() else { return Some("`items` is not an array".to_owned()) };
    let is_entry = |item: &Value| item.is_object() && item.get("name").is_none_or(Value::is_string);
    let wrong = items.iter().position(|item| !is_entry(item))?;
    Some(format!("`items[{wrong}]` is not an entry: it must be an object whose `name` is a string"))
}

fn not_believed(path: &Path, distrust: &Distrust) -> Diagnostic {
    Diagnostic::new(path, format!("is ignored, and the project read instead: {distrust}"))
}

/// The rules that decide which files are entries and what is read of them. Stamps stored under other rules do not count, so
/// the files are read again: a version that did not know `confirm` has not stored it.
fn rules(reading: &Reading) -> &'static str {
    match reading.asks {
        Asks::All => "4 all executables",
        Asks::Signed => "4 signs",
    }
}

fn parse<T: Entry>(registry: &[u8], stamps: Option<Vec<u8>>, paths: &Paths, rules: &str) -> Option<Known<T>> {
    let text = std::str::from_utf8(registry).ok()?;
    let envelope: Envelope<T::Written> = serde_json::from_str(&one_line(text)).ok()?;
    if envelope.version != 1 || envelope.format_version != 1 {
        return None;
    }
    let items = envelope.items.into_iter().map(|written| T::remembered(written, paths).map(Arc::new));
    let items: Vec<Arc<T>> = items.collect::<Option<_>>()?;
    let first = first_of_stamps(rules, &envelope.stamps);
    let stamps = stamps.and_then(|text| stamps_file::parse(std::str::from_utf8(&text).ok()?, &first));
    let stamps = stamps.unwrap_or_default();
    Some(Known::new(items, stamps, Some(envelope.hash).filter(|hash| hash.len() == 64)))
}

/// We write one line; another program may have reformatted it.
fn one_line(text: &str) -> Cow<'_, str> {
    let is_one = memchr2(b'\n', b'\r', text.trim_end().as_bytes()).is_none();
    if is_one { text.into() } else { write::compact(text).into() }
}

/// Writes the registry of a kind, and the stamps of its files, unless they are stored already.
pub(crate) fn store<T: Entry>(
    paths: &Paths,
    collection: &Collection<T>,
    reading: &Reading,
) -> Result<(), RegistryError> {
    if collection.is_stored {
        return Ok(());
    }
    let items: Vec<&str> = collection.items().iter().map(|item| item.registry_text()).collect();
    let (now, hash, total, id) = (now(), collection.hash(), collection.len(), id());
    let text = format!(
        "{{\"format_version\":1,\"version\":1,\"generatedAt\":\"{now}\",\"items\":[{}],\"hash\":\"{hash}\",\"total\":{total},\
         \"stamps\":\"{id}\"}}\n",
        items.join(",")
    );
    if text.len() > reading.registry_limit {
        return Err(RegistryError::TooLarge { size: text.len(), limit: reading.registry_limit });
    }
    make_folder(paths)?;
    trust::judge_folder(&paths.registry, &paths.root)?;
    replace(&paths.registry, &format!("{}.json", T::REGISTRY), &text)?;
    let first = first_of_stamps(rules(reading), &id);
    replace(&paths.registry, &stamps_of::<T>(), &stamps_file::write(&collection.stamps, &first))?;
    Ok(())
}

/// The first record of a stamps file.
fn first_of_stamps(rules: &str, id: &str) -> String {
    format!("{rules} {id}")
}

/// An id that no other registry has.
fn id() -> String {
    let since_epoch = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    format!("{}-{}", std::process::id(), since_epoch.as_nanos())
}

/// Creates the folder of the registries, but never the project's own folder: our writing must not bring back a removed
/// project.
pub(crate) fn make_folder(paths: &Paths) -> io::Result<()> {
    // Fails if the project is gone.
    paths.root.metadata()?;
    if is_in_removed_folder(&paths.registry) {
        return Err(io::ErrorKind::NotFound.into());
    }
    let is_beside = paths.registry.parent() == Some(&*paths.root);
    // Not group- or world-writable, whatever the umask: it would not be trusted.
    match DirBuilder::new().recursive(!is_beside).mode(0o755).create(&paths.registry) {
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Ok(()),
        made => made,
    }
}

/// Hidden, since it means nothing to other programs.
fn stamps_of<T: Entry>() -> String {
    format!(".{}.stamps", T::REGISTRY)
}

/// Replaces a file in one step, so that no reader ever sees half of it.
pub(crate) fn replace(folder: &Path, name: &str, text: &str) -> io::Result<()> {
    let draft = folder.join(format!(".{name}.{}", std::process::id()));
    // A file of this name is a leftover of a process that had our number. The draft must be a new file of our own.
    let _ = fs::remove_file(&draft);
    let created = mcp_bash_files::create_new(&draft, 0o644);
    let written = created.and_then(|mut file| file.write_all(text.as_bytes()));
    let replaced = written.and_then(|()| fs::rename(&draft, folder.join(name)));
    if replaced.is_err() {
        let _ = fs::remove_file(&draft);
    }
    replaced
}
