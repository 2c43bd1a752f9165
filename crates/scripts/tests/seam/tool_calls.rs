//! Tool calls: what a script receives, its timeout, and how it ended.

use crate::project::{Project, said, variable};
use mcp_bash_project::roots::Root;
use mcp_bash_scripts::{Limits, Overrun, ProcessEnding, ScriptRoots, TimeLimits};
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::time::Duration;

const SECOND: Duration = Duration::from_secs(1);

#[tokio::test]
async fn a_script_finds_its_call_in_its_environment_and_on_its_input() {
    let mut project = Project::with_tool("cat; echo; env");
    let roots = [Root { name: "a".into(), path: "/a".into() }];
    project.roots = ScriptRoots::new(&roots);
    let mut call = project.prepare("t", r#"{"x":1}"#).await;
    (call.meta, call.progress_token, call.may_elicit) = (r#"{"tenant":"acme"}"#, "p-7", true);
    let outcome = project.run(call).await.unwrap();
    let printed = outcome.text();
    assert_eq!(printed.lines().next(), Some(r#"{"x":1}"#));
    let script = project.path("tools/t/tool.sh");
    for (name, value) in [
        ("MCP_TOOL_NAME", "t"),
        ("MCP_TOOL_PATH", script.to_str().unwrap()),
        ("MCP_TOOL_ARGS_JSON", r#"{"x":1}"#),
        ("MCP_TOOL_META_JSON", r#"{"tenant":"acme"}"#),
        ("MCP_PROGRESS_TOKEN", "p-7"),
        ("MCP_ELICIT_SUPPORTED", "1"),
        ("MCP_ROOTS_COUNT", "1"),
        ("MCP_ROOTS_PATHS", "/a"),
        ("MCPBASH_PROJECT_ROOT", project.paths.root.to_str().unwrap()),
        ("PWD", project.paths.root.to_str().unwrap()),
    ] {
        assert_eq!(variable(&printed, name), Some(value), "{name} in {printed}");
    }
    // It has no listener, and can ask no questions.
    for name in ["MCP_PROGRESS_STREAM", "MCP_LOG_STREAM", "MCP_ASK_SOCKET", "MCP_TOOL_ARGS_FILE"] {
        assert_eq!(variable(&printed, name), None, "{name}");
    }
}

#[tokio::test]
async fn the_sdk_and_a_jq_are_there_for_every_script() {
    let project = Project::with_tool(r#"test -r "$MCP_SDK/tool-sdk.sh" && command -v jq >/dev/null"#);
    assert_eq!(project.call().await.ending, ProcessEnding::Exited(0));
}

#[tokio::test]
async fn no_script_is_run_while_the_sdk_cannot_be_laid_out_and_one_is_as_soon_as_it_can() {
    let project = Project::with_tool(r#"test -r "$MCP_SDK/tool-sdk.sh" && echo there"#);
    // No folder can be created in place of a file.
    let blocked = project.scripts.state_dir().path().unwrap().join("state");
    fs::write(&blocked, "").unwrap();
    let (sender, told) = std::sync::mpsc::channel();
    project.scripts.on_missing_sdk(move |error| sender.send(error.to_string()).unwrap());
    for _ in 0..2 {
        let refused = said(project.run(project.prepare("t", "{}").await).await);
        assert!(refused.contains("the SDK cannot be laid out: File exists"), "{refused}");
        assert!(project.scripts.unready(&project.paths).unwrap().contains("File exists"));
    }
    assert_eq!(told.try_iter().count(), 1, "told once");
    fs::remove_file(&blocked).unwrap();
    assert_eq!(project.call().await.text(), "there\n");
    assert_eq!(project.scripts.unready(&project.paths), None);
}

#[tokio::test]
async fn a_removed_private_folder_is_restored_at_the_next_call() {
    let project = Project::with_tool(
        r#"test -r "$MCP_SDK/tool-sdk.sh" && test -x "$MCPBASH_JSON_TOOL_BIN" && test -d "$MCPBASH_STATE_DIR" && echo there"#,
    );
    assert_eq!(project.call().await.text(), "there\n");
    let private = project.scripts.state_dir().path().unwrap();
    for gone in ["", "home", "home/sdk/tool-sdk.sh", "home/sdk/parts"] {
        let path = private.join(gone);
        if path.is_dir() { fs::remove_dir_all(path) } else { fs::remove_file(path) }.unwrap();
        assert_eq!(project.call().await.text(), "there\n", "{gone}");
    }
    // Files that a cleaner removed are noticed when all are touched.
    for gone in ["home/bin/jq", "home/sdk/parts/json.sh", "state"] {
        let path = private.join(gone);
        if path.is_dir() { fs::remove_dir_all(path) } else { fs::remove_file(path) }.unwrap();
        project.scripts.refresh_private_folder();
        assert_eq!(project.call().await.text(), "there\n", "{gone}");
    }
}

#[tokio::test]
async fn all_of_the_sdk_looks_used_when_it_is_refreshed() {
    let project = Project::with_tool("true");
    project.call().await;
    let home = project.scripts.state_dir().path().unwrap().join("home");
    let long_ago = std::time::SystemTime::now() - Duration::from_secs(40 * 24 * 60 * 60);
    let files = ["", "sdk", "sdk/tool-sdk.sh", "sdk/parts", "sdk/parts/json.sh", "VERSION", "providers"];
    for file in files {
        let times = fs::FileTimes::new().set_accessed(long_ago).set_modified(long_ago);
        fs::File::open(home.join(file)).unwrap().set_times(times).unwrap();
    }
    project.scripts.refresh_private_folder();
    for file in files {
        let seen = fs::metadata(home.join(file)).unwrap();
        assert!(seen.accessed().unwrap() > long_ago && seen.modified().unwrap() > long_ago, "{file}");
    }
}

#[tokio::test]
async fn what_is_too_large_for_a_variable_is_a_file_of_its_owner_until_the_outcome_is_gone() {
    let script = r#"cat; echo; cat "$MCP_TOOL_ARGS_FILE"; echo; echo "$MCP_TOOL_ARGS_FILE""#;
    let tool = ("tools/t/tool.sh", &*format!("#!/bin/sh\n{script}\n"));
    let project = Project::with_settings(&[tool], &[("MCPBASH_ENV_PAYLOAD_THRESHOLD", "10")]);
    let arguments = r#"{"long":"arguments"}"#;
    let outcome = project.run(project.prepare("t", arguments).await).await.unwrap();
    let text = outcome.text().into_owned();
    let lines: Vec<&str> = text.lines().collect();
    let file = lines[2];
    assert_eq!(lines[..2], [arguments, arguments]);
    assert_eq!(fs::metadata(file).unwrap().permissions().mode() & 0o777, 0o600);
    drop(outcome);
    assert!(!fs::exists(file).unwrap());
}

#[tokio::test]
async fn a_search_path_counts_from_when_it_is_known() {
    let project = Project::with_tool(r#"printf %s "$PATH""#);
    let before = project.call().await.into_text();
    project.scripts.set_search_path("/bin:/usr/bin:/new".into());
    let after = project.call().await.into_text();
    assert!(!before.contains("/new") && after.starts_with("/bin:/usr/bin:/new"), "{before} {after}");
}

#[tokio::test]
async fn a_value_that_no_process_can_be_given_is_named() {
    let project = Project::with_tool("echo run >ran");
    let mut call = project.prepare("t", "{}").await;
    call.progress_token = "a\0b";
    let problem = said(project.run(call).await);
    assert!(problem.starts_with("Tool 't' could not be started: "), "{problem}");
    assert!(problem.contains("MCP_PROGRESS_TOKEN"), "{problem}");
    assert!(!project.path("ran").exists());
}

const PROVIDER: &str = r#"#!/bin/sh
case $1 in
list) echo '{"name": "provided", "inputSchema": {"type": "object"}}' ;;
instructions) ;;
*) printf '%s words, %s bytes:' "$#" "$(wc -c)"; printf ' [%.20s]' "$@" ;;
esac
"#;

#[tokio::test]
async fn a_provider_receives_the_tool_and_its_arguments_as_words() {
    let project = Project::new(&[("tools/provider", PROVIDER)]);
    let told = async |arguments: &str| {
        project.run(project.prepare("provided", arguments).await).await.unwrap().into_text()
    };
    assert_eq!(told(r#"{"x": "; rm"}"#).await, r#"2 words, 13 bytes: [provided] [{"x": "; rm"}]"#);
    // The longest one that fits, and one that is only on its standard input.
    let longest = mcp_bash_scripts::LONGEST_ARGUMENT;
    let of_length = |length: usize| format!(r#"{{"x":"{}"}}"#, "x".repeat(length - 8));
    assert_eq!(
        told(&of_length(longest)).await,
        format!(r#"2 words, {longest} bytes: [provided] [{{"x":"xxxxxxxxxxxxxx]"#)
    );
    assert_eq!(told(&of_length(longest + 1)).await, format!("1 words, {} bytes: [provided]", longest + 1));
}

#[tokio::test]
async fn the_timeout_comes_from_the_caller_the_author_and_the_settings() {
    let script = "#!/bin/sh\n";
    let files = [
        ("tools/plain/tool.sh", script),
        ("tools/slow.sh", script),
        ("tools/slow.meta.json", r#"{"timeoutSecs": 900}"#),
        ("tools/lively.sh", script),
        (
            "tools/lively.meta.json",
            r#"{"timeoutSecs": 4, "progressExtendsTimeout": true, "maxTimeoutSecs": 70}"#,
        ),
    ];
    let set = [("MCPBASH_DEFAULT_TOOL_TIMEOUT", "20"), ("MCPBASH_MAX_TIMEOUT_SECS", "600")];
    let project = Project::with_settings(&files, &set);
    let patience = |name: &str, asked: Option<u32>| {
        let (tool, asked) = (project.tool(name), asked.map(|seconds| seconds * SECOND));
        project.scripts.limits_of(tool, asked, project.scripts.budget()).patience
    };
    let fixed = |limit: u32| TimeLimits { limit: limit * SECOND, most: None, pause: 600 * SECOND };
    assert_eq!(patience("plain", None), fixed(20));
    assert_eq!(patience("plain", Some(3)), fixed(3));
    assert_eq!(patience("plain", Some(100_000)), fixed(600), "no more than the setting allows");
    assert_eq!(patience("slow", None), fixed(900));
    assert_eq!(patience("slow", Some(100_000)), fixed(900), "or than the author does");
    let lively = |limit: u32| TimeLimits { most: Some(70 * SECOND), ..fixed(limit) };
    assert_eq!((patience("lively", None), patience("lively", Some(9))), (lively(4), lively(9)));
}

#[tokio::test]
async fn an_outcome_tells_every_way_to_end_by_itself() {
    let outcome = Project::with_tool("echo out; echo err >&2; exit 3").call().await;
    assert_eq!((outcome.ending, outcome.exit_code()), (ProcessEnding::Exited(3), Some(3)));
    assert_eq!((&*outcome.text(), &*outcome.errors()), ("out\n", "err\n"));
    assert_eq!(outcome.exit_status().unwrap().to_string(), "exit status: 3");
    let outcome = Project::with_tool("kill -9 $$").call().await;
    assert_eq!((outcome.ending, outcome.exit_code()), (ProcessEnding::Signalled(9), Some(137)));
    assert_eq!(outcome.exit_status().unwrap().to_string(), "signal: 9 (SIGKILL)");
    let outcome = Project::with_tool(r"printf 'a\377b'").call().await;
    assert_eq!(outcome.text(), "a\u{fffd}b");
    assert_eq!(outcome.into_text(), "a\u{fffd}b");
}

#[tokio::test]
async fn an_outcome_tells_every_way_to_be_ended() {
    let project = Project::with_tool("printf before; exec sleep 600");
    let mut call = project.prepare("t", "{}").await;
    call.limits.patience = TimeLimits::fixed(SECOND / 5);
    let outcome = project.run(call).await.unwrap();
    assert_eq!((outcome.ending, outcome.exit_code()), (ProcessEnding::TimedOut(Overrun::Fixed), None));
    assert_eq!((&*outcome.text(), outcome.exit_status()), ("before", None));

    let project = Project::with_tool("head -c 300000 /dev/zero");
    let (ample, scarce) = (project.budget(1_000_000), project.budget(100_000));
    let run = async |output, budget| {
        let mut call = project.prepare("t", "{}").await;
        call.limits = Limits { output, budget, ..call.limits };
        project.run(call).await.unwrap()
    };
    let outcome = run(1_000_000, &ample).await;
    assert_eq!((outcome.ending, outcome.stdout.len()), (ProcessEnding::Exited(0), 300_000));
    assert_eq!((outcome.held.bytes(), ample.used()), (300_000, 300_000));
    drop(outcome);
    assert_eq!(ample.used(), 0);
    assert_eq!(run(299_999, &ample).await.ending, ProcessEnding::OutputTooLarge);
    let ProcessEnding::NoRoom(why) = run(1_000_000, &scarce).await.ending else { panic!("there is no room") };
    assert!(why.to_string().contains("SMALL_SETTING"), "{why}");
}

#[tokio::test]
async fn a_call_that_is_cancelled_finds_the_file_that_says_so() {
    let project = Project::with_tool(
        r#"trap 'test -e "$MCP_CANCEL_FILE" && echo told; exit 0' TERM; echo '{}' >"$MCP_LOG_STREAM"; while :; do sleep 0.01; done"#,
    );
    let mut call = project.prepare("t", "{}").await;
    call.is_heard = true;
    let runs = tokio::sync::Notify::new();
    let outcome = project.scripts.call(call, runs.notified(), |_| runs.notify_one(), drop).await.unwrap();
    assert_eq!((outcome.ending, &*outcome.text()), (ProcessEnding::Cancelled, "told\n"));
}

#[tokio::test]
async fn the_progress_stream_exists_without_a_token_if_progress_extends_the_timeout() {
    let tool = ("tools/t/tool.sh", "#!/bin/sh\nenv\n");
    let project = Project::with_settings(&[tool], &[("MCPBASH_PROGRESS_EXTENDS_TIMEOUT", "true")]);
    let outcome = project.call().await;
    assert!(variable(&outcome.text(), "MCP_PROGRESS_STREAM").is_some());
}

#[tokio::test]
async fn a_script_can_talk_and_ask_while_it_runs() {
    let project = Project::with_tool(
        r#"echo '{"one": 1}' >"$MCP_PROGRESS_STREAM"
printf '{"message": "sure?"}' >"$MCP_ELICIT_REQUEST_FILE.new" && mv "$MCP_ELICIT_REQUEST_FILE.new" "$MCP_ELICIT_REQUEST_FILE"
while ! test -e "$MCP_ELICIT_RESPONSE_FILE"; do sleep 0.01; done
cat "$MCP_ELICIT_RESPONSE_FILE""#,
    );
    let mut call = project.prepare("t", "{}").await;
    (call.is_heard, call.may_ask) = (true, true);
    let mut heard = Vec::new();
    let outcome = project.scripts.call(
        call,
        std::future::pending(),
        |line| heard.push(String::from_utf8(line.to_vec()).unwrap()),
        |question| {
            assert_eq!(question.text.as_deref().unwrap(), br#"{"message": "sure?"}"#);
            question.answer(b"yes".to_vec());
        },
    );
    assert_eq!(outcome.await.unwrap().text().trim(), "yes");
    assert_eq!(heard, [r#"{"one": 1}"#]);
}

#[tokio::test]
async fn contents_of_the_call_files_come_with_the_outcome() {
    let project = Project::with_tool(
        r#"printf '{"code":-1}' >"$MCP_TOOL_ERROR_FILE"; echo a >"$MCP_TOOL_RESOURCES_FILE""#,
    );
    let outcome = project.call().await;
    assert_eq!(outcome.own_error().as_deref(), Some(r#"{"code":-1}"#));
    assert_eq!(outcome.list_of_resources().unwrap().as_deref(), Some("a\n"));
    let outcome = Project::with_tool("true").call().await;
    assert_eq!((outcome.own_error(), outcome.list_of_resources().unwrap()), (None, None));
}

#[tokio::test]
async fn special_files_in_place_of_call_files_do_not_block() {
    let project =
        Project::with_tool(r#"mkfifo "$MCP_TOOL_ERROR_FILE"; ln -s /dev/zero "$MCP_TOOL_RESOURCES_FILE""#);
    let outcome = project.call().await;
    assert_eq!((outcome.ending, outcome.own_error()), (ProcessEnding::Exited(0), None));
    let problem = outcome.list_of_resources().unwrap_err().to_string();
    assert_eq!(problem, "it is a device, not a file");
}

#[tokio::test]
async fn a_script_that_vanishes_after_it_was_allowed_is_not_started() {
    let project = Project::with_tool("true");
    let call = project.prepare("t", "{}").await;
    fs::remove_file(project.path("tools/t/tool.sh")).unwrap();
    let problem = said(project.run(call).await);
    assert!(problem.starts_with("Tool 't' could not be started: "), "{problem}");
    assert!(problem.ends_with("tools/t/tool.sh is not there any more"), "{problem}");
}

#[tokio::test]
async fn a_script_that_lost_its_mode_says_how_to_get_it_back() {
    let project = Project::with_tool("true");
    let script = project.path("tools/t/tool.sh");
    fs::write(&script, "echo hi\n").unwrap();
    let call = project.prepare("t", "{}").await;
    fs::set_permissions(&script, fs::Permissions::from_mode(0o644)).unwrap();
    let problem = said(project.run(call).await);
    assert!(problem.contains("tool.sh is not executable and has no `#!` line"), "{problem}");
    assert!(problem.contains("run `chmod +x` on it"), "{problem}");
}

#[tokio::test]
async fn nothing_runs_after_the_end_and_the_private_folder_is_gone() {
    let project = Project::with_tool(r#"echo "$MCP_SDK""#);
    let sdk = project.call().await.into_text();
    assert!(fs::exists(sdk.trim()).unwrap());
    project.scripts.end(Duration::ZERO);
    assert!(!fs::exists(sdk.trim()).unwrap());
    let call = project.prepare("t", "{}").await;
    assert!(project.run(call).await.is_err());
}
