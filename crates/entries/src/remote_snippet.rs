//! What a person puts into a client's file for a server at an address.

use crate::client::Client;
use crate::remote::{Expansion, Remote, RemoteShape};
use crate::snippet;

impl Client {
    /// Whether the token stands in its entries, and not the name of the variable that holds it.
    pub fn wants_token_itself(&self) -> bool {
        self.expansion == Expansion::None && self.remote.is_some_and(|shape| shape != RemoteShape::Codex)
    }

    /// What belongs into its file for a server at an address; nothing where it takes no addresses.
    pub fn remote_snippet(&self, remote: &Remote) -> Option<String> {
        let value = self.remote?.value(remote, self.expansion);
        Some(match self.files.first() {
            Some(file) => snippet::of_value(file, "", &remote.name, &value),
            None => snippet::pasted_value(&remote.name, &value),
        })
    }
}
