//! Values of template variables.

use std::collections::BTreeMap;

/// The values of variables by name. A missing variable is undefined.
pub type Values = BTreeMap<String, Value>;

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Value {
    Text(String),
    List(Vec<String>),
    /// Pairs in the order in which they are written.
    Map(Vec<(String, String)>),
}
