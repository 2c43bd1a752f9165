//! Callers of a server without tokens: whoever can connect, told apart by where they come from.

use super::{Identify, Identity, Unidentified, peer_name};
use crate::http::listen::Peer;
use http::HeaderMap;
use mcp_bash_server::Rights;

#[derive(Debug)]
pub(crate) struct Anonymous;

impl Identify for Anonymous {
    fn identify(&self, _: &HeaderMap, peer: &Peer) -> Result<Identity, Unidentified> {
        Ok(Identity { name: peer_name(peer).into(), rights: Rights::default(), rate: None })
    }
}
