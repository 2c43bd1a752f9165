//! Language: the results of filters, written out, so that the tests need no jq to compare with.

mod calls;
mod dates;
mod depth;
mod folds;
mod literals;
mod messages;
mod numbers;
mod paths;
mod ranges;
mod regexes;
mod strings;

/// A filter, its input, and the lines it prints.
type Case = (&'static str, &'static str, &'static str);

/// Runs a filter. Returns its output, its messages and its exit code.
fn jq(filter: &str, input: &str) -> (String, String, u8) {
    let (mut stdout, mut stderr) = (Vec::new(), Vec::new());
    let arguments = ["-c", filter].into_iter().map(Into::into);
    let code = mcp_bash_jq::run(arguments, input.as_bytes(), &mut stdout, &mut stderr);
    let text = |bytes| String::from_utf8(bytes).expect("it is UTF-8");
    (text(stdout), text(stderr), code)
}

/// Checks that every filter succeeds and prints what is expected.
#[track_caller]
fn check(cases: &[Case]) {
    let wrong = cases.iter().filter_map(|(filter, input, expected)| {
        let seen = jq(filter, input);
        let (stdout, stderr, code) = &seen;
        let fits = *code == 0 && stderr.is_empty() && stdout.trim_end_matches('\n') == *expected;
        (!fits).then(|| format!("{filter} on {input}\n  gives {seen:?}\n  not {expected:?}"))
    });
    let wrong: Vec<_> = wrong.collect();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
