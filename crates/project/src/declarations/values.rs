//! Metadata values that several kinds of entries share.

use serde_json::value::RawValue;
use std::path::{Component, Path};
use std::time::Duration;

pub(crate) fn object(value: Option<Box<RawValue>>, name: &str) -> Result<Option<Box<RawValue>>, String> {
    match value {
        Some(value) if value.get() == "null" => Ok(None),
        Some(value) if !value.get().starts_with('{') => {
            Err(format!("`{name}` must be an object; write it between `{{` and `}}`"))
        }
        value => Ok(value),
    }
}

pub(crate) fn positive(seconds: Option<u64>, name: &str) -> Result<Option<Duration>, String> {
    match seconds {
        Some(0) => Err(format!("`{name}` must be above 0; leave it out for the default")),
        seconds => Ok(seconds.map(Duration::from_secs)),
    }
}

/// The path of a registered file, which must stay below its folder.
pub(crate) fn relative<'a>(path: Option<&'a str>, folder: &str) -> Result<&'a Path, String> {
    let path = path.ok_or("`path` is missing")?;
    let mut parts = Path::new(path).components();
    if parts.all(|part| matches!(part, Component::Normal(_) | Component::CurDir)) {
        Ok(Path::new(path))
    } else {
        Err(format!("`path` must stay below the {folder} folder: {path}"))
    }
}
