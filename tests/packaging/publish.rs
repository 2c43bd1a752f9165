//! `publish`: the entry for the registry, and every answer that a registry can give. The registry here is a listener on
//! loopback.

use super::*;
use serde_json::json;
use std::io::{Read, Write};
use std::net::TcpListener;
use std::os::unix::fs::PermissionsExt;
use std::thread::JoinHandle;

const TOKEN: &str = "registry-token-value";

/// A registry that reads one request, gives this answer, and returns what it was sent. Without an answer it waits until the
/// client goes away.
fn registry(answer: Option<(&str, &str)>) -> (String, JoinHandle<String>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    let answer = answer.map(|(status, body)| {
        format!("HTTP/1.1 {status}\r\nContent-Type: application/json\r\nContent-Length: {}\r\nConnection: close\r\n\r\n{body}", body.len())
    });
    let served = std::thread::spawn(move || {
        let (mut stream, _) = listener.accept().unwrap();
        let mut request = Vec::new();
        let mut buffer = [0; 4096];
        loop {
            let text = String::from_utf8_lossy(&request).into_owned();
            let whole = text.split_once("\r\n\r\n").is_some_and(|(head, body)| {
                let length = head
                    .lines()
                    .find_map(|line| line.to_lowercase().strip_prefix("content-length: ").map(str::to_owned));
                length.is_some_and(|length| body.len() >= length.parse().unwrap())
            });
            if whole {
                break;
            }
            let count = stream.read(&mut buffer).unwrap();
            assert!(count > 0, "the request is cut off");
            request.extend(&buffer[..count]);
        }
        match answer {
            Some(answer) => stream.write_all(answer.as_bytes()).unwrap(),
            None => while stream.read(&mut buffer).is_ok_and(|count| count > 0) {},
        }
        String::from_utf8(request).unwrap()
    });
    (url, served)
}

fn publish(project: &Project, url: &str, words: &[&str]) -> Said {
    said(
        command(project, &[&["publish"], words].concat())
            .env("MCP_REGISTRY_URL", url)
            .env("MCP_REGISTRY_TOKEN", TOKEN),
    )
}

fn with_bundle() -> (Project, TempDir, String) {
    let project = described().script("tools/keyed/tool.sh", "#!/bin/sh\n").file(
        "tools/keyed/tool.meta.json",
        r#"{"name": "keyed", "description": "d", "secrets": {"API_KEY": "api-key"}}"#,
    );
    let output = TempDir::new().unwrap();
    let bundle = bundled(&project, &output).to_str().unwrap().to_owned();
    (project, output, bundle)
}

#[test]
fn a_bundle_becomes_an_entry() {
    let (project, _output, bundle) = with_bundle();
    let printed = run(&project, &["publish", &bundle, "--dry-run"]);
    assert_eq!(printed.code, 0, "{printed:?}");
    let entry: Value = serde_json::from_str(&printed.out).unwrap();
    assert_eq!(
        entry,
        json!({
            "$schema": "https://static.modelcontextprotocol.io/schemas/2025-12-11/server.schema.json",
            "name": "io.github.ann/greeter", "description": "Greets", "version": "1.0.0", "title": "Greeter",
            "repository": { "url": "https://github.com/ann/greeter", "source": "github" },
            "packages": [{
                "registryType": "mcpb",
                "identifier": "https://github.com/ann/greeter/releases/download/v1.0.0/greeter-1.0.0.mcpb",
                "fileSha256": mcp_bash_packaging::sha256(&fs::read(&bundle).unwrap()),
                "transport": { "type": "stdio" },
                "environmentVariables": [{
                    "name": "API_KEY", "isRequired": true, "isSecret": true,
                    "description": "A secret, used by tool keyed. It is given to nothing else.",
                }],
            }],
        })
    );
    // In another folder the bundle alone has to say everything.
    let elsewhere = said(Server::command().args(["publish", &bundle, "--dry-run"]).current_dir("/"));
    assert_eq!(elsewhere.out, printed.out, "{elsewhere:?}");
}

