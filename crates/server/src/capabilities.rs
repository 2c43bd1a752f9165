//! What a client can do for a running script.

use mcp_bash_wire::{Object, Raw, Revision, Scanner};

/// What the client of a request offers, as far as its revision has it.
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
}

impl ClientCapabilities {
    /// Reads the `capabilities` of a client.
    pub(crate) fn read(raw: Raw<'_>, revision: Revision) -> Self {
        let Ok(members) = Object::read(raw, "capabilities", &["elicitation", "sampling", "roots"]) else {
            return Self::default();
        };
        let is_object = |name| members.get(name).is_some_and(Raw::is_object);
        let modes = members.get("elicitation").filter(|raw| raw.is_object());
        let modes = modes.map(|raw| {
            let mode = |name| has(raw, name);
            // Whoever names no mode means the one there was before there were several.
            (mode("form") || !mode("url"), mode("url"))
        });
        let (form, url) = modes.unwrap_or_default();
        Self {
            form: form && revision.has_elicitation(),
            url: url && revision.has_url_elicitation(),
            sampling: is_object("sampling"),
            roots: is_object("roots"),
        }
    }

    /// Whether a script may ask anything.
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
    use Revision::{V2025_03_26, V2025_06_18, V2025_11_25, V2026_07_28};

    fn read(text: &str, revision: Revision) -> ClientCapabilities {
        ClientCapabilities::read(
            Scanner::new(text, mcp_bash_wire::Limits::NONE).whole_value().unwrap(),
            revision,
        )
    }

    #[test]
    fn modes_are_those_of_the_revision() {
        let modes = |text: &str, revision| {
            let capabilities = read(text, revision);
            (capabilities.form, capabilities.url)
        };
        assert_eq!(modes(r#"{"elicitation":{}}"#, V2025_11_25), (true, false));
        assert_eq!(modes(r#"{"elicitation":{"url":{}}}"#, V2025_11_25), (false, true));
        assert_eq!(modes(r#"{"elicitation":{"form":{},"url":{}}}"#, V2026_07_28), (true, true));
        assert_eq!(modes(r#"{"elicitation":{"form":{},"url":{}}}"#, V2025_06_18), (true, false));
        assert_eq!(modes(r#"{"elicitation":{}}"#, V2025_03_26), (false, false));
        assert_eq!(modes(r#"{"sampling":{}}"#, V2025_11_25), (false, false));
        assert!(read(r#"{"sampling":{},"roots":{"listChanged":true}}"#, V2025_03_26).roots);
    }
}
