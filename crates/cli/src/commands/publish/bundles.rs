//! Bundles to publish: their manifests and checksums.

use crate::base::error::Error;
use crate::base::exit::Exit;
use mcp_bash_packaging::{Archive, manifest_problems, sha256};
use serde_json::Value;
use std::io;
use std::path::{Path, PathBuf};
use thiserror::Error as ThisError;

/// The largest bundle and the longest manifest, in bytes.
const MOST_BYTES: u64 = 2 * 1024 * 1024 * 1024;
const LONGEST_MANIFEST: usize = 4 * 1024 * 1024;

/// A bundle that can be published.
pub(super) struct BundleFile {
    pub(super) file_name: String,
    pub(super) sha256: String,
    pub(super) manifest: Value,
}

/// The messages complete "mcp-bash: ...".
#[derive(Debug, ThisError)]
pub(super) enum BundleError {
    #[error("failed to read {}: {source}", path.display())]
    Read { path: PathBuf, source: io::Error },
    #[error("{} is no bundle: {problem}", path.display())]
    NoBundle { path: PathBuf, problem: String },
    #[error("{} and {} are not of the same server and version; publish them one after the other", one.display(), other.display())]
    Different { one: PathBuf, other: PathBuf },
}

impl From<BundleError> for Error {
    fn from(error: BundleError) -> Self {
        let exit = match error {
            BundleError::Read { .. } | BundleError::Different { .. } => Exit::Usage,
            BundleError::NoBundle { .. } => Exit::Failed,
        };
        Self::of_command(exit, error)
    }
}

/// Reads bundles of one server and one version.
pub(super) fn read(paths: &[PathBuf]) -> Result<Vec<BundleFile>, BundleError> {
    let bundles = paths.iter().map(|path| read_one(path)).collect::<Result<Vec<_>, _>>()?;
    let is_same = |one: &BundleFile, other: &BundleFile| {
        ["name", "version"].iter().all(|key| one.manifest[key] == other.manifest[key])
    };
    match bundles.iter().zip(paths).skip(1).find(|(bundle, _)| !is_same(&bundles[0], bundle)) {
        Some((_, other)) => Err(BundleError::Different { one: paths[0].clone(), other: other.clone() }),
        None => Ok(bundles),
    }
}

fn read_one(path: &Path) -> Result<BundleFile, BundleError> {
    let no_bundle = |problem: String| BundleError::NoBundle { path: path.to_owned(), problem };
    let bytes = mcp_bash_files::read(path, MOST_BYTES);
    let bytes = bytes.map_err(|source| BundleError::Read { path: path.to_owned(), source })?;
    let archive = Archive::new(&bytes).map_err(|error| no_bundle(error.to_string()))?;
    let manifest =
        archive.read("manifest.json", LONGEST_MANIFEST).map_err(|error| no_bundle(error.to_string()))?;
    let manifest: Value = serde_json::from_slice(&manifest)
        .map_err(|error| no_bundle(format!("its manifest.json is no JSON: {error}")))?;
    let problems = manifest_problems(&manifest);
    if !problems.is_empty() {
        return Err(no_bundle(problems.join("; ")));
    }
    let entry_point = manifest["server"]["entry_point"].as_str().unwrap_or_default();
    if !archive.names().any(|name| name == entry_point) {
        return Err(no_bundle(format!("its entry point `{entry_point}` is not in it")));
    }
    let file_name = path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
    Ok(BundleFile { file_name, sha256: sha256(&bytes), manifest })
}
