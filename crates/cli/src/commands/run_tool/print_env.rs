//! `--print-env`: the paths that a tool would see, as lines of `NAME=value`.

use super::Arguments;
use super::source::EnvFile;
use crate::base::error::Error;
use crate::commands::sdk_path;
use crate::terminal::print::print;
use std::fmt::Write;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

pub(super) fn run(
    root: &Path,
    arguments: &Arguments,
    roots: &[PathBuf],
    files: &[EnvFile],
) -> Result<ExitCode, Error> {
    let home = sdk_path::home()?;
    let mut text = format!(
        "MCPBASH_PROJECT_ROOT={}\nMCPBASH_HOME={}\nMCP_SDK={}\nMCPBASH_MODE={}\n",
        root.display(),
        home.display(),
        home.join("sdk").display(),
        if arguments.minimal { "minimal" } else { "full" },
    );
    let mut number = 0;
    for file in files {
        let place = if file.path.is_file() {
            file.path.display().to_string()
        } else {
            format!("(not found: {})", file.path.display())
        };
        let _ = if file.is_of_server {
            writeln!(text, "WILL_SOURCE_SERVER_ENV={place}")
        } else {
            number += 1;
            writeln!(text, "WILL_SOURCE[{}]={place}", number - 1)
        };
    }
    for (index, root) in roots.iter().enumerate() {
        let _ = writeln!(text, "ROOT[{index}]={}", root.display());
    }
    if roots.is_empty() {
        text.push_str("ROOTS=none\n");
    }
    print(&text)?;
    Ok(ExitCode::SUCCESS)
}
