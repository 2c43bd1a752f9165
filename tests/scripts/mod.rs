//! The scripts of the repository.

mod test_steps;
