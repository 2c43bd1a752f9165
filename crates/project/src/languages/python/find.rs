//! Python of a function file: the environment of its inline dependencies (PEP 723, by `uv`), otherwise the nearest virtual
//! environment, which `uv` creates for its own projects, otherwise the one on the PATH.

use super::super::language::{LanguageHost, folders};
use super::environments::environment_in;
use super::inline_dependencies;
use crate::Paths;
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

pub(super) async fn find(file: &Path, paths: &Paths, host: &dyn LanguageHost) -> Result<PathBuf, String> {
    let uv = host.first_found(&["uv"]).await?;
    if let (Some(uv), true) = (&uv, inline_dependencies::are_in(file)) {
        return of_its_own(uv, file, host).await;
    }
    for folder in folders(file, paths) {
        if let Some(python) = environment_in(folder, paths)? {
            return Ok(python);
        }
        // A project of `uv` whose environment does not exist yet.
        if let Some(uv) = uv.as_ref().filter(|_| folder.join("uv.lock").is_file()) {
            let words = ["sync", "--quiet", "--project"].map(OsStr::new);
            host.run(uv, &[&words[..], &[folder.as_os_str()]].concat(), is_for_fetching).await?;
            if let Some(python) = environment_in(folder, paths)? {
                return Ok(python);
            }
        }
    }
    let found = host.first_found(&["python3", "python"]).await?;
    found.ok_or_else(|| {
        "there is no `python3` on the PATH of scripts; install Python 3.8 or newer, or make a `.venv` in the project"
            .to_owned()
    })
}

/// The environment that `uv` keeps for the dependencies of one file.
async fn of_its_own(uv: &Path, file: &Path, host: &dyn LanguageHost) -> Result<PathBuf, String> {
    let of_file = |first: &'static str, second: &'static str| {
        [OsStr::new(first), OsStr::new(second), OsStr::new("--script"), file.as_os_str()]
    };
    host.run(uv, &of_file("sync", "--quiet"), is_for_fetching).await?;
    let found = host.run(uv, &of_file("python", "find"), is_for_fetching).await?;
    Ok(PathBuf::from(found.trim_end()))
}

/// Whether a variable configures network access, or `uv` itself.
fn is_for_fetching(name: &OsStr) -> bool {
    const NETWORK: [&str; 6] =
        ["ALL_PROXY", "HTTP_PROXY", "HTTPS_PROXY", "NO_PROXY", "SSL_CERT_DIR", "SSL_CERT_FILE"];
    let name = name.as_bytes();
    name.starts_with(b"UV_") || NETWORK.iter().any(|known| known.as_bytes().eq_ignore_ascii_case(name))
}
