//! Reading audit files and stores: their lines, the verification of their chain, and the selection of records.

mod lines;
mod selection;
mod store;
mod verify;

pub use lines::{Entry, entries};
pub use selection::Selection;
pub use store::{entries_by_time, verify_store};
pub use verify::{Finding, Place, Verified, verify};

use crate::chain::Head;
use crate::error::AuditError;
use std::path::PathBuf;

/// The end of the chain in these files, which are in their order.
pub fn head(files: &[PathBuf]) -> Result<Option<Head>, AuditError> {
    Ok(verify(files, None)?.head)
}
