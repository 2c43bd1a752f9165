//! Temporary faults: the machine lacks a resource for a moment, or a helper process is killed, while the
//! server prepares something or reads the project. Afterwards everything must be as in a server without a
//! fault, and readiness must have been accurate meanwhile.

// It changes the limits of a running server (`prlimit`).
#[cfg(target_os = "linux")]
mod descriptors;
mod full_disk;
mod half_written;
mod injected;
mod killed_helpers;
mod loops;
mod memory;
mod project_root;
mod readiness;
mod start;
mod surroundings;
mod threads;

use crate::harness::http::{Http, HttpServer, request, stateless};
use crate::harness::metrics;
use crate::harness::{Project, wait_until};
use serde_json::{Value, json};
use std::net::{SocketAddr, TcpStream};

/// A project with an entry of each kind that is read differently. Each tool prints `version`, and each name
/// contains it.
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

/// A server, with connections opened before the fault: a server without descriptors accepts no more.
struct Subject {
    server: HttpServer,
    client: Http,
    watcher: Http,
    metrics: SocketAddr,
}

impl Subject {
    fn start(project: &Project, environment: &[(&str, &str)]) -> Self {
        let (server, metrics) = metrics::start_with(project, environment);
        Self::of(server, metrics)
    }

    fn of(server: HttpServer, metrics: SocketAddr) -> Self {
        let client = server.connect();
        let watcher = Http::new(TcpStream::connect(metrics).expect("a connection"));
        Self { server, client, watcher, metrics }
    }

    fn ask(&mut self, method: &str, params: &Value) -> Value {
        self.client.send(&stateless(1, method, params));
        self.client.response().json()
    }

    fn names(&mut self, list: &str) -> Vec<String> {
        self.listed(list).unwrap_or_else(|error| panic!("{error}"))
    }

    /// The names in a list, or the error.
    fn listed(&mut self, list: &str) -> Result<Vec<String>, String> {
        let answer = self.ask(&format!("{list}/list"), &json!({}));
        let listed = answer["result"][list].as_array().ok_or_else(|| answer.to_string())?;
        let mut names: Vec<String> =
            listed.iter().map(|entry| entry["name"].as_str().unwrap_or_default().to_owned()).collect();
        names.sort();
        Ok(names)
    }

    /// How many entries the first page of a list has.
    fn count(&mut self, list: &str) -> usize {
        self.names(list).len()
    }

    /// The text of a tool's result, or the error.
    fn call(&mut self, tool: &str) -> String {
        let answer = self.ask("tools/call", &json!({ "name": tool, "arguments": {} }));
        match answer["result"]["content"][0]["text"].as_str() {
            Some(text) => text.trim().to_owned(),
            None => answer.to_string(),
        }
    }

    fn readiness(&mut self) -> (u16, String) {
        let question = request("GET", "/readyz", &[("Accept", "*/*")], b"");
        let is_sent = self.watcher.try_send(&question).is_ok();
        let Some(head) = is_sent.then(|| self.watcher.try_head()).flatten() else {
            // The server closes idle connections.
            self.watcher = Http::new(TcpStream::connect(self.metrics).expect("a connection"));
            return self.readiness();
        };
        (head.status, self.watcher.body_of(head).text())
    }

    /// Waits until all lists show a version; then everything else must too.
    fn expect_version(&mut self, version: usize) {
        wait_until(&format!("the lists of version {version}, not {:?}", self.names("tools")), || {
            self.lists(version).is_ok().then_some(())
        });
        assert_eq!(self.is_as(version), Ok(()));
    }

    /// Checks that everything is as in a server of this version without a fault. Returns the difference if
    /// not.
    fn is_as(&mut self, version: usize) -> Result<(), String> {
        self.lists(version)?;
        for tool in tools_of(version) {
            expect(&tool, &self.call(&tool), &version.to_string())?;
        }
        let prompt = self.ask("prompts/get", &json!({ "name": format!("greet_{version}") }));
        let text = prompt["result"]["messages"][0]["content"]["text"].as_str();
        expect("the prompt", text.unwrap_or(&prompt.to_string()), &format!("Hello {version}"))?;
        let listed = self.ask("resources/list", &json!({}));
        let read = self.ask("resources/read", &json!({ "uri": listed["result"]["resources"][0]["uri"] }));
        let text = read["result"]["contents"][0]["text"].as_str();
        expect("the resource", text.unwrap_or(&read.to_string()), &format!("Note {version}"))?;
        let (status, why) = self.readiness();
        expect("readiness", &format!("{status} {why}"), "200 ready\n")
    }

    fn lists(&mut self, version: usize) -> Result<(), String> {
        let lists = [
            ("tools", tools_of(version)),
            ("prompts", vec![format!("greet_{version}")]),
            ("resources", vec![format!("note_{version}")]),
        ];
        lists
            .iter()
            .try_for_each(|(list, names)| expect(list, &self.listed(list)?.join(" "), &names.join(" ")))
    }

    /// Waits until the log contains these words so often.
    fn expect_log(&self, words: &str, count: usize) {
        wait_until(&format!("{words:?} in the log"), || {
            (self.server.log().matches(words).count() >= count).then_some(())
        });
    }
}

fn expect(what: &str, is: &str, should_be: &str) -> Result<(), String> {
    if is == should_be { Ok(()) } else { Err(format!("{what}: {is:?}, not {should_be:?}")) }
}
