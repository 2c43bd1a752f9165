//! Help texts as real programs write them.

use super::*;
use crate::argument::ArgumentKind;
use proptest::prelude::*;

fn imported(command: &[&str], text: &str) -> Imported {
    let command: Vec<String> = command.iter().map(|word| (*word).to_owned()).collect();
    read(&command, text, HelpChoices::default()).unwrap()
}

/// The command, the description, and the arguments with their types; `!` marks what is required.
fn shown(imported: &Imported) -> (String, String, Vec<String>) {
    let tool = &imported.tools[0];
    let argument = |argument: &Argument| {
        let sign = if argument.is_required { "!" } else { "" };
        format!("{}{sign}: {}", argument.name, argument.kind.words())
    };
    (tool.command_words(), tool.description.clone(), tool.arguments.iter().map(argument).collect())
}

#[test]
fn gnu() {
    let text = "\
Usage: head [OPTION]... [FILE]...
Print the first 10 lines of each FILE to standard output.
With more than one FILE, precede each with a header giving the file name.

With no FILE, or when FILE is -, read standard input.

Mandatory arguments to long options are mandatory for short options too.
  -c, --bytes=[-]NUM       print the first NUM bytes of each file;
                             with the leading '-', print all but the last
                             NUM bytes of each file
  -n, --lines=[-]NUM       print the first NUM lines instead of the first 10
  -q, --quiet, --silent    never print headers giving file names
      --color[=WHEN]       colorize the output
  -z, --zero-terminated    line delimiter is NUL, not newline
      --help        display this help and exit
      --version     output version information and exit

NUM may have a multiplier suffix:
b 512, kB 1000, K 1024, MB 1000*1000, M 1024*1024.
";
    let (command, description, arguments) = shown(&imported(&["head"], text));
    assert_eq!(
        command,
        "head [--bytes={bytes}] [--lines={lines}] [--quiet] [--color={color}] [--zero-terminated] [{file...}]"
    );
    assert_eq!(
        description,
        "Print the first 10 lines of each FILE to standard output. With more than one FILE, precede each with a header \
         giving the file name."
    );
    assert_eq!(
        arguments,
        [
            "bytes: integer",
            "lines: integer",
            "quiet: true or false",
            "color: text",
            "zero-terminated: true or false",
            "file: list of texts"
        ]
    );
}

#[test]
fn an_option_that_is_listed_twice_is_left_out_in_both_forms() {
    let text = "\
SYNOPSIS
       git push [-n | --dry-run] [-o <string> | --push-option=<string>] [<repository>]

OPTIONS
       -o <option>, --push-option=<option>
           Transmit the given string to the server, which passes it to a hook. When multiple
           --push-option=<option> are given, they are all sent to the other side in the order listed on the command line.

       --push-option=<string>
           A string for the other side.

       --shortstat
           Prints the last line of the output of
           --stat, which counts everything.

       -q, --quiet
           Says nothing.
";
    let imported = imported(&["git", "push"], text);
    assert!(imported.left_out.iter().any(|left| left.what == "--push-option"), "{:?}", imported.left_out);
    let command = imported.tools[0].command_words();
    assert!(command.contains("--quiet") && !command.contains("option"), "{command}");
    assert!(command.contains("--shortstat") && !command.contains("[--stat]"), "{command}");
}

#[test]
fn clap() {
    let text = "\
A simple greeter

Usage: greet [OPTIONS] --name <NAME> <FILE> [WORDS]...

Arguments:
  <FILE>      Where it is written
  [WORDS]...  What else is said

Options:
  -n, --name <NAME>    Whom to greet
      --count <COUNT>  How often [default: 1]
      --mood <MOOD>    How it sounds [default: kind] [possible values: kind, grim]
  -v, --verbose...     Says more
      --style <STYLE>
          How it looks

          Possible values:
          - plain: without colours
          - rich:  with colours
  -h, --help           Print help
  -V, --version        Print version
";
    let (command, description, arguments) = shown(&imported(&["./bin/greet"], text));
    assert_eq!(
        command,
        "./bin/greet [--name {name}] [--count {count}] [--mood {mood}] [--verbose] [--style {style}] {file} [{words...}]"
    );
    assert_eq!(description, "A simple greeter");
    assert_eq!(
        arguments,
        [
            "name!: text",
            "count: integer",
            "mood: kind|grim",
            "verbose: true or false",
            "style: plain|rich",
            "file!: text",
            "words: list of texts"
        ]
    );
    let tool = &imported(&["./bin/greet"], text).tools[0];
    assert_eq!((&*tool.name, &*tool.arguments[5].description), ("greet", "Where it is written"));
}

