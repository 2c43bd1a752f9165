//! Our own providers: files, https, repositories, and URIs that say what they name.

use super::Failure;
use mcp_bash_budget::Budget;
use mcp_bash_fetch::{Git, Https, Roots, echo};
use mcp_bash_project::Paths;
use mcp_bash_scripts::Scripts;
use std::path::PathBuf;
use std::sync::{Arc, OnceLock};
use tokio::runtime::Handle;

pub(super) struct Sources {
    roots: Arc<Roots>,
    /// The folder that `file://./…` is relative to.
    base: PathBuf,
    https: Https,
    scripts: Arc<Scripts>,
    /// Where files are read, which may take its time.
    runtime: Handle,
    /// Made when it is first needed, since it works in the private folder.
    git: OnceLock<Git>,
}

/// The bytes, and the type that the server of a host gives them.
type Sent = (Vec<u8>, Option<String>);

impl Sources {
    pub(super) fn new(scripts: Arc<Scripts>, paths: &Paths, runtime: Handle) -> Self {
        let settings = &scripts.settings().resources;
        Self {
            roots: Arc::new(Roots::new(settings.folders(&paths.root, &paths.resources))),
            base: paths.root.clone(),
            https: Https::new(settings.https.clone()),
            git: OnceLock::new(),
            runtime,
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

    /// Files are asked for on a thread that may wait.
    async fn read_file(&self, uri: &str) -> Result<Vec<u8>, Failure> {
        let (roots, base, uri) = (Arc::clone(&self.roots), self.base.clone(), uri.to_owned());
        let limit = self.scripts.settings().max_resource_bytes();
        let read = self.runtime.spawn_blocking(move || roots.read_uri(&uri, &base, limit));
        match read.await {
            Ok(content) => Ok(content?.bytes),
            Err(error) => Err(Failure::Failed(error.to_string())),
        }
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
