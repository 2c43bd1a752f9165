//! Session: runs a program over its inputs, and writes the results as they come.

use std::cell::RefCell;
use std::io::{self, Read, Write};
use std::panic::{self, AssertUnwindSafe};

use jaq_core::{Exn, Filter, Vars};

use crate::engine::{Context, FilterTypes, Outside, TooManyCalls, World};
use crate::exit;
use crate::inputs::{BadInput, Inputs};
use crate::options::{Options, Output};
use crate::program;
use crate::value::{Object, Value};
use crate::write::Layout;

/// How much text is buffered before it is written.
const BUFFER: usize = 64 * 1024;

/// Runs the program that the options name on a stack of this size. Returns the exit code.
pub(crate) fn run(
    options: Options,
    stack: usize,
    stdin: impl Read,
    stdout: &mut dyn Write,
    stderr: &mut dyn Write,
) -> io::Result<u8> {
    let code = match source(&options) {
        Ok(code) => code,
        Err(error) => {
            let name = options.program.as_deref().unwrap_or_default().to_string_lossy();
            writeln!(stderr, "jq: error: Could not open {name}: {}", crate::os_message(&error))?;
            return Ok(exit::USAGE);
        }
    };
    let (names, values) = variables(&options);
    let filter = match program::compile(&code, &names) {
        Ok(filter) => filter,
        Err(error) => {
            stderr.write_all(error.0.as_bytes())?;
            return Ok(exit::COMPILE);
        }
    };
    let surroundings = Surroundings {
        inputs: RefCell::new(Inputs::new(options.shape, options.files, stdin)),
        messages: RefCell::new(stderr),
    };
    let session = Session {
        filter: &filter,
        variables: Vars::new(values),
        surroundings: &surroundings,
        null_input: options.null_input,
        stack,
    };
    let mut results = Results {
        layout: options.layout,
        output: options.output,
        unbuffered: options.unbuffered,
        text: String::new(),
        last: None,
        stdout,
    };
    let ended = session.run(&mut results)?;
    results.flush()?;
    Ok(match ended {
        Ended::Halted(code) => code,
        Ended::Failed => exit::RUNTIME,
        Ended::Whole if surroundings.inputs.borrow().unreadable > 0 => exit::USAGE,
        Ended::Whole if !options.exit_status => exit::SUCCESS,
        Ended::Whole => match results.last {
            Some(true) => exit::SUCCESS,
            Some(false) => exit::FALSE,
            None => exit::NOTHING,
        },
    })
}

#[expect(clippy::disallowed_methods, reason = "jq reads what its caller names, named pipes included")]
fn source(options: &Options) -> io::Result<String> {
    let Some(program) = &options.program else { return Ok(".".into()) };
    if !options.from_file {
        return Ok(program.to_string_lossy().into_owned());
    }
    Ok(String::from_utf8_lossy(&std::fs::read(program)?).into_owned())
}

/// The names and values of the variables that a program starts with.
fn variables(options: &Options) -> (Vec<String>, Vec<Value>) {
    let text = |text: std::ffi::OsString| text.to_string_lossy().into_owned();
    let environment =
        std::env::vars_os().map(|(name, value)| (text(name).into(), Value::string(text(value))));
    let mut arguments = Object::default();
    arguments.insert("positional".into(), Value::array(options.positional.clone()));
    arguments.insert("named".into(), Value::Object(options.named.clone().into()));

    let mut names = vec!["$ENV".to_owned(), "$ARGS".to_owned()];
    let mut values = vec![Value::object(environment), Value::Object(arguments.into())];
    for (name, value) in &options.named {
        names.push(format!("${name}"));
        values.push(value.clone());
    }
    (names, values)
}

enum Ended {
    Whole,
    /// The last input failed, or could not be read.
    Failed,
    Halted(u8),
}

/// The world outside the program.
struct Surroundings<'i, 'm> {
    inputs: RefCell<Inputs<'i>>,
    messages: RefCell<&'m mut dyn Write>,
}

impl Outside for Surroundings<'_, '_> {
    fn next_input(&self) -> Result<Option<Value>, BadInput> {
        self.inputs.borrow_mut().next(&mut *self.messages.borrow_mut())
    }

    fn filename(&self) -> Value {
        self.inputs.borrow().filename()
    }

    fn line(&self) -> usize {
        self.inputs.borrow().line()
    }

    // Messages are a courtesy: when they cannot be written, the program goes on.
    fn tell(&self, message: &str) {
        let _ = self.messages.borrow_mut().write_all(message.as_bytes());
    }
}

