//! Protocol revisions: the one table of what each of them has. No other file asks which revision is newer.

use crate::code;

/// A revision of the MCP specification, oldest first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Revision {
    V2024_11_05,
    V2025_03_26,
    V2025_06_18,
    V2025_11_25,
    V2026_07_28,
}

/// How a client of a revision says who it is and what it can do.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Era {
    /// Once, with `initialize`, for the whole session.
    Handshake,
    /// On every request, in its `_meta`.
    Stateless,
}

impl Revision {
    pub const ALL: [Self; 5] =
        [Self::V2024_11_05, Self::V2025_03_26, Self::V2025_06_18, Self::V2025_11_25, Self::V2026_07_28];

    /// The answer to `initialize` when the client asks for a revision we do not know.
    pub const NEWEST_HANDSHAKE: Self = Self::V2025_11_25;

    pub fn as_str(self) -> &'static str {
        match self {
            Self::V2024_11_05 => "2024-11-05",
            Self::V2025_03_26 => "2025-03-26",
            Self::V2025_06_18 => "2025-06-18",
            Self::V2025_11_25 => "2025-11-25",
            Self::V2026_07_28 => "2026-07-28",
        }
    }

    pub fn parse(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|revision| revision.as_str() == name)
    }

    pub fn era(self) -> Era {
        if self >= Self::V2026_07_28 { Era::Stateless } else { Era::Handshake }
    }

    pub fn stateless() -> impl Iterator<Item = Self> {
        Self::ALL.into_iter().filter(|revision| revision.era() == Era::Stateless)
    }

    /// The revision a session gets when its client asks for `requested`.
    pub fn negotiate(requested: &str) -> Self {
        Self::parse(requested)
            .filter(|revision| revision.era() == Era::Handshake)
            .unwrap_or(Self::NEWEST_HANDSHAKE)
    }

    /// Several messages in one JSON array.
    pub fn has_batches(self) -> bool {
        self == Self::V2025_03_26
    }

    /// `annotations` on tools.
    pub fn has_tool_annotations(self) -> bool {
        self >= Self::V2025_03_26
    }

    /// `completions` among the capabilities. The method existed before.
    pub fn has_completions(self) -> bool {
        self >= Self::V2025_03_26
    }

    /// `message` in progress notifications.
    pub fn has_progress_message(self) -> bool {
        self >= Self::V2025_03_26
    }

    /// Audio as content.
    pub fn has_audio(self) -> bool {
        self >= Self::V2025_03_26
    }

    /// Links to resources as content.
    pub fn has_resource_links(self) -> bool {
        self >= Self::V2025_06_18
    }

    /// `title` on everything that has a `name`.
    pub fn has_titles(self) -> bool {
        self >= Self::V2025_06_18
    }

    /// `outputSchema` on tools and `structuredContent` in their results.
    pub fn has_structured_content(self) -> bool {
        self >= Self::V2025_06_18
    }

    /// `_meta` on tools, resources, prompts and content.
    pub fn has_item_meta(self) -> bool {
        self >= Self::V2025_06_18
    }

    /// Pages for the user to visit, and a `mode` that tells them from forms.
    pub fn has_url_elicitation(self) -> bool {
        self >= Self::V2025_11_25
    }

    /// An id that identifies the page of a URL elicitation.
    pub fn has_elicitation_ids(self) -> bool {
        self == Self::V2025_11_25
    }

    /// Events without a message, which give a client an id to come back with. Clients of other revisions cannot read them.
    pub fn has_empty_events(self) -> bool {
        self == Self::V2025_11_25
    }

    /// `icons` on everything that has a `name`, and `description` and `websiteUrl` on `serverInfo`.
    pub fn has_icons(self) -> bool {
        self >= Self::V2025_11_25
    }

    /// The error code for a resource that does not exist.
    pub fn missing_resource_code(self) -> i32 {
        if self >= Self::V2026_07_28 { code::INVALID_PARAMS } else { code::RESOURCE_NOT_FOUND }
    }

    /// Tasks that a client asks for with a parameter of its call, and whose results it fetches with a request of their own.
    pub fn has_requested_tasks(self) -> bool {
        self == Self::V2025_11_25
    }

    /// Tasks as an extension: the server decides which call becomes one.
    pub fn has_task_extension(self) -> bool {
        self >= Self::V2026_07_28
    }

    /// `resultType` and the server's identity in every result, `ttlMs` and `cacheScope` in those that may be cached.
    pub fn has_result_type(self) -> bool {
        self >= Self::V2026_07_28
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn negotiation_answers_what_was_asked_or_the_newest_handshake() {
        for revision in Revision::ALL.into_iter().filter(|revision| revision.era() == Era::Handshake) {
            assert_eq!(Revision::negotiate(revision.as_str()), revision);
        }
        for unknown in ["2026-07-28", "1999-01-01", "", "2025-11-25 "] {
            assert_eq!(Revision::negotiate(unknown), Revision::V2025_11_25);
        }
    }
}
