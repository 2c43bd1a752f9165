//! Scripts as whoever runs them sees them: real projects in temporary folders, real processes, no protocol.

mod answers;
mod policy;
mod project;
mod server_scripts;
mod tool_calls;
