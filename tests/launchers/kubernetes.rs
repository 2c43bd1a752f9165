//! Tools that run as Kubernetes Jobs, with a program in the place of `kubectl` whose answers are written by hand. No cluster is
//! involved: what the API server and the kubelet do is not tested here.

use super::custom::{SDK, project, text};
use crate::harness::{Project, Server, wait_until};
use serde_json::{Value, json};
use std::fs;
use std::os::unix::fs::PermissionsExt;
use tempfile::TempDir;

/// Notes its words, and answers in the manner of `kubectl`. The answers are written by hand, not recorded from a cluster.
/// `exec` runs its command, as a pod would.
const KUBECTL: &str = r#"#!/bin/sh
folder=${0%/kubectl}
printf '%s\n' "$*" | head -n 1 >>"$folder/calls"
while :; do
	case $1 in
	-*) shift ;;
	*) break ;;
	esac
done
case $1 in
create)
	cat >"$folder/manifest"
	if [ -e "$folder/forbidden" ]; then
		echo 'Error from server (Forbidden): error when creating "STDIN": jobs.batch is forbidden' >&2
		exit 1
	fi
	echo 'job.batch/created created'
	;;
wait)
	if [ -e "$folder/never" ]; then
		echo 'error: timed out waiting for the condition on jobs/it' >&2
		exit 1
	fi
	echo 'job.batch/it condition met'
	;;
exec)
	until [ "$1" = -- ]; do shift; done
	shift
	exec env -i -C / PATH=/usr/bin:/bin "$@"
	;;
delete) echo 'job.batch "it" deleted' ;;
*) exit 2 ;;
esac
"#;

struct Kubectl {
    folder: TempDir,
}

impl Kubectl {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let program = folder.path().join("kubectl");
        fs::write(&program, KUBECTL).unwrap();
        fs::set_permissions(program, fs::Permissions::from_mode(0o755)).unwrap();
        Self { folder }
    }

    fn file(&self, name: &str) -> String {
        fs::read_to_string(self.folder.path().join(name)).unwrap_or_default()
    }

    fn touch(&self, name: &str) {
        fs::write(self.folder.path().join(name), "").unwrap();
    }

    fn server(&self, project: &Project) -> Server {
        let path = format!("{}:{}", self.folder.path().display(), std::env::var("PATH").unwrap());
        Server::ready_with(
            project.root(),
            &[("MCPBASH_PATH", &path), ("MCPBASH_LOG_LEVEL", "emergency")],
            "2025-11-25",
        )
    }

    fn call(&self, project: &Project, arguments: &Value) -> Value {
        let params = json!({ "name": "there", "arguments": arguments });
        self.server(project).ask_past_news(1, "tools/call", &params)["result"].clone()
    }
}

fn launcher() -> Value {
    json!({ "use": "kubernetes", "image": "debian:12", "namespace": "tools", "options": ["--context=test"] })
}

#[test]
fn a_job_is_made_used_and_deleted() {
    let kubectl = Kubectl::new();
    let project = project(&format!("{SDK}mcp_args_get '.text'\nexit 3\n"), &launcher());
    let result = kubectl.call(&project, &json!({ "text": "it's $(here)" }));
    assert!(text(&result).contains("it's $(here)"), "{result}");
    assert_eq!(result["_meta"]["exitCode"], 3, "{result}");
    assert_eq!(result["_meta"]["mcpbash/launcher"]["place"], "debian:12", "{result}");
    let manifest: Value = serde_json::from_str(&kubectl.file("manifest")).unwrap();
    let name = manifest["metadata"]["name"].as_str().unwrap();
    assert!(name.starts_with("mcpbash-"), "{manifest}");
    assert_eq!(manifest["kind"], "Job");
    assert_eq!(manifest["spec"]["backoffLimit"], 0);
    assert_eq!(manifest["spec"]["template"]["spec"]["containers"][0]["image"], "debian:12");
    let calls = kubectl.file("calls");
    let begins = "--context=test --namespace=tools";
    let expected = [
        format!("{begins} create --filename=-"),
        format!("{begins} wait --for=jsonpath={{.status.ready}}=1 job/{name} --timeout="),
        format!("{begins} exec --stdin --quiet job/{name} -- sh -c "),
        format!("{begins} delete job/{name} --ignore-not-found --wait=false"),
    ];
    assert_eq!(calls.lines().count(), expected.len(), "{calls}");
    for (call, expected) in calls.lines().zip(&expected) {
        assert!(call.starts_with(expected), "{call}: {expected}");
    }
}

#[test]
fn a_job_that_is_not_allowed_or_never_ready_is_named_and_deleted() {
    for (state, words) in
        [("forbidden", "jobs.batch is forbidden"), ("never", "timed out waiting for the condition")]
    {
        let kubectl = Kubectl::new();
        kubectl.touch(state);
        let result = kubectl.call(&project("#!/bin/sh\necho it ran\n", &launcher()), &json!({}));
        assert!(text(&result).contains(words), "{result}");
        assert!(kubectl.file("calls").lines().last().unwrap().contains("delete job/"), "{state}");
    }
}

#[test]
fn a_cancelled_job_is_deleted() {
    let kubectl = Kubectl::new();
    let started = kubectl.folder.path().join("started");
    let script = format!("#!/bin/sh\nprintf started >{}\nsleep 1000\n", started.display());
    let project = project(&script, &launcher());
    let mut server = kubectl.server(&project);
    server.call(1, "there");
    wait_until("the start of the tool", || started.exists().then_some(()));
    server.notify("notifications/cancelled", &json!({ "requestId": 1 }));
    wait_until("the deletion of the job", || kubectl.file("calls").contains(" delete job/").then_some(()));
}
