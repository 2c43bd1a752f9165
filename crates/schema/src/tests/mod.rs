//! Schema tests: what users of this crate rely on.

mod coercions;
mod contradictions;
mod drafts;
mod hostile;
mod properties;
mod refusals;
mod strategies;
mod words;

use crate::Schema;

fn compile(schema: &str) -> Schema {
    Schema::compile(schema).unwrap_or_else(|error| panic!("{schema}: {error}"))
}

/// The problems of the arguments, one on a line.
fn says(schema: &str, arguments: &str) -> String {
    match compile(schema).check(arguments) {
        Ok(checked) => panic!("{arguments} fits {schema} as {}", checked.text),
        Err(problems) => problems.iter().map(ToString::to_string).collect::<Vec<_>>().join("\n"),
    }
}

/// `says` for the schema of a property `x` and its value.
fn says_of(schema: &str, value: &str) -> String {
    says(&format!(r#"{{"properties": {{"x": {schema}}}}}"#), &format!(r#"{{"x": {value}}}"#))
}
