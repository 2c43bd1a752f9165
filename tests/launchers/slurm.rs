//! Tools that run as jobs of Slurm, on a real controller and node of the test.

use super::cluster::Cluster;
use super::custom::{SDK, project, project_with, text};
use super::sshd::{processes_with, wait_until_no_process_has};
use crate::harness::{Project, Server, wait_until};
use serde_json::{Value, json};

fn server(cluster: &Cluster, project: &Project) -> Server {
    let environment = [("SLURM_CONF", cluster.conf()), ("MCPBASH_LOG_LEVEL", "emergency".to_owned())];
    let environment: Vec<(&str, &str)> = environment.iter().map(|(name, value)| (*name, &**value)).collect();
    let mut server = Server::start_with(project.root(), &environment);
    server.initialize_offering("2025-11-25", &json!({ "elicitation": {} }));
    server
}

fn call(cluster: &Cluster, project: &Project, arguments: &Value) -> Value {
    let params = json!({ "name": "there", "arguments": arguments });
    server(cluster, project).ask_past_news(1, "tools/call", &params)["result"].clone()
}

/// One cluster for all of it: starting one takes longer than the calls.
#[test]
fn tools_run_as_jobs_of_slurm() {
    let cluster = Cluster::start();
    arguments_and_exit_codes_cross(&cluster);
    a_question_crosses(&cluster);
    failures_of_srun_are_its_own(&cluster);
    a_cancelled_call_leaves_no_process(&cluster);
    a_job_that_waits_is_cancelled(&cluster);
    a_timeout_ends_the_job(&cluster);
    a_killed_server_leaves_no_process(&cluster);
}

fn arguments_and_exit_codes_cross(cluster: &Cluster) {
    let script = format!(
        "{SDK}test -n \"$SLURM_JOB_ID\"\nmcp_args_get '.text'\necho\ncat\necho problem >&2\nexit 3\n"
    );
    let project = project_with(&script, &json!("slurm"), &json!({ "successExitCodes": [3] }));
    let said = "spaces 'and' \"quotes\" $(id)\nand a line";
    let result = call(cluster, &project, &json!({ "text": said }));
    assert_eq!(text(&result), format!("{said}\n{}", json!({ "text": said })), "{result}");
    assert_eq!(result["_meta"]["exitCode"], 3, "{result}");
    assert_eq!(result["_meta"]["mcpbash/launcher"]["name"], "slurm", "{result}");
    assert!(result["_meta"]["mcpbash/launcher"]["node"].is_string(), "{result}");
}

fn a_question_crosses(cluster: &Cluster) {
    let project = project(&format!("{SDK}mcp_elicit_confirm 'Sure?'\n"), &json!("slurm"));
    let mut server = server(cluster, &project);
    server.call(1, "there");
    let question = server.receive();
    assert_eq!(question["params"]["message"], "Sure?", "{question}");
    server.reply(&question, &json!({ "action": "decline" }));
    assert!(text(&server.receive()["result"]).contains("decline"));
}

fn failures_of_srun_are_its_own(cluster: &Cluster) {
    let launcher = json!({ "use": "slurm", "options": ["--partition=none"] });
    let result = call(cluster, &project("#!/bin/sh\necho it ran\n", &launcher), &json!({}));
    assert!(text(&result).contains("`srun` did not reach a shell there"), "{result}");
    assert!(text(&result).contains("invalid partition"), "{result}");
}

/// A tool that starts a process in another session, and waits for ever.
fn endless(cluster: &Cluster, word: &str, more: &Value) -> Project {
    let script = format!(
        "#!/bin/sh\nexport WORD={word}\nsetsid sh -c 'trap : TERM HUP; while :; do sleep 1000; done' &\n\
         printf started >\"{}\"\nwhile :; do sleep 1000; done\n",
        cluster.path(word).display()
    );
    project_with(&script, &json!("slurm"), more)
}

fn wait_for_start(cluster: &Cluster, word: &str) {
    wait_until("the start of the job", || cluster.path(word).exists().then_some(()));
}

fn a_cancelled_call_leaves_no_process(cluster: &Cluster) {
    let word = "slurm-cancelled-83c1";
    let project = endless(cluster, word, &json!({}));
    let mut server = server(cluster, &project);
    server.call(1, "there");
    wait_for_start(cluster, word);
    wait_until("both processes of the tool", || (processes_with(word).len() >= 2).then_some(()));
    server.notify("notifications/cancelled", &json!({ "requestId": 1 }));
    wait_until_no_process_has(word);
    wait_until_no_jobs(cluster);
}

fn a_job_that_waits_is_cancelled(cluster: &Cluster) {
    let launcher = json!({ "use": "slurm", "options": ["--begin=now+1hour"] });
    let project = project("#!/bin/sh\n", &launcher);
    let mut server = server(cluster, &project);
    server.call(1, "there");
    wait_until("a job that waits", || {
        cluster.ask("squeue", &["-h", "-o", "%T"]).contains("PENDING").then_some(())
    });
    server.notify("notifications/cancelled", &json!({ "requestId": 1 }));
    wait_until_no_jobs(cluster);
}

fn a_timeout_ends_the_job(cluster: &Cluster) {
    let word = "slurm-timeout-51f0";
    let result = call(cluster, &endless(cluster, word, &json!({ "timeoutSecs": 5 })), &json!({}));
    assert_eq!(result["structuredContent"]["error"]["type"], "timeout", "{result}");
    wait_until_no_process_has(word);
    wait_until_no_jobs(cluster);
}

fn a_killed_server_leaves_no_process(cluster: &Cluster) {
    let word = "slurm-killed-77ab";
    let project = endless(cluster, word, &json!({}));
    let mut server = server(cluster, &project);
    server.call(1, "there");
    wait_for_start(cluster, word);
    server.signal(rustix::process::Signal::KILL);
    wait_until_no_process_has(word);
}

fn wait_until_no_jobs(cluster: &Cluster) {
    wait_until("the end of all jobs", || cluster.ask("squeue", &["-h"]).trim().is_empty().then_some(()));
}
