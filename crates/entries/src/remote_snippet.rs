//! Remote snippet: what the user puts into a client's file for a server at an address.

use crate::client::{Client, Format};
use crate::remote::{Remote, Token};
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

    /// The value of its entry for a server at an address; `None` if it accepts no addresses.
    pub fn remote_value(&self, remote: &Remote) -> Option<Value> {
        Some(self.remote?.value(remote, self.reference))
    }

    /// The text for its file for a server at an address; `None` if it accepts no addresses.
    pub fn remote_snippet(&self, remote: &Remote) -> Option<String> {
        let Some(file) = self.files.first() else {
            return Some(snippet::pasted_value(&remote.name, &self.remote_value(remote)?));
        };
        let text =
            |remote: &Remote| Some(snippet::of_value(file, "", &remote.name, &self.remote_value(remote)?));
        match (&remote.token, file.format) {
            (Some(token), Format::Json(dialect)) if self.asks_for_token() => {
                let asked = Token {
                    value: inputs::reference(&remote.name, &token.variable),
                    variable: token.variable.clone(),
                };
                let inputs = [(asked.variable.clone(), asked.value.clone())];
                let text = text(&Remote { token: Some(asked), ..remote.clone() })?;
                inputs::with_inputs(text, dialect, &remote.name, &inputs).ok()
            }
            _ => text(remote),
        }
    }
}
