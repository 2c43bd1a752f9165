//! What a person puts into a client's file for a server at an address.

use crate::client::Client;
use crate::remote::Remote;
use crate::snippet;

impl Client {
    /// Whether the token itself is in its entries, and not the name of the variable that holds it.
    pub fn wants_token_itself(&self) -> bool {
        self.reference.is_none() && self.remote.is_some()
    }

    /// What belongs into its file for a server at an address; nothing where it takes no addresses.
    pub fn remote_snippet(&self, remote: &Remote) -> Option<String> {
        let value = self.remote?.value(remote, self.reference);
        Some(match self.files.first() {
            Some(file) => snippet::of_value(file, "", &remote.name, &value),
            None => snippet::pasted_value(&remote.name, &value),
        })
    }
}
