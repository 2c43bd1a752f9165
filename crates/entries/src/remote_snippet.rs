//! Remote snippet: what the user puts into a client's file for a server at an address.

use crate::client::Client;
use crate::remote::Remote;
use crate::snippet;
use serde_json::Value;

impl Client {
    /// Whether its entries hold the token itself, and not the name of the variable that holds it.
    pub fn wants_token_itself(&self) -> bool {
        self.reference.is_none() && self.remote.is_some()
    }

    /// The value of its entry for a server at an address; `None` if it accepts no addresses.
    pub fn remote_value(&self, remote: &Remote) -> Option<Value> {
        Some(self.remote?.value(remote, self.reference))
    }

    /// The text for its file for a server at an address; `None` if it accepts no addresses.
    pub fn remote_snippet(&self, remote: &Remote) -> Option<String> {
        let value = self.remote_value(remote)?;
        Some(match self.files.first() {
            Some(file) => snippet::of_value(file, "", &remote.name, &value),
            None => snippet::pasted_value(&remote.name, &value),
        })
    }
}
