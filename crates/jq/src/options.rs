//! Command line of jq.

use std::ffi::OsString;

use crate::inputs::Shape;
use crate::read;
use crate::value::{Object, Value};
use crate::write::Layout;

/// What the command line asks for.
#[derive(Debug)]
#[expect(clippy::struct_excessive_bools, reason = "each is a flag of its own")]
pub(crate) struct Options {
    pub(crate) program: Option<OsString>,
    /// The program is in a file, whose name is given instead.
    pub(crate) from_file: bool,
    pub(crate) files: Vec<OsString>,
    pub(crate) shape: Shape,
    pub(crate) null_input: bool,
    pub(crate) layout: Layout,
    pub(crate) output: Output,
    pub(crate) exit_status: bool,
    pub(crate) unbuffered: bool,
    pub(crate) named: Object,
    pub(crate) positional: Vec<Value>,
}

/// How results are separated, and whether strings among them are written raw.
#[derive(Clone, Copy, Debug, Default)]
#[expect(clippy::struct_excessive_bools, reason = "each is a flag of its own")]
pub(crate) struct Output {
    pub(crate) raw: bool,
    pub(crate) joined: bool,
    pub(crate) nul: bool,
    pub(crate) seq: bool,
}

/// The outcome of a command line that runs no program.
#[derive(Debug)]
pub(crate) enum Stop {
    Help,
    Version,
    Usage(String),
}

/// The kind of positional arguments after the program.
#[derive(Clone, Copy)]
enum Rest {
    Files,
    Strings,
    Json,
}

fn usage<T>(message: impl Into<String>) -> Result<T, Stop> {
    Err(Stop::Usage(message.into()))
}

impl Options {
    pub(crate) fn read(mut arguments: impl Iterator<Item = OsString>) -> Result<Self, Stop> {
        let mut options = Self {
            program: None,
            from_file: false,
            files: Vec::new(),
            shape: Shape::default(),
            null_input: false,
            layout: Layout { indent: Some("  ".into()), sort_keys: false, ascii: false },
            output: Output::default(),
            exit_status: false,
            unbuffered: false,
            named: Object::default(),
            positional: Vec::new(),
        };
        let mut rest = Rest::Files;
        let mut only_positional = false;
        while let Some(argument) = arguments.next() {
            // A program may begin with a minus, too.
            let is_flag =
                |text: &&str| text[1..].starts_with(|next: char| next == '-' || next.is_ascii_alphabetic());
            let text =
                argument.to_str().filter(|text| !only_positional && text.starts_with('-') && is_flag(text));
            match text.and_then(|text| text.strip_prefix('-')) {
                None => options.add_positional(argument, rest)?,
                Some("-") => only_positional = true,
                Some("-args") => rest = Rest::Strings,
                Some("-jsonargs") => rest = Rest::Json,
                Some(flag) => match flag.strip_prefix('-') {
                    Some(long) => options.long(long, &mut arguments)?,
                    None => flag.chars().try_for_each(|letter| options.short(letter, &mut arguments))?,
                },
            }
        }
        Ok(options)
    }

    fn add_positional(&mut self, argument: OsString, rest: Rest) -> Result<(), Stop> {
        if self.program.is_none() {
            self.program = Some(argument);
            return Ok(());
        }
        match rest {
            Rest::Files => self.files.push(argument),
            Rest::Strings => self.positional.push(Value::string(argument.to_string_lossy())),
            Rest::Json => match read::read(argument.to_string_lossy().as_bytes()) {
                Ok(value) => self.positional.push(value),
                Err(_) => return usage("Invalid JSON text passed to --jsonargs"),
            },
        }
        Ok(())
    }

