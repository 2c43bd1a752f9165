//! Which worker: what a worker is started with. Two calls share a worker only if all of it is the same.

use mcp_bash_project::{Paths, Worker};
use mcp_bash_runner::Confinement;
use std::path::Path;

#[derive(Clone, Copy)]
pub(super) struct Which<'a> {
    pub(super) script: &'a Path,
    pub(super) worker: &'a Worker,
    /// The variables of the server's environment that it needs.
    pub(super) variables: &'a [String],
    /// The restrictions it starts under.
    pub(super) confinement: &'a Confinement,
    pub(super) paths: &'a Paths,
}
