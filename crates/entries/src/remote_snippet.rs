//! Remote snippet: what the user puts into a client's file for a server at an address.

use crate::client::{Client, Format};
use crate::remote::Remote;
use crate::snippet;
use crate::variables::inputs;
use crate::variables::supply::Supply;
use serde_json::Value;

impl Client {
    /// Whether its entries hold the token itself, and not the name of the variable that holds it.
    pub fn wants_token_itself(&self) -> bool {
        self.reference.is_none() && self.remote.is_some()
    }

    /// Whether it can ask its user for the token, so that what the user pastes need not hold it.
    pub fn asks_for_token(&self) -> bool {
        self.remote.is_some() && self.supply() == Some(Supply::Prompt)
    }

    /// The value of its entry for a server at an address; `None` if it accepts no addresses. In the place of a token that the
    /// client asks for is a reference to its input.
    pub fn remote_value(&self, remote: &Remote) -> Option<Value> {
        let mut remote = remote.clone();
        if let Some(token) = remote.token.as_mut().filter(|_| self.asks_for_token()) {
            token.value = inputs::reference(&remote.name, &token.variable);
        }
        Some(self.remote?.value(&remote, self.reference))
    }

    /// The text for its file for a server at an address; `None` if it accepts no addresses.
    pub fn remote_snippet(&self, remote: &Remote) -> Option<String> {
        let value = self.remote_value(remote)?;
        let Some(file) = self.files.first() else {
            return Some(snippet::pasted_value(&remote.name, &value));
        };
        let text = snippet::of_value(file, "", &remote.name, &value);
        match (&remote.token, file.format) {
            (Some(token), Format::Json(dialect)) if self.asks_for_token() => {
                inputs::with_token(text, dialect, &remote.name, &token.variable).ok()
            }
            _ => Some(text),
        }
    }
}
