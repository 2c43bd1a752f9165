//! Hazards: where a value on a command line, in a variable or on standard input would be more than data: code that an
//! interpreter reads, the name of a program, an option of another tool.
//!
//! A table says what the words of each interpreter, each wrapper (`env`, `timeout`, `ssh`) and each tool with options
//! that run something mean. For an interpreter only what the table calls data is data. A program that is not in the
//! table reads its operands and options as data, unless the name of an option says otherwise; one of its words may name
//! a program that is in the table.
//!
//! Another table, and the words of help texts, tell options that change, send or delete something.
//!
//! Everything here is a function of text. Nothing is run or read.

mod harmless;
mod naming;
mod program;
mod table;
mod variable;
mod verdict;
mod walk;
mod writing;

pub use harmless::{HARMLESS, is_harmless};
pub use naming::reads_like_code;
pub use variable::{Control, control};
pub use verdict::{Judgement, Verdict};
pub use walk::{Piece, Word, judge, option_begins_code, option_verdict};
pub use writing::{DescribedOption, option_writes};
