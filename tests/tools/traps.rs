//! Traps for authors: each message names the cause and the next step.

use crate::harness::{Project, Server};
use serde_json::Value;

/// The texts of a result, joined.
fn texts(answer: &Value) -> String {
    let content = answer["result"]["content"].as_array().unwrap_or_else(|| panic!("{answer}"));
    content.iter().map(|item| item["text"].as_str().unwrap_or_default()).collect::<Vec<_>>().join("\n")
}

fn called(project: &Project, environment: &[(&str, &str)], tool: &str) -> Value {
    let quiet = [&[("MCPBASH_LOG_LEVEL", "emergency")], environment].concat();
    let mut server = Server::ready_with(project.root(), &quiet, "2025-11-25");
    server.call(tool, tool);
    server.receive()
}

#[test]
fn a_failing_call_names_the_variable_that_the_script_did_not_receive() {
    let project = Project::new()
        .tool("unset", "#!/bin/bash\nset -u\necho \"$DEPLOY_TOKEN\"\n")
        .tool("wanted", "#!/bin/sh\necho \"${DEPLOY_TOKEN:?get one from the wiki}\"\n")
        .script("tools/named/tool.sh", "#!/bin/bash\necho \"${DEPLOY_TOKEN:?}\"\n")
        .file(
            "tools/named/tool.meta.json",
            r#"{"name": "named", "description": "Has it", "env": ["DEPLOY_TOKEN"]}"#,
        );
    let has = [("DEPLOY_TOKEN", "t0p-secret")];
    for tool in ["unset", "wanted"] {
        let said = texts(&called(&project, &has, tool));
        assert!(said.contains("The server has the variable `DEPLOY_TOKEN`"), "{said}");
        assert!(said.contains("add \"env\": [\"DEPLOY_TOKEN\"] to the metadata"), "{said}");
        assert!(!said.contains("t0p-secret"), "{said}");
        let said = texts(&called(&project, &[], tool));
        assert!(
            said.contains("`DEPLOY_TOKEN` is not set where the server runs; set it in the configuration of your client (`env`), and add"),
            "{said}"
        );
    }
    assert_eq!(texts(&called(&project, &has, "named")), "t0p-secret");
}

#[test]
fn a_failing_call_names_the_variable_that_its_script_reads() {
    let asks = "curl -sf -H \"Authorization: $DEPLOY_TOKEN\" http://127.0.0.1:1/ || exit 7\n";
    let project = Project::new()
        .tool("asks", &format!("#!/bin/bash\n{asks}"))
        .script("tools/named/tool.sh", &format!("#!/bin/bash\n{asks}"))
        .file(
            "tools/named/tool.meta.json",
            r#"{"name": "named", "description": "Has it", "env": ["DEPLOY_TOKEN"]}"#,
        )
        .tool("default", "#!/bin/bash\necho \"${DEPLOY_TOKEN:-none}\" >/dev/null; exit 7\n")
        .tool("assigned", "#!/bin/bash\nDEPLOY_TOKEN=x\necho \"$DEPLOY_TOKEN\" >/dev/null; exit 7\n")
        .tool("succeeds", "#!/bin/bash\necho \"<$DEPLOY_TOKEN>\"\n");
    let has = [("DEPLOY_TOKEN", "t0p-secret")];
    let reads = "The script reads the variable `DEPLOY_TOKEN` and did not receive it:";
    let said = texts(&called(&project, &has, "asks"));
    assert!(said.contains(&format!("{reads} the server has it, but scripts receive only")), "{said}");
    assert!(said.contains("add \"env\": [\"DEPLOY_TOKEN\"] to the metadata of this tool."), "{said}");
    assert!(!said.contains("t0p-secret"), "{said}");
    let said = texts(&called(&project, &[], "asks"));
    assert!(said.contains(&format!("{reads} it is not set where the server runs; set it in")), "{said}");
    assert!(said.contains("and add \"env\": [\"DEPLOY_TOKEN\"]"), "{said}");
    let said = texts(&called(&project, &[], "named"));
    assert!(said.contains(reads) && said.ends_with("configuration of your client (`env`)."), "{said}");
    for (environment, tool) in [(&has[..], "named"), (&[], "default"), (&[], "assigned"), (&[], "succeeds")] {
        let said = texts(&called(&project, environment, tool));
        assert!(!said.contains("did not receive"), "{tool}: {said}");
    }
    let exported = project.file("server.d/env.sh", "export DEPLOY_TOKEN=x\n");
    let said = texts(&called(&exported, &[], "asks"));
    assert!(!said.contains("did not receive"), "{said}");
}

