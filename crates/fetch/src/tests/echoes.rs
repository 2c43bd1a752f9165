//! Echo URIs.

use crate::{ErrorKind, echo};

#[test]
fn the_payload_comes_back_decoded() {
    assert_eq!(echo("echo://Hello-from-manual-registry").unwrap(), "Hello-from-manual-registry");
    assert_eq!(echo("echo://two%20words%2C%20100%25").unwrap(), "two words, 100%");
    assert_eq!(echo("echo://").unwrap(), "");
}

#[test]
fn a_broken_escape_is_reported_as_such() {
    let error = echo("echo://100%").unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Invalid);
    assert!(error.to_string().contains("written `%25`"), "{error}");
}
