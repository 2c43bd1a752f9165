//! Workers: processes that stay alive and serve many calls.

use crate::harness::{Project, Server, stateless_meta, wait_until, wait_until_gone};
use serde_json::{Value, json};
use std::collections::HashSet;
use std::process::Stdio;

/// A worker in Perl that evaluates the argument `do` and answers with its value. It adds its process id to
/// the file `started`.
pub(crate) const PERL: &str = r#"#!/usr/bin/env perl
use strict;
use warnings;
use IO::Handle;
use JSON::PP;
use POSIX ();
our $json = JSON::PP->new->utf8->canonical;
open our $in,  '<&=', 0 or die "0: $!";
open our $out, '>&=', 3 or die "3: $!";
$out->autoflush(1);
our ( $call, $frame, %kept );
sub raw        { print {$out} @_ }
sub frame      { raw( $json->encode( $_[0] ), "\n" ) }
sub note       { open my $file, '>>', $_[0] or die; print {$file} "$_[1]\n" }
sub next_frame { my $line = <$in>; ending() unless defined $line; $json->decode($line) }
sub ending     { note( 'ended', $$ ); exit 0 }
sub answer     { frame( { call => ( $_[1] // $call ) + 0, result => { content => [ { type => 'text', text => "$_[0]" } ] } } ) }
sub ask        { frame( { call => $call, ask => 1, method => 'elicitation/create', params => { mode => 'form', message => $_[0], requestedSchema => { type => 'object', properties => { value => { type => 'string' } } } } } ); next_frame() }
note( 'started', $$ );
frame( { ready => { protocol => 1 } } );
while (1) {
    $frame = next_frame();
    next unless $frame->{tool};
    $call = $frame->{call};
    my $said = eval $frame->{arguments}{do};
    die $@ if $@;
    answer($said) if defined $said;
}
"#;

/// A project whose tool `work` is that worker, with these options.
pub(crate) fn project(options: &Value) -> Project {
    with_worker(Project::new(), "work", options, PERL)
}

pub(crate) fn with_worker(project: Project, name: &str, options: &Value, script: &str) -> Project {
    let metadata = json!({
        "description": "Does as it is told",
        "worker": options,
        "inputSchema": { "type": "object", "properties": { "do": { "type": "string" } } },
    });
    project
        .script(&format!("tools/{name}/tool.pl"), script)
        .file(&format!("tools/{name}/tool.meta.json"), &metadata.to_string())
}

pub(crate) fn ready(project: &Project) -> Server {
    ready_with(project, &[])
}

/// With a log of problems only.
pub(crate) fn ready_with(project: &Project, environment: &[(&str, &str)]) -> Server {
    let environment: Vec<_> = [("MCPBASH_LOG_LEVEL", "warning")].iter().chain(environment).copied().collect();
    let mut server = Server::start_with(project.root(), &environment);
    server.initialize_offering("2025-11-25", &json!({ "elicitation": {} }));
    server
}

pub(crate) fn params(code: &str) -> Value {
    json!({ "name": "work", "arguments": { "do": code } })
}

/// Calls the worker, and returns its answer.
pub(crate) fn work(server: &mut Server, code: &str) -> Value {
    server.ask(code, "tools/call", &params(code))
}

pub(crate) fn text(answer: &Value) -> &str {
    answer["result"]["content"][0]["text"].as_str().unwrap_or_else(|| panic!("{answer}"))
}

/// The process id of the worker.
pub(crate) fn pid(server: &mut Server) -> u32 {
    let answer = work(server, "$$");
    text(&answer).parse().unwrap_or_else(|_| panic!("{answer}"))
}

#[test]
fn one_process_serves_call_after_call_and_keeps_its_state() {
    let project = project(&json!(true));
    let mut server = ready(&project);
    let first = pid(&mut server);
    assert_eq!(text(&work(&mut server, "++$kept{n}")), "1");
    assert_eq!(text(&work(&mut server, "++$kept{n}")), "2");
    assert_eq!(pid(&mut server), first);
    let answer = work(&mut server, "'plain'");
    assert_eq!(
        answer["result"],
        json!({ "content": [{ "type": "text", "text": "plain" }], "isError": false })
    );
    server.finish();
    assert_eq!(project.read("started"), format!("{first}\n"));
    assert_eq!(project.read("ended"), format!("{first}\n"), "it was told, and could end what it keeps");
    wait_until_gone(first);
}

#[test]
fn a_worker_receives_the_context_of_its_call_and_of_no_other() {
    let project = project(&json!({ "processes": 1 }));
    let mut server = ready(&project);
    let mut given = params("$json->encode($frame)");
    given["_meta"] = json!({ "progressToken": 7, "x": "y", "traceparent": "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01" });
    let answer = server.ask(1, "tools/call", &given);
    let frame: Value = serde_json::from_str(text(&answer)).unwrap();
    assert_eq!((&frame["call"], &frame["tool"]), (&json!(1), &json!("work")));
    assert_eq!(frame["arguments"]["do"], "$json->encode($frame)");
    assert_eq!(frame["meta"]["x"], "y");
    assert_eq!(frame["trace"]["traceparent"], "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01");
    assert_eq!([&frame["progress"], &frame["elicit"], &frame["ask"]], [&json!(true); 3]);
    let frame: Value = serde_json::from_str(text(&work(&mut server, "$json->encode($frame)"))).unwrap();
    assert_eq!((&frame["call"], frame.get("progress"), frame.get("trace")), (&json!(2), None, None));
    let environment = text(&work(&mut server, "join ' ', sort grep /^MCP_/, keys %ENV")).to_owned();
    for name in ["MCP_WORKER", "MCP_WORKER_OUTPUT", "MCP_SDK"] {
        assert!(environment.split(' ').any(|variable| variable == name), "{environment}");
    }
    for name in ["MCP_TOOL_ARGS_JSON", "MCP_TOOL_NAME", "MCP_ASK_SOCKET", "MCP_PROGRESS_STREAM"] {
        assert!(!environment.contains(name), "{environment}");
    }
    assert_eq!(
        text(&work(&mut server, "use Cwd; getcwd()")),
        project.root().canonicalize().unwrap().to_str().unwrap()
    );
}

#[test]
fn progress_logs_and_errors_of_a_call_reach_its_client() {
    let project = project(&json!(true));
    let mut server = ready(&project);
    let code = r"frame({call=>$call, method=>'notifications/progress', params=>{progress=>1, total=>2, message=>'half'}});
        frame({call=>$call, method=>'notifications/message', params=>{level=>'warning', data=>'odd'}}); 'done'";
    let mut given = params(code);
    given["_meta"] = json!({ "progressToken": "t" });
    server.request(1, "tools/call", &given);
    let progress = server.receive();
    assert_eq!(
        progress["params"],
        json!({ "progressToken": "t", "progress": 1, "total": 2, "message": "half" })
    );
    let log = server.receive();
    assert_eq!((&log["method"], &log["params"]["data"]), (&json!("notifications/message"), &json!("odd")));
    assert_eq!(text(&server.receive()), "done");
    let refused =
        work(&mut server, "frame({call=>$call, error=>{code=>-32602, message=>'no', data=>[1]}}); undef");
    assert_eq!(refused["error"], json!({ "code": -32602, "message": "no", "data": [1] }));
    let odd = work(&mut server, "frame({call=>$call, result=>{text=>'x'}}); undef");
    assert!(odd["error"]["message"].as_str().unwrap().contains("no `CallToolResult`"), "{odd}");
}

#[test]
fn a_worker_asks_the_user_of_a_session() {
    let project = project(&json!(true));
    let mut server = ready(&project);
    server.request(1, "tools/call", &params("ask('Who?')->{result}{content}{value}"));
    let question = server.receive();
    assert_eq!(question["params"]["message"], "Who?");
    server.reply(&question, &json!({ "action": "accept", "content": { "value": "Zoë" } }));
    assert_eq!(text(&server.receive()), "Zoë");
}

#[test]
fn a_worker_asks_without_a_session_and_continues() {
    let project = project(&json!({ "processes": 2 }));
    let mut server = Server::start_with(project.root(), &[("MCPBASH_LOG_LEVEL", "error")]);
    let mut meta = stateless_meta();
    meta["io.modelcontextprotocol/clientCapabilities"] = json!({ "elicitation": { "form": {} } });
    let code = "my $who = ask('Who?')->{result}{content}{value}; \"$$ $who\"";
    let mut given = json!({ "name": "work", "arguments": { "do": code }, "_meta": meta });
    let asked = server.ask(1, "tools/call", &given);
    assert_eq!(asked["result"]["resultType"], "input_required", "{asked}");
    let started = project.wait_for_started(1)[0];
    // Another process serves another call meanwhile.
    let beside =
        server.ask(2, "tools/call", &json!({ "name": "work", "arguments": { "do": "$$" }, "_meta": meta }));
    assert_ne!(text(&beside), started.to_string());
    given["requestState"] = asked["result"]["requestState"].clone();
    given["inputResponses"] = json!({ "question": { "action": "accept", "content": { "value": "me" } } });
    assert_eq!(text(&server.ask(3, "tools/call", &given)), format!("{started} me"));
}

#[test]
fn an_open_question_blocks_no_other_call() {
    let project = project(&json!({ "processes": 1 }));
    let mut server = ready(&project);
    server.request("asks", "tools/call", &params("ask('Who?'); $$"));
    let question = server.receive();
    let beside = pid(&mut server);
    server.reply(&question, &json!({ "action": "accept", "content": { "value": "me" } }));
    assert_ne!(text(&server.receive()), beside.to_string());
}

#[test]
fn calls_at_the_same_time_get_processes_of_their_own_up_to_the_limit() {
    let project = project(&json!({ "processes": 2 })).gate();
    let mut server = ready(&project);
    let code = "note('waits', $$); open my $gate, '<', 'gate'; sysread $gate, my $line, 1; $$";
    for id in 1..=6 {
        server.request(id, "tools/call", &params(code));
    }
    wait_until("two calls to wait", || (project.read("waits").lines().count() == 2).then_some(()));
    project.open_gate();
    let pids: HashSet<String> = (0..6).map(|_| text(&server.receive()).to_owned()).collect();
    assert_eq!(pids.len(), 2, "{pids:?}");
    assert_eq!(project.wait_for_started(2).len(), 2);
}

/// Serves several calls at once: it answers when all three have come, the last one first.
const AT_ONCE: &str = r#"#!/usr/bin/env perl
use JSON::PP;
open my $out, '>&=', 3 or die; $out->autoflush(1);
print {$out} qq({"ready":{"protocol":1}}\n);
my @open;
while (<STDIN>) {
    my $frame = decode_json($_);
    unshift @open, $frame;
    next if @open < 3;
    for my $frame (splice @open) {
        my $text = "$frame->{arguments}{do} of " . $$;
        print {$out} encode_json({ call => $frame->{call}, result => { content => [ { type => 'text', text => $text } ] } }), "\n";
    }
}
"#;

#[test]
fn a_worker_can_declare_that_it_serves_several_calls_at_once() {
    let project = with_worker(Project::new(), "work", &json!({ "processes": 1, "atOnce": 3 }), AT_ONCE);
    let mut server = ready(&project);
    for word in ["a", "b", "c"] {
        server.request(word, "tools/call", &params(word));
    }
    let mut seen = Vec::new();
    for _ in 0..3 {
        let answer = server.receive();
        let (word, pid) = text(&answer).split_once(" of ").unwrap();
        assert_eq!(answer["id"], word);
        seen.push(pid.to_owned());
    }
    seen.dedup();
    assert_eq!(seen.len(), 1, "one process has served all of them");
}

#[test]
fn a_changed_script_is_served_by_a_new_process_at_once() {
    let project = project(&json!(true));
    let mut server = ready(&project);
    let first = pid(&mut server);
    project.write_script("tools/work/tool.pl", &PERL.replace("\"$_[0]\"", "\"new $_[0]\""));
    let answer = work(&mut server, "$$");
    assert!(text(&answer).starts_with("new "), "{answer}");
    wait_until_gone(first);
}

#[test]
fn a_file_that_the_worker_has_loaded_counts_as_its_script() {
    let loaded = PERL
        .replace("{ protocol => 1 }", "{ protocol => 1, files => [\"$ENV{MCPBASH_PROJECT_ROOT}/lib.pm\"] }");
    let project = with_worker(Project::new().file("lib.pm", "1"), "work", &json!(true), &loaded);
    let mut server = ready(&project);
    let first = pid(&mut server);
    assert_eq!(pid(&mut server), first);
    project.write("lib.pm", "22");
    assert_ne!(pid(&mut server), first);
}

#[test]
fn a_worker_is_replaced_after_so_many_calls_and_ends_when_it_is_idle() {
    let project = project(&json!({ "maxCalls": 2, "idleSecs": 1, "processes": 1 }));
    let mut server = ready(&project);
    let pids: Vec<u32> = (0..3).map(|_| pid(&mut server)).collect();
    assert!(pids[0] == pids[1] && pids[1] != pids[2], "{pids:?}");
    pids.into_iter().for_each(wait_until_gone);
    assert_eq!(project.read("ended").lines().count(), 2, "both were told");
}

#[test]
fn a_worker_can_be_started_with_the_server() {
    let project = project(&json!({ "startAhead": true }));
    let mut server = ready(&project);
    let started = project.wait_for_started(1)[0];
    assert_eq!(pid(&mut server), started);
    // A worker whose tool is removed exits.
    project.remove("tools/work");
    wait_until_gone(started);
}

#[test]
fn a_worker_that_handles_a_cancellation_is_kept() {
    let project = project(&json!({ "processes": 1 }));
    let mut server = ready(&project);
    let first = pid(&mut server);
    let code =
        "note('waits', $$); my $cancel = next_frame(); note('cancelled', $cancel->{cancel} == $call); 'late'";
    server.request("gone", "tools/call", &params(code));
    project.wait_for_file("waits");
    server.notify("notifications/cancelled", &json!({ "requestId": "gone" }));
    wait_until("the worker to be told", || (project.read("cancelled") == "1\n").then_some(()));
    assert_eq!(pid(&mut server), first);
}

#[test]
fn the_command_line_calls_a_worker_and_leaves_nothing_behind() {
    let project = project(&json!(true));
    let mut command = Server::command();
    command.args(["call", "work", "do=$$"]).current_dir(project.root()).stdin(Stdio::null());
    let output = command.output().unwrap();
    assert!(output.status.success(), "{output:?}");
    let pid: u32 = String::from_utf8(output.stdout).unwrap().trim().parse().unwrap();
    wait_until_gone(pid);
    assert_eq!(project.read("ended"), format!("{pid}\n"));
}

#[test]
fn printed_output_of_a_worker_is_logged_and_never_its_result() {
    let (project, elsewhere) = (project(&json!(true)), Project::new());
    let folder = elsewhere.path("logs");
    let environment = [("MCPBASH_LOG_LEVEL", "info"), ("MCPBASH_LOG_DIR", folder.to_str().unwrap())];
    let mut server = ready_with(&project, &environment);
    let code = "$|=1; print \"to stdout\\n\"; print STDERR \"to stderr\\n\"; 'result'";
    let answer = work(&mut server, code);
    assert_eq!(
        answer["result"],
        json!({ "content": [{ "type": "text", "text": "result" }], "isError": false })
    );
    work(
        &mut server,
        "frame({method=>'notifications/message', params=>{level=>'warning', data=>'of no call'}}); 1",
    );
    let log = server.finish() + &elsewhere.read("logs/mcp-bash.log");
    let kept = elsewhere.read("logs/script-output.log");
    for said in ["to stdout", "to stderr", "of no call"] {
        assert!(kept.contains(said), "{kept}");
        assert!(!log.contains(said), "{log}");
    }
}
