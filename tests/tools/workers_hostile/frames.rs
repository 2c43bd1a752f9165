//! Frames that are invalid, late, too long or about another call.

use super::{assert_next_is_served, expect_fault};
use crate::harness::{Project, Server, wait_until_gone};
use crate::tools::workers::{params, pid, project, ready, ready_with, text, work};
use serde_json::{Value, json};

/// Two calls are open in one worker when it writes an invalid frame that contains data of one of them.
#[test]
fn invalid_frames_are_quoted_in_no_answer_and_no_log() {
    for frame in [
        r#"'{"call":' . $call . ',"result":' . ('7' x 1001) . '}'"#,
        r#"'{"call":' . $call . ',"result":' . ('[' x 200) . '"hunter2"' . (']' x 200) . '}'"#,
        r"'hunter2'",
        r#"'{"call":"hunter2"}'"#,
        r#"'{"call":1,"call":1,"result":"hunter2"}'"#,
    ] {
        let (project, elsewhere) = (project(&json!({ "processes": 1, "atOnce": 2 })), Project::new());
        let folder = elsewhere.path("logs");
        let environment = [("MCPBASH_LOG_LEVEL", "debug"), ("MCPBASH_LOG_DIR", folder.to_str().unwrap())];
        let mut server = ready_with(&project, &environment);
        server.request("other", "tools/call", &params("note('taken', 1); undef"));
        project.wait_for_file("taken");
        server.request("own", "tools/call", &params(&format!("raw({frame} . \"\\n\"); sleep 1000")));
        let mut answered = 0;
        while answered < 2 {
            let message = server.receive();
            let told = message.to_string();
            assert!(!told.contains("hunter2") && !told.contains("7777"), "{told}");
            if message.get("id").is_some() {
                answered += 1;
                assert!(text(&message).contains("wrote a line of "), "{message}");
            }
        }
        let log = server.finish() + &elsewhere.read("logs/mcp-bash.log");
        assert!(log.contains("a worker wrote a line of ") && log.contains("a call failed"), "{log}");
        assert!(!log.contains("hunter2") && !log.contains("7777"), "{log}");
        let kept = elsewhere.read("logs/script-output.log");
        assert!(kept.contains("hunter2") || kept.contains("7777"), "{kept}");
    }
}

#[test]
fn a_worker_that_exits_in_the_middle_of_its_answer_has_not_answered() {
    expect_fault("raw('{\"call\":'); POSIX::_exit(0)", "stopped in the middle of a frame");
    expect_fault(
        "raw($json->encode({call=>$call, result=>{content=>[]}})); POSIX::_exit(0)",
        "in the middle of a frame",
    );
}

#[test]
fn garbage_instead_of_frames_kills_the_worker() {
    expect_fault(
        "raw(\"rubbish\\n\"); sleep 1000",
        "wrote a line of 7 bytes to descriptor 3 that is no JSON (unexpected character at byte 0), and was ended",
    );
    expect_fault("raw(\"\\n\"); sleep 1000", "that is no JSON");
    expect_fault("raw(\"\\xff\\xfe\\n\"); sleep 1000", "that is not UTF-8");
    expect_fault("raw(\"[1]\\n\"); sleep 1000", "no frame");
    expect_fault("raw(('[' x 10000) . \"\\n\"); sleep 1000", "no JSON (nesting exceeds");
    expect_fault("frame({result=>{content=>[]}}); sleep 1000", "an answer without `call`");
}

#[test]
fn an_answer_to_an_unknown_call_is_dropped() {
    expect_fault("answer('x', $call + 1); sleep 1000", "wrote of call 3, which it was not given");
    expect_fault("answer('x', 0); sleep 1000", "wrote of call 0, which it was not given");
    expect_fault("answer('x', 999999); sleep 1000", "wrote of call 999999, which it was not given");
    expect_fault("frame({call=>77, ask=>1, method=>'elicitation/create'}); sleep 1000", "wrote of call 77");
    expect_fault("raw(qq({\"call\":-1,\"result\":{}}\\n)); sleep 1000", "(`call`)");
}

