//! Cases: the files of tests, from the project's folders to what each case calls and expects.
//!
//! `find` looks for case files beside what they test, `mcp_bash_yaml` reads their YAML with the lines, and `read_case`,
//! `read_expect` and `fields` make a `Case` of each item. `values` carries values from one step of a case to the next. `subjects` are the entries of the project that cases can name.

pub(crate) mod case;
pub(crate) mod case_file;
pub(crate) mod fields;
pub(crate) mod find;
pub(crate) mod read_case;
pub(crate) mod read_expect;
pub(crate) mod subjects;
pub(crate) mod values;
