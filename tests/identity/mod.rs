//! Callers that others vouch for: an OAuth issuer, a trusted proxy, an authority of client certificates.

mod certificates;
mod doctor;
mod issuer;
mod keys;
mod metadata;
mod names;
mod narrowed;
mod opaque_tokens;
mod proxies;
mod roles;
mod roles_file;
mod scopes;
mod start;
mod tokens;
mod ways;
