//! How a server starts, exits and reports what it does; its secrets, logs, folders and memory.

mod containers;
mod diagnostics;
mod endings;
mod guard;
mod held_bytes;
mod log_files;
mod log_rotation;
mod private_folder;
mod short_paths;
mod start_warnings;
mod startup;
mod surroundings;
