//! Given values: what users set, and where a value comes from.

use std::borrow::Cow;
use std::collections::HashMap;
use std::ffi::OsString;

/// The file with the settings of a project, as users know it.
pub(crate) const PROJECT_FILE: &str = "server.d/server.meta.json";

/// The settings of a project as texts, by their names.
pub(crate) type ProjectValues = HashMap<&'static str, String>;

/// The value of a variable.
pub(crate) type Lookup<'l> = &'l dyn Fn(&str) -> Option<OsString>;

/// The values that users set: by variables, and in the project.
#[derive(Clone, Copy)]
pub(crate) struct Given<'l> {
    pub(crate) variables: Lookup<'l>,
    pub(crate) project: Option<&'l ProjectValues>,
}

/// Where a value comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Source {
    /// Nothing was set, or nothing usable.
    Default,
    /// A variable: usually the setting's own, or another that decides for it.
    Variable(&'static str),
    /// The project's own settings, in `server.d/server.meta.json`.
    Project,
}

/// The effective value of one setting. A secret is not shown.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct InForce {
    pub name: &'static str,
    pub value: Cow<'static, str>,
    pub source: Source,
}
