//! Scripts that ask: forms, the client's model, its roots; and calls that wait for the answer.

mod asking;
mod asking_prompts;
mod parked;
mod replay;
mod roots;
mod several_questions;
