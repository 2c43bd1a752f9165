//! Tokens: created, listed and removed with `mcp-bash token`, and used by callers of a server.

use crate::harness::http::{HttpServer, Response, stateless_with};
use crate::harness::{Project, Server, wait_until};
use serde_json::{Value, json};
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;
use std::process::Output;

struct Tokens {
    folder: tempfile::TempDir,
}

impl Tokens {
    fn new() -> Self {
        Self { folder: tempfile::tempdir().unwrap() }
    }

    fn path(&self) -> PathBuf {
        self.folder.path().join("tokens")
    }

    /// Runs `mcp-bash token` on the file: its exit code and output.
    fn run(&self, arguments: &[&str]) -> (i32, String, String) {
        let mut command = Server::command();
        command.arg("token").args(arguments).env("MCPBASH_HTTP_TOKENS", self.path());
        let Output { status, stdout, stderr } = command.output().unwrap();
        let [stdout, stderr] = [stdout, stderr].map(|bytes| String::from_utf8(bytes).unwrap());
        (status.code().unwrap(), stdout, stderr)
    }

    /// A new token.
    fn new_token(&self, arguments: &[&str]) -> String {
        let (code, token, words) = self.run(&[&["new"], arguments].concat());
        assert_eq!(code, 0, "{words}");
        token.trim_end().to_owned()
    }

    fn serve(&self, project: &Project) -> HttpServer {
        HttpServer::start_with(project.root(), &["--tokens", self.path().to_str().unwrap()], &[])
    }
}

fn ask(server: &HttpServer, authorization: &[&str]) -> Response {
    let headers: Vec<_> = authorization.iter().map(|value| ("Authorization", *value)).collect();
    server.send(&stateless_with(&headers, 1, "tools/list", &json!({})))
}

#[test]
fn a_token_is_printed_once_and_only_its_hash_is_kept() {
    let tokens = Tokens::new();
    let (code, token, words) = tokens.run(&["new", "alice"]);
    assert_eq!(code, 0, "{words}");
    assert!(words.contains("shown this once"), "{words}");
    let token = token.trim_end();
    assert!(token.starts_with("mcpb_") && token.len() == 69, "{token}");
    let file = fs::read_to_string(tokens.path()).unwrap();
    assert!(file.starts_with("alice sha256:") && !file.contains(token) && !words.contains(token));
    assert_eq!(fs::metadata(tokens.path()).unwrap().permissions().mode() & 0o777, 0o600);

    let (_, made, _) = tokens.run(&["new", "ci", "--tools", "a,b", "--rate", "60/min", "--json"]);
    let made: Value = serde_json::from_str(&made).unwrap();
    assert_eq!(
        (&made["name"], &made["tools"], &made["rate"]),
        (&json!("ci"), &json!(["a", "b"]), &json!("60/min"))
    );
    let (_, listed, _) = tokens.run(&["list"]);
    assert_eq!(listed, "alice  all tools\nci     a,b, 60/min\n");
    let (_, listed, _) = tokens.run(&["list", "--json"]);
    let listed: Value = serde_json::from_str(&listed).unwrap();
    assert_eq!(
        listed[1],
        json!({
            "name": "ci", "tools": ["a", "b"], "resources": null, "prompts": null, "readOnly": false, "rate": "60/min"
        })
    );

    assert_eq!(tokens.run(&["remove", "alice"]).0, 0);
    assert!(!fs::read_to_string(tokens.path()).unwrap().contains("alice"));
}

