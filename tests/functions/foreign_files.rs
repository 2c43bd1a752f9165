//! Python files that are no function files yet, or cannot be loaded: each message names the cause and the next step, in
//! `validate`, in `doctor` and in the answer to a call.

use crate::functions::{call, quiet, text};
use crate::harness::{Project, Server};
use serde_json::json;

const FASTMCP: &str = r#"from fastmcp import FastMCP

mcp = FastMCP("Shop")

@mcp.tool
def add(a: int, b: int) -> int:
    """Adds."""
    return a + b
"#;

/// Both reports about a project.
fn reports(project: &Project) -> [String; 2] {
    ["validate", "doctor"].map(|command| {
        let output =
            Server::command().args([command, "--project-root"]).arg(project.root()).output().unwrap();
        String::from_utf8_lossy(&output.stdout).into_owned()
    })
}

fn assert_reported(file: &str, source: &str, words: &[&str]) {
    let project = Project::with_hi().file(file, source);
    for report in reports(&project) {
        // Reports are wrapped.
        let report = report.split_whitespace().collect::<Vec<_>>().join(" ");
        for words in words {
            assert!(report.contains(words), "`{words}` is not in: {report}");
        }
    }
}

#[test]
fn a_server_of_fastmcp() {
    let words = ["is a server of FastMCP", "mcp_bash.fastmcp", "from-fastmcp.md"];
    assert_reported("tools/shop.py", FASTMCP, &words);
    let official = FASTMCP.replace("from fastmcp", "from mcp.server.fastmcp");
    assert_reported("tools/shop.py", &official, &words);
    // With the import changed, it is served.
    let ported = FASTMCP.replace("from fastmcp", "from mcp_bash.fastmcp");
    let project = Project::new().file("tools/shop.py", &ported);
    assert_eq!(text(&call(&mut quiet(&project), "add", &json!({ "a": 1, "b": 2 }))), "3");
}

#[test]
fn a_call_of_a_tool_of_fastmcp_says_why_there_is_none() {
    let project = Project::with_hi().file("tools/shop.py", FASTMCP);
    let answer = call(&mut quiet(&project), "add", &json!({ "a": 1, "b": 2 }));
    let told = answer["error"]["message"].as_str().unwrap_or_else(|| panic!("{answer}"));
    assert!(told.contains("shop.py") && told.contains("FastMCP"), "{told}");
}

#[test]
fn functions_without_a_mark() {
    let words = ["none of its functions is a tool", "from mcp_bash import tool", "`@tool`"];
    assert_reported("tools/sums.py", "def add(a: int, b: int) -> int:\n    return a + b\n", &words);
}

#[test]
fn a_module_whose_package_has_another_name() {
    for (module, package) in [("yaml_not", "yaml_not"), ("sklearn", "scikit-learn")] {
        let source =
            format!("import {module}\nfrom mcp_bash import tool\n@tool\ndef f() -> str:\n    return ''\n");
        let words = [&*format!("No module named '{module}'"), &*format!("pip install {package}`")];
        assert_reported("tools/learns.py", &source, &words);
    }
}

#[test]
fn a_module_that_a_call_imports() {
    let source = "from mcp_bash import tool\n@tool\ndef f() -> str:\n    import sklearn\n    return ''\n";
    let project = Project::new().file("tools/learns.py", source);
    let answer = call(&mut quiet(&project), "f", &json!({}));
    assert!(text(&answer).contains("No module named 'sklearn' (learns.py:4); "), "{answer}");
    assert!(text(&answer).ends_with("pip install scikit-learn`"), "{answer}");
}
