//! Checks of a project that run its scripts, or inspect what they need.

pub(crate) mod environment_checks;
pub(crate) mod function_environments;
pub(crate) mod health_checks;
pub(crate) mod launcher_checks;
pub(crate) mod sandbox_checks;
