//! Plan and report: what the server tells the bridge about a call, and what the bridge tells the server afterwards. Both
//! are files in the folder of the call.

use crate::commands::Commands;
use crate::random;
use serde::{Deserialize, Serialize};
use std::io;
use std::path::{Path, PathBuf};

/// The largest plan or report that is read, in bytes.
const LONGEST: u64 = 16 * 1024 * 1024;

/// One call that runs elsewhere.
#[derive(Debug, Serialize, Deserialize)]
pub struct Plan {
    /// The id of the call, for the names of jobs.
    pub id: String,
    /// The random word by which frames are known.
    pub mark: String,
    pub commands: Commands,
    /// The folder for temporary files on the other host.
    pub temporary: Option<String>,
    /// The folder of the call on this host. A variable that holds a path in it names a file that crosses.
    pub call_folder: PathBuf,
    /// The project on this host.
    pub project: PathBuf,
    /// Where it is on the other host; `None` if its files are carried.
    pub project_there: Option<PathBuf>,
    /// The files and folders of the project that are carried.
    pub carried: Vec<PathBuf>,
    /// The folders of the SDK, which are carried.
    pub sdk: Vec<Sdk>,
    /// The tool and its arguments. Paths are those on this host.
    pub words: Vec<String>,
    /// The working directory of the tool.
    pub directory: PathBuf,
    /// The variables of the tool that cross.
    pub variables: Vec<String>,
}

/// A folder of the SDK on this host.
#[derive(Debug, Serialize, Deserialize)]
pub struct Sdk {
    pub folder: PathBuf,
    /// The names of entries that are left out.
    pub without: Vec<String>,
}

/// What became of a call that ran elsewhere.
#[derive(Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Report {
    /// The name of the host, as that host gives it.
    pub node: Option<String>,
    /// Why the exit code is not that of the tool.
    pub failed: Option<String>,
}

const PLAN: &str = "launch";
const REPORT: &str = "launched";

impl Plan {
    /// An id and a mark for a call.
    pub fn names() -> io::Result<(String, String)> {
        let (id, mark) = (random::hex()?, random::hex()?);
        Ok((format!("mcpbash-{}", &id[..16]), mark))
    }

    /// Writes the plan into the folder of its call, and returns its path.
    pub fn write(&self) -> io::Result<PathBuf> {
        let path = self.call_folder.join(PLAN);
        mcp_bash_files::write_whole(&path, &serde_json::to_vec(self)?)?;
        Ok(path)
    }

    pub(crate) fn read(path: &Path) -> io::Result<Self> {
        Ok(serde_json::from_slice(&mcp_bash_files::read(path, LONGEST)?)?)
    }
}

impl Report {
    pub(crate) fn write(&self, call_folder: &Path) -> io::Result<()> {
        mcp_bash_files::write_whole(&call_folder.join(REPORT), &serde_json::to_vec(self)?)
    }

    /// The report of a call; empty if the bridge was killed before it could write one.
    pub fn read(call_folder: &Path) -> Self {
        let text = mcp_bash_files::read(&call_folder.join(REPORT), LONGEST).ok();
        text.and_then(|text| serde_json::from_slice(&text).ok()).unwrap_or_default()
    }
}
