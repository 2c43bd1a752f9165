//! URIs: what a URI says, read from its text alone.
//!
//! # Theory of operation
//!
//! A [`Template`] (RFC 6570, all four levels) is parsed once, into literals and expressions (`parse.rs`). A table holds
//! the rules of its eight operators (`operator.rs`). [`Template::matches`] finds the values with which a URI could have
//! been made (`matching.rs`). For this the template is kept as a small program (`program.rs`), run by a search
//! (`search.rs`) that visits no pair of instruction and position twice. Time and memory are bounded by the product of
//! both lengths, whatever a client sends. Templates are never expanded into URIs.
//!
//! A [`FileUri`] names a file, as Unix or Windows does. [`scheme()`] returns the scheme of a URI, and [`canonical()`] the one
//! spelling in which rules compare it.
//!
//! # Decisions on matching
//!
//! - Earlier variables take as little as they can: `{name}{.ext}` finds `a` and `tar.gz` in `a.tar.gz`.
//! - `{var}` never spans `/`, `?` or `#`; `{+var}` and `{#var}` may. The two forms without a prefix of their own,
//!   `{var}` and `{+var}`, take at least one character, because `logs/{service}/x` is not meant to find `logs//x`.
//! - Other reserved characters may occur in a value unescaped. Strictly they would have to be escaped, but people and
//!   models write URIs by hand, and `logs/12:30.log` can mean only one thing.
//! - Names in `{?a,b}`, `{&a,b}` and `{;a,b}` may come in any order and may be missing, because authors expect no order
//!   in a query. A name that is not in the template is no match: a template finds what it could have made.
//! - A value is a string. Only an exploded variable is a list, and in the named forms (`{?rest*}`) a map of the pairs
//!   whose names are not the template's own.
//! - A variable that occurs more than once has the same value everywhere, or there is no match.
//! - Values are percent-decoded once. A value that is not UTF-8 is no match. An escaped slash is part of a value, so
//!   code that makes a path from values has to open it beneath a folder.
//!
//! Everything here is a pure function of its input: there is no runtime, no file, no clock.

mod canonical;
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

pub use canonical::canonical;
pub use file_uri::{FileUri, FileUriError};
pub use parse::{MAX_TEMPLATE_BYTES, TemplateError};
pub use percent::{DecodeError, decode};
pub use program::MAX_URI_BYTES;
pub use scheme::scheme;
pub use template::Template;
pub use value::{Value, Values};
