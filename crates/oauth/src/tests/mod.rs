//! Tests of tokens with keys of each kind, and with what attackers make of them.

mod documents;
mod keys;
mod signing;
mod tokens;
