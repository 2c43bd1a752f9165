//! URIs that try to escape, and files that are traps: only allowed files are read, and no request blocks.

use crate::harness::{Project, Server, code};
use serde_json::{Value, json};
use std::os::unix::fs::symlink;
use std::os::unix::net::UnixListener;

fn quiet(project: &Project) -> Server {
    Server::ready_with(project.root(), &[("MCPBASH_LOG_LEVEL", "emergency")], "2025-11-25")
}

fn read(server: &mut Server, uri: &str) -> Value {
    server.ask("read", "resources/read", &json!({ "uri": uri }))
}

fn expect_refused(server: &mut Server, uri: &str) {
    let answer = read(server, uri);
    assert!(matches!(code(&answer), -32002 | -32602 | -32603), "{uri}: {answer}");
    assert!(!answer.to_string().contains("SECRET"), "{uri}: {answer}");
}

fn trapped() -> Project {
    Project::new()
        .file("resources/in.txt", "in")
        .file("secret.txt", "SECRET")
        .file("resources2/in.txt", "SECRET")
}

// Shows: resources-traversal
#[test]
fn no_spelling_escapes_the_roots() {
    let project = trapped();
    let mut server = quiet(&project);
    let root = project.root().canonicalize().unwrap().display().to_string();
    let ways = [
        "resources/../secret.txt",
        "resources/%2e%2e/secret.txt",
        "resources/%2E%2e%2fsecret.txt",
        "resources/..%2fsecret.txt",
        "resources/%252e%252e/secret.txt",
        "resources/..%255csecret.txt",
        "resources/..\\secret.txt",
        "resources/..%5csecret.txt",
        "resources/.%00./secret.txt",
        "resources/in.txt%00/../../secret.txt",
        "resources/%c0%ae%c0%ae/secret.txt",
        "resources/\u{ff0e}\u{ff0e}/secret.txt",
        "resources/../resources2/in.txt",
        "resources2/in.txt",
        "resources/./.././secret.txt",
        "resources//..//secret.txt",
        "resources/in.txt/../../secret.txt",
        "secret.txt",
        "",
        "resources",
        "resources/",
        "resources/in.txt?x=../../secret.txt",
        "resources/in.txt#../../secret.txt",
    ];
    for way in ways {
        for prefix in [
            format!("file://{root}/"),
            "file://./".to_owned(),
            format!("file://localhost{root}/"),
            format!("FILE:{root}/"),
        ] {
            expect_refused(&mut server, &format!("{prefix}{way}"));
        }
    }
    for uri in [
        "file:///etc/passwd",
        "file:///proc/self/environ",
        "file:///proc/self/root/etc/passwd",
        "file:///dev/stdin",
        "file://evil.example/etc/passwd",
        "file:////etc/passwd",
        "file:etc/passwd",
        "file://",
        "file:",
        "../secret.txt",
        "/etc/passwd",
        "C:\\secret.txt",
        "echo",
    ] {
        expect_refused(&mut server, uri);
    }
    let control = read(&mut server, &format!("file://{root}/resources/in.txt\u{0}"));
    assert_eq!(code(&control), -32602);
    expect_refused(&mut server, &format!("file://{root}/resources/{}", "x".repeat(100_000)));
    expect_refused(&mut server, &format!("file://{root}/{}secret.txt", "resources/../".repeat(5_000)));
    // Afterwards, allowed files can still be read.
    let answer = read(&mut server, &format!("file://{root}/resources/%69n.txt"));
    assert_eq!(answer["result"]["contents"][0]["text"], "in", "{answer}");
}

// Shows: resources-traversal
#[test]
fn links_that_leave_the_roots_are_not_followed() {
    let project = trapped();
    let link =
        |target: &str, name: &str| symlink(target, project.path(&format!("resources/{name}"))).unwrap();
    link("../secret.txt", "relative.txt");
    link(project.path("secret.txt").to_str().unwrap(), "absolute.txt");
    link("..", "up");
    link("/proc/self/environ", "environ");
    link("loop", "loop");
    link("in.txt", "fine.txt");
    let mut server = quiet(&project);
    for name in ["relative.txt", "absolute.txt", "up/secret.txt", "environ", "loop", "loop/x"] {
        expect_refused(&mut server, &format!("file://./resources/{name}"));
    }
    assert_eq!(read(&mut server, "file://./resources/fine.txt")["result"]["contents"][0]["text"], "in");
}

#[test]
fn a_link_that_is_swapped_during_a_read_never_escapes() {
    let project = trapped();
    let (good, bad) = (project.path("resources/good"), project.path("resources/bad"));
    symlink("in.txt", &good).unwrap();
    symlink("../secret.txt", &bad).unwrap();
    let mut server = quiet(&project);
    let stop = std::sync::Arc::new(std::sync::atomic::AtomicBool::new(false));
    let swapping = {
        let (stop, place) = (stop.clone(), project.path("resources/place"));
        let draft = project.path("resources/draft");
        std::thread::spawn(move || {
            while !stop.load(std::sync::atomic::Ordering::Relaxed) {
                for target in ["in.txt", "../secret.txt"] {
                    let _ = std::fs::remove_file(&draft);
                    let _ = symlink(target, &draft);
                    let _ = std::fs::rename(&draft, &place);
                }
            }
        })
    };
    let mut seen = 0;
    for _ in 0..300 {
        server.request("swap", "resources/read", &json!({ "uri": "file://./resources/place" }));
        let answer = loop {
            let message = server.receive();
            if message.get("id").is_some() {
                break message;
            }
        };
        assert!(!answer.to_string().contains("SECRET"), "{answer}");
        seen += usize::from(answer["result"]["contents"][0]["text"] == "in");
    }
    stop.store(true, std::sync::atomic::Ordering::Relaxed);
    swapping.join().unwrap();
    assert!(seen > 0);
}

#[test]
fn special_files_are_refused_without_waiting() {
    let project = trapped();
    let pipe = project.path("resources/pipe");
    assert!(std::process::Command::new("mkfifo").arg(&pipe).status().unwrap().success());
    let _socket = UnixListener::bind(project.path("resources/socket")).unwrap();
    std::fs::create_dir_all(project.path("resources/folder.txt")).unwrap();
    let project =
        project.file("resources/pipe.meta.json", r#"{"name": "pipe", "uri": "file://./resources/pipe"}"#);
    let mut server = quiet(&project);
    // A pipe without a writer would block for ever.
    for name in ["pipe", "socket", "folder.txt"] {
        expect_refused(&mut server, &format!("file://./resources/{name}"));
    }
}
