//! Variables of a server whose values are not in the client's file: how each client supplies them, and the inputs that VS Code
//! asks its user for.

pub(crate) mod inputs;
mod supplied;
pub(crate) mod supply;
