//! Client capabilities: what a client can do for a running script.

use mcp_bash_wire::{Object, Raw, Scanner, keys};

/// The capabilities that the client of a request offers. They are believed at any revision: some clients offer and show
/// forms at revisions that do not have them yet.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
#[expect(clippy::struct_excessive_bools, reason = "each is a capability of the specification")]
pub(crate) struct ClientCapabilities {
    /// Forms for the user to fill in.
    pub(crate) form: bool,
    /// Pages for the user to visit.
    pub(crate) url: bool,
    /// A model to ask.
    pub(crate) sampling: bool,
    /// Folders to work in.
    pub(crate) roots: bool,
    /// Tasks, in the form of an extension.
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
            // A client that names no mode means the only one that existed before there were several.
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
