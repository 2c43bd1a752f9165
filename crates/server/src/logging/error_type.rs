//! Error type: why a request failed, for the meter and the audit log.

use std::fmt;

/// Why a request failed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum ErrorType {
    /// It was answered with this JSON-RPC error.
    Code(i32),
    /// The tool reported a failure.
    Tool,
    Cancelled,
}

/// The value of the OpenTelemetry attribute `error.type`.
impl fmt::Display for ErrorType {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Code(code) => write!(formatter, "{code}"),
            Self::Tool => formatter.write_str("tool_error"),
            Self::Cancelled => formatter.write_str("cancelled"),
        }
    }
}
