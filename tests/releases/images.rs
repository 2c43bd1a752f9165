//! The images of a release: `release.yml` pushes each under the tags that the page of containers promises.

use crate::harness::Project;
use std::path::Path;
use std::process::Command;

/// What a stand-in for skopeo copies in the step that pushes, as `IMAGE TAG`.
fn pushed(tag: &str) -> Vec<String> {
    let workflow = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../.github/workflows/release.yml");
    let workflow = std::fs::read_to_string(workflow).unwrap();
    let (_, job) = workflow.split_once("\n  image:\n").expect("the job that pushes");
    let (_, script) = job.split_once("run: |\n").expect("its script");
    let lines: Vec<&str> = script.lines().take_while(|line| line.starts_with("          ")).collect();
    let script = lines.join("\n");
    let project = Project::new()
        .script("bin/skopeo", "#!/bin/sh\n[ \"$1\" != copy ] || echo \"$3 $4\" >>copied\n")
        .file("copied", "");
    let path = format!("{}:{}", project.path("bin").display(), std::env::var("PATH").unwrap());
    let status = Command::new("bash")
        .args(["-euc", &script])
        .current_dir(project.root())
        .env("PATH", path)
        .env("GITHUB_REF_NAME", tag)
        .envs([("GITHUB_REPOSITORY", "Owner/Name"), ("GITHUB_ACTOR", "a"), ("TOKEN", "t")])
        .status();
    assert!(status.unwrap().success());
    let short = |line: &str| {
        line.replace("oci-archive:files/mcp-bash-", "").replace("docker://ghcr.io/owner/name:", "")
    };
    project.read("copied").lines().map(short).collect()
}

#[test]
fn each_image_has_the_tag_that_pages_name() {
    let version = ["1.2.3-image-static.tar 1.2.3-static", "1.2.3-image-debian.tar 1.2.3"];
    assert_eq!(pushed("v1.2.3"), [&version[..], &["1.2.3-image-debian.tar latest"]].concat());
    assert_eq!(pushed("v1.2.3-rc.1"), version.map(|line| line.replace("1.2.3", "1.2.3-rc.1")));
    let page =
        std::fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/containers.md"));
    let page = page.unwrap();
    assert!(page.contains("\n| `mcp-bash:VERSION` | Debian"), "{page}");
    assert!(page.contains("\n| `mcp-bash:VERSION-static` | the program"), "{page}");
}