#[test]
fn declared_packages_and_remotes_become_an_entry() {
    let project = Project::with_hi().file("VERSION", "2.0.0").file(
        "server.d/server.meta.json",
        r#"{"name": "greeter", "description": "Greets", "homepage": "https://example.com",
            "registry": {"name": "com.example/greeter", "packages": [{"registryType": "npm", "identifier": "greeter"},
                {"registryType": "oci", "identifier": "ghcr.io/ann/greeter:2.0.0"}],
              "remotes": [{"type": "streamable-http", "url": "https://{tenant}.example.com/mcp",
                "variables": {"tenant": {"isRequired": true}}, "headers": [{"name": "X-Key", "isSecret": true}]}]}}"#,
    );
    let printed = run(&project, &["publish", "--dry-run"]);
    assert_eq!(printed.code, 0, "{printed:?}");
    let entry: Value = serde_json::from_str(&printed.out).unwrap();
    assert_eq!(entry["name"], "com.example/greeter");
    assert_eq!(entry["packages"][0]["version"], "2.0.0");
    assert!(entry["packages"][1].get("version").is_none(), "{entry}");
    let remote = json!({"type": "streamable-http", "url": "https://{tenant}.example.com/mcp",
        "variables": {"tenant": {"isRequired": true}}, "headers": [{"name": "X-Key", "isSecret": true}]});
    assert_eq!(entry["remotes"], json!([remote]));
    let valid = run(&project, &["validate", "--strict"]);
    assert!(!valid.out.contains("registry"), "{valid:?}");
}

