//! x
use super::TestSession; use super::error::TestError; use super::review::Review; use std::process::ExitCode;
pub(super) fn run(_s: &TestSession, _j: bool, _q: bool, _r: Option<Review>) -> Result<ExitCode, TestError> { Ok(ExitCode::SUCCESS) }
