//! Supplied variables: the entry of a client has their names, and not their values.

use crate::client::Client;
use crate::entry::Entry;
use crate::replaces::Field;
use crate::variables::inputs;
use crate::variables::supply::Supply;

impl Client {
    /// How it gives a server a variable; `None` if the value would have to be in its file.
    pub fn supply(&self) -> Option<Supply> {
        let inherited = self.inherits_environment.then_some(Supply::Inherited);
        let is_replaced = self.replaces.fields.contains(&Field::Env);
        let reference = self.reference.filter(|reference| is_replaced && reference.is_text());
        self.own_supply.or(inherited).or(reference.map(Supply::Reference))
    }

    /// Adds a variable without its value to an entry. False if this client has no way to do that.
    pub fn supply_variable(&self, entry: &mut Entry, name: &str) -> bool {
        let value = match self.supply() {
            None => return false,
            Some(Supply::Inherited) => return true,
            Some(Supply::Passed) => {
                entry.passed.push(name.to_owned());
                return true;
            }
            Some(Supply::Prompt) => inputs::reference(&entry.name, name),
            Some(Supply::Reference(reference)) => reference.of(name),
        };
        entry.env.push((name.to_owned(), value));
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::client::client;

    #[test]
    fn each_client_gets_the_name_and_none_the_value() {
        for (name, env, passed) in [
            ("vscode", Some("${input:box-API_KEY}"), false),
            ("gemini", Some("$API_KEY"), false),
            ("roo-code", Some("${env:API_KEY}"), false),
            ("continue", Some("${{ secrets.API_KEY }}"), false),
            ("librechat", Some("${API_KEY}"), false),
            ("codex", None, true),
            ("claude-code", None, false),
            ("zed", None, false),
        ] {
            let mut entry = Entry { name: "box".into(), ..Entry::default() };
            assert!(client(name).unwrap().supply_variable(&mut entry, "API_KEY"), "{name}");
            assert_eq!(entry.env.first().map(|(_, value)| &**value), env, "{name}");
            assert_eq!(!entry.passed.is_empty(), passed, "{name}");
        }
        for name in ["claude-desktop", "cursor", "cline", "vibe", "windsurf"] {
            let mut entry = Entry::default();
            assert!(!client(name).unwrap().supply_variable(&mut entry, "API_KEY"), "{name}");
            assert_eq!(entry, Entry::default());
        }
    }
}
