//! Errors of declarations, and why a call that was to run elsewhere did not.

use thiserror::Error;

/// Why a launcher cannot be used. The text after the last `; ` is the fix.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum LauncherError {
    #[error("`launcher` is no JSON: {0}")]
    Json(String),
    #[error(
        "`launcher` must be a name or an object; write `\"ssh\"`, `{{\"use\": \"ssh\", \"host\": \"build1\"}}` or \
         `{{\"run\": [\"srun\", \"{{command}}\"]}}`"
    )]
    Shape,
    #[error("`launcher.{key}` is not known{}; the keys are {known}", question(.meant.as_deref()))]
    Key { key: String, meant: Option<String>, known: String },
    #[error("`launcher.{key}` must be {wanted}")]
    Value { key: &'static str, wanted: &'static str },
    #[error("`launcher.{key}` is missing, which {name} needs")]
    Missing { key: &'static str, name: String },
    #[error(
        "`launcher.{key}` is `{value}`, which a program could take for an option; it must not begin with `-`"
    )]
    Option { key: &'static str, value: String },
    #[error("`launcher.{key}` is `{value}`; blanks and control characters are not possible in it")]
    Blank { key: &'static str, value: String },
    #[error(
        "`launcher.{key}` has the placeholder `{found}`, which is not known; there are `{{id}}`, `{{seconds}}`, \
         `{{command}}` and `{{command_line}}`"
    )]
    Placeholder { key: &'static str, found: String },
    #[error(
        "`launcher.{key}` must have `{{command}}` as a word of its own, or `{{command_line}}`, at most once"
    )]
    Command { key: &'static str },
    #[error("there is no launcher `{name}`{}; there are {known}", question(.meant.as_deref()))]
    Unknown { name: String, meant: Option<String>, known: String },
    #[error("`launchers.{0}` has the name of a launcher that is built in; choose another name")]
    Taken(String),
    #[error("`launchers` has the name `{0}`; use letters, digits, `.`, `_` and `-`")]
    Name(String),
    #[error("`launchers.{name}`: {source}")]
    Named { name: String, source: Box<LauncherError> },
    #[error(
        "`launchers` must be an object of launchers by name; write `{{\"cluster\": {{\"use\": \"slurm\"}}}}`"
    )]
    NotAnObject,
    #[error("`launcher.carry` has `{0}`, which leads out of the project; name paths inside it")]
    Outside(String),
    #[error("`launcher.{key}` has no meaning with `files: \"{files}\"`; leave it out")]
    Pointless { key: &'static str, files: &'static str },
}

fn question(meant: Option<&str>) -> String {
    meant.map(|meant| format!(" (did you mean `{meant}`?)")).unwrap_or_default()
}
