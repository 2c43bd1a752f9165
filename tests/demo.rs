//! `mcp-bash demo`: a person understands in ten seconds what this program does.

use crate::harness::Server;

#[test]
fn the_demo_shows_a_whole_exchange_with_live_progress() {
    let output = Server::command().arg("demo").output().expect("the binary runs");
    let text = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success(), "{text}");
    assert!(output.stderr.is_empty(), "{}", String::from_utf8_lossy(&output.stderr));
    let positions: Vec<usize> = [
        r#""method":"initialize""#,
        r#""protocolVersion":"2025-11-25""#,
        r#""method":"tools/list""#,
        "countdown        Counts down",
        r#""method":"tools/call""#,
        r#""method":"notifications/progress""#,
        r#""progress":5"#,
        "the script printed: Counted down from 5.",
        "--project-root",
    ]
    .iter()
    .map(|words| text.find(words).unwrap_or_else(|| panic!("{words} in {text}")))
    .collect();
    assert!(positions.is_sorted(), "{text}");
    assert_eq!(text.matches("notifications/progress").count(), 5);
}
