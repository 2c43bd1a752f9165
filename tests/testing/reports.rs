//! Reports for programs: JSON and `JUnit`.

use super::{Ran, report, test, tool};
use crate::harness::make_pipe;
use serde_json::json;
use std::os::unix::fs::FileTypeExt;

#[test]
fn the_report_goes_to_its_file_and_overwrites_nothing_else() {
    let project =
        tool("#!/bin/sh\necho hi\n", "- { name: a, expect: { text: hi } }\n").file("real.xml", "old");
    let (link, pipe) = (project.path("link.xml"), project.path("pipe"));
    std::os::unix::fs::symlink("real.xml", &link).unwrap();
    assert_eq!(test(&project, &["--junit", link.to_str().unwrap()]).code, Some(0));
    assert!(link.is_symlink() && project.read("real.xml").starts_with("<?xml"));
    make_pipe(&pipe, 0o600);
    let reader = std::thread::spawn({
        let pipe = pipe.clone();
        move || std::fs::read_to_string(pipe).unwrap()
    });
    assert_eq!(test(&project, &["--junit", pipe.to_str().unwrap()]).code, Some(0));
    assert!(pipe.metadata().unwrap().file_type().is_fifo(), "it is still one");
    assert!(reader.join().unwrap().ends_with("</testsuites>\n"));
    let Ran { code, stdout, .. } = test(&project, &["--junit", "-"]);
    assert_eq!(code, Some(0));
    assert!(stdout.starts_with("<?xml") && stdout.ends_with("</testsuites>\n"), "{stdout}");
    let both = test(&project, &["--junit", "-", "--json"]);
    assert_eq!((both.code, &*both.stdout), (Some(2), ""));
    let missing = test(&project, &["--junit", "no/report.xml"]);
    assert_eq!((missing.code, project.path("no").exists()), (Some(1), false));
    assert!(missing.stderr.contains("failed to write no/report.xml: No such file"), "{missing:?}");
}

#[test]
fn the_report_for_machines() {
    let project = tool(
        "#!/bin/sh\nprintf '<&\\033\"'\necho oops >&2\n",
        "- { name: 'a<b', expect: { text: \"]]>\" } }\n- { name: b, skip: \"later\" }\n",
    );
    let file = project.path("report.xml");
    assert_eq!(test(&project, &["--junit", file.to_str().unwrap()]).code, Some(1));
    let xml = project.read("report.xml");
    let xml = regexless_times(&xml);
    assert_eq!(
        xml,
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>
<testsuites name=\"mcp-bash\" tests=\"2\" failures=\"1\" skipped=\"1\" time=\"T\">
  <testsuite name=\"it\" tests=\"2\" failures=\"1\" skipped=\"1\" time=\"T\">
    <testcase name=\"a&lt;b\" classname=\"it\" file=\"tools/it/tests/it.yaml\" line=\"1\" time=\"T\">
      <failure message=\"the text is another\">the text is another&#10;@@ -1,1 +1,1 @@&#10;-]]&gt;&#10;+&lt;&amp;\u{fffd}&quot;&#10;</failure>
      <system-err>oops</system-err>
    </testcase>
    <testcase name=\"b\" classname=\"it\" file=\"tools/it/tests/it.yaml\" line=\"2\" time=\"T\"><skipped message=\"later\"/></testcase>
  </testsuite>
</testsuites>
"
    );
    let (_, mut report) = report(&project, &[]);
    for case in report["cases"].as_array_mut().unwrap() {
        case["durationMs"] = json!(0);
    }
    report["durationMs"] = json!(0);
    assert_eq!(
        report,
        json!({
            "passed": 0, "failed": 1, "skipped": 1, "notRun": 0, "recorded": 0, "durationMs": 0,
            "cases": [
                { "id": "it/a<b", "name": "a<b", "kind": "tool", "subject": "it", "file": "tools/it/tests/it.yaml",
                  "line": 1, "status": "failed", "durationMs": 0, "stderr": "oops",
                  "problems": [{ "problem": "the text is another", "diff": "@@ -1,1 +1,1 @@\n-]]>\n+<&\u{1b}\"" }] },
                { "id": "it/b", "name": "b", "kind": "tool", "subject": "it", "file": "tools/it/tests/it.yaml",
                  "line": 2, "status": "skipped", "durationMs": 0, "reason": "later" },
            ],
            "programs": [],
            "toolsWithoutTest": [],
        })
    );
}

/// The text with `T` for each time.
fn regexless_times(xml: &str) -> String {
    let mut parts = xml.split("time=\"");
    let first = parts.next().unwrap_or_default().to_owned();
    parts.fold(first, |text, part| {
        let rest = part.split_once('"').map_or("", |(_, rest)| rest);
        format!("{text}time=\"T\"{rest}")
    })
}