#[test]
fn argparse() {
    let text = "\
usage: scan.py [-h] [--level {low,high}] [--port PORT] [-o OUT] --token TOKEN
               [--tag TAG [TAG ...]]
               path [extra ...]

Scans a folder.

positional arguments:
  path                  where to look
  extra                 more places

options:
  -h, --help            show this help message and exit
  --level {low,high}    how deep (default: low)
  --port PORT           the port
  -o OUT, --output OUT  where the report goes,
                        or - for standard output
  --token TOKEN
  --tag TAG [TAG ...]   labels
";
    let (command, description, arguments) = shown(&imported(&["scan.py"], text));
    assert_eq!(
        command,
        "scan.py [--level {level}] [--port {port}] [--output {output}] [--token {token}] [--tag {tag} ...] {path} [{extra...}]"
    );
    assert_eq!(description, "Scans a folder.");
    assert_eq!(
        arguments,
        [
            "level: low|high",
            "port: integer",
            "output: text",
            "token!: text",
            "tag: list of texts",
            "path!: text",
            "extra: list of texts"
        ]
    );
    let tool = &imported(&["scan.py"], text).tools[0];
    assert_eq!(tool.arguments[2].description, "where the report goes, or - for standard output");
    assert_eq!(tool.arguments[5].description, "where to look");
}

