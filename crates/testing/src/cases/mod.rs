//! Cases: the files of tests, from the project's folders to what each case calls and expects.
//!
//! `find` looks for case files beside what they test, `node` reads their YAML with the lines, and `read_case` and `fields`
//! make a `Case` of each item. `subjects` are the entries of the project that cases can name.

pub(crate) mod case;
pub(crate) mod fields;
pub(crate) mod find;
pub(crate) mod node;
pub(crate) mod read_case;
pub(crate) mod subjects;
