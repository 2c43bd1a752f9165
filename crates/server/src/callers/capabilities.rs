//! Client capabilities: the requests that a client accepts from a running script.

use mcp_bash_wire::{Object, Raw, Scanner, keys};

/// The capabilities of a request's client. They are trusted at any revision: some clients declare and show forms at revisions
/// that lack them.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
#[expect(clippy::struct_excessive_bools, reason = "each is a capability of the specification")]
pub(crate) struct ClientCapabilities {
    /// Elicitation with forms.
    pub(crate) form: bool,
    /// Elicitation with URLs.
    pub(crate) url: bool,
    /// Sampling: requests to the client's model.
    pub(crate) sampling: bool,
    /// Roots: folders of the client.
    pub(crate) roots: bool,
    /// Tasks, as an extension.
    pub(crate) tasks: bool,
}

impl ClientCapabilities {
    /// Reads the `capabilities` of a client.
    pub(crate) fn read(raw: Raw<'_>) -> Self {
        let Ok(members) =
            Object::read(raw, "capabilities", &["elicitation", "sampling", "roots", "extensions"])
        else {
            return Self::default();
        };
        let is_object = |name| members.get(name).is_some_and(Raw::is_object);
        let modes = members.get("elicitation").filter(|raw| raw.is_object());
        let modes = modes.map(|raw| {
            let mode = |name| has(raw, name);
            // A client without modes supports forms, which existed before modes did.
            (mode("form") || !mode("url"), mode("url"))
        });
        let (form, url) = modes.unwrap_or_default();
        let extensions = members.get("extensions").filter(|raw| raw.is_object());
        let tasks = extensions.is_some_and(|raw| has(raw, keys::TASKS_EXTENSION));
        Self { form, url, sampling: is_object("sampling"), roots: is_object("roots"), tasks }
    }

    /// Whether a script may ask the client anything.
    pub(crate) fn can_be_asked(self) -> bool {
        self.form || self.url || self.sampling
    }

    pub(crate) fn can_elicit(self) -> bool {
        self.form || self.url
    }
}

fn has(object: Raw<'_>, name: &str) -> bool {
    let mut found = false;
    let _ = Scanner::again(object).members(|key, value| {
        found |= key.string().is_some_and(|key| key == name) && !value.is_null();
    });
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> ClientCapabilities {
        ClientCapabilities::read(Scanner::new(text, mcp_bash_wire::Limits::NONE).whole_value().unwrap())
    }

    #[test]
    fn a_client_that_names_no_mode_means_forms() {
        let modes = |text: &str| {
            let capabilities = read(text);
            (capabilities.form, capabilities.url)
        };
        assert_eq!(modes(r#"{"elicitation":{}}"#), (true, false));
        assert_eq!(modes(r#"{"elicitation":{"url":{}}}"#), (false, true));
        assert_eq!(modes(r#"{"elicitation":{"form":{},"url":{}}}"#), (true, true));
        assert_eq!(modes(r#"{"elicitation":true}"#), (false, false));
        assert_eq!(modes(r#"{"sampling":{}}"#), (false, false));
        assert!(read(r#"{"sampling":{},"roots":{"listChanged":true}}"#).roots);
    }
}
