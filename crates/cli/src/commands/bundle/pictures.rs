//! Pictures of a bundle: its icon and its screenshots, which must be PNG files.

use crate::base::error::Error;
use crate::base::exit::Exit;
use crate::open::package_facts::packaging_error;
use mcp_bash_packaging::{About, PackagingError, png};
use serde_json::Value;
use serde_json::value::RawValue;
use std::path::{Component, Path, PathBuf};

/// The largest picture, in bytes.
const MOST_BYTES: u64 = 10 * 1024 * 1024;

/// The icons of clients have about this many pixels on each side.
const GOOD_SIZE: u32 = 256;

/// Pictures by their paths in the bundle.
#[derive(Default)]
pub(super) struct Pictures {
    pub(super) icon: Option<(String, Vec<u8>)>,
    pub(super) screenshots: Vec<(String, Vec<u8>)>,
}

impl Pictures {
    pub(super) fn read(
        root: &Path,
        about: &About,
        icons: Option<&RawValue>,
        notes: &mut Vec<String>,
    ) -> Result<Self, Error> {
        let mut icon = None;
        if let Some(path) = icon_path(root, icons) {
            let bytes = picture(root, &path)?;
            if png(&bytes).is_some_and(|size| size.width.min(size.height) < GOOD_SIZE) {
                notes.push(format!("{path} is small; clients show icons with {GOOD_SIZE} pixels or more"));
            }
            icon = Some(("icon.png".to_owned(), bytes));
        } else if root.join("icon.svg").exists() {
            notes.push("icon.svg is not used: icons of bundles are PNG; add icon.png".to_owned());
        }
        let screenshots = about.screenshots.iter().map(|path| Ok((path.clone(), picture(root, path)?)));
        Ok(Self { icon, screenshots: screenshots.collect::<Result<_, Error>>()? })
    }

    /// All of them.
    pub(super) fn files(&self) -> impl Iterator<Item = &(String, Vec<u8>)> {
        self.icon.iter().chain(&self.screenshots)
    }
}

/// `icon.png` of the project, otherwise the first local PNG among the icons of its metadata.
fn icon_path(root: &Path, icons: Option<&RawValue>) -> Option<String> {
    if root.join("icon.png").exists() {
        return Some("icon.png".to_owned());
    }
    let icons: Value = icons.and_then(|icons| serde_json::from_str(icons.get()).ok())?;
    let sources = icons.as_array()?.iter().filter_map(|icon| icon["src"].as_str());
    let is_local = |source: &&str| !source.contains(':') && source.to_lowercase().ends_with(".png");
    sources.filter(is_local).map(str::to_owned).next()
}

fn picture(root: &Path, path: &str) -> Result<Vec<u8>, Error> {
    let failed = |words: String| Error::of_command(Exit::Failed, words);
    let bytes = mcp_bash_files::read(&below(root, path)?, MOST_BYTES);
    let bytes = bytes.map_err(|error| failed(format!("failed to read the picture {path}: {error}")))?;
    if png(&bytes).is_none() {
        return Err(failed(format!("{path} is no PNG file, and clients show no other pictures; convert it")));
    }
    Ok(bytes)
}

/// The place of a path below the project, which must not leave it.
pub(super) fn below(root: &Path, path: &str) -> Result<PathBuf, Error> {
    let outside = || packaging_error(PackagingError::OutsidePath(path.to_owned()));
    let is_below = |part: Component<'_>| matches!(part, Component::Normal(_) | Component::CurDir);
    if path.is_empty() || !Path::new(path).components().all(is_below) {
        return Err(outside());
    }
    let place = root.join(path);
    let (real, real_root) = (place.canonicalize(), root.canonicalize());
    match (real, real_root) {
        (Ok(real), Ok(root)) if !real.starts_with(&root) => Err(outside()),
        _ => Ok(place),
    }
}
