//! Problems of the configuration: each names the variable and the next step.

use mcp_bash_fetch::UrlError;
use std::io;
use std::path::PathBuf;
use thiserror::Error;

#[derive(Debug, Error)]
pub enum Problem {
    #[error(
        "{variable}: `{protocol}` is not spoken here; set it to `http/json`, and the endpoint to the HTTP port of the collector \
         (usually 4318). Nothing is exported"
    )]
    Protocol { variable: &'static str, protocol: String },
    #[error(
        "{variable}: `http/protobuf` is not spoken here; `http/json` is used, which collectors take at the same endpoint"
    )]
    Protobuf { variable: &'static str },
    #[error("{variable}: `{url}` is no endpoint: {error}; write it as `http://localhost:4318`")]
    Endpoint { variable: &'static str, url: String, error: UrlError },
    #[error("{variable}: header {number} is not `name=value` in printable characters; it is left out")]
    Header { variable: &'static str, number: usize },
    #[error("{variable}: attribute {number} is not `name=value`; it is left out")]
    Attribute { variable: &'static str, number: usize },
    #[error("{variable}: `{value}` is not a whole number from {least} to {most}; {default} is used")]
    Number { variable: &'static str, value: String, least: u64, most: u64, default: u64 },
    #[error("OTEL_TRACES_SAMPLER: there is no sampler `{0}`; `parentbased_always_on` is used")]
    Sampler(String),
    #[error("OTEL_TRACES_SAMPLER_ARG: `{0}` is not a number from 0 to 1; 1 is used")]
    Ratio(String),
    #[error("{variable}: failed to read {}: {error}; nothing is exported", path.display())]
    Certificate { variable: &'static str, path: PathBuf, error: io::Error },
    #[error("{variable}: {} has no certificate (PEM); nothing is exported", path.display())]
    NoCertificate { variable: &'static str, path: PathBuf },
}
