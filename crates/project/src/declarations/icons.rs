//! Icons: files of the project become data URIs, so that clients need neither its folder nor a network.

use crate::declarations::error::EntryError::{self, OutsideProject, UnknownType, Unreadable};
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use mcp_bash_files::look;
use serde_json::value::RawValue;
use serde_json::{Value, json};
use std::path::Path;

/// The largest file that is embedded. Icons travel with every list.
const LARGEST: u64 = 128 * 1024;

/// The icons of `written`, a JSON array, with local files embedded. Relative paths start in `folder`; nothing outside
/// `project` is read. Unusable icons are left out and reported.
pub(crate) fn embed(
    written: Option<&RawValue>,
    folder: &Path,
    project: &Path,
    problems: &mut Vec<String>,
) -> Option<Box<RawValue>> {
    let icons = match serde_json::from_str(written?.get()) {
        Ok(Value::Array(icons)) => icons,
        Ok(Value::Null) => return None,
        _ => {
            problems.push("`icons` is ignored: it must be an array".to_owned());
            return None;
        }
    };
    let mut usable = Vec::new();
    for (index, icon) in icons.into_iter().enumerate() {
        match embed_one(icon, folder, project) {
            Ok(icon) => usable.push(icon),
            Err(problem) => problems.push(format!("`icons[{index}]` is ignored: {problem}")),
        }
    }
    if usable.is_empty() { None } else { serde_json::value::to_raw_value(&usable).ok() }
}

fn embed_one(mut icon: Value, folder: &Path, project: &Path) -> Result<Value, EntryError> {
    let source = icon["src"].as_str().ok_or("`src` must be a string")?.to_owned();
    if ["data:", "https://", "http://"].iter().any(|scheme| source.starts_with(scheme)) {
        return Ok(icon);
    }
    let unreadable = |error| Unreadable { name: source.clone(), source: error };
    let path = look::canonical(&folder.join(&source)).map_err(unreadable)?;
    if !look::canonical(project).is_ok_and(|project| path.starts_with(project)) {
        return Err(OutsideProject(source));
    }
    let bytes = mcp_bash_files::read(&path, LARGEST).map_err(unreadable)?;
    let kind =
        icon["mimeType"].as_str().map(str::to_owned).or_else(|| detect(&path, &bytes).map(str::to_owned));
    let kind = kind.ok_or(UnknownType(source))?;
    icon["src"] = json!(format!("data:{kind};base64,{}", STANDARD.encode(&bytes)));
    icon["mimeType"] = json!(kind);
    Ok(icon)
}

/// The type of an image: by its content, otherwise by its name.
fn detect(path: &Path, bytes: &[u8]) -> Option<&'static str> {
    const STARTS: [(&[u8], &str); 5] = [
        (b"\x89PNG", "image/png"),
        (b"\xFF\xD8\xFF", "image/jpeg"),
        (b"GIF8", "image/gif"),
        (b"RIFF", "image/webp"),
        (b"<svg", "image/svg+xml"),
    ];
    let by_content = STARTS.iter().find(|(start, _)| bytes.starts_with(start)).map(|(_, kind)| *kind);
    by_content.or_else(|| match path.extension()?.to_str()?.to_ascii_lowercase().as_str() {
        "svg" => Some("image/svg+xml"),
        "png" => Some("image/png"),
        "jpg" | "jpeg" => Some("image/jpeg"),
        "gif" => Some("image/gif"),
        "webp" => Some("image/webp"),
        "ico" => Some("image/x-icon"),
        _ => None,
    })
}
