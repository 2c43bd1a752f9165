//! Timeouts of scripts.

use mcp_bash_project::Timeouts;
use mcp_bash_runner::TimeLimits;
use mcp_bash_settings::Settings;
use std::time::Duration;

/// The timeout of a script: the caller's, otherwise the author's, otherwise the default. A caller may ask for no more than
/// the setting or the author allows.
pub(crate) fn limit(settings: &Settings, author: Option<Duration>, asked: Option<Duration>) -> Duration {
    let usual = author.unwrap_or(settings.default_timeout);
    asked.map_or(usual, |asked| asked.min(settings.max_timeout.max(usual)))
}

/// The same for a script that reads a resource: never less than the default.
pub(crate) fn of_resource(settings: &Settings, asked: Option<Duration>) -> Duration {
    limit(settings, None, asked).max(settings.default_timeout)
}

/// The same for a tool, whose progress may extend its timeout.
pub(crate) fn of_tool(settings: &Settings, timeouts: &Timeouts, asked: Option<Duration>) -> TimeLimits {
    let extends = timeouts.progress_extends.unwrap_or(settings.progress_extends_timeout);
    let most = timeouts.most.unwrap_or(settings.max_timeout);
    TimeLimits {
        limit: limit(settings, timeouts.limit, asked),
        most: extends.then_some(most),
        // The user may think as long as the longest call may take, for all questions of a call together.
        pause: settings.max_timeout,
    }
}
