//! Metadata values that several kinds of entries share.

use crate::declarations::error::EntryError;
use serde_json::value::RawValue;
use std::path::{Component, Path};
use std::time::Duration;

pub(crate) fn object(
    value: Option<Box<RawValue>>,
    name: &'static str,
) -> Result<Option<Box<RawValue>>, EntryError> {
    match value {
        Some(value) if value.get() == "null" => Ok(None),
        Some(value) if !value.get().starts_with('{') => Err(EntryError::NotAnObject(name)),
        value => Ok(value),
    }
}

pub(crate) fn positive(seconds: Option<u64>, name: &'static str) -> Result<Option<Duration>, EntryError> {
    match seconds {
        Some(0) => Err(EntryError::NotPositive(name)),
        seconds => Ok(seconds.map(Duration::from_secs)),
    }
}

/// The name that an author has given.
pub(crate) fn given_name(name: Option<String>) -> Option<String> {
    name.filter(|name| !name.trim().is_empty())
}

/// The path of a registered file, which must stay below its folder.
pub(crate) fn relative<'a>(path: Option<&'a str>, folder: &'static str) -> Result<&'a Path, EntryError> {
    let path = path.ok_or(EntryError::Missing("path"))?;
    let mut parts = Path::new(path).components();
    if parts.all(|part| matches!(part, Component::Normal(_) | Component::CurDir)) {
        Ok(Path::new(path))
    } else {
        Err(EntryError::Outside { folder, path: path.to_owned() })
    }
}
