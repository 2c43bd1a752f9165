//! JSON Schema validation for tools: whether arguments fit, what is wrong with them in words that a model can act on,
//! and which values can be corrected without guessing.
//!
//! # Theory of operation
//!
//! [`Schema::compile`] reads a schema within limits (`bounds.rs`) and makes a program of it (`compiling/`):
//! `resources.rs` finds the addresses and names within it and resolves references; nothing is ever fetched. The schema
//! must conform to the meta-schema of its draft (`conformity.rs`), which is made from the table of keywords
//! (`keywords.rs`, `meta.rs`) and compiled like any other. The program is a list of nodes whose rules name each other by
//! index (`program.rs`, `compile.rs`, `rules.rs`). Patterns are translated for an engine that takes time in proportion
//! to the text (`pattern.rs`).
//!
//! [`Schema::check`] reads the arguments into a `Tree` whose values know their position in the text (`tree.rs`), so that
//! numbers are compared as they were written (`decimal.rs`). A `Run` applies the program to it (`running/`: `run.rs`,
//! `assertions.rs`, `applicators.rs`) through a `Meter` (`meter.rs`), so that no pair of schema and value can take
//! unbounded time, memory or stack. A value that needs more stack than the caller's thread has gets a thread with more
//! (`room.rs`).
//!
//! Most arguments fit, and are returned as they came. Otherwise violations (`violation.rs`) say where a value has the
//! wrong type. If the intended value is beyond doubt (`coerce.rs`), it is replaced in the text (`repair.rs`), and the
//! result is checked again. If it still does not fit, the problems of the original arguments are reported
//! (`wording.rs`, `expectation.rs`, `alternatives.rs`): a [`Problem`] for each, up to twenty, and how many more there
//! are.
//!
//! [`contradictions()`] finds schemas that no value fits, for commands that check a project before it is served.
//!
//! # Decisions
//!
//! - The dialect is the one `$schema` names, and 2020-12 without it.
//! - `format`, `contentEncoding` and `contentMediaType` are annotations in every dialect: they describe, and refuse
//!   nothing. 2020-12 says so, and a tool that cares uses `pattern`.
//! - A pattern with look-around or back-references is refused when the schema is read. Such a pattern can take time
//!   exponential in the text, and ignoring it would let through what its author meant to keep out.
//! - A name that occurs twice in an object is a problem, because the tool's own parser may take the other one.
//! - Correction is all or nothing: if the result does not fit, the reported problems are those of the original.
//!
//! Everything here is a pure function of its input: there is no runtime, no file, no clock.

mod alternatives;
mod bounds;
mod check;
mod coerce;
mod compiling;
mod contradictions;
mod decimal;
mod defaults;
mod equality;
mod error;
mod excerpt;
mod expectation;
mod mismatch;
mod problem;
mod repair;
mod running;
mod schema;
#[cfg(test)]
mod tests;
mod tree;
mod types;
mod wording;

pub use bounds::{MAX_SCHEMA_BYTES, MAX_SCHEMA_DEPTH, MAX_SUBSCHEMAS};
pub use contradictions::{Contradiction, Contradictions, contradictions};
pub use defaults::Defaults;
pub use error::SchemaError;
pub use problem::Problem;
pub use schema::{Checked, Schema};
