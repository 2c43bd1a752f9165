//! Audit logs in the database: a chain for each server, shown together and verified one by one.

use super::Fleet;
use crate::harness::http::HttpServer;
use crate::harness::metrics;
use crate::harness::{Project, Server, stateless_meta, wait_until};
use rustix::process::Signal;
use serde_json::{Value, json};
use std::process::Output;

const IN_STORE: (&str, &str) = ("MCPBASH_AUDIT", "store");
const DURABLE: (&str, &str) = ("MCPBASH_AUDIT_DURABLE", "true");

#[derive(Debug)]
struct Said {
    code: i32,
    out: String,
    err: String,
}

/// Runs `mcp-bash audit` about the log in this store.
fn audit_in(store: &str, arguments: &[&str]) -> Said {
    let mut command = Server::command();
    command.arg("audit").args(arguments).envs([("MCPBASH_STORE", store), IN_STORE]);
    let Output { status, stdout, stderr } = command.output().expect("it runs");
    let [out, err] = [stdout, stderr].map(|bytes| String::from_utf8(bytes).expect("text"));
    Said { code: status.code().expect("a code"), out, err }
}

fn audit(fleet: &Fleet, arguments: &[&str]) -> Said {
    audit_in(&fleet.database.url("fleet"), arguments)
}

fn call(fleet: &Fleet, server: usize, tool: &str) -> Value {
    fleet.ask_with(server, "tools/call", &json!({ "name": tool, "arguments": {} }), &stateless_meta())
}

fn has_result(answer: &Value) -> bool {
    answer.get("result").is_some()
}

/// How many calls of the log have this outcome.
fn count(fleet: &Fleet, outcome: &str) -> usize {
    let said = audit(fleet, &["show", "--tool", "hi", "--outcome", outcome]);
    assert_eq!(said.code, 0, "{said:?}");
    said.out.lines().count()
}

fn rows(fleet: &Fleet) -> String {
    fleet.database.query("SELECT count(*) FROM fleet.audit WHERE line LIKE '%\"outcome\":\"success\"%'")
}

/// Servers that have written seven lines each: the start, and two for each of three calls.
fn recorded() -> (Project, Fleet) {
    let project = Project::with_hi();
    let fleet = Fleet::start_with(&project, 2, &[IN_STORE, DURABLE]);
    for _ in 0..3 {
        assert!(has_result(&call(&fleet, 0, "hi")) && has_result(&call(&fleet, 1, "hi")));
    }
    (project, fleet)
}

#[test]
fn each_server_has_a_chain_and_all_are_shown_by_time() {
    let (project, mut fleet) = recorded();
    assert_eq!(rows(&fleet), "6", "a durable line is there when its answer is");
    let said = audit(&fleet, &["show", "--json"]);
    let records: Vec<Value> =
        said.out.lines().map(|line| serde_json::from_str(line).expect("JSON")).collect();
    let times: Vec<&str> = records.iter().map(|record| record["time"].as_str().expect("a time")).collect();
    assert!(times.len() == 14 && times.is_sorted(), "{said:?}");
    let calls = records.iter().filter(|record| record["event.name"] == "mcp.tools.call");
    let runs: Vec<&str> = calls
        .map(|call| call["event.id"].as_str().expect("an id").split('-').next().expect("a run"))
        .collect();
    assert_eq!(runs[..2], runs[2..4], "the servers were asked in turn");
    assert_ne!(runs[0], runs[1]);
    assert_eq!(count(&fleet, "success"), 6);
    assert_eq!(audit(&fleet, &["show", "--until", "2020-01-01"]).out, "");
    assert_eq!(audit(&fleet, &["show", "--since", "1h"]).out.lines().count(), 14);
    // A server that is started again begins a chain.
    fleet.servers.remove(0).finish();
    fleet.add(&project);
    assert!(has_result(&call(&fleet, 1, "hi")));
    let said = audit(&fleet, &["verify"]);
    assert_eq!((said.code, said.out.lines().count()), (0, 3), "{said:?}");
    assert!(said.out.contains(": 8 records, 1 to 8; nothing was removed or changed"), "{said:?}");
}

