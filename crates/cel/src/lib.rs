//! The Common Expression Language (CEL) over JSON values, within a cost budget.
//!
//! A text is compiled once: names, functions, literal patterns and time zones are resolved, and a mistake has a line and a
//! column. An evaluation borrows the JSON it looks at and pays for every step, every element and every byte out of a
//! [`Budget`]. The depth of a tree is limited, so neither time, memory nor stack grows beyond what the budget allows.
//!
//! The language is that of the specification without protocol buffers: there are no messages, enums or wrappers. Nothing
//! here reads a clock or a setting; the only files read are those of a time zone that an expression names.

mod arithmetic;
mod cost;
mod duration;
mod error;
mod evaluate;
mod functions;
mod held;
mod lexer;
mod literal;
mod macros;
mod names;
mod observed;
mod order;
mod parser;
mod pattern;
mod program;
mod search;
mod timestamp;
mod tree;
mod value;
mod variable;
mod zone;

pub use cost::Budget;
pub use duration::Span;
pub use error::{CompileError, EvalError, Failure, Mistake, Position};
pub use observed::Observed;
pub use pattern::{Pattern, PatternError};
pub use program::Program;
pub use search::{Exhausted, Search};
pub use timestamp::Timestamp;
pub use value::{List, Map, Type, Value};
pub use variable::Variable;
