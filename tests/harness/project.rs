//! A project as a user would write it on disk. A watcher sees each change completely or not at all, however
//! slowly the test runs.

use super::{gate, wait_until};
use std::cell::OnceCell;
use std::fs::{self, File, OpenOptions, Permissions};
use std::io::Write;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use tempfile::{NamedTempFile, TempDir};

pub(crate) struct Project {
    folder: TempDir,
    open_gate: OnceCell<File>,
}

impl Project {
    pub(crate) fn new() -> Self {
        Self { folder: TempDir::new().expect("a temporary folder"), open_gate: OnceCell::new() }
    }

    /// A project with one tool, `hi`.
    pub(crate) fn with_hi() -> Self {
        Self::new().tool("hi", "#!/bin/sh\necho hi\n")
    }

    /// A copy of one of our projects, which a test may change. It is writable by its owner only, whatever the
    /// umask.
    pub(crate) fn copy_of(original: &Path) -> Self {
        let copy = Self::new();
        copy_folder(original, copy.root());
        copy
    }

    pub(crate) fn file(self, path: &str, text: &str) -> Self {
        self.write(path, text);
        self
    }

    pub(crate) fn script(self, path: &str, text: &str) -> Self {
        self.write_script(path, text);
        self
    }

    /// Writes a script of a project that is being served.
    pub(crate) fn write_script(&self, path: &str, text: &str) {
        self.put(path, text, Some(0o755));
    }

    /// A tool without arguments: a script with minimal metadata.
    pub(crate) fn tool(self, name: &str, script: &str) -> Self {
        let metadata = serde_json::json!({ "name": name, "description": format!("The tool {name}") });
        let folder = self.path(&format!("tools/{name}"));
        if folder.exists() {
            return self
                .script(&format!("tools/{name}/tool.sh"), script)
                .file(&format!("tools/{name}/tool.meta.json"), &metadata.to_string());
        }
        let draft = Self::new().script("tool.sh", script).file("tool.meta.json", &metadata.to_string());
        fs::set_permissions(draft.root(), Permissions::from_mode(0o755)).expect("permissions");
        fs::create_dir_all(folder.parent().expect("a parent")).expect("folders");
        fs::rename(draft.folder.keep(), folder).expect("a folder in its place");
        self
    }

    /// A tool that writes its process id to the file `started` and continues when the gate is open.
    pub(crate) fn waiting_tool(self, name: &str) -> Self {
        self.gate().tool(name, "#!/bin/sh\necho $$ >>started\nread _ <gate\necho went\n")
    }

    /// A gate, at which scripts wait with `read _ <gate` until it opens.
    pub(crate) fn gate(self) -> Self {
        gate::make(&self.path("gate"));
        self
    }

    pub(crate) fn open_gate(&self) {
        self.open_gate.set(gate::open(&self.path("gate"))).expect("the gate is opened once");
    }

    /// Writes a file of a project that is being served.
    pub(crate) fn write(&self, path: &str, text: &str) {
        self.put(path, text, None);
    }

    /// Removes a file or a folder.
    pub(crate) fn remove(&self, path: &str) {
        let elsewhere = TempDir::new().expect("a temporary folder");
        fs::rename(self.path(path), elsewhere.path().join("removed")).expect("a file or a folder");
    }

    /// The folder itself, which is no longer removed on drop.
    pub(crate) fn into_folder(self) -> PathBuf {
        self.folder.keep()
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

    pub(crate) fn wait_for_file(&self, path: &str) {
        wait_until(path, || self.path(path).exists().then_some(()));
    }

    /// The process ids of the waiting tools that have started, once there are this many.
    pub(crate) fn wait_for_started(&self, count: usize) -> Vec<u32> {
        wait_until(&format!("{count} tools to start"), || {
            let text = self.read("started");
            let pids: Vec<u32> = text.lines().filter_map(|line| line.parse().ok()).collect();
            (pids.len() >= count && text.ends_with('\n')).then_some(pids)
        })
    }

    fn put(&self, path: &str, text: &str, mode: Option<u32>) {
        let path = self.path(path);
        fs::create_dir_all(path.parent().expect("a parent")).expect("folders");
        let known = fs::metadata(&path).ok();
        // A text that does not become shorter is written in place, in one write.
        if known.as_ref().is_some_and(|known| known.len() <= text.len() as u64) {
            let mut file = OpenOptions::new().write(true).open(&path).expect("a file");
            file.write_all(text.as_bytes()).expect("a file");
            if let Some(mode) = mode {
                file.set_permissions(Permissions::from_mode(mode)).expect("permissions");
            }
            return;
        }
        let mode = mode.or(known.map(|known| known.permissions().mode())).unwrap_or(0o644);
        let mut draft = NamedTempFile::new().expect("a temporary file");
        draft.write_all(text.as_bytes()).expect("a file");
        draft.as_file().set_permissions(Permissions::from_mode(mode)).expect("permissions");
        // A link is followed to its target.
        draft.persist(path.canonicalize().unwrap_or(path)).expect("a file in its place");
    }
}

fn copy_folder(from: &Path, to: &Path) {
    for entry in fs::read_dir(from).expect("a folder") {
        let entry = entry.expect("an entry");
        let copy = to.join(entry.file_name());
        if entry.file_type().expect("a type").is_dir() {
            fs::create_dir(&copy).expect("a folder");
            copy_folder(&entry.path(), &copy);
        } else {
            fs::copy(entry.path(), &copy).expect("a file");
        }
        let mode = fs::metadata(&copy).expect("what was copied").permissions().mode();
        fs::set_permissions(&copy, Permissions::from_mode(mode & !0o022)).expect("permissions");
    }
}
