//! Tools whose calls can be tasks.

use crate::Tool;
use crate::catalog::Catalog;
use crate::declarations::task_support::TaskSupport;

impl Catalog {
    /// Whether calls of a tool can be tasks: what its author says, or else the project.
    pub fn task_support(&self, tool: &Tool) -> TaskSupport {
        tool.options.tasks.support.unwrap_or(self.identity.tasks)
    }

    /// Whether calls of any tool can be tasks.
    pub fn has_tasks(&self) -> bool {
        self.tools.items().iter().any(|tool| self.task_support(tool) != TaskSupport::Forbidden)
    }
}
