//! Client capabilities that a script needs.

use serde::Deserialize;

/// Something that a client can do for a script.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
pub enum ClientCapability {
    /// It shows forms to its user.
    #[serde(rename = "elicitation")]
    Form,
    /// It sends its user to a page.
    #[serde(rename = "elicitation.url")]
    Url,
    /// It asks its model.
    #[serde(rename = "sampling")]
    Sampling,
    /// It lists the folders it works in.
    #[serde(rename = "roots")]
    Roots,
}

impl ClientCapability {
    /// The name in metadata.
    pub fn name(self) -> &'static str {
        match self {
            Self::Form => "elicitation",
            Self::Url => "elicitation.url",
            Self::Sampling => "sampling",
            Self::Roots => "roots",
        }
    }

    /// All of them as the text of a JSON array, if there are any.
    pub(crate) fn written(all: &[Self]) -> Option<String> {
        let names = all.iter().map(|one| format!("\"{}\"", one.name())).collect::<Vec<_>>().join(",");
        (!names.is_empty()).then(|| format!("[{names}]"))
    }
}
