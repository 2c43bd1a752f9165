//! Node.js. It finds packages itself, in `node_modules` beside or above a file.

use super::language::{Language, LanguageHost, MARKS, ProgramFolders, SdkVariable, folders};
use crate::{Paths, trust};
use serde_json::Value;
use std::path::{Path, PathBuf};

/// The largest `package.json` that is searched for dependencies, in bytes.
const LONGEST: u64 = 1024 * 1024;

pub(super) static NODE: Language = Language {
    name: "node",
    function_endings: &["mjs", "js", "mts", "ts"],
    script_endings: &["js", "mjs", "cjs"],
    left_out_folders: &["node_modules"],
    helper_endings: &[".d.ts"],
    interpreter: "node",
    worker: "node/worker.mjs",
    // Node.js keeps compiled modules since version 22 only, and only where a process may write.
    compilation: None,
    sdk_variable: SdkVariable::File { variable: "MCP_SDK_NODE", file: "node/index.mjs" },
    program_folders: ProgramFolders { places: &[("node_modules", ".bin")], environment: None },
    installer: None,
    find: |file, paths, host| Box::pin(find(file, paths, host)),
    sdk_not_found: ["Cannot find module", "/sdk/node/"],
    explain: |message, _, _| message,
    missing_packages: |file, paths, _| missing_packages(file, paths),
    has_functions: |text| imports(text) && marks(text),
    foreign: |_| None,
    unmarked: |ending, text| {
        (ending == "cjs" && imports(text)).then_some((
            "is not served: functions of a `.cjs` file are no tools",
            "write `import { tool } from 'mcp-bash'` and `export const …` in a `.mjs` file",
        ))
    },
    remedy_without_functions: "export what `tool(…)` returns, or move the file out of the tools if it helps others",
    remedy_without_description: None,
    place_of_option: |name| format!("`worker({{ {name}: … }})` in its file"),
    place_of_time: |name| format!("`{name}` in the options of `tool`"),
};

async fn find(file: &Path, paths: &Paths, host: &dyn LanguageHost) -> Result<PathBuf, String> {
    for folder in folders(file, paths) {
        trust::judge_folder_if_any(&folder.join("node_modules"), &paths.root)
            .map_err(|distrust| format!("its packages are not used: {distrust}"))?;
    }
    let found = host.first_found(&["node", "nodejs"]).await?;
    found.ok_or_else(|| {
        "there is no `node` on the PATH of scripts; install Node.js 18 or newer, or put its folder on the PATH of the \
         server"
            .to_owned()
    })
}

fn missing_packages(file: &Path, paths: &Paths) -> Option<(PathBuf, String)> {
    let nearest = folders(file, paths).find(|folder| folder.join("package.json").is_file())?;
    let problem = "names dependencies, and there is no `node_modules` beside it; run `npm install`";
    let is_wrong = has_dependencies(nearest) && !nearest.join("node_modules").is_dir();
    is_wrong.then(|| (nearest.join("package.json"), problem.to_owned()))
}

fn has_dependencies(folder: &Path) -> bool {
    let text = mcp_bash_files::read_text(&folder.join("package.json"), LONGEST).unwrap_or_default();
    let package: Value = serde_json::from_str(&text).unwrap_or_default();
    package["dependencies"].as_object().is_some_and(|dependencies| !dependencies.is_empty())
}

fn imports(text: &str) -> bool {
    text.contains("'mcp-bash'") || text.contains("\"mcp-bash\"")
}

/// A call of one of the marks: `tool(`, `tool<Type>(`.
fn marks(text: &str) -> bool {
    MARKS.iter().any(|mark| {
        text.match_indices(mark).any(|(place, _)| {
            let before = text[..place].chars().next_back();
            let after = text[place + mark.len()..].trim_start().chars().next();
            before.is_none_or(|before| !(before.is_alphanumeric() || before == '_' || before == '$'))
                && matches!(after, Some('(' | '<'))
        })
    })
}