    fn short(&mut self, letter: char, arguments: &mut impl Iterator<Item = OsString>) -> Result<(), Stop> {
        match letter {
            's' => self.shape.slurp = true,
            'R' => self.shape.raw = true,
            'n' => self.null_input = true,
            'r' => self.output.raw = true,
            'j' => {
                self.output.raw = true;
                self.output.joined = true;
            }
            'c' => self.layout.indent = None,
            'a' => self.layout.ascii = true,
            'S' => self.layout.sort_keys = true,
            'e' => self.exit_status = true,
            'f' => self.from_file = true,
            // There are no colours here, and no modules to look for.
            'C' | 'M' => {}
            'L' => drop(arguments.next()),
            'h' => return Err(Stop::Help),
            'V' => return Err(Stop::Version),
            _ => return usage(format!("Unknown option -{letter}")),
        }
        Ok(())
    }

    fn long(&mut self, name: &str, arguments: &mut impl Iterator<Item = OsString>) -> Result<(), Stop> {
        let letter = match name {
            "slurp" => 's',
            "raw-input" => 'R',
            "null-input" => 'n',
            "raw-output" => 'r',
            "join-output" => 'j',
            "compact-output" => 'c',
            "ascii-output" => 'a',
            "sort-keys" => 'S',
            "exit-status" => 'e',
            "from-file" => 'f',
            "color-output" => 'C',
            "monochrome-output" => 'M',
            "library-path" => 'L',
            "help" => 'h',
            "version" => 'V',
            _ => return self.long_only(name, arguments),
        };
        self.short(letter, arguments)
    }

    fn long_only(&mut self, name: &str, arguments: &mut impl Iterator<Item = OsString>) -> Result<(), Stop> {
        match name {
            "raw-output0" => {
                self.output.raw = true;
                self.output.nul = true;
            }
            "tab" => self.layout.indent = Some("\t".into()),
            "indent" => self.layout.indent = indent(arguments.next())?,
            "unbuffered" => self.unbuffered = true,
            "stream" => self.shape.stream = true,
            // Record separators count as white space in all input.
            "seq" => self.output.seq = true,
            "arg" | "argjson" | "slurpfile" | "rawfile" => {
                let (Some(key), Some(value)) = (arguments.next(), arguments.next()) else {
                    let example = if name.ends_with("file") { "filename" } else { "value" };
                    return usage(format!("--{name} takes two parameters (e.g. --{name} varname {example})"));
                };
                let key = key.to_string_lossy().into_owned();
                let value = named_value(name, &key, &value)?;
                // The first of several arguments with one name counts.
                self.named.entry(key.into()).or_insert(value);
            }
            _ => return usage(format!("Unknown option --{name}")),
        }
        Ok(())
    }
}

fn indent(argument: Option<OsString>) -> Result<Option<String>, Stop> {
    let Some(argument) = argument else { return usage("--indent takes one parameter") };
    match argument.to_str().and_then(|text| text.parse::<usize>().ok()) {
        Some(0) => Ok(None),
        Some(width @ 1..=7) => Ok(Some(" ".repeat(width))),
        Some(_) => usage("Cannot indent more than 7 characters"),
        None => usage("--indent takes a number"),
    }
}

#[expect(clippy::disallowed_methods, reason = "jq reads what its caller names, named pipes included")]
fn named_value(option: &str, key: &str, value: &OsString) -> Result<Value, Stop> {
    if option == "arg" {
        return Ok(Value::string(value.to_string_lossy()));
    }
    if option == "argjson" {
        let text = value.to_string_lossy();
        return read::read(text.as_bytes())
            .or_else(|_| usage(format!("Invalid JSON text passed to --argjson: {text}")));
    }
    let name = value.to_string_lossy();
    let bytes = std::fs::read(value).or_else(|error| {
        usage(format!(
            "Bad JSON in --{option} {key} {name}: Could not open {name}: {}",
            crate::os_message(&error)
        ))
    })?;
    if option == "rawfile" {
        return Ok(Value::string(String::from_utf8_lossy(&bytes)));
    }
    read::read_all(&bytes)
        .map(Value::array)
        .or_else(|flaw| usage(format!("Bad JSON in --{option} {key} {name}: {}", flaw.what)))
}