#[test]
fn rows_that_were_removed_changed_or_reordered_are_found() {
    let (_project, fleet) = recorded();
    let heads = audit(&fleet, &["head"]);
    assert_eq!((heads.code, heads.out.lines().count()), (0, 2), "{heads:?}");
    let heads = heads.out.trim();
    let verified = audit(&fleet, &["verify", "--head", heads]);
    assert!(verified.code == 0 && !verified.out.contains("as far as"), "{verified:?}");
    let chain = fleet.database.query("SELECT min(chain) FROM fleet.audit");
    fleet.database.query("CREATE TABLE fleet.copy AS SELECT chain, seq, line FROM fleet.audit");
    let restore = "TRUNCATE fleet.audit; INSERT INTO fleet.audit SELECT * FROM fleet.copy";
    let found = |change: &str, arguments: &[&str]| {
        fleet.database.query(&change.replace("{chain}", &format!("chain = '{chain}'")));
        let said = audit(&fleet, &[&["verify"], arguments].concat());
        fleet.database.query(restore);
        said
    };
    for (change, words) in [
        ("DELETE FROM fleet.audit WHERE {chain} AND seq = 4", "record 4 is missing before this line"),
        (
            "UPDATE fleet.audit SET line = replace(line, '\"success\"', '\"failure\"') WHERE {chain} AND seq = 3",
            "record 3 was changed",
        ),
        (
            "UPDATE fleet.audit SET seq = CASE seq WHEN 3 THEN 103 ELSE 104 END WHERE {chain} AND seq IN (3, 4);
             UPDATE fleet.audit SET seq = CASE seq WHEN 103 THEN 4 ELSE 3 END WHERE {chain} AND seq > 100",
            "record 3 is missing",
        ),
        ("UPDATE fleet.audit SET chain = 'x' WHERE {chain} AND seq > 4", "this line is of chain"),
        ("INSERT INTO fleet.audit SELECT 'x', seq, line FROM fleet.audit WHERE {chain}", "this line is of chain"),
        ("UPDATE fleet.audit SET line = '' WHERE {chain} AND seq = 2", "this line is no record"),
    ] {
        let said = found(change, &[]);
        assert!(said.code == 1 && said.err.contains(words), "{change}: {said:?}");
        assert!(said.err.contains("chain "), "it says which one: {said:?}");
    }
    let cut = "DELETE FROM fleet.audit WHERE {chain} AND seq > 5";
    assert_eq!(found(cut, &[]).code, 0, "the chain itself cannot show it");
    let said = found(cut, &["--head", heads]);
    assert!(said.code == 1 && said.err.contains("the end was cut off"), "{said:?}");
    let said = found("DELETE FROM fleet.audit WHERE {chain}", &["--head", heads]);
    assert!(said.code == 1 && said.err.contains(&format!("there is no chain {chain}")), "{said:?}");
    let said = found("SELECT 1", &["--head", heads.split_once(':').expect("a head").1]);
    assert!(said.code == 2 && !said.err.is_empty(), "{said:?}");
    // As audit.md has it: old lines are removed from the beginning of each chain.
    let prune = "DELETE FROM fleet.audit AS line
         USING (SELECT chain, min(seq) FILTER (WHERE time >= (SELECT time FROM fleet.audit WHERE {chain} AND seq = 4)) AS first
                FROM fleet.audit GROUP BY chain) AS kept
         WHERE line.chain = kept.chain AND (kept.first IS NULL OR line.seq < kept.first)";
    let said = found(prune, &[]);
    let kept = format!("chain {chain}: 4 records, 4 to 7; nothing was removed");
    assert!(said.code == 0 && said.out.contains(&kept), "{said:?}");
}

#[test]
fn every_answered_call_of_a_killed_server_is_in_the_store() {
    let project =
        Project::with_hi().tool("stuck", "#!/bin/sh\ntouch \"$MCPBASH_PROJECT_ROOT/runs\"\nsleep 60\n");
    let mut fleet = Fleet::start_with(&project, 2, &[IN_STORE, DURABLE]);
    for _ in 0..5 {
        assert!(has_result(&call(&fleet, 0, "hi")));
    }
    std::thread::scope(|scope| {
        let fleet = &fleet;
        let stuck = json!({ "name": "stuck", "arguments": {} });
        scope.spawn(move || {
            let mut http = fleet.servers[0].connect();
            let headers = [("Authorization", fleet.token())];
            let mut params = stuck.clone();
            params["_meta"] = stateless_meta();
            http.send(&crate::harness::http::stateless_with(&headers, 1, "tools/call", &params));
        });
        wait_until("the tool", || project.path("runs").exists().then_some(()));
        fleet.servers[0].signal(Signal::KILL);
    });
    fleet.servers[0].wait();
    assert!(has_result(&call(&fleet, 1, "hi")));
    assert_eq!(count(&fleet, "success"), 6);
    let said = audit(&fleet, &["verify"]);
    assert!(said.code == 0 && said.out.contains("; 1 begun and not ended"), "{said:?}");
}