#[test]
fn wrong_declarations_are_refused_with_their_key() {
    for (remotes, words) in [
        (r#"{"url": "https://x.example"}"#, "`registry.remotes` in server.d/server.meta.json must be a list"),
        (
            r#"[{"type": "sse", "url": "https://x.example", "headers": [{"name": "X-Key", "secret": true}]}]"#,
            "`remotes[0].headers[0]`: the key `secret` is not known",
        ),
    ] {
        let metadata = format!(
            r#"{{"name": "greeter", "description": "Greets", "registry": {{"name": "com.example/greeter", "remotes": {remotes}}}}}"#
        );
        let project =
            Project::with_hi().file("VERSION", "2.0.0").file("server.d/server.meta.json", &metadata);
        let refused = run(&project, &["publish", "--dry-run"]);
        assert!(refused.code != 0 && refused.err.contains(words), "{refused:?}");
    }
}

#[test]
fn an_accepted_entry_is_published_once() {
    let (project, _output, bundle) = with_bundle();
    let (url, served) = registry(Some(("200 OK", r#"{"server": {}, "_meta": {}}"#)));
    let published = publish(&project, &url, &[&bundle]);
    assert_eq!(published.code, 0, "{published:?}");
    assert!(
        published.out.starts_with("Published io.github.ann/greeter 1.0.0 at http://127.0.0.1:"),
        "{published:?}"
    );
    let request = served.join().unwrap();
    assert!(request.starts_with("POST /v0/publish HTTP/1.1\r\n"), "{request}");
    assert!(request.to_lowercase().contains(&format!("\r\nauthorization: bearer {TOKEN}\r\n")), "{request}");
    let body: Value = serde_json::from_str(request.split_once("\r\n\r\n").unwrap().1).unwrap();
    assert_eq!((&body["name"], &body["version"]), (&json!("io.github.ann/greeter"), &json!("1.0.0")));
}

#[test]
fn every_refusal_is_explained_and_no_answer_shows_the_token() {
    let (project, _output, bundle) = with_bundle();
    let reasons = r#"{"title": "Unprocessable", "status": 422, "detail": "validation failed",
                      "errors": [{"message": "expected length <= 100", "location": "body.description"}]}"#;
    let echo = format!(r#"{{"detail": "who is {TOKEN}?"}}"#);
    for (status, body, code, words) in [
        (
            "422 Unprocessable Entity",
            reasons,
            1,
            "validation failed; body.description: expected length <= 100",
        ),
        ("409 Conflict", r#"{"detail": "version exists"}"#, 1, "refuses the entry: version exists"),
        ("401 Unauthorized", echo.as_str(), 3, "does not accept the token (HTTP 401): who is …?"),
        ("403 Forbidden", r#"{"detail": "not your namespace"}"#, 3, "not your namespace"),
        ("404 Not Found", "<html>\u{1b}[31m", 6, "HTTP 404"),
        ("500 Oops", "", 6, "it gave no reason"),
        ("200 OK", "<html>Welcome</html>", 6, "and no entry (<html>Welcome</html>)"),
        ("302 Found", "", 6, "redirects"),
    ] {
        let (url, served) = registry(Some((status, body)));
        let refused = publish(&project, &url, &[&bundle]);
        assert!(refused.code == code && refused.err.contains(words), "{status}: {refused:?}");
        let all = refused.out + &refused.err;
        assert!(!all.contains(TOKEN) && !all.contains('\u{1b}'), "{all}");
        served.join().unwrap();
    }
}

#[test]
fn a_registry_that_hangs_or_is_gone_is_not_waited_for() {
    let (project, _output, bundle) = with_bundle();
    let (url, served) = registry(None);
    let late = publish(&project, &url, &[&bundle, "--timeout", "1"]);
    assert!(late.code == 5 && late.err.contains("did not answer within 1 s"), "{late:?}");
    served.join().unwrap();
    let gone = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let unreachable = publish(&project, &format!("http://{gone}"), &[&bundle]);
    assert!(unreachable.code == 6 && unreachable.err.contains("cannot be reached"), "{unreachable:?}");
    let unencrypted = publish(&project, "http://registry.example.com", &[&bundle]);
    assert!(unencrypted.code == 2 && unencrypted.err.contains("MCP_REGISTRY_URL"), "{unencrypted:?}");
}

#[test]
fn the_token_comes_from_a_private_file_or_a_variable_and_not_from_the_command_line() {
    let (project, output, bundle) = with_bundle();
    let file = output.path().join("token");
    let write = |text: &str, mode: u32| {
        fs::write(&file, text).unwrap();
        fs::set_permissions(&file, fs::Permissions::from_mode(mode)).unwrap();
    };
    let with_file = |url: &str| {
        let words = ["publish", &bundle, "--token-file", file.to_str().unwrap()];
        said(command(&project, &words).env("MCP_REGISTRY_URL", url))
    };
    write(&format!(r#"{{"token": "{TOKEN}", "method": "github"}}"#), 0o600);
    let (url, served) = registry(Some(("200 OK", "{}")));
    assert_eq!(with_file(&url).code, 0);
    assert!(served.join().unwrap().contains(TOKEN));
    for (text, mode, code, words) in [
        (TOKEN, 0o644, 2, "can be read by other users"),
        ("a b", 0o600, 2, "cannot be sent"),
        ("", 0o600, 3, "mcp-publisher login"),
    ] {
        write(text, mode);
        let refused = with_file("http://127.0.0.1:9");
        assert!(refused.code == code && refused.err.contains(words), "{refused:?}");
    }
    let none = run(&project, &["publish", &bundle]);
    assert!(none.code == 3 && none.err.contains("MCP_REGISTRY_TOKEN"), "{none:?}");
    let on_command_line = run(&project, &["publish", &bundle, "--token", TOKEN]);
    assert!(on_command_line.code == 2 && on_command_line.err.contains("--token-file"), "{on_command_line:?}");
    assert!(!on_command_line.err.contains(TOKEN));
}

#[test]
fn what_the_registry_would_refuse_is_not_sent() {
    let (project, output, bundle) = with_bundle();
    let path = |name: &str| output.path().join(name).to_str().unwrap().to_owned();
    fs::write(path("text.mcpb"), "no zip").unwrap();
    let whole = fs::read(&bundle).unwrap();
    fs::write(path("cut.mcpb"), &whole[..whole.len() / 2]).unwrap();
    let mut other = mcp_bash_packaging::ZipWriter::new(Vec::new());
    other.add("manifest.json", b"{\"name\": \"x\"}", false).unwrap();
    fs::write(path("strange.mcpb"), other.finish().unwrap()).unwrap();
    let newer = TempDir::new().unwrap();
    let newer_words =
        ["bundle", "--no-binary", "--version", "1.1.0", "--output", newer.path().to_str().unwrap()];
    assert_eq!(run(&project, &newer_words).code, 0);
    let newer = newer.path().join("greeter-1.1.0.mcpb").to_str().unwrap().to_owned();
    for (words, code, said) in [
        (&[path("text.mcpb").as_str()][..], 1, "it is no ZIP file"),
        (&[path("cut.mcpb").as_str()], 1, "is no bundle"),
        (&[path("strange.mcpb").as_str()], 1, "`version` is missing"),
        (&[path("none.mcpb").as_str()], 2, "failed to read"),
        (&[bundle.as_str(), newer.as_str()], 2, "not of the same server and version"),
        (&[bundle.as_str(), "--name", "greeter"], 1, "expected NAMESPACE/NAME"),
        (&[bundle.as_str(), "--url", "https://example.com/x.mcpb"], 1, "no file of a release"),
        (&[][..], 2, "name bundles to publish"),
    ] {
        let refused = publish(&project, "http://127.0.0.1:9", words);
        assert!(refused.code == code && refused.err.contains(said), "{words:?}: {refused:?}");
    }
}
