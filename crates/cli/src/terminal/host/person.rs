//! Person at the terminal: what is written there, and the lines that they type.

use mcp_bash_terminal::harmless;
use std::fs::{File, OpenOptions};
use std::io::{self, BufRead, BufReader, IsTerminal, Write};
use std::os::fd::AsFd;

/// Nobody types longer lines, in bytes.
const LONGEST_LINE: u64 = 1024 * 1024;

pub(crate) struct Person {
    input: BufReader<Box<dyn io::Read + Send>>,
    output: Box<dyn Write + Send>,
}

impl Person {
    /// A user is present if standard input or standard error is a terminal. Questions go to the controlling terminal of
    /// this process, whatever else standard input is used for.
    #[expect(clippy::disallowed_methods, reason = "the terminal of this process")]
    pub(crate) fn find() -> Option<Self> {
        let (stdin, stderr) = (io::stdin(), io::stderr());
        if !stdin.is_terminal() && !stderr.is_terminal() {
            return None;
        }
        let own = OpenOptions::new().read(true).write(true).open("/dev/tty");
        if let Ok(terminal) = own
            && let Ok(output) = terminal.try_clone()
        {
            return Some(Self::new(terminal, output));
        }
        let cloned = |fd: &dyn AsFd| fd.as_fd().try_clone_to_owned().ok().map(File::from);
        let input = stdin.is_terminal().then(|| cloned(&stdin)).flatten()?;
        let output = if stderr.is_terminal() { cloned(&stderr) } else { cloned(&stdin) };
        Some(Self::new(input, output?))
    }

    fn new(input: impl io::Read + Send + 'static, output: impl Write + Send + 'static) -> Self {
        Self { input: BufReader::new(Box::new(input)), output: Box::new(output) }
    }

    /// A user who has typed `lines` already; what they are shown goes to `output`.
    #[cfg(test)]
    pub(crate) fn who_types(lines: &'static str, output: impl Write + Send + 'static) -> Self {
        Self::new(lines.as_bytes(), output)
    }

    /// Shows a text that may be foreign.
    pub(crate) fn show(&mut self, text: &str) {
        // A user who cannot see the question cannot answer it either, which is noticed then.
        let _ = self.output.write_all(harmless(text).as_bytes()).and_then(|()| self.output.flush());
    }

    /// The next line that the user types after the prompt. `None` if they end the input (Ctrl-D).
    pub(crate) fn line(&mut self, prompt: &str) -> Option<String> {
        use io::Read as _;
        self.show(prompt);
        let mut line = String::new();
        let read = self.input.by_ref().take(LONGEST_LINE).read_line(&mut line);
        if matches!(read, Ok(1..)) {
            return Some(line.trim_end_matches(['\n', '\r']).to_owned());
        }
        self.show("\n");
        None
    }
}
