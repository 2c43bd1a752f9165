//! Sandbox: what a process may do, as the kernel enforces it.
