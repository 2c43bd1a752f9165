//! Checks of a project that run or look at what its scripts need.

pub(crate) mod environment_checks;
pub(crate) mod function_environments;
pub(crate) mod health_checks;
