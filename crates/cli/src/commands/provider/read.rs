//! `mcp-bash provider read URI`: prints the content of a URI, for scripts, within the limits of a server.
//! `providers/file.sh` and the other providers in `MCPBASH_HOME` are built on it.

use crate::base::common::Common;
use crate::base::error::Error;
use crate::open::startup::{self, SettingProblems};
use mcp_bash_fetch::{ErrorKind, FetchError, Git, Https, Roots, echo};
use mcp_bash_project::Location;
use mcp_bash_scripts::Scripts;
use mcp_bash_terminal::tell;
use std::io::Write;
use std::path::Path;
use std::process::ExitCode;
use std::sync::Arc;

/// Exit 0 with the content on standard output; 2 if it may not be read, 3 if it does not exist, 4 if the URI is wrong, 5 if
/// it cannot be fetched, 6 if it is too large.
pub(crate) fn run(common: &Common, uri: &str) -> Result<ExitCode, Error> {
    let (location, settings) = startup::settings_to_serve(common, None, &mut SettingProblems::default())?;
    let Location::Folder(root) = location else { return Err(Error::NoProject) };
    let (runtime, scripts) = startup::scripts(settings)?;
    let read = runtime.block_on(read(&scripts, &root, uri));
    scripts.end(std::time::Duration::ZERO);
    match read {
        Ok(bytes) => {
            let written = std::io::stdout().write_all(&bytes);
            Ok(if written.is_ok() { ExitCode::SUCCESS } else { ExitCode::from(5) })
        }
        Err(error) => {
            tell(&error.to_string());
            Ok(ExitCode::from(exit_code(&error)))
        }
    }
}

async fn read(scripts: &Arc<Scripts>, root: &Path, uri: &str) -> Result<Vec<u8>, FetchError> {
    let settings = scripts.settings();
    match uri.split_once(':').map_or("", |(scheme, _)| scheme) {
        "echo" => echo(uri).map(String::into_bytes),
        "https" => Https::new(settings.resources.https.clone()).get(uri).await.map(|response| response.bytes),
        "git+https" | "git" => {
            let mut policy = settings.resources.git.clone();
            if let Ok(folder) = scripts.state_dir().path() {
                policy.scratch = folder;
            }
            Git::new(policy, Arc::clone(scripts.runner())).read(uri, scripts.budget()).await
        }
        _ => {
            let own = startup::paths(root, settings).resources;
            let roots = Roots::new(settings.resources.folders(root, &own));
            roots.read_uri(uri, root, settings.max_resource_bytes()).map(|content| content.bytes)
        }
    }
}

fn exit_code(error: &FetchError) -> u8 {
    match error.kind() {
        ErrorKind::Refused => 2,
        ErrorKind::Missing => 3,
        ErrorKind::Invalid => 4,
        ErrorKind::Redirect | ErrorKind::Failed => 5,
        ErrorKind::TooLarge => 6,
    }
}
