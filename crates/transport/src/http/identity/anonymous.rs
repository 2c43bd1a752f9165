//! Anonymous callers: without tokens, callers are distinguished by their address.

use super::{Identify, Identity, Unidentified};
use crate::http::identity::visitor::Visitor;
use http::HeaderMap;
use std::sync::Arc;

#[derive(Debug)]
pub(crate) struct Anonymous;

impl Identify for Anonymous {
    async fn identify(&self, _: &HeaderMap, visitor: &Visitor) -> Result<Identity, Unidentified> {
        Ok(Identity { name: Arc::clone(&visitor.name), rights: None, rate: None })
    }
}
