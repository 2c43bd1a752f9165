//! Kinds of supply: how a client gives a server a variable whose value is not in the client's file.

use crate::remote::Reference;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Supply {
    /// It asks its user when it starts the server.
    Prompt,
    /// Its servers get all of its variables.
    Inherited,
    /// Its servers get the variables that the entry lists.
    Passed,
    /// The entry refers to a variable of the client, or to a secret that it stores.
    Reference(Reference),
}
