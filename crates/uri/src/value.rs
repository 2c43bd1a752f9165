//! What a variable of a template stands for.

use std::collections::BTreeMap;

/// The values of variables by name. A variable that is not in it is undefined.
pub type Values = BTreeMap<String, Value>;

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Value {
    Text(String),
    List(Vec<String>),
    /// Pairs in the order in which they are written.
    Map(Vec<(String, String)>),
}
