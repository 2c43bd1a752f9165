//! The sandbox of tools, attacked: a program of attacks (`tests/hostile`) is a tool of a project and is called
//! without a sandbox and in one. Each attack must succeed without and fail within, and what it attacked must be
//! as before. Everyday programs must work within (`everyday`).
//!
//! Everything that is attacked was made by the test: files, sockets, processes.

mod arena;
mod attacks;
mod everyday;
mod files;
mod folders;
mod grants;
mod identity;
mod kernel;
mod limits;
mod network;
mod outside;
mod overruling;
mod processes;
mod servers;
mod workers;
