//! Anonymous callers: without tokens, callers are distinguished by their address.

use super::{Identified, Identify, Unidentified};
use crate::http::identity::visitor::Visitor;
use http::HeaderMap;
use std::sync::Arc;

#[derive(Debug)]
pub(crate) struct Anonymous;

impl Identify for Anonymous {
    async fn identify(&self, _: &HeaderMap, visitor: &Visitor) -> Result<Identified, Unidentified> {
        Ok(Identified { identity: Arc::clone(&visitor.identity), rate: None })
    }
}
