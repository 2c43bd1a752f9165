//! Printing: where reports go.

use crate::error::TestError;
use crate::options::Options;
use crate::report::{self, Report};
use mcp_bash_files::write_whole;
use mcp_bash_terminal::{Terminal, print_text};
use std::path::Path;

/// Writes the report to standard output and, with `--junit`, to a file.
pub(crate) fn print_report(report: &Report, options: &Options) -> Result<(), TestError> {
    if let Some(path) = &options.junit {
        if path == Path::new("-") {
            return print(&report::junit(report));
        }
        let written = write_whole(path, report::junit(report).as_bytes());
        written.map_err(|source| TestError::Write { path: path.clone(), source })?;
    }
    let text = if options.json {
        format!("{:#}\n", report::json(report))
    } else {
        report::text(report, options, Terminal::of_stdout())
    };
    print(&text)
}

/// A closed pipe is not a failure.
pub(crate) fn print(text: &str) -> Result<(), TestError> {
    print_text(text).map_err(TestError::Print)
}
