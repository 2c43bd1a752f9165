//! Tools that run elsewhere: by a command of the project, by ssh, by Slurm, and as Kubernetes Jobs.

// A Slurm cluster of the test, for which there are no programs elsewhere.
#[cfg(target_os = "linux")]
mod cluster;
mod custom;
mod kubernetes;
mod refusals;
mod secrets;
#[cfg(target_os = "linux")]
mod slurm;
mod ssh;
mod sshd;