/// A late message about an answered call is dropped, and does not fail the next call.
#[test]
fn late_messages_fail_no_call() {
    for (late, is_replaced) in [
        ("answer('again', $call - 1)", true),
        ("frame({call=>$call - 1, error=>{code=>-1, message=>'again'}})", true),
        ("frame({ready=>{protocol=>1}})", true),
        ("frame({call=>$call - 1, method=>'notifications/progress', params=>{progress=>9}})", false),
        (
            "frame({call=>$call - 1, method=>'notifications/message', params=>{level=>'error', data=>'late'}})",
            false,
        ),
        ("frame({call=>$call - 1, withdraw=>1})", false),
        (
            "frame({call=>$call - 1, ask=>1, method=>'elicitation/create', params=>{}}); \
             next_frame()->{error}{message} =~ /has ended/ or die 'not refused'",
            false,
        ),
    ] {
        let project = project(&json!({ "processes": 1 }));
        let mut server = ready_with(&project, &[("MCPBASH_LOG_LEVEL", "info")]);
        let first = pid(&mut server);
        // Inside the next call, so that one is certainly open.
        let mut given = params(&format!("{late}; 'own'"));
        given["_meta"] = json!({ "progressToken": 1 });
        let (answer, told) = ask_and_news(&mut server, &given);
        assert_eq!(text(&answer), "own", "{late}");
        assert!(told.iter().all(|message| !message.to_string().contains("late")), "{told:?}");
        assert_eq!(pid(&mut server) != first, is_replaced, "{late}");
        let log = server.finish();
        assert_eq!(log.contains("a worker is replaced: it "), is_replaced, "{late}: {log}");
    }
}

/// The answer to a call, and the messages before it.
fn ask_and_news(server: &mut Server, given: &Value) -> (Value, Vec<Value>) {
    server.request("asked", "tools/call", given);
    let mut told = Vec::new();
    loop {
        let message = server.receive();
        if message["id"] == "asked" {
            return (message, told);
        }
        told.push(message);
    }
}

/// A fault right after an answer ends the worker, and harms neither that answer nor the next one.
#[test]
fn faults_after_an_answer_harm_no_call() {
    let deeds = [
        "answer('one'); answer('two')",
        "answer('one'); raw(\"rubbish\\n\")",
        "answer('one'); frame({call=>$call, ask=>1, method=>'elicitation/create'})",
        "answer('one'); frame({call=>$call, method=>'notifications/progress', params=>{progress=>9}})",
        "answer('one'); frame({ready=>{protocol=>1}})",
        "answer('one'); POSIX::_exit(1)",
        "answer('one'); POSIX::close(0); sleep 1000",
        "answer('one'); POSIX::close(3); sleep 1000",
        "answer('one'); kill 'KILL', -$$",
    ];
    for deed in deeds {
        let project = project(&json!({ "processes": 1 }));
        let mut server = ready(&project);
        for round in 0..3 {
            let answer = work(&mut server, &format!("{deed}; undef"));
            assert_eq!(text(&answer), "one", "{deed}");
            // The call may have reached this worker before the server read the fault.
            let next = work(&mut server, &format!("'next {round}'"));
            let is_told = next["result"]["isError"] == true && text(&next).contains("its worker ");
            assert!(is_told || text(&next) == format!("next {round}"), "{deed}: {next}");
        }
        server.expect_silence();
        server.finish();
        project.wait_for_started(1).into_iter().for_each(wait_until_gone);
    }
}

#[test]
fn printed_output_is_never_a_frame() {
    let project = project(&json!({ "processes": 1 }));
    let mut server = ready(&project);
    let first = pid(&mut server);
    let code = "$|=1; for (1..2000) { print qq({\"call\":$call,\"result\":{}}\\n); print STDERR \"\\xff\" x 1000, \"\\n\" } \
                print 'x' x 1_000_000; 'mine'";
    assert_eq!(text(&work(&mut server, code)), "mine");
    assert_eq!(pid(&mut server), first);
}

