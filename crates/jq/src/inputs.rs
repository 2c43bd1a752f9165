//! Inputs: the values a filter is run on, from standard input or files, in the shape that the options ask for.

use std::collections::VecDeque;
use std::ffi::OsString;
use std::fs::File;
use std::io::{Read, Write};
use std::rc::Rc;

use crate::frames::Frames;
use crate::read;
use crate::stream;
use crate::value::Value;

/// The name of standard input among files.
const STDIN: &str = "-";

/// How input becomes values.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Shape {
    pub(crate) slurp: bool,
    pub(crate) raw: bool,
    pub(crate) stream: bool,
}

pub(crate) struct Inputs<'a> {
    shape: Shape,
    files: VecDeque<OsString>,
    /// Standard input, until it is read.
    stdin: Option<Box<dyn Read + 'a>>,
    current: Option<Frames<'a>>,
    /// The name of the current file.
    name: Option<Rc<str>>,
    events: VecDeque<Value>,
    slurped: bool,
    begun: bool,
    /// Files that could not be read; they are reported at once, and again by the exit code.
    pub(crate) unreadable: usize,
}

/// Input that is not JSON.
#[derive(Debug)]
pub(crate) struct BadInput(pub(crate) String);

impl<'a> Inputs<'a> {
    pub(crate) fn new(shape: Shape, files: Vec<OsString>, stdin: impl Read + 'a) -> Self {
        let files = if files.is_empty() { vec![STDIN.into()] } else { files };
        Self {
            shape,
            files: files.into(),
            stdin: Some(Box::new(stdin)),
            current: None,
            name: None,
            events: VecDeque::new(),
            slurped: false,
            begun: false,
            unreadable: 0,
        }
    }

    pub(crate) fn filename(&self) -> Value {
        self.name.clone().map_or(Value::Null, Value::String)
    }

    pub(crate) fn line(&self) -> usize {
        self.current.as_ref().map_or(0, Frames::line)
    }

    /// The current position, as messages show it.
    pub(crate) fn place(&self) -> String {
        if !self.begun {
            return "<unknown>".into();
        }
        format!("{}:{}", self.name.as_deref().unwrap_or("<stdin>"), self.line())
    }

    /// The next value, or `None` when all are consumed.
    pub(crate) fn next(&mut self, messages: &mut dyn Write) -> Result<Option<Value>, BadInput> {
        self.begun = true;
        if !self.shape.slurp {
            return self.next_unslurped(messages);
        }
        if std::mem::replace(&mut self.slurped, true) {
            return Ok(None);
        }
        if self.shape.raw {
            return self.slurp_text(messages).map(Some);
        }
        let mut values = Vec::new();
        while let Some(value) = self.next_unslurped(messages)? {
            values.push(value);
        }
        Ok(Some(Value::array(values)))
    }

    fn next_unslurped(&mut self, messages: &mut dyn Write) -> Result<Option<Value>, BadInput> {
        loop {
            if let Some(event) = self.events.pop_front() {
                return Ok(Some(event));
            }
            if self.current.is_none() && !self.open_next(messages) {
                return Ok(None);
            }
            match self.next_here()? {
                Some(value) if self.shape.stream => stream::events(&value, &mut self.events),
                Some(value) => return Ok(Some(value)),
                None if self.files.is_empty() => return Ok(None),
                None => self.current = None,
            }
        }
    }

    fn next_here(&mut self) -> Result<Option<Value>, BadInput> {
        let Some(frames) = self.current.as_mut() else { return Ok(None) };
        if self.shape.raw {
            let line = frames.next_line().map_err(unreadable)?;
            return Ok(line.map(|line| Value::string(String::from_utf8_lossy(line))));
        }
        let text = match frames.next_value().map_err(unreadable)? {
            Some(text) => text.to_vec(),
            None => return Ok(None),
        };
        match read::read(&text) {
            Ok(value) => Ok(Some(value)),
            Err(flaw) => {
                let (line, column) = frames.place(&text, flaw.at);
                Err(BadInput(format!("{} at line {line}, column {column}", flaw.what)))
            }
        }
    }

    fn slurp_text(&mut self, messages: &mut dyn Write) -> Result<Value, BadInput> {
        let mut text = Vec::new();
        loop {
            if self.current.is_none() && !self.open_next(messages) {
                break;
            }
            if let Some(frames) = self.current.as_mut() {
                text.extend_from_slice(frames.rest().map_err(unreadable)?);
            }
            if self.files.is_empty() {
                break;
            }
            self.current = None;
        }
        Ok(Value::string(String::from_utf8_lossy(&text)))
    }

    /// Opens the next file that can be opened.
    #[expect(clippy::disallowed_methods, reason = "jq reads what its caller names, named pipes included")]
    fn open_next(&mut self, messages: &mut dyn Write) -> bool {
        while let Some(file) = self.files.pop_front() {
            let stdin = if file == STDIN { self.stdin.take() } else { None };
            let name = if stdin.is_some() { "<stdin>".into() } else { file.to_string_lossy() };
            match stdin.map_or_else(|| Ok(Box::new(File::open(&file)?) as _), Ok::<_, std::io::Error>) {
                Ok(opened) => {
                    self.name = Some((&*name).into());
                    self.current = Some(Frames::new(opened));
                    return true;
                }
                Err(error) => {
                    let reason = crate::os_message(&error);
                    let _ = writeln!(messages, "jq: error: Could not open file {name}: {reason}");
                    self.unreadable += 1;
                }
            }
        }
        false
    }
}

#[expect(clippy::needless_pass_by_value, reason = "it is given to `map_err`")]
fn unreadable(error: std::io::Error) -> BadInput {
    BadInput(format!("Could not read input: {}", crate::os_message(&error)))
}
