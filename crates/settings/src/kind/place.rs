//! Place setting: a folder, or the address of a database.

use super::{Folder, Kind, Refusal};
use std::borrow::Cow;
use std::ffi::OsStr;
use std::path::PathBuf;

/// A path or an address, in the bytes of the file system.
pub(crate) struct Place;

impl Kind for Place {
    type Value = PathBuf;

    fn description(&self) -> Cow<'static, str> {
        "folder or address".into()
    }

    fn parse(&self, text: &str) -> Result<PathBuf, Refusal<PathBuf>> {
        Folder.parse(text)
    }

    fn parse_variable(&self, given: &OsStr) -> Option<Result<PathBuf, Refusal<PathBuf>>> {
        Folder.parse_variable(given)
    }

    /// An address is shown without its user and password, and without what follows the name of the database.
    fn shown(&self, text: &str) -> String {
        let Some((scheme, rest)) = text.split_once("://") else { return text.to_owned() };
        let place = rest.split(['?', '#']).next().unwrap_or_default();
        let place = place.rsplit_once('@').map_or(place, |(_, place)| place);
        format!("{scheme}://{place}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_is_shown_without_its_password() {
        for (text, shown) in [
            ("postgres://me:p@ss@db:5432/team?password=x", "postgres://db:5432/team"),
            ("postgres:///team?host=/run&password=x", "postgres:///team"),
            ("postgres://db/team", "postgres://db/team"),
            ("/var/lib/a@b?c", "/var/lib/a@b?c"),
        ] {
            assert_eq!(Place.shown(text), shown);
        }
    }
}
