//! I/O filters: further input, messages, program exit.

use jaq_core::native::bome;
use jaq_core::{Error, Exn};

use super::{Call, Entry, NONE, ONE, Results};
use crate::value::Value;

pub(super) const FUNCTIONS: &[Entry] = &[
    ("input", NONE, |call| match next(&call) {
        Some(result) => bome(result),
        None => bome(Value::fail("break")),
    }),
    ("input_filename", NONE, |call| bome(Ok(call.0.data().outside.filename()))),
    ("input_line_number", NONE, |call| bome(Ok(call.0.data().outside.line().into()))),
    ("debug", NONE, |call| {
        tell(&call, &format!("[\"DEBUG:\",{}]\n", call.1.to_json()));
        bome(Ok(call.1))
    }),
    ("stderr", NONE, |call| {
        tell(&call, &call.1.to_json());
        bome(Ok(call.1))
    }),
];

pub(super) const GENERATORS: &[Entry] = &[
    ("inputs", NONE, |call| Box::new(std::iter::from_fn(move || Some(next(&call)?.map_err(Exn::from))))),
    ("halt", NONE, |_| Box::new(std::iter::once(Err(Exn::halt(0))))),
    ("halt_error", ONE, halt_error),
];

fn next(call: &Call) -> Option<crate::value::Result> {
    match call.0.data().outside.next_input() {
        Ok(value) => value.map(Ok),
        Err(bad) => Some(Err(Error::new(Value::string(bad.0)))),
    }
}

fn tell(call: &Call, message: &str) {
    call.0.data().outside.tell(message);
}

/// Ends the program with a last message: a string as it is, anything else as a line of JSON.
#[expect(clippy::cast_possible_truncation, reason = "an exit code has eight bits in the end")]
fn halt_error(mut call: Call) -> Results {
    let Some(code) = call.0.pop_var().as_f64() else {
        return bome(Value::fail("halt_error/1: number required"));
    };
    match &call.1 {
        Value::Null => {}
        Value::String(text) => tell(&call, text),
        other => tell(&call, &format!("{}\n", other.to_json())),
    }
    Box::new(std::iter::once(Err(Exn::halt(code as i32))))
}
