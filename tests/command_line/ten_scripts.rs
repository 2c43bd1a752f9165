//! Ten scripts as an operations engineer has them, from a folder to tools that answer: imported, tested, called.

use super::import::import;
use crate::harness::{Project, Server};
use serde_json::Value;
use std::process::Stdio;

const SCRIPTS: [(&str, &str); 10] = [
    (
        "disk.sh",
        "#!/bin/sh\n# Shows how full the file system of a folder is.\n# Usage: disk.sh FOLDER\ndf -P \"$1\" | tail -n 1\n",
    ),
    (
        "largest.sh",
        "#!/bin/bash\n# Lists the largest files below a folder.\nset -eu\ncount=${2:-5}\nfind \"$1\" -type f -printf '%s %p\\n' | sort -rn | head -n \"$count\"\n",
    ),
    (
        "search-logs.sh",
        r#"#!/bin/bash
# Searches log files for a text.
usage() { echo "Usage: search-logs.sh [-i] [-n COUNT] PATTERN FILE"; exit 2; }
count=10 ignore=
while getopts "in:h" option; do
  case $option in
    i) ignore=-i ;;
    n) count=$OPTARG ;;
    *) usage ;;
  esac
done
shift $((OPTIND - 1))
[ $# -eq 2 ] || usage
grep $ignore -e "$1" -- "$2" | head -n "$count"
"#,
    ),
    (
        "backup.sh",
        r#"#!/usr/bin/env bash
# Packs a folder into an archive.
set -euo pipefail
compress=gzip
while [ $# -gt 0 ]; do
  case "$1" in
    --compress) compress=$2; shift 2 ;;
    --dry-run) dry=1; shift ;;
    --) shift; break ;;
    -*) echo "unknown option $1" >&2; exit 2 ;;
    *) break ;;
  esac
done
source=$1
target=$2
[ -n "${dry:-}" ] && { echo "would pack $source with $compress"; exit 0; }
tar -C "$source" -cf "$target" .
echo "packed $source"
"#,
    ),
    (
        "deploy.sh",
        "#!/bin/bash\n# Deploys a service.\nset -euo pipefail\nservice=$1\nstage=${STAGE:?the stage to deploy to}\necho \"deploying $service to $stage\"\nkubectl rollout restart \"deployment/$service\"\n",
    ),
    (
        "cleanup.sh",
        "#!/bin/bash\n# Removes old temporary files.\nset -u\nfind \"$1\" -name '*.tmp' -mtime \"+${2:-7}\" -delete\necho cleaned\n",
    ),
    (
        "rotate.sh",
        "#!/bin/sh\n# Rotates a log file.\nread -p \"Rotate $1? [Y/n] \" answer\n[ \"$answer\" = n ] || mv \"$1\" \"$1.1\"\n",
    ),
    (
        "report.py",
        r#"#!/usr/bin/env python3
"""Sums a column of a CSV file."""
import argparse
import csv

parser = argparse.ArgumentParser(description=__doc__)
parser.add_argument("file", help="the CSV file")
parser.add_argument("--column", required=True, help="the name of the column")
parser.add_argument("--precision", type=int, default=2)
parser.add_argument("--quiet", action="store_true")
args = parser.parse_args()
with open(args.file) as rows:
    total = sum(float(row[args.column]) for row in csv.DictReader(rows))
print(f"{total:.{args.precision}f}" if args.quiet else f"total: {total:.{args.precision}f}")
"#,
    ),
    (
        "slug.mjs",
        r"#!/usr/bin/env node
// Makes a name for a URL out of a title.
import { parseArgs } from 'node:util';
const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { separator: { type: 'string', default: '-' }, upper: { type: 'boolean' } },
});
const slug = positionals.join(' ').toLowerCase().replace(/[^a-z0-9]+/g, values.separator);
console.log(values.upper ? slug.toUpperCase() : slug);
",
    ),
    (
        "weather.sh",
        "#!/bin/bash\n# Shows the weather of a city.\nset -u\ncurl -fsS -H \"X-Key: $WEATHER_KEY\" \"https://weather.example.org/$1\"\n",
    ),
];

fn run(project: &Project, words: &[&str]) -> (Option<i32>, String) {
    let output = Server::command()
        .args(words)
        .current_dir(project.root())
        .stdin(Stdio::null())
        .output()
        .expect("the binary runs");
    let said =
        [output.stdout, output.stderr].map(|text| String::from_utf8_lossy(&text).into_owned()).concat();
    (output.status.code(), said)
}

#[test]
fn ten_scripts_become_tools_that_answer() {
    let mut project =
        Project::new().file("tools/.keep", "").file("data/sales.csv", "item,price\na,1.5\nb,2.25\n");
    project = project.file("data/app.log", "ok\nERROR one\nerror two\n");
    for (name, text) in SCRIPTS {
        project = project.script(&format!("bin/{name}"), text);
    }
    let output = import(&project, &["bin", "--yes", "--json"]);
    let report: Value =
        serde_json::from_slice(&output.stdout).unwrap_or_else(|error| panic!("{error}: {output:?}"));
    assert_eq!(report["tools"].as_array().map(Vec::len), Some(10), "{report:#}");
    let tool =
        |name: &str| report["tools"].as_array().unwrap().iter().find(|tool| tool["name"] == name).unwrap();
    // What may lose something says so, and what asks at a terminal is not silently wrong.
    for name in ["cleanup", "deploy"] {
        assert_eq!(tool(name)["metadata"]["annotations"]["destructiveHint"], true, "{:#}", tool(name));
    }
    assert_eq!(
        tool("weather")["metadata"]["env"],
        serde_json::json!(["WEATHER_KEY"]),
        "{:#}",
        tool("weather")
    );
    assert_ne!(tool("rotate")["unsure"].as_array().map(Vec::len), Some(0), "{:#}", tool("rotate"));

    let (code, said) = run(&project, &["test"]);
    assert_eq!(code, Some(0), "{said}");

    let root = project.root().display().to_string();
    let (log, sales, data) =
        (format!("{root}/data/app.log"), format!("{root}/data/sales.csv"), format!("{root}/data"));
    let called = |tool: &str, arguments: Value| {
        let (code, said) = run(&project, &["call", tool, "--args", &arguments.to_string()]);
        assert_eq!(code, Some(0), "{tool} {arguments}: {said}");
        said
    };
    let names = |tool_name: &str| -> Vec<String> {
        let schema = &tool(tool_name)["metadata"]["inputSchema"]["properties"];
        schema.as_object().map(|names| names.keys().cloned().collect()).unwrap_or_default()
    };
    let positional = |tool_name: &str, index: usize| names(tool_name)[index].clone();
    let object = |pairs: &[(&str, Value)]| {
        Value::Object(pairs.iter().map(|(key, value)| ((*key).to_owned(), value.clone())).collect())
    };

    assert!(called("disk", object(&[(&positional("disk", 0), data.clone().into())])).contains('%'));
    assert!(
        called("largest", object(&[(&positional("largest", 0), data.clone().into())])).contains("sales.csv")
    );
    let report_arguments =
        object(&[("file", sales.into()), ("column", "price".into()), ("quiet", true.into())]);
    assert_eq!(called("report", report_arguments).trim(), "3.75");
    let search = object(&[
        ("pattern", "error".into()),
        ("file", log.into()),
        ("ignore", true.into()),
        ("count", 1.into()),
    ]);
    assert_eq!(called("search-logs", search).trim(), "ERROR one");
    let backup = object(&[("source", data.into()), ("target", "x.tar".into()), ("dry-run", true.into())]);
    assert!(called("backup", backup).contains("with gzip"));
}
