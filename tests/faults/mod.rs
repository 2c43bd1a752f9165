//! Faults that pass: the machine lacks something for a moment, or a helper process is killed, while something is prepared once
//! or the project is read. Afterwards everything must be as in a server that never met the fault, and readiness must have
//! told the truth meanwhile.

mod descriptors;
mod full_disk;
mod half_written;
mod killed_helpers;
mod loops;
mod memory;
mod project_root;
mod readiness;
mod start;
mod surroundings;
mod threads;

use crate::harness::http::{Http, HttpServer, request, stateless};
use crate::harness::{Project, wait_until};
use crate::http_metrics;
use serde_json::{Value, json};
use std::net::{SocketAddr, TcpStream};

/// A project with an entry of each kind that is read in a way of its own. Each tool says `version`, and each name holds it.
fn write_version(project: &Project, version: usize) {
    project.write_script("tools/shell/tool.sh", &format!("#!/bin/sh\necho {version}\n"));
    let metadata = json!({ "name": format!("shell_{version}"), "description": "A script" });
    project.write("tools/shell/tool.meta.json", &metadata.to_string());
    project.write(
        "tools/python.py",
        &format!("from mcp_bash import tool\n@tool\ndef python_{version}() -> str: return '{version}'\n"),
    );
    project.write(
        "tools/node.mjs",
        &format!("import {{ tool }} from 'mcp-bash'\nexport const node_{version} = tool('x', {{}}, () => '{version}')\n"),
    );
    project.write_script(
        "tools/provider",
        &format!(
            "#!/bin/sh\n# mcp: {{\"provider\": true}}\ncase $1 in\nlist) echo '{{\"name\":\"provided_{version}\"}}' ;;\n\
             provided_*) echo '{{\"content\":[{{\"type\":\"text\",\"text\":\"{version}\"}}]}}' ;;\nesac\n"
        ),
    );
    project.write("prompts/greet.txt", &format!("Hello {version}"));
    let metadata = json!({ "name": format!("greet_{version}"), "description": "Greets" });
    project.write("prompts/greet.meta.json", &metadata.to_string());
    project.write("resources/note.txt", &format!("Note {version}"));
    let metadata = json!({ "name": format!("note_{version}"), "description": "A note" });
    project.write("resources/note.meta.json", &metadata.to_string());
}

fn tools_of(version: usize) -> Vec<String> {
    ["node", "provided", "python", "shell"].iter().map(|kind| format!("{kind}_{version}")).collect()
}

/// A server, with connections that were there before the fault: a server without descriptors accepts no others.
struct Subject {
    server: HttpServer,
    client: Http,
    watcher: Http,
}

impl Subject {
    fn start(project: &Project, environment: &[(&str, &str)]) -> Self {
        let (server, metrics) = http_metrics::start_with(project, environment);
        Self::of(server, metrics)
    }

    fn of(server: HttpServer, metrics: SocketAddr) -> Self {
        let client = server.connect();
        let watcher = Http::new(TcpStream::connect(metrics).expect("a connection"));
        Self { server, client, watcher }
    }

    fn ask(&mut self, method: &str, params: &Value) -> Value {
        self.client.send(&stateless(1, method, params));
        self.client.response().json()
    }

    fn names(&mut self, list: &str) -> Vec<String> {
        let answer = self.ask(&format!("{list}/list"), &json!({}));
        let listed = answer["result"][list].as_array().unwrap_or_else(|| panic!("{answer}"));
        let mut names: Vec<String> =
            listed.iter().map(|entry| entry["name"].as_str().unwrap_or_default().to_owned()).collect();
        names.sort();
        names
    }

    /// How many entries the first page of a list has.
    fn count(&mut self, list: &str) -> usize {
        self.names(list).len()
    }

    /// What a tool says, or the error.
    fn call(&mut self, tool: &str) -> String {
        let answer = self.ask("tools/call", &json!({ "name": tool, "arguments": {} }));
        match answer["result"]["content"][0]["text"].as_str() {
            Some(text) => text.trim().to_owned(),
            None => answer.to_string(),
        }
    }

    fn readiness(&mut self) -> (u16, String) {
        self.watcher.send(&request("GET", "/readyz", &[("Accept", "*/*")], b""));
        let answer = self.watcher.response();
        (answer.status, answer.text())
    }

    /// Waits until all lists are those of a version; then every tool must say so, and the server must be ready.
    fn expect_version(&mut self, version: usize) {
        wait_until(&format!("the lists of version {version}, not {:?}", self.names("tools")), || {
            let is_there = self.names("tools") == tools_of(version)
                && self.names("prompts") == [format!("greet_{version}")]
                && self.names("resources") == [format!("note_{version}")];
            is_there.then_some(())
        });
        for tool in tools_of(version) {
            assert_eq!(self.call(&tool), version.to_string(), "{tool}");
        }
        assert_eq!(self.readiness(), (200, "ready\n".to_owned()));
    }

    /// Waits until the log holds such words so often.
    fn expect_log(&self, words: &str, count: usize) {
        wait_until(&format!("{words:?} in the log"), || {
            (self.server.log().matches(words).count() >= count).then_some(())
        });
    }
}
