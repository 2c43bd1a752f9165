//! What makes first results fast changes nothing that a function can see: workers load the SDK from one file.

use super::{call, quiet_with, text};
use crate::harness::Project;
use serde_json::json;
use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::time::SystemTime;

/// A project whose SDK is written to a cache of its own.
struct Cached {
    project: Project,
    cache: tempfile::TempDir,
}

impl Cached {
    fn new(name: &str, text: &str) -> Self {
        let project = Project::new().file(&format!("tools/{name}"), text);
        Self { project, cache: tempfile::tempdir().unwrap() }
    }

    /// The answer of a tool in a session of its own, whose worker has ended after it.
    fn answer(&self, tool: &str) -> String {
        let cache = self.cache.path().to_str().unwrap();
        let environment = [("XDG_CACHE_HOME", cache), ("PYTHONDONTWRITEBYTECODE", "")];
        let mut server = quiet_with(&self.project, &environment);
        let answer = text(&call(&mut server, tool, &json!({}))).to_owned();
        server.finish();
        answer
    }

    /// A file of the SDK in the cache.
    fn sdk(&self, name: &str) -> PathBuf {
        let homes: Vec<_> = fs::read_dir(self.cache.path().join("mcp-bash")).unwrap().flatten().collect();
        let [home] = &homes[..] else { panic!("{homes:?}") };
        home.path().join("sdk").join(name)
    }
}

fn touch(file: &Path) {
    File::options().write(true).open(file).unwrap().set_modified(SystemTime::UNIX_EPOCH).unwrap();
}

/// `is_kept` is a variable of the worker's program.
const LOADED: &str = "import sys
from mcp_bash import tool

@tool
def loaded() -> str:
    import mcp_bash.serving.frames as frames
    from mcp_bash.serving import worker
    assert worker.Frames is frames.Frames and frames.__file__.endswith('frames.py')
    assert frames.__spec__.loader.get_source(frames.__name__).startswith('\"\"\"')
    return 'kept' if sys.modules['__main__'].is_kept else 'imported'
";

#[test]
fn a_python_worker_loads_the_modules_that_an_earlier_one_has_kept() {
    let cached = Cached::new("one.py", LOADED);
    assert_eq!(cached.answer("loaded"), "imported");
    assert_eq!(cached.answer("loaded"), "kept");
}

#[test]
fn kept_modules_of_changed_sources_or_in_a_broken_file_are_not_used() {
    let cached = Cached::new("one.py", LOADED);
    assert_eq!(cached.answer("loaded"), "imported");
    touch(&cached.sdk("python/mcp_bash/serving/frames.py"));
    assert_eq!(cached.answer("loaded"), "imported");
    assert_eq!(cached.answer("loaded"), "kept");
    let files =
        fs::read_dir(cached.sdk("python/mcp_bash/__pycache__")).unwrap().flatten().map(|file| file.path());
    let kept: Vec<PathBuf> =
        files.filter(|file| file.extension().is_some_and(|end| end == "modules")).collect();
    let [kept] = &kept[..] else { panic!("{kept:?}") };
    let whole = fs::read(kept).unwrap();
    for broken in
        [&whole[..whole.len() / 2], &whole[..4], b"", b"other Python", &[&whole[..4], b"\xff"].concat()]
    {
        fs::write(kept, broken).unwrap();
        assert_eq!(cached.answer("loaded"), "imported");
    }
    assert_eq!(cached.answer("loaded"), "kept");
}

const SAME: &str = "import { ToolError, ask, tool } from 'mcp-bash'
import * as sdk from 'mcp-bash'
import { Worker } from 'node:worker_threads'
import { pathToFileURL } from 'node:url'

const byPath = pathToFileURL(process.env.MCP_SDK_NODE).href

export const same = tool('Whether there is one SDK.', {}, async () => {
  const known = await import(byPath)
  const files = await import(`${byPath}?other`)
  const names = (module) => Object.keys(module).sort().join()
  return `${known.ToolError === ToolError} ${known.ToolError === files.ToolError} ${names(files) === names(sdk)}`
})

const asked = await ask('Really?', {}).catch((error) => error.message)

export const whileLoading = tool('What became of a question outside of all calls.', {}, () => asked)

export const failing = tool('Fails.', {}, () => {
  null.length
})

/** A thread may load the SDK as well. */
export const thread = tool('Starts a thread.', {}, async () => {
  const started = new Worker(`import(process.argv[2]).then((sdk) => require('worker_threads').parentPort.postMessage(typeof sdk.tool))`, { eval: true, argv: [byPath.replace('index.mjs', 'bundle.mjs')] })
  const said = await new Promise((said, failed) => { started.once('message', said); started.once('error', failed) })
  await started.terminate()
  return said
})
";

#[test]
fn a_node_worker_has_one_sdk_however_it_is_imported() {
    let cached = Cached::new("one.mjs", SAME);
    assert_eq!(cached.answer("same"), "true false true");
    assert_eq!(cached.answer("thread"), "function");
    // A worker is loading the file, and not a script running it.
    let asked = cached.answer("whileLoading");
    assert!(asked.starts_with("no call is being served here"), "{asked}");
    let failed = cached.answer("failing");
    assert!(failed.contains("TypeError") && failed.contains("(tools/one.mjs:20)"), "{failed}");
}
