//! Scaffolded projects pass `validate --strict` and their own tests at once, and so does a project of the
//! bash framework.

use crate::harness::{Project, Server};
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

/// A program in the project, with `MCPBASH_BIN` set to our binary.
fn command(program: impl AsRef<Path>, root: &Path) -> Command {
    let mut command = Server::command_of(program.as_ref().to_str().expect("a path"));
    command.env("MCPBASH_BIN", Server::command().get_program()).current_dir(root);
    command
}

fn mcp_bash(root: &Path, arguments: &[&str]) -> Output {
    Server::command().args(arguments).current_dir(root).output().expect("the binary runs")
}

fn text(output: &Output) -> String {
    format!("{}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr))
}

/// A project with everything that can be scaffolded.
fn whole(project: &Project) -> PathBuf {
    let maker = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/clients/make-scaffolded-project.sh");
    let root = project.path("whole project").join("demo");
    let mut command = Command::new(maker);
    command.arg(Server::command().get_program()).arg(&root);
    let output = command.output().expect("the maker runs");
    assert!(output.status.success(), "{}", text(&output));
    root
}

#[test]
fn everything_scaffolded_passes_validation_and_its_own_tests() {
    let project = Project::new();
    let root = whole(&project);
    let validated = mcp_bash(&root, &["validate", "--strict"]);
    assert_eq!(validated.status.code(), Some(0), "{}", text(&validated));
    let tested = mcp_bash(&root, &["test"]);
    assert_eq!(tested.status.code(), Some(0), "{}", text(&tested));
    let tools = ["hello", "tool-bash", "tool-python", "tool-node", "script-python", "script-node"];
    for tool in tools.into_iter().chain(["provider-bash", "program", "test/run.sh"]) {
        assert!(text(&tested).contains(tool), "{tool} is not tested: {}", text(&tested));
    }
}

#[test]
fn smoke_tests_pass_at_once_and_fail_with_their_tool() {
    let project = Project::new();
    let root = whole(&project);
    for name in ["tool-bash", "script-python", "script-node"] {
        let output = command(root.join(format!("tools/{name}/smoke.sh")), project.root()).output().unwrap();
        assert_eq!(text(&output), format!("Smoke test passed for {name}.\n"));
    }
    let error = r#"#!/bin/sh
echo '{"content": [{"type": "text", "text": "no"}], "isError": true}'
"#;
    for script in ["#!/bin/sh\necho not-json\n", "#!/bin/sh\nexit 3\n", error] {
        fs::write(root.join("tools/tool-bash/tool.sh"), script).unwrap();
        let output = command(root.join("tools/tool-bash/smoke.sh"), &root).output().unwrap();
        assert_eq!(output.status.code(), Some(1), "{script}: {}", text(&output));
    }
}

#[test]
fn the_test_script_counts_passes_and_failures() {
    let project = Project::new();
    let root = whole(&project);
    let script = root.join("test/run.sh");
    let output = command(&script, project.root()).output().unwrap();
    let passing: String = ["script-node", "script-python", "tool-bash"]
        .map(|one| format!("  tools/{one}/smoke.sh... PASS\n"))
        .concat();
    let heading = "Looking for mistakes...\nRunning tests...\n";
    assert_eq!(text(&output), format!("{heading}{passing}Results: 3 passed, 0 failed, 0 skipped\n"));
    assert_eq!(output.status.code(), Some(0));

    let written = fs::read_to_string(&script).unwrap();
    let more = "run_test hello\nrun_test hello '{\"name\":\"Ada\"}' 'by name' --timeout 20\nrun_dry_run hello\n\
                run_test hello '{\"nmae\":\"Ada\"}' misspelt\nrun_test missing\nskip_test weather 'no key'\n";
    fs::write(&script, written.replace("\necho \"Results:", &format!("\n{more}echo \"Results:"))).unwrap();
    // Also if tools run only when they are allowed.
    let output = command(&script, &root).env("MCPBASH_TOOL_ALLOW_DEFAULT", "deny").output().unwrap();
    let said = String::from_utf8_lossy(&output.stdout).into_owned();
    let expected = "  hello... PASS\n  hello (by name)... PASS\n  hello (dry-run)... PASS\n  hello (misspelt)... FAIL\n  \
                    missing... FAIL\n  weather... SKIP (no key)\nResults: 6 passed, 2 failed, 1 skipped\n";
    assert_eq!(said, format!("{heading}{passing}{expected}"), "{}", text(&output));
    assert_eq!(output.status.code(), Some(1));
}

/// The smoke test that the bash framework puts beside a tool: it runs the tool through `run-tool`, in a
/// temporary folder of the project, and checks the result for a message or a text with jq.
const SMOKE_OF_MCP_BASH: &str = r#"#!/usr/bin/env bash
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
root=$(cd "$here/../.." && pwd)
export MCPBASH_PROJECT_ROOT="${MCPBASH_PROJECT_ROOT:-$root}"
mkdir -p "$root/.tmp"
export TMPDIR="$root/.tmp" MCPBASH_TMP_ROOT="$root/.tmp"
errors=$(mktemp "$TMPDIR/smoke.XXXXXX")
trap 'rm -f "$errors"' EXIT
if ! output=$("$MCPBASH_BIN" run-tool "demo" --args '{"name":"World"}' 2>"$errors"); then
	echo "failed to run" >&2
	cat "$errors" >&2
	exit 1
fi
[ ! -s "$errors" ] || { echo "standard error:" >&2; cat "$errors" >&2; }
filter='(.structuredContent.result.message // .structuredContent.message // empty | tostring | length > 0)
	or (.content[]? | select(.type=="text") | (.text // "") | length > 0)'
printf '%s' "$output" | "$MCPBASH_BIN" jq -e "$filter" >/dev/null || { echo "no message" >&2; exit 2; }
echo "passed"
"#;

#[test]
fn a_project_of_the_bash_framework_passes_its_smoke_test() {
    let project = Project::new()
        .file("server.d/server.meta.json", r#"{"name": "demo-server", "_comment": "Optional: more"}"#)
        .script(
            "tools/demo/tool.sh",
            "#!/usr/bin/env bash\nset -euo pipefail\n\
             source \"${MCP_SDK:?MCP_SDK environment variable not set}/tool-sdk.sh\"\n\
             name=\"$(mcp_args_get '.name' --default 'World')\"\n\
             mcp_result_success \"$(mcp_json_obj message \"Hello ${name}\")\"\n",
        )
        .file(
            "tools/demo/tool.meta.json",
            r#"{"name": "demo", "description": "One line", "inputSchema": {"type": "object", "properties":
                {"exampleArg": {"type": "string", "description": "An example"}}},
                "outputSchema": {"type": "object", "required": ["success", "result"], "properties": {
                "success": {"type": "boolean"}, "result": {"type": "object", "required": ["message"]}}}}"#,
        )
        .script("tools/demo/smoke.sh", SMOKE_OF_MCP_BASH)
        .file("prompts/demo/README.md", "About the prompt")
        .file("resources/demo/demo.txt", "A text")
        .file("resources/demo/demo.meta.json", r#"{"name": "resource.demo", "mimeType": "text/plain"}"#)
        .file("resources/demo/README.md", "About the resource");
    for folder in ["", "tools", "tools/demo"] {
        fs::set_permissions(project.path(folder), fs::Permissions::from_mode(0o755)).unwrap();
    }
    let output = command(project.path("tools/demo/smoke.sh"), project.root()).output().unwrap();
    assert_eq!((text(&output), output.status.code()), ("passed\n".to_owned(), Some(0)));
    let listed = mcp_bash(project.root(), &["list", "resources"]);
    assert!(
        !text(&listed).contains("README") && text(&listed).contains("resource.demo"),
        "{}",
        text(&listed)
    );

    project.write("tools/demo/tool.sh", "#!/usr/bin/env bash\nset -euo pipefail\nprintf 'not-json'\n");
    let output = command(project.path("tools/demo/smoke.sh"), project.root()).output().unwrap();
    assert_ne!(output.status.code(), Some(0), "{}", text(&output));
}
