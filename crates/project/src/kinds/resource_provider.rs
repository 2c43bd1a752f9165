//! Resource providers: what reads a resource, one of the server's own providers or an executable of the project.

use crate::Paths;
use crate::declarations::error::EntryError;
use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;

/// The server's own providers.
pub const OUR_PROVIDERS: [&str; 4] = ["file", "https", "git", "echo"];

/// The executable of the project that reads for a provider of this name: `NAME.sh`, otherwise the first `NAME.*` or `NAME`.
/// A `NAME.sh` counts even if it is not executable, so that it is not silently ignored.
pub fn provider_script(paths: &Paths, name: &str) -> Option<PathBuf> {
    let is_word = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_' | b'+');
    if name.is_empty() || !name.bytes().all(is_word) {
        return None;
    }
    let usual = paths.providers.join(format!("{name}.sh"));
    if usual.is_file() {
        return Some(usual);
    }
    let entries = std::fs::read_dir(&paths.providers).ok()?;
    let named = entries.flatten().map(|entry| entry.path()).filter(|path| {
        let is_called = path.file_name().is_some_and(|file| file == name)
            || path.file_stem().is_some_and(|stem| stem == name);
        is_called
            && path.metadata().is_ok_and(|file| file.is_file() && file.permissions().mode() & 0o111 != 0)
    });
    named.min()
}

/// The provider of a URI or a template: the one that is named, otherwise the one for its scheme.
pub(crate) fn provider_of(given: Option<&str>, uri: &str) -> Option<String> {
    let given = given.map(str::trim).filter(|name| !name.is_empty()).map(str::to_owned);
    given.or_else(|| provider_by_scheme(uri))
}

/// The provider for a scheme. Most have the name of their scheme.
pub fn provider_by_scheme(uri: &str) -> Option<String> {
    let scheme = mcp_bash_uri::scheme(uri)?.to_ascii_lowercase();
    Some(if scheme == "git+https" { "git".to_owned() } else { scheme })
}

/// Whether a provider of that name exists, and whose it is.
pub(crate) fn find(paths: &Paths, name: &str) -> Result<Whose, EntryError> {
    if provider_script(paths, name).is_some() {
        Ok(Whose::Projects)
    } else if OUR_PROVIDERS.contains(&name) {
        Ok(Whose::Ours)
    } else {
        let (name, folder) = (name.to_owned(), paths.providers.clone());
        Err(EntryError::NoProvider { name, ours: &OUR_PROVIDERS, folder })
    }
}

/// Whose provider it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Whose {
    Ours,
    Projects,
}
