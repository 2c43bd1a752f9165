//! A project as a person would write it on disk.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use tempfile::TempDir;

pub(crate) struct Project {
    folder: TempDir,
}

impl Project {
    pub(crate) fn new() -> Self {
        Self { folder: TempDir::new().expect("a temporary folder") }
    }

    /// A project with one tool, `hi`.
    pub(crate) fn with_hi() -> Self {
        Self::new().tool("hi", "#!/bin/sh\necho hi\n")
    }

    pub(crate) fn file(self, path: &str, text: &str) -> Self {
        let file = self.path(path);
        fs::create_dir_all(file.parent().expect("a parent")).expect("folders");
        fs::write(&file, text).expect("a file");
        self
    }

    pub(crate) fn script(self, path: &str, text: &str) -> Self {
        let project = self.file(path, text);
        fs::set_permissions(project.path(path), fs::Permissions::from_mode(0o755)).expect("permissions");
        project
    }

    /// A tool without arguments: a script and the least metadata it needs.
    pub(crate) fn tool(self, name: &str, script: &str) -> Self {
        let metadata = serde_json::json!({ "name": name, "description": format!("The tool {name}") });
        self.script(&format!("tools/{name}/tool.sh"), script)
            .file(&format!("tools/{name}/tool.meta.json"), &metadata.to_string())
    }

    /// A tool that tells its process number in the file `started` and goes on when the file `go` is there.
    pub(crate) fn waiting_tool(self, name: &str) -> Self {
        let root = self.root().display().to_string();
        self.tool(
            name,
            &format!("#!/bin/sh\necho $$ >>{root}/started\nwhile [ ! -e {root}/go ]; do sleep 0.02; done\necho went\n"),
        )
    }

    pub(crate) fn root(&self) -> &Path {
        self.folder.path()
    }

    pub(crate) fn path(&self, path: &str) -> PathBuf {
        self.folder.path().join(path)
    }

    pub(crate) fn read(&self, path: &str) -> String {
        fs::read_to_string(self.path(path)).unwrap_or_default()
    }

    /// Lets the waiting tools go on.
    pub(crate) fn go(&self) {
        fs::write(self.path("go"), "").expect("a file");
    }

    /// The process numbers of the waiting tools that have started, once there are so many.
    pub(crate) fn wait_for_started(&self, count: usize) -> Vec<u32> {
        super::wait_until(&format!("{count} tools to start"), || {
            let pids: Vec<u32> = self.read("started").lines().filter_map(|line| line.parse().ok()).collect();
            (pids.len() >= count).then_some(pids)
        })
    }
}
