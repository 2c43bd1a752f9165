//! `mcp-bash call` shows a long text as a client receives it, and all of it with `--whole`.

use super::call::run;
use crate::harness::{Project, Server};
use serde_json::Value;

fn project() -> Project {
    Project::new().tool("lines", "#!/bin/sh\nseq 1 60000\n").tool("short", "#!/bin/sh\necho hi\n")
}

#[test]
fn call_shows_what_a_client_receives_and_everything_on_request() {
    let project = project();
    let (code, part, notes) = run(&project, &["call", "lines"]);
    assert!(code == Some(0) && (80_000..106_000).contains(&part.len()), "{code:?}, {} bytes", part.len());
    assert!(part.contains("bytes are left out here") && notes.contains("call --whole"), "{notes}");
    let (code, whole, notes) = run(&project, &["call", "--whole", "lines"]);
    assert_eq!((code, whole.lines().count(), &*notes), (Some(0), 60_000, ""));
    let (_, short, notes) = run(&project, &["call", "--whole", "short"]);
    assert_eq!((&*short, &*notes), ("hi\n", ""));
    // For programs that rely on the whole result.
    let (_, result, _) = run(&project, &["run-tool", "lines"]);
    let result: Value = serde_json::from_str(&result).unwrap();
    assert!(result["content"][0]["text"].as_str().unwrap().trim_end().ends_with("\n59999\n60000"));
}

#[test]
fn a_long_text_of_another_server_is_read_by_its_uri() {
    let project = project();
    let command = Server::command();
    let server = format!("{} --project-root {}", command.get_program().display(), project.root().display());
    let (_, part, _) = run(&project, &["call", "--command", &server, "lines"]);
    assert!(
        part.len() < 106_000 && part.contains("the whole text is mcpbash://kept/"),
        "{} bytes",
        part.len()
    );
    let (code, whole, notes) = run(&project, &["call", "--whole", "--command", &server, "lines"]);
    assert_eq!((code, whole.lines().count()), (Some(0), 60_000), "{notes}");
}

/// A server whose link leads nowhere: the error says so, and nothing is shown as if it were all.
#[test]
fn a_link_that_leads_nowhere_is_an_error() {
    let script = r#"#!/usr/bin/env bash
while read -r line; do
    id=${line#*\"id\":}; id=${id%%,*}
    case $line in
    *initialize\"*) echo '{"jsonrpc":"2.0","id":'"$id"',"result":{"protocolVersion":"2025-11-25","capabilities":{"tools":{}},"serverInfo":{"name":"x","version":"1"}}}' ;;
    *tools/list*) echo '{"jsonrpc":"2.0","id":'"$id"',"result":{"tools":[{"name":"t","inputSchema":{"type":"object"}}]}}' ;;
    *tools/call*) echo '{"jsonrpc":"2.0","id":'"$id"',"result":{"content":[{"type":"text","text":"part x:y","_meta":{"mcpbash/wholeText":{"uri":"x:y"}}}]}}' ;;
    *resources/read*) echo '{"jsonrpc":"2.0","id":'"$id"',"error":{"code":-32002,"message":"it is gone"}}' ;;
    esac
done
"#;
    let project = project().script("server", script);
    let server = project.path("server").display().to_string();
    let (code, stdout, stderr) = run(&project, &["call", "--whole", "--command", &server, "t"]);
    assert!(
        code != Some(0) && stdout.is_empty() && stderr.contains("it is gone"),
        "{code:?} {stdout} {stderr}"
    );
}
