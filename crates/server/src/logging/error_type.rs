//! Error type: why a request failed, for the meter and for the audit log.

/// Why a request failed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum ErrorType {
    /// It was answered with this JSON-RPC error.
    Code(i32),
    /// The tool reported a failure.
    Tool,
    Cancelled,
}
