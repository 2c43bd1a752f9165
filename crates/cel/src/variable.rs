//! Variables: the names that an environment gives to expressions.

/// A variable that expressions may name.
#[derive(Debug, Clone, Copy)]
pub struct Variable {
    pub name: &'static str,
    /// The fields that it always has and no others; `None` if any field may be there.
    pub fields: Option<&'static [&'static str]>,
}
