//! List settings: names, folders, hosts.

use super::{Kind, Refusal};
use crate::problem::excerpt;
use mcp_bash_fetch::HostList;
use std::borrow::Cow;
use std::path::PathBuf;

/// Names separated by commas or white space.
pub(crate) struct Names;

impl Kind for Names {
    type Value = Vec<String>;

    fn description(&self) -> Cow<'static, str> {
        "names, with commas or blanks between them".into()
    }

    fn parse(&self, text: &str) -> Result<Vec<String>, Refusal<Vec<String>>> {
        let names = text.split([',', ' ', '\t', '\n']).filter(|name| !name.is_empty());
        Ok(names.map(str::to_owned).collect())
    }
}

/// Folders separated by colons. The value is the text, which [`Folders::split`] splits.
pub(crate) struct Folders;

impl Folders {
    pub(crate) fn split(text: &str) -> Vec<PathBuf> {
        text.split(':').filter(|folder| !folder.is_empty()).map(PathBuf::from).collect()
    }
}

impl Kind for Folders {
    type Value = String;

    fn description(&self) -> Cow<'static, str> {
        "folders, with colons between them".into()
    }

    fn parse(&self, text: &str) -> Result<String, Refusal<String>> {
        Ok(text.to_owned())
    }
}

/// Hosts separated by commas or white space.
pub(crate) enum Hosts {
    /// A list that cannot be parsed allows no host.
    Allowed,
    /// A list that cannot be parsed may deny any host.
    Denied,
}

impl Kind for Hosts {
    type Value = HostList;

    fn description(&self) -> Cow<'static, str> {
        "hosts, with commas or blanks between them".into()
    }

    fn parse(&self, text: &str) -> Result<HostList, Refusal<HostList>> {
        HostList::parse(text).map_err(|error| {
            let error = excerpt(&error.to_string());
            match self {
                Self::Allowed => {
                    let problem = format!("cannot be used, and no host is reached: {error}");
                    Refusal::instead(problem, HostList::default(), "")
                }
                Self::Denied => Refusal::fatal(format!(
                    "cannot be used: {error}; the server does not start without what it denies"
                )),
            }
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::ffi::OsStr;
    use std::os::unix::ffi::OsStrExt;

    #[test]
    fn names_are_separated_by_commas_or_blanks() {
        assert_eq!(Names.parse("a, b,,c\td\n*"), Ok(["a", "b", "c", "d", "*"].map(str::to_owned).to_vec()));
        assert_eq!(Names.parse(" , "), Ok(vec![]));
    }

    #[test]
    fn folders_are_separated_by_colons() {
        assert_eq!(Folders::split(":/a b::c:"), [PathBuf::from("/a b"), PathBuf::from("c")]);
        assert_eq!(Folders::split(""), Vec::<PathBuf>::new());
    }

    #[test]
    fn a_list_that_is_not_utf8_prevents_the_start() {
        let given = OsStr::from_bytes(b"shell\xff");
        assert!(Names.parse_variable(given).unwrap().unwrap_err().fatal);
        assert!(Hosts::Denied.parse_variable(given).unwrap().unwrap_err().fatal);
    }

    #[test]
    fn hosts_that_cannot_be_read_are_never_all_hosts() {
        assert!(!Hosts::Allowed.parse("example.com, [::1]:8443").unwrap().is_empty());
        for text in ["*.example.com", "http://example.com", "a:b:c:d", "exa\u{1b}mple.com"] {
            let allowed = Hosts::Allowed.parse(text).unwrap_err();
            assert!(!allowed.fatal && allowed.instead.is_some_and(|(list, _)| list.is_empty()), "{text}");
            let denied = Hosts::Denied.parse(text).unwrap_err();
            assert!(denied.fatal && !denied.problem.contains('\u{1b}'), "{text}");
        }
    }
}
