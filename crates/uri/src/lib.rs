//! What a URI says, read from its text alone.
//!
//! # Theory of operation
//!
//! A [`Template`] (RFC 6570, all four levels) is read once, into literals and expressions (`parse.rs`). The rules that
//! tell its eight operators apart are a table (`operator.rs`). [`Template::matches`] finds out with which values a URI
//! could have been made (`matching.rs`). For this the template is kept as a little program (`program.rs`), run by a
//! search (`search.rs`) that looks at no pair of instruction and position twice. Time and memory are bounded by the
//! product of both lengths, whatever a client sends. No URI is ever made of a template.
//!
//! A [`FileUri`] names a file, in the way of Unix or of Windows. [`scheme()`] says how a URI begins.
//!
//! # Decisions on matching
//!
//! - Earlier variables take as little as they can: `{name}{.ext}` finds `a` and `tar.gz` in `a.tar.gz`.
//! - `{var}` never spans `/`, `?` or `#`; `{+var}` and `{#var}` may. Both kinds of brackets without a sign of their own,
//!   `{var}` and `{+var}`, take at least one character, as nobody means `logs/{service}/x` to find `logs//x`.
//! - Other reserved characters may stand in a value as they are. Strictly they would have to be escaped, but people and
//!   models write URIs by hand, and `logs/12:30.log` can mean only one thing.
//! - Names in `{?a,b}`, `{&a,b}` and `{;a,b}` may come in any order and may be missing, since a query has no order for
//!   those who write it. A name that is not in the template is no match: a template finds what it could have made.
//! - A value is a string. Only an exploded variable is a list, and in the named forms (`{?rest*}`) a map of the pairs
//!   whose names are not the template's own.
//! - A variable that occurs more than once has the same value everywhere, or there is no match.
//! - Values are percent-decoded once. One that is not UTF-8 is no match. An escaped slash is part of a value, so whoever
//!   makes a path of values has to open it beneath a folder.
//!
//! Everything here is a pure function of its input: there is no runtime, no file, no clock.

mod file_uri;
mod matching;
mod operator;
mod parse;
mod part;
mod pattern;
mod percent;
mod program;
mod scheme;
mod search;
mod template;
#[cfg(test)]
mod tests;
mod value;

pub use file_uri::{FileUri, FileUriError};
pub use parse::{MAX_TEMPLATE_BYTES, TemplateError};
pub use percent::{DecodeError, decode};
pub use program::MAX_URI_BYTES;
pub use scheme::scheme;
pub use template::Template;
pub use value::{Value, Values};
