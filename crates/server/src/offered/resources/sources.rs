//! Built-in providers: files, https, Git repositories, and `echo` URIs, which contain their content.

use super::Failure;
use mcp_bash_budget::Budget;
use mcp_bash_fetch::{Git, Https, Roots, echo};
use mcp_bash_project::Paths;
use mcp_bash_runner::on_own_thread;
use mcp_bash_scripts::Scripts;
use std::path::PathBuf;
use std::sync::{Arc, OnceLock};

pub(super) struct Sources {
    roots: Arc<Roots>,
    /// The base folder of `file://./…`.
    base: PathBuf,
    https: Https,
    scripts: Arc<Scripts>,
    /// Created on first use, since it works in the private folder.
    git: OnceLock<Git>,
}

/// The bytes, and the MIME type from a web server.
type Sent = (Vec<u8>, Option<String>);

impl Sources {
    pub(super) fn new(scripts: Arc<Scripts>, paths: &Paths) -> Self {
        let settings = &scripts.settings().resources;
        Self {
            roots: Arc::new(Roots::new(settings.folders(&paths.root, &paths.resources))),
            base: paths.root.clone(),
            https: Https::new(settings.https.clone()),
            git: OnceLock::new(),
            scripts,
        }
    }

    pub(super) async fn read(
        &self,
        provider: &str,
        uri: &str,
        budget: &Arc<Budget>,
    ) -> Result<Sent, Failure> {
        match provider {
            "file" => self.read_file(uri).await.map(|bytes| (bytes, None)),
            "https" => {
                let response = self.https.get(uri).await?;
                Ok((response.bytes, response.content_type))
            }
            "git" => Ok((self.git().read(uri, budget).await?, None)),
            "echo" => Ok((echo(uri)?.into_bytes(), None)),
            other => Err(Failure::Failed(format!(
                "there is no provider `{other}` any more; put an executable `{other}.sh` into `providers/`"
            ))),
        }
    }

    /// Reads a file on a thread that may block.
    async fn read_file(&self, uri: &str) -> Result<Vec<u8>, Failure> {
        let (roots, base, uri) = (Arc::clone(&self.roots), self.base.clone(), uri.to_owned());
        let limit = self.scripts.settings().max_resource_bytes();
        let read = on_own_thread(move || roots.read_uri(&uri, &base, limit)).await;
        let panicked = || Failure::Failed("the file could not be read; the log says more".to_owned());
        Ok(read.ok_or_else(panicked)??.bytes)
    }

    fn git(&self) -> &Git {
        self.git.get_or_init(|| {
            let mut policy = self.scripts.settings().resources.git.clone();
            if let Ok(folder) = self.scripts.state_dir().path() {
                policy.scratch = folder;
            }
            Git::new(policy, Arc::clone(self.scripts.runner()))
        })
    }
}