#[test]
fn while_the_database_is_away_calls_are_refused_or_go_on_and_no_line_is_lost_or_doubled() {
    let metrics_at = ("MCPBASH_HTTP_METRICS", "127.0.0.1:0");
    for (on_error, durable, readiness) in
        [("refuse", "true", 503), ("refuse", "false", 503), ("continue", "true", 200)]
    {
        let settings =
            [IN_STORE, metrics_at, ("MCPBASH_AUDIT_ON_ERROR", on_error), ("MCPBASH_AUDIT_DURABLE", durable)];
        let project = Project::with_hi();
        let mut fleet = Fleet::start_with(&project, 1, &settings);
        let address = metrics::metrics_address(&fleet.servers[0]);
        let [mut answered, mut refused] = [0, 0];
        let mut ask = |fleet: &Fleet| {
            let answer = call(fleet, 0, "hi");
            *if has_result(&answer) { &mut answered } else { &mut refused } += 1;
            answer
        };
        assert!(has_result(&ask(&fleet)));
        fleet.database.kill();
        wait_until("a line that cannot be written", || {
            ask(&fleet);
            (metrics::gauge(address, "mcp_server_audit_broken") == 1).then_some(())
        });
        let answer = ask(&fleet);
        assert_eq!(has_result(&answer), on_error == "continue", "{answer}");
        if on_error == "refuse" {
            let words = answer["error"]["message"].as_str().expect("an error");
            assert!(words.contains("the audit log cannot be written: the shared store"), "{words}");
            assert!(!words.contains("PostgreSQL"), "where it is, is for the operator: {words}");
        }
        assert_eq!(metrics::get(address, "/readyz", "*/*").status, readiness);
        assert!(fleet.servers[0].log().contains("the audit log cannot be written"));
        fleet.database.start_again();
        wait_until("the lines to be written", || {
            let is_broken = metrics::gauge(address, "mcp_server_audit_broken") == 1;
            let readiness = metrics::get(address, "/readyz", "*/*").status;
            (!is_broken && readiness == 200).then_some(())
        });
        assert!(has_result(&ask(&fleet)));
        fleet.servers.remove(0).finish();
        // A call whose line could not be made durable was answered with an error after it had run.
        let said = audit(&fleet, &["show", "--tool", "hi", "--json"]);
        let ended = said.out.lines().filter(|line| line.contains("\"outcome\":")).count();
        assert_eq!(ended, answered + refused, "{settings:?}: {said:?}");
        assert!(count(&fleet, "success") >= answered, "{settings:?}");
        let said = audit(&fleet, &["verify"]);
        assert_eq!((said.code, said.out.lines().count()), (0, 1), "{said:?}");
    }
}

#[test]
fn lines_that_need_not_be_durable_are_there_when_the_server_has_ended() {
    let project = Project::with_hi();
    let mut fleet = Fleet::start_with(&project, 1, &[IN_STORE]);
    for _ in 0..20 {
        assert!(has_result(&call(&fleet, 0, "hi")));
    }
    fleet.servers.remove(0).finish();
    assert_eq!(rows(&fleet), "20");
    let said = audit(&fleet, &["verify"]);
    assert!(said.code == 0 && said.out.contains(": 22 records, 1 to 22;"), "{said:?}");
    // A command that calls a tool writes there too.
    let output = Server::command()
        .args(["call", "hi", "--project-root"])
        .arg(project.root())
        .envs([("MCPBASH_STORE", &*fleet.database.url("fleet")), IN_STORE])
        .output()
        .expect("it runs");
    assert!(output.status.success(), "{output:?}");
    assert_eq!(rows(&fleet), "21");
}

#[test]
fn a_log_in_a_store_that_is_missing_or_a_folder_is_refused_in_words() {
    let project = Project::with_hi();
    let folder = project.path("store");
    for store in ["", folder.to_str().expect("a path")] {
        let environment = [IN_STORE, ("MCPBASH_STORE", store)];
        let said = HttpServer::try_start_by(Server::command(), project.root(), &[], &environment);
        let said = said.err().expect("no start");
        assert!(said.contains("MCPBASH_AUDIT is `store`") && said.contains("set MCPBASH_STORE"), "{said}");
        let called = Server::command()
            .args(["call", "hi", "--project-root"])
            .arg(project.root())
            .envs(environment)
            .output()
            .expect("it runs");
        let said = String::from_utf8_lossy(&called.stderr);
        assert!(!called.status.success() && said.contains("set MCPBASH_STORE"), "{said}");
        let said = audit_in(store, &["verify"]);
        assert!(said.code == 2 && said.err.contains("MCPBASH_STORE"), "{said:?}");
    }
}

#[test]
fn a_store_that_cannot_be_read_is_named_without_its_password() {
    for (store, words) in [
        ("postgres://me:hunter22@127.0.0.1:1/d", "PostgreSQL at 127.0.0.1:1/d cannot be reached"),
        ("postgres://me:hunter22@127.0.0.1:1/d?schema=not;one", "not;one"),
    ] {
        for command in ["show", "verify", "head"] {
            let said = audit_in(store, &[command]);
            assert!(said.code != 0 && said.err.contains(words), "{said:?}");
            assert!(!said.err.contains("hunter22") && !said.out.contains("hunter22"), "{said:?}");
        }
    }
}
