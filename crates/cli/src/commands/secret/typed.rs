//! Typed value: a secret that a person types without seeing it, or that another program writes to standard input.

use crate::base::error::Error;
use crate::base::exit::Exit;
use mcp_bash_secrets::LONGEST;
use mcp_bash_terminal::tell;
use rustix::termios::{LocalModes, OptionalActions, Termios, tcgetattr, tcsetattr};
use std::io::{self, BufRead, Read};

/// The value of the secret, as it was given.
pub(super) fn value(name: &str) -> Result<Vec<u8>, Error> {
    let mut value = Vec::new();
    let Ok(before) = tcgetattr(io::stdin()) else {
        let read = io::stdin().lock().take(LONGEST as u64 + 3).read_to_end(&mut value);
        return read.map(|_| value).map_err(Error::Ask);
    };
    tell(&format!("Type the value of `{name}`, which is not shown, and Enter:"));
    let _hidden = Hidden::new(before)?;
    io::stdin().lock().take(LONGEST as u64 + 3).read_until(b'\n', &mut value).map_err(Error::Ask)?;
    Ok(value)
}

/// While it exists, the terminal does not show what is typed.
struct Hidden(Termios);

impl Hidden {
    fn new(before: Termios) -> Result<Self, Error> {
        let mut silent = before.clone();
        silent.local_modes.remove(LocalModes::ECHO);
        silent.local_modes.insert(LocalModes::ECHONL);
        tcsetattr(io::stdin(), OptionalActions::Flush, &silent).map_err(|error| {
            Error::of_command(Exit::Failed, format!("the terminal would show the value: {error}"))
        })?;
        Ok(Self(before))
    }
}

impl Drop for Hidden {
    fn drop(&mut self) {
        let _ = tcsetattr(io::stdin(), OptionalActions::Drain, &self.0);
    }
}