#[test]
fn failures_have_a_message_and_an_exit_code() {
    let tokens = Tokens::new();
    tokens.new_token(&["alice"]);
    for (arguments, code, said) in [
        (&["new", "alice"][..], 3, "has a token for `alice` already"),
        (&["new", "a b"], 2, "cannot name a token"),
        (&["new", "x\ny sha256:"], 2, "cannot name a token"),
        (&["new", "bob", "--tools", "a b"], 2, "is no list of names"),
        (&["new", "bob", "--rate", "fast"], 2, "is no rate"),
        (&["remove", "alicia"], 4, "did you mean `alice`?"),
        (&["new", "bob", "--file", "/nowhere/tokens"], 1, "cannot be written"),
        (&["list", "--file", "/nowhere/tokens"], 2, "cannot be read"),
        (&["remove", "alice", "--file", "/nowhere/tokens"], 2, "/nowhere/tokens"),
    ] {
        let (ended, _, words) = tokens.run(arguments);
        assert!(ended == code && words.contains(said), "{arguments:?}: {ended}: {words}");
    }
    fs::set_permissions(tokens.path(), fs::Permissions::from_mode(0o666)).unwrap();
    let (code, _, words) = tokens.run(&["new", "eve"]);
    assert!(code == 2 && words.contains("chmod 600"), "{words}");
    let without = |words: &[&str]| {
        let mut command = Server::command();
        let output = command.arg("token").args(words).current_dir(tokens.folder.path()).output().unwrap();
        assert_eq!(output.status.code(), Some(2), "{words:?}");
        String::from_utf8_lossy(&output.stderr).into_owned()
    };
    let looked_for = "which file? Neither `--file FILE` nor the variable MCPBASH_HTTP_TOKENS names one";
    for words in [&["list"][..], &["remove", "alice"], &["delete", "alice"]] {
        let said = without(words);
        assert!(
            said.contains(&format!("{looked_for}; add `--file tokens` for the one in this folder")),
            "{said}"
        );
    }
    fs::remove_file(tokens.path()).unwrap();
    assert!(without(&["list"]).contains(&format!("{looked_for}; give one of them")));
}

