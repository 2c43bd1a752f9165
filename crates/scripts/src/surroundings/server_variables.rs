//! Server variables: the description of the server for scripts (`MCPBASH_SERVER_NAME` and the like), from the files of
//! `server.d`.

use mcp_bash_project::{Identity, Paths};
use std::ffi::OsString;
use std::time::SystemTime;

/// The names of all of them.
pub(crate) const NAMES: [&str; 7] = [
    "MCPBASH_SERVER_NAME",
    "MCPBASH_SERVER_TITLE",
    "MCPBASH_SERVER_VERSION",
    "MCPBASH_SERVER_DESCRIPTION",
    "MCPBASH_SERVER_WEBSITE_URL",
    "MCPBASH_SERVER_ICONS",
    "MCPBASH_SERVER_INSTRUCTIONS",
];

/// Longer values are passed as empty: no process can receive a variable of 128 KiB, and icons may be larger.
const LONGEST: usize = 32 * 1024;

/// The stamps of the files that the variables come from.
#[derive(PartialEq, Eq)]
pub(crate) struct Described([Option<(SystemTime, u64)>; 2]);

impl Described {
    pub(crate) fn of(paths: &Paths) -> Self {
        let stamp = |name: &str| {
            let file = std::fs::metadata(paths.server.join(name)).ok()?;
            Some((file.modified().ok()?, file.len()))
        };
        Self([stamp("server.meta.json"), stamp(INSTRUCTIONS)])
    }
}

const INSTRUCTIONS: &str = "server.instructions.md";

/// The variables and their values. A value that is missing, too long or invalid in an environment is empty.
pub(crate) fn read(paths: &Paths) -> impl Iterator<Item = (&'static str, OsString)> {
    // The catalog reports the problems of these files.
    let identity = Identity::read(paths, &mut Vec::new());
    let instructions = mcp_bash_files::read_text(&paths.server.join(INSTRUCTIONS), LONGEST as u64).ok();
    let values = [
        Some(identity.name),
        Some(identity.title),
        Some(identity.version),
        identity.description,
        identity.website_url,
        identity.icons.map(|icons| icons.get().to_owned()),
        instructions,
    ];
    let fits = |value: &String| value.len() <= LONGEST && !value.contains('\0');
    let values = values.map(|value| OsString::from(value.filter(fits).unwrap_or_default()));
    NAMES.into_iter().zip(values)
}
