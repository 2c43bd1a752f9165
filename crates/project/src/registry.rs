//! `.registry/tools.json`: what was found, kept on disk so that an unchanged project need not be read again.

use crate::register::registered_tool;
use crate::stamp::Stamps;
use crate::utc::now;
use crate::{Paths, Tool};
use serde::Deserialize;
use serde_json::value::RawValue;
use serde_json::{Value, json};
use sha2::{Digest, Sha256};
use std::collections::HashMap;
use std::fmt::Write as _;
use std::fs::{self, File};
use std::io::{self, Write as _};
use std::path::Path;
use std::sync::Arc;
use thiserror::Error;

/// The tools that are known from before, by the path of their script below `tools/`, with what their files looked like.
pub(crate) type Known = HashMap<String, (Arc<Tool>, Stamps)>;

/// Why a registry was not written.
#[derive(Debug, Error)]
pub enum RegistryError {
    #[error("the registry has {size} bytes, more than {limit}; MCPBASH_REGISTRY_MAX_BYTES sets the limit")]
    TooLarge { size: usize, limit: usize },
    #[error("the registry cannot be written: {0}")]
    Write(#[from] io::Error),
}

#[derive(Deserialize)]
struct Envelope<'a> {
    version: u64,
    #[serde(borrow)]
    items: Vec<&'a RawValue>,
}

/// Reads the registry back: nothing where it is missing, too large, or not what we wrote.
pub(crate) fn load(paths: &Paths, limit: usize) -> Known {
    let read = || {
        let stamps: HashMap<String, Stamps> =
            serde_json::from_str(&read_bounded(&paths.registry.join(STAMPS), limit)?).ok()?;
        let tools = load_tools(paths, limit)?;
        Some(
            tools
                .into_iter()
                .filter_map(|tool| Some((tool.path.clone(), (stamps.get(&tool.path).copied()?, tool)))),
        )
        .map(|known| known.map(|(path, (stamps, tool))| (path, (Arc::new(tool), stamps))).collect())
    };
    read().unwrap_or_default()
}

/// The tools of the registry, whatever their files look like now.
pub(crate) fn load_tools(paths: &Paths, limit: usize) -> Option<Vec<Tool>> {
    let text = read_bounded(&paths.registry.join("tools.json"), limit)?;
    let envelope: Envelope<'_> =
        serde_json::from_str(&text).ok().filter(|envelope: &Envelope<'_>| envelope.version == 1)?;
    let mut ignored = Vec::new();
    envelope.items.iter().map(|item| registered_tool(item.get(), paths, &mut ignored).ok()).collect()
}

/// Writes the registry of these tools, and what their files looked like.
pub(crate) fn store(
    paths: &Paths,
    tools: &[Arc<Tool>],
    hash: &str,
    stamps: &HashMap<String, Stamps>,
    limit: usize,
) -> Result<(), RegistryError> {
    let items: Vec<&str> = tools.iter().map(|tool| tool.registry_text()).collect();
    let (now, total) = (now(), tools.len());
    let text = format!(
        "{{\"version\":1,\"generatedAt\":\"{now}\",\"items\":[{}],\"hash\":\"{hash}\",\"total\":{total}}}\n",
        items.join(",")
    );
    if text.len() > limit {
        return Err(RegistryError::TooLarge { size: text.len(), limit });
    }
    fs::create_dir_all(&paths.registry)?;
    replace(&paths.registry, "tools.json", &text)?;
    replace(&paths.registry, STAMPS, &json!(stamps).to_string())?;
    Ok(())
}

/// The hash of the canonical form of all items.
pub(crate) fn hash(tools: &[Arc<Tool>]) -> String {
    let mut digest = Sha256::new();
    digest.update(b"[");
    for (index, tool) in tools.iter().enumerate() {
        if index > 0 {
            digest.update(b",");
        }
        digest.update(tool.canonical());
    }
    digest.update(b"]");
    let mut text = String::with_capacity(64);
    for byte in digest.finalize() {
        let _ = write!(text, "{byte:02x}");
    }
    text
}

/// The canonical form of one item.
pub(crate) fn canonical(item: &str) -> Vec<u8> {
    let value: Value = serde_json::from_str(item).unwrap_or_default();
    serde_json_canonicalizer::to_vec(&value).unwrap_or_else(|_| item.as_bytes().to_vec())
}

/// Hidden, since it means nothing to anybody else.
const STAMPS: &str = ".stamps.json";

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
