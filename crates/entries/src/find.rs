//! Installed clients.

use crate::client::Client;
use crate::clients::CLIENTS;
use crate::surroundings::Surroundings;

/// The clients of which there are signs, in the order of the table.
pub fn installed_clients(surroundings: &Surroundings) -> Vec<&'static Client> {
    CLIENTS.iter().filter(|client| client.is_installed(surroundings)).collect()
}