#[test]
fn a_failure_that_only_looks_like_a_missing_variable_stays_as_it_is() {
    let project = Project::new()
        .tool("gone", "#!/bin/bash\nNO_SUCH_PROGRAM\n")
        .tool("says", "#!/bin/bash\necho 'ERROR: FATAL: nothing works' >&2; exit 3\n");
    for tool in ["gone", "says"] {
        let said = texts(&called(&project, &[], tool));
        assert!(!said.contains("where the server runs"), "{said}");
    }
}

#[test]
fn words_for_a_shell_are_refused_with_a_script_as_the_way_out() {
    let project = Project::new()
        .file(
            "tools/count.meta.json",
            r#"{"description": "Counts", "command": ["ls", "{dir}", "|", "wc", "-l"]}"#,
        )
        .file("tools/pipe.meta.json", r#"{"description": "Counts", "command": "ls | wc"}"#)
        .file("tools/home.meta.json", r#"{"description": "Lists", "command": ["ls", "$HOME/logs"]}"#)
        .file(
            "tools/find.meta.json",
            r#"{"description": "Finds", "command": ["find", "{dir}", "-name", "*.log"]}"#,
        );
    let output = Server::command().arg("validate").current_dir(project.root()).output().unwrap();
    let report = String::from_utf8_lossy(&output.stdout);
    assert_eq!(output.status.code(), Some(1), "{report}");
    for (file, word) in [
        ("count", "`|`, which joins or redirects commands"),
        ("pipe", "`|`, which joins or redirects commands"),
        ("home", "`$HOME/logs`, which stands for a variable"),
    ] {
        assert!(report.contains(&format!("tools/{file}.meta.json")) && report.contains(word), "{report}");
    }
    assert!(report.contains("tool.sh") && !report.contains("[\"ls\",\"|\""), "{report}");
    assert!(!report.contains("✗ tools/find"), "{report}");
}

#[test]
fn several_values_on_standard_output_are_named() {
    let project = Project::new()
        .script("tools/two/tool.sh", "#!/bin/sh\necho '{\"a\": 1}'; echo '{\"b\": 2}'\n")
        .file(
            "tools/two/tool.meta.json",
            r#"{"name": "two", "description": "Two", "outputSchema": {"type": "object"}}"#,
        )
        .script("tools/behind/tool.sh", "#!/bin/sh\necho '{\"a\": 1}'; echo done\n")
        .file(
            "tools/behind/tool.meta.json",
            r#"{"name": "behind", "description": "Text", "outputSchema": {"type": "object"}}"#,
        );
    let message =
        |tool| called(&project, &[], tool)["error"]["message"].as_str().unwrap_or_default().to_owned();
    assert!(
        message("two").contains("it is 2 JSON values, one after another. Print one"),
        "{}",
        message("two")
    );
    assert!(message("behind").contains("a JSON value with text behind it: `done`"), "{}", message("behind"));
}

#[test]
fn a_script_with_mapped_arguments_that_asks_gets_the_end_of_input() {
    let project = Project::new().script(
        "tools/ask/tool.sh",
        "#!/bin/bash\n# mcp: {\"description\": \"Asks\", \"argv\": []}\nread -r answer || echo \"end of input\"\n",
    );
    assert_eq!(texts(&called(&project, &[], "ask")), "end of input");
}

#[test]
fn json_that_is_sent_as_text_is_explained_once_to_the_client() {
    let project = Project::new()
        .tool("two", "#!/bin/sh\necho '{\"a\": 1}'; echo '{\"b\": 2}'\n")
        .tool("before", "#!/bin/sh\necho starting; echo '{\"a\": 1}'\n")
        .tool("text", "#!/bin/sh\necho 'a {b}'\n");
    let mut server = Server::ready_with(project.root(), &[("MCPBASH_LOG_LEVEL", "warning")], "2025-11-25");
    for (tool, cause, next) in [
        ("two", "several JSON values, which are sent as text", "`jq -s .`"),
        ("before", "text before its JSON object", "standard error (`>&2`)"),
    ] {
        server.call(tool, tool);
        let log = server.receive();
        assert_eq!(log["params"]["level"], "warning", "{log}");
        assert!(log.to_string().contains(cause) && log.to_string().contains(next), "{log}");
        assert!(log.to_string().contains(&format!("\"{tool}\"")), "{log}");
        assert_eq!(server.receive()["id"], tool);
    }
    for tool in ["two", "before", "text"] {
        server.call(tool, tool);
        assert_eq!(server.receive()["id"], tool, "the second call is not explained again");
    }
}