struct Session<'a, 'i, 'm> {
    filter: &'a Filter<FilterTypes>,
    variables: Vars<Value>,
    surroundings: &'a Surroundings<'i, 'm>,
    null_input: bool,
    stack: usize,
}

impl Session<'_, '_, '_> {
    fn run(&self, results: &mut Results) -> io::Result<Ended> {
        let world = World::new(&self.filter.lut, self.surroundings, self.stack);
        if self.null_input {
            return self.process(&world, Value::Null, results);
        }
        let mut ended = Ended::Whole;
        loop {
            match self.surroundings.next_input() {
                Ok(Some(value)) => ended = self.process(&world, value, results)?,
                Ok(None) => return Ok(ended),
                Err(bad) => {
                    results.flush()?;
                    self.surroundings.tell(&format!("jq: parse error: {}\n", bad.0));
                    return Ok(Ended::Failed);
                }
            }
            if matches!(ended, Ended::Halted(_)) {
                return Ok(ended);
            }
        }
    }

    /// Runs the program on one value, unless it recurses until no stack is left.
    fn process<'w>(&self, world: &'w World<'w>, value: Value, results: &mut Results) -> io::Result<Ended> {
        let run = AssertUnwindSafe(|| self.run_on(world, value, results));
        match panic::catch_unwind(run) {
            Ok(ended) => ended,
            Err(cause) if cause.is::<TooManyCalls>() => {
                let problem = "the filter calls itself too often, more than its stack can hold";
                self.complain(problem, results)
            }
            Err(cause) => panic::resume_unwind(cause),
        }
    }

    fn run_on<'w>(&self, world: &'w World<'w>, value: Value, results: &mut Results) -> io::Result<Ended> {
        let context = Context::new(world, self.variables.clone());
        for result in self.filter.id.run((context, value)) {
            match result {
                Ok(value) => {
                    if !results.add(&value)? {
                        let problem = "Cannot dump a string containing NUL with --raw-output0 option";
                        return self.complain(problem, results);
                    }
                }
                Err(exception) => return self.explain(exception, results),
            }
        }
        Ok(Ended::Whole)
    }

    fn explain(&self, exception: Exn<'_, Value>, results: &mut Results) -> io::Result<Ended> {
        let error = match exception.get_err() {
            Ok(error) => error,
            // An exit code has eight bits, as for any program.
            Err(exception) => {
                let code = exception.get_halt().unwrap_or(i32::from(exit::RUNTIME));
                return Ok(Ended::Halted(code.to_le_bytes()[0]));
            }
        };
        match error.into_val() {
            Value::String(message) => self.complain(&message, results),
            other => {
                results.flush()?;
                let (place, json) = (self.place(), other.to_json());
                self.surroundings.tell(&format!("jq: error (at {place}) (not a string): {json}\n"));
                Ok(Ended::Failed)
            }
        }
    }

    /// Reports a problem after all the results so far.
    fn complain(&self, problem: &str, results: &mut Results) -> io::Result<Ended> {
        results.flush()?;
        self.surroundings.tell(&format!("jq: error (at {}): {problem}\n", self.place()));
        Ok(Ended::Failed)
    }

    fn place(&self) -> String {
        self.surroundings.inputs.borrow().place()
    }
}

struct Results<'a> {
    layout: Layout,
    output: Output,
    unbuffered: bool,
    text: String,
    /// Whether the last result counted as true.
    last: Option<bool>,
    stdout: &'a mut dyn Write,
}

impl Results<'_> {
    /// Writes a result. Returns whether it can be written.
    fn add(&mut self, value: &Value) -> io::Result<bool> {
        self.last = Some(value.is_true());
        if self.output.seq {
            self.text.push('\u{1e}');
        }
        match value {
            Value::String(text) if self.output.nul && text.contains('\0') => return Ok(false),
            Value::String(text) if self.output.raw && (!self.layout.ascii || text.is_ascii()) => {
                self.text.push_str(text);
            }
            other => self.layout.write(other, &mut self.text),
        }
        if self.output.nul {
            self.text.push('\0');
        } else if !self.output.joined {
            self.text.push('\n');
        }
        if self.unbuffered || self.text.len() >= BUFFER {
            self.flush()?;
        }
        Ok(true)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.stdout.write_all(self.text.as_bytes())?;
        self.text.clear();
        self.stdout.flush()
    }
}