#[test]
fn cobra_and_go() {
    let cobra = "\
Display one or many resources.

Usage:
  kubectl get NAME [flags]

Flags:
  -f, --file stringArray   files to read
      --limit int          how many (default 500)
  -o, --output string      format (default \"wide\")
      --watch              keep watching
  -h, --help               help for get
";
    let (command, description, arguments) = shown(&imported(&["kubectl", "get"], cobra));
    assert_eq!(
        command,
        "kubectl get [--file {file} ...] [--limit {limit}] [--output {output}] [--watch] {name}"
    );
    assert_eq!(description, "Display one or many resources.");
    assert_eq!(
        arguments,
        ["file: list of texts", "limit: integer", "output: text", "watch: true or false", "name!: text"]
    );

    let go = "Usage of serve:\n  -addr string\n    \tlisten here (default \":80\")\n  -n int\n    \tworkers\n  -v\tsay more\n";
    let (command, _, arguments) = shown(&imported(&["serve"], go));
    assert_eq!(command, "serve [-addr {addr}] [-n {n}] [-v]");
    assert_eq!(arguments, ["addr: text", "n: integer", "v: true or false"]);
}

#[test]
fn a_program_that_only_has_commands_says_which() {
    let text = "Usage: tool [OPTIONS] <COMMAND>\n\nCommands:\n  build  Builds\n  help   Helps\n\nOptions:\n  -h, --help\n";
    assert_eq!(
        read(&["tool".to_owned()], text, HelpChoices::default()),
        Err(Unreadable::OnlyCommands(vec!["build".to_owned(), "help".to_owned()]))
    );
}

#[test]
fn unclear_options_are_left_out_and_reported() {
    let text = "Usage: x [-a | -b] (one | two) [A] [B] FILE\n  -a  all\n  -k key and value  pairs\n";
    let imported = imported(&["x"], text);
    assert_eq!(imported.tools[0].command_words(), "x [-a] [{a_2}]");
    let left_out: Vec<&str> = imported.left_out.iter().map(|left| &*left.what).collect();
    assert_eq!(left_out, ["-k key and value", "(one | two)", "B", "FILE"]);
    assert_eq!(imported.tools[0].arguments[0].kind, ArgumentKind::Boolean);
}

#[test]
fn a_usage_line_alone_tells_of_options_too() {
    let text =
        "usage: ssh [-46A] [-b bind_address] [-p port] [-v | -q]\n           [-o option] destination\n";
    let (command, description, arguments) = shown(&imported(&["ssh"], text));
    assert_eq!(command, "ssh [-b {b}] [-p {p}] [-v] [-q] {destination}");
    assert_eq!(description, "Runs `ssh`");
    assert_eq!(arguments[1], "p: integer");
    let text = "Usage: pm add [--dev|--no-dev] [--mood <kind|grim>] NAME\n\nOptions:\n  --dev  for now\n  --mood\n    how\n";
    let (command, _, arguments) = shown(&imported(&["pm", "add"], text));
    assert_eq!(command, "pm add [--dev] [--mood {mood}] {name}");
    assert_eq!(arguments[1], "mood: kind|grim");
}

#[test]
fn no_value_becomes_code() {
    let text = "usage: python3 [option] ... [-c cmd | -m mod] [file]\n-c cmd : program passed in as string\n-q     : quiet\n";
    let imported = imported(&["/usr/bin/python3.12"], text);
    assert_eq!(imported.tools[0].command_words(), "/usr/bin/python3.12 [-q]");
    let left_out: Vec<&str> = imported.left_out.iter().map(|left| &*left.what).collect();
    assert_eq!(left_out, ["-c", "file"]);
}

#[test]
fn options_that_run_something_are_left_out() {
    for (command, option) in [
        (&["tar"][..], "      --to-command=COMMAND   pipe extracted files to another program"),
        (&["tar"], "  -F, --info-script=NAME   run script at end of each tape"),
        (&["tar"], "      --rsh-command=COMMAND  use remote COMMAND instead of rsh"),
        (&["tar"], "      --checkpoint-action=ACTION  execute ACTION on each checkpoint"),
        (&["tar"], "  -I, --use-compress-program=PROG  filter through PROG (must accept -d)"),
        (&["tar"], "  -T, --files-from=FILE    get names to extract or create from FILE"),
        (
            &["sort"],
            "      --compress-program=PROG   compress temporaries with PROG; decompress them with PROG -d",
        ),
        (&["split"], "      --filter=COMMAND    write to shell COMMAND; file name is $FILE"),
        (&["git", "clone"], "    -u, --upload-pack <path>   path to git-upload-pack on the remote"),
        (&["vim"], "   -u <vimrc>  Use <vimrc> instead of any .vimrc"),
        (&["vim"], "   -S <session>  Source file <session> after loading the first file"),
        (&["env"], "  -S, --split-string=S  process and split S into separate arguments"),
        (&["node"], "  -r, --require=module  CommonJS module to preload"),
        (&["unknown"], "  --shell=SHELL  which one"),
        (&["unknown"], "  -x PROG  what is used"),
        (&["unknown"], "  --expr=EXPR  what is looked for"),
        (&["unknown"], "  --when-done TEXT  a shell command for the end"),
    ] {
        let text =
            format!("Usage: {} [OPTION]... [FILE]...\n\n{option}\n  --size=NUM  how large\n", command[0]);
        let imported = imported(command, &text);
        let words = imported.tools[0].command_words();
        let names: Vec<&str> = imported.tools[0].arguments.iter().map(|argument| &*argument.name).collect();
        assert!(
            !names.is_empty() && names.iter().all(|name| ["size", "file"].contains(name)),
            "{option}: {words}"
        );
        assert!(
            imported.left_out[0].why.contains("would run its value"),
            "{option}: {:?}",
            imported.left_out
        );
    }
    let harmless =
        "Usage: x [FILE]\n  --run-shell=N  how many\n  --filter=<fast|slow>  which\n  --author=NAME  who\n";
    assert_eq!(imported(&["x"], harmless).tools[0].arguments.len(), 4);
}

#[test]
fn a_program_that_runs_its_arguments_is_not_a_tool() {
    for (program, usage, word) in [
        ("awk", "Usage: awk [options] 'program' file ...", "program"),
        ("sed", "Usage: sed [OPTION]... SCRIPT [input-file]...", "SCRIPT"),
        ("flock", "Usage: flock [options] <file> <argv>...", "argv"),
        ("timeout", "Usage: timeout [OPTION] DURATION WORD...", "WORD"),
        ("sqlite3", "Usage: sqlite3 [OPTIONS] FILENAME WORDS...", "WORDS"),
    ] {
        let read = read(&[program.to_owned()], &format!("{usage}\n\n  -n  do it\n"), HelpChoices::default());
        assert_eq!(read, Err(Unreadable::TakesCode(word.to_owned())), "{usage}");
    }
    let find = "Usage: find [-H] [-L] [path...] [expression]\n";
    assert_eq!(imported(&["find"], find).tools[0].command_words(), "find [-H] [-L] [{path...}]");
}

#[test]
fn escapes_and_binaries() {
    let (command, ..) = shown(&imported(&["x"], "\u{1b}[1mUsage:\u{1b}[0m x \u{1b}[4mFILE\u{1b}[0m\n"));
    assert_eq!(command, "x {file}");
    assert_eq!(read(&["x".to_owned()], "\0\0\0ELF\u{fffd}", HelpChoices::default()), Err(Unreadable::NoText));
    assert_eq!(read(&["x".to_owned()], "hello\n", HelpChoices::default()), Err(Unreadable::NoHelp));
    assert_eq!(read(&["x".to_owned()], "", HelpChoices::default()), Err(Unreadable::NoHelp));
}

proptest! {
    #[test]
    fn no_text_makes_it_panic(text in "(Usage: |Options:|possible values:|[-a-zA-Z<>{}|\\[\\]=.,: \\néÄ]){0,120}") {
        let _ = read(&["x".to_owned(), "y".to_owned()], &text, HelpChoices::default());
    }
}