#[test]
fn a_token_is_accepted_until_it_is_removed() {
    let (tokens, project) = (Tokens::new(), Project::with_hi());
    let [alice, bob] = ["alice", "bob"].map(|name| format!("Bearer {}", tokens.new_token(&[name])));
    let server = tokens.serve(&project);
    assert_eq!(ask(&server, &[&alice]).status, 200);
    assert_eq!(ask(&server, &[&alice.replacen("Bearer", "bearer", 1)]).status, 200);

    let nothing = ask(&server, &[]);
    assert_eq!(
        (nothing.status, nothing.header("www-authenticate")),
        (401, Some(r#"Bearer realm="mcp-bash""#))
    );
    let token = alice.strip_prefix("Bearer ").unwrap();
    let hash = fs::read_to_string(tokens.path()).unwrap().split_once("sha256:").unwrap().1[..64].to_owned();
    let (basic, shorter, hashed) =
        (format!("Basic {token}"), &alice[..alice.len() - 1], format!("Bearer {hash}"));
    for wrong in
        [&[&*basic][..], &[shorter], &[&hashed], &["Bearer"], &[token], &[&alice, &alice], &[&alice, &bob]]
    {
        let answer = ask(&server, wrong);
        assert_eq!(answer.status, 401, "{wrong:?}: {answer:?}");
        assert!(answer.header("www-authenticate").unwrap().starts_with("Bearer "), "{answer:?}");
    }
    tokens.run(&["remove", "alice"]);
    wait_until("the token to be refused", || (ask(&server, &[&alice]).status != 200).then_some(()));
    assert_eq!(ask(&server, &[&bob]).status, 200);
    let log = server.finish();
    assert!(!log.contains(token) && !log.contains("mcpb_"), "{log}");
}

#[test]
fn guessing_tokens_slows_down_only_the_guesser() {
    let (tokens, project) = (Tokens::new(), Project::with_hi());
    let alice = format!("Bearer {}", tokens.new_token(&["alice"]));
    let server = tokens.serve(&project);
    let statuses: Vec<u16> =
        (0..30).map(|guess| ask(&server, &[&format!("Bearer mcpb_{guess:064x}")]).status).collect();
    assert_eq!(statuses.iter().filter(|status| **status == 401).count(), 10, "{statuses:?}");
    assert!(statuses[10..].iter().all(|status| *status == 429), "{statuses:?}");
    assert_eq!(ask(&server, &[&alice]).status, 200);
    server.finish();
}

#[test]
fn a_caller_that_floods_delays_no_other() {
    let (tokens, project) = (Tokens::new(), Project::with_hi());
    let flood = format!("Bearer {}", tokens.new_token(&["flood", "--rate", "5/h"]));
    let other = format!("Bearer {}", tokens.new_token(&["other"]));
    let server = tokens.serve(&project);
    let answers: Vec<Response> = (0..8).map(|_| ask(&server, &[&flood])).collect();
    let statuses: Vec<u16> = answers.iter().map(|answer| answer.status).collect();
    assert_eq!(statuses, [200, 200, 200, 200, 200, 429, 429, 429]);
    let wait: u64 = answers[7].header("retry-after").unwrap().parse().unwrap();
    assert!((1..=720).contains(&wait), "{wait}");
    assert_eq!(ask(&server, &[&other]).status, 200);
    server.finish();
}

#[test]
fn a_group_or_world_writable_token_file_is_refused() {
    let (tokens, project) = (Tokens::new(), Project::with_hi());
    let alice = format!("Bearer {}", tokens.new_token(&["alice"]));
    let server = tokens.serve(&project);
    let mode = |mode| fs::set_permissions(tokens.path(), fs::Permissions::from_mode(mode)).unwrap();
    mode(0o666);
    wait_until("the file to be noticed", || (ask(&server, &[&alice]).status == 401).then_some(()));
    mode(0o600);
    wait_until("the repair to be noticed", || (ask(&server, &[&alice]).status == 200).then_some(()));
    let log = server.finish();
    assert!(log.contains("no token is accepted any more") && log.contains("chmod 600"), "{log}");
}

#[test]
fn names_of_a_new_token_exist_in_the_project() {
    let tokens = Tokens::new();
    let project = Project::with_hi()
        .file("resources/notes.txt", "n")
        .file("resources/notes.meta.json", r#"{"name": "notes", "uri": "file://./resources/notes.txt"}"#)
        .file("prompts/greet.txt", "Hi")
        .file("prompts/greet.meta.json", r#"{"name": "greet"}"#);
    let root = project.root().to_str().unwrap();
    for (flag, wrong, right) in
        [("--tools", "ho", "`hi`"), ("--resources", "nodes", "`notes`"), ("--prompts", "great", "`greet`")]
    {
        let (code, token, words) = tokens.run(&["new", "x", "--project-root", root, flag, wrong]);
        assert!(code == 4 && token.is_empty(), "{code}: {words}");
        assert!(words.contains(&format!("`{wrong}`, did you mean {right}?")), "{words}");
        assert!(!tokens.path().exists(), "nothing was written");
    }
    let all = ["--tools", "hi", "--resources", "notes", "--prompts", "greet,all", "--read-only"];
    tokens.new_token(&[&["guest", "--project-root", root], &all[..]].concat());
    let (_, listed, _) = tokens.run(&["list"]);
    assert_eq!(listed, "guest  hi if read-only, resources notes, prompts greet,all\n");
    let (_, listed, _) = tokens.run(&["list", "--json"]);
    assert_eq!(serde_json::from_str::<Value>(&listed).unwrap()[0]["readOnly"], true, "{listed}");
}

#[test]
fn the_advice_to_remove_a_token_names_its_file() {
    let tokens = Tokens::new();
    let other = tokens.folder.path().join("other tokens");
    let other = other.to_str().unwrap();
    tokens.new_token(&["alice", "--file", other]);
    let (code, _, words) = tokens.run(&["new", "alice", "--tokens", other]);
    assert!(code == 3 && words.contains(&format!("token remove alice --file {other}")), "{words}");
    assert_eq!(tokens.run(&["remove", "alice", "--tokens", other]).0, 0);
    // The file of the setting is another one, and there is none.
    let (code, _, words) = tokens.run(&["remove", "alice"]);
    assert!(code == 2 && words.contains(tokens.path().to_str().unwrap()), "{words}");
}
