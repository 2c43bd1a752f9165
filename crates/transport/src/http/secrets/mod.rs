//! Secrets: files with certificates, keys and tokens.

pub(in crate::http) mod certificate;
pub(in crate::http) mod guarded_file;
pub(in crate::http) mod tls;
