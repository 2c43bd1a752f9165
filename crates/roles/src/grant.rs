//! Grant: what one role or one credential allows.

use crate::hours::Hours;
use mcp_bash_settings::AllowedNames;
use std::time::SystemTime;

/// What is allowed. Where there is no list, that is everything of its kind.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Grant {
    pub tools: Option<AllowedNames>,
    /// Names or URIs of resources and of their templates. With a list, no other URI can be read.
    pub resources: Option<AllowedNames>,
    pub prompts: Option<AllowedNames>,
    /// Whether only tools that say they are read-only (`readOnlyHint`) may be called.
    pub read_only: bool,
    /// When it holds; always, if there are none.
    pub hours: Option<Hours>,
}

/// What a grant asks about a tool.
#[derive(Debug, Clone, Copy)]
pub struct ToolFacts<'a> {
    pub name: &'a str,
    /// Whether it is read-only; `None` if that is not known yet.
    pub is_read_only: Option<bool>,
}

/// Why a grant does not allow something, the nearest to yes last.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub enum Hindrance {
    NotListed,
    NotReadOnly,
    /// It would be allowed at these hours.
    Closed(String),
}

impl Hindrance {
    /// What hinders something of which one grant is enough: of all hindrances the one that is nearest to yes, which says the
    /// most. `None` if a grant allows it.
    pub fn of_all<'a>(
        grants: impl IntoIterator<Item = &'a Grant>,
        hinders: impl Fn(&Grant) -> Option<Self>,
    ) -> Option<Self> {
        let mut nearest = Self::NotListed;
        for grant in grants {
            nearest = nearest.max(hinders(grant)?);
        }
        Some(nearest)
    }
}

impl Grant {
    /// Whether the tool may be seen: allowed at some hour.
    pub fn shows(&self, tool: ToolFacts<'_>) -> bool {
        self.hindrance_but_hours(tool).is_none()
    }

    /// Why the tool may not be called at that moment.
    pub fn hindrance(&self, tool: ToolFacts<'_>, now: SystemTime) -> Option<Hindrance> {
        self.hindrance_but_hours(tool).or_else(|| self.closed(now))
    }

    /// Why nothing of it may be used at that moment.
    pub fn closed(&self, now: SystemTime) -> Option<Hindrance> {
        let hours = self.hours.as_ref().filter(|hours| !hours.hold(now))?;
        Some(Hindrance::Closed(hours.to_string()))
    }

    fn hindrance_but_hours(&self, tool: ToolFacts<'_>) -> Option<Hindrance> {
        if !self.tools.as_ref().is_none_or(|tools| tools.hold(tool.name)) {
            return Some(Hindrance::NotListed);
        }
        (self.read_only && tool.is_read_only == Some(false)).then_some(Hindrance::NotReadOnly)
    }

    pub fn allows_prompt(&self, prompt: &str) -> bool {
        self.prompts.as_ref().is_none_or(|prompts| prompts.hold(prompt))
    }

    /// Whether a resource or a template of that name and URI may be read.
    pub fn allows_resource(&self, name: &str, uri: &str) -> bool {
        self.resources.as_ref().is_none_or(|resources| resources.hold(name) || resources.hold(uri))
    }

    /// Whether URIs that are neither a resource nor of a template may be read.
    pub fn allows_other_uris(&self) -> bool {
        self.resources.is_none()
    }
}