#[test]
fn an_answer_whose_content_no_client_can_read_is_refused() {
    let project = project(&json!({ "processes": 1 }));
    let mut server = ready(&project);
    let first = pid(&mut server);
    for (item, problem) in [
        ("{ type => 'weird', text => 1 }", "as its `type`"),
        ("{ type => 'text', text => 1 }", "lacks the text `text`"),
        ("'text'", "is no object"),
    ] {
        let deed = format!("frame({{ call => $call, result => {{ content => [ {item} ] }} }}); undef");
        let answer = work(&mut server, &deed);
        assert_eq!(answer["error"]["code"], -32603, "{answer}");
        assert!(answer["error"]["message"].as_str().unwrap().contains(problem), "{item}: {answer}");
    }
    assert_eq!(pid(&mut server), first, "it is a fault of the answer, and of nothing else");
    let log = server.finish();
    let kind = r#""error":"it answered with no `CallToolResult`""#;
    let events = log.lines().filter(|line| line.contains("a call failed") && line.contains(kind));
    assert_eq!(events.count(), 3, "{log}");
    assert!(!log.contains("weird"), "{log}");
}

#[test]
fn lone_surrogates_in_an_answer_are_replaced() {
    let project = project(&json!({ "processes": 1 }));
    let mut server = ready(&project);
    let deed = r#"my $half = "\\ud83d"; raw( qq({"call":$call,"method":"notifications/message","params":{"level":"error","data":"$half!"}}\n) ); raw( qq({"call":$call,"result":{"content":[{"type":"text","text":"a${half}b \\ud83d\\ude00"}],"structuredContent":{"$half":"$half"}}}\n) ); undef"#;
    server.request("half", "tools/call", &params(deed));
    // Invalid JSON would fail the test.
    let mut told = Vec::new();
    let answer = loop {
        let message = server.receive();
        if message["id"] == "half" {
            break message;
        }
        told.push(message);
    };
    assert_eq!(text(&answer), "a\u{fffd}b \u{1f600}");
    assert_eq!(answer["result"]["structuredContent"], json!({ "\u{fffd}": "\u{fffd}" }));
    assert_eq!(told[0]["params"]["data"], "\u{fffd}!", "{told:?}");
}

#[test]
fn a_frame_that_is_too_long_is_refused_and_its_memory_is_freed() {
    let project = project(&json!({ "processes": 1 }));
    let uncut = [("MCPBASH_MAX_RESULT_TEXT_BYTES", "0")];
    let mut server = Server::ready_with(project.root(), &uncut, "2025-11-25");
    let first = pid(&mut server);
    let refused = work(&mut server, "answer('x' x 100_000_000); sleep 1000");
    assert!(
        refused["error"]["message"].as_str().unwrap().contains("MCPBASH_MAX_TOOL_OUTPUT_SIZE"),
        "{refused}"
    );
    assert_next_is_served(&mut server, first);
    let long = work(&mut server, "'y' x 5_000_000");
    assert_eq!(text(&long).len(), 5_000_000);
    let big = "z".repeat(3_000_000);
    let answer = server.ask("long", "tools/call", &params(&format!("length '{big}'")));
    assert_eq!(text(&answer), "3000000");
}

#[test]
fn thousands_of_notifications_are_bounded_and_the_answer_comes() {
    let project = project(&json!({ "processes": 1 }));
    let mut server = ready(&project);
    let code = "for my $n (1..5000) { frame({call=>$call, method=>'notifications/message', params=>{level=>'warning', \
                data=>$n}}); frame({method=>'notifications/message', params=>{level=>'debug', data=>$n}}) } 'done'";
    server.request("noisy", "tools/call", &params(code));
    let mut told = 0;
    let answer = loop {
        let message = server.receive();
        if message["id"] == "noisy" {
            break message;
        }
        told += 1;
    };
    assert_eq!(text(&answer), "done");
    assert!(told <= 200, "{told}");
    server.expect_silence();
}
