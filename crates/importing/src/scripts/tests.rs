//! Idioms of each language, and what is made of them.

use super::*;
use crate::Tool;
use proptest::prelude::*;

fn draft(language: ScriptLanguage, text: &str) -> Tool {
    let words = ["./x".to_owned()];
    let command = ScriptCommand { name: "x", words: &words, is_own: true, all_options: false };
    read(text, language, command).unwrap_or_else(|error| panic!("{error}: {text}")).tools.remove(0)
}

/// The command in words, then each argument that is required, and what is unsure.
fn shown(language: ScriptLanguage, text: &str) -> String {
    let tool = draft(language, text);
    let required: Vec<&str> = tool
        .arguments
        .iter()
        .filter(|argument| argument.is_required)
        .map(|argument| &*argument.name)
        .collect();
    let mut shown = tool.command_words();
    for (mark, notes) in
        [(" !", required.join(",")), (" .", tool.gaps.join("; ")), (" ?", tool.doubts.join("; "))]
    {
        if !notes.is_empty() {
            shown.push_str(mark);
            shown.push_str(&notes);
        }
    }
    shown
}

#[test]
fn shell_options_are_read() {
    let case = "while [ $# -gt 0 ]; do case \"$1\" in";
    for (text, expected) in [
        (
            "while getopts \":ab:c:\" opt; do case $opt in a) ALL=1;; b) BASE=$OPTARG;; c) x=$OPTARG;; *) exit 1;; esac; done\nshift $((OPTIND-1))\necho \"$1\"\n",
            "./x [-a] [-b {base}] [-c {x}] {arg1} !arg1",
        ),
        (
            &format!("{case} -v|--verbose) V=1; shift;; -o|--out) O=$2; shift 2;; *) exit 2;; esac; done"),
            "./x [--verbose] [--out {out}]",
        ),
        (&format!("{case} --out) shift; O=$1;; --no) N=1;; esac; shift; done"), "./x [--out {out}] [--no]"),
        (
            &format!("{case} --out=*) O=\"${{1#*=}}\";; -n|--name|--name=*) N=1;; esac; shift; done"),
            "./x [--out={out}] [--name={name}] [--name]",
        ),
        (
            &format!("{case} --tag) T+=(\"$2\"); shift 2;; *) F+=(\"$1\"); shift;; esac; done"),
            "./x [--tag {tag} ...] [{f...}]",
        ),
        (&format!("{case} -e) E=$2; shift 2;; esac; done\n[ -z \"$E\" ] && exit 1"), "./x [-e {e}] !e"),
        (
            "for arg in \"$@\"; do case $arg in --fast) F=1;; --dir=*) D=${arg#*=};; esac; done",
            "./x [--fast] [--dir={dir}]",
        ),
        (
            "main() { while [ -n \"$1\" ]; do case $1 in --all) A=1;; esac; shift; done; }\nmain \"$@\"",
            "./x [--all]",
        ),
        (
            "args=$(getopt -o ab: --long all,base: -n x -- \"$@\") || exit 1\neval set -- \"$args\"\nwhile true; do case $1 in -a|--all) A=1; shift;; -b|--base) B=$2; shift 2;; --) shift; break;; esac; done",
            "./x [--all] [--base {base}]",
        ),
        (
            "case \"$1\" in start) a;; stop) b;; *) echo \"usage: x start|stop\" >&2; exit 1;; esac",
            "./x {command} !command",
        ),
        (
            "case \"$1\" in '') echo usage; exit 1;; esac\nfor dir in \"$@\"; do ls $dir; done",
            "./x [{dir...}]",
        ),
        ("case \"$1\" in on) a;; off) b;; *) echo $1;; esac", "./x [{command}]"),
        (
            &format!("{case} --libs) L=1;; one) A=1;; two) B=1;; *) exit 1;; esac; shift; done"),
            "./x [--libs] [{words...}]",
        ),
        (
            "for file do case $file in --help) exit;; *.gz) continue;; esac\nmv $file $file.gz\ndone",
            "./x [{file...}]",
        ),
        ("set -- $LIST\nfor word; do echo $word; done", "./x"),
        (
            "while [ $# -gt 0 ]; do case \"$1\" in -v) V=1;; *) rest=\"$rest $1\";; esac; shift; done\nset -- $rest\ncat \"$1\"",
            "./x [-v] [{rest...}] ?it replaces its words with `set --`",
        ),
        (
            "if [ \"$1\" = --fast ] || [ \"$1\" = -f ]; then F=1; shift; fi\ncat \"$1\"",
            "./x [--fast] {arg1} !arg1",
        ),
        ("if [ \"$1\" = --fast ]; then F=1; shift; fi\ncat \"$1\"", "./x [--fast] {arg1} !arg1"),
        (
            "if [ \"$1\" = --fast ]; then F=1; shift; fi\nif [ \"$1\" = --slow ]; then S=1; shift; fi\ncat \"$1\"",
            "./x [--fast] [--slow] {arg1} !arg1 ?it looks for some options in its first word only",
        ),
    ] {
        assert_eq!(shown(ScriptLanguage::Shell, text), expected, "{text}");
    }
}

#[test]
fn shell_words_and_variables_are_read() {
    for (text, expected) in [
        ("src=$1\ndst=\"$2\"\ncp \"$src\" \"$dst\"", "./x {src} {dst} !src,dst"),
        ("name=${1:-world}\necho $name", "./x [{name}]"),
        ("name=${1:?a name}\nn=${2:-3}\necho $name $n", "./x {name} [{n}] !name"),
        ("db=${1:?}\nout=${2:-$db.sql}\ncp $db $out", "./x {db} [{out}] !db"),
        ("pair=${1:-a}$2\necho $pair", "./x {arg1} {arg2} !arg1,arg2"),
        ("[ $# -ge 2 ] || exit 1\necho \"$1\" \"$2\"", "./x {arg1} {arg2} !arg1,arg2"),
        ("if [ $# -ne 1 ]; then echo bad; exit 1; fi\ncat \"$1\"", "./x {arg1} !arg1"),
        ("case $# in 1|2) ;; *) exit 1;; esac\necho \"$1\" \"${2:-}\"", "./x {arg1} [{arg2}] !arg1"),
        ("cmd=$1; shift\nfor f in \"$@\"; do echo $cmd $f; done", "./x {cmd} [{f...}] !cmd"),
        ("helper() { echo \"$1\" \"$2\"; }\nhelper a b", "./x"),
        ("awk '{print $1}' file", "./x"),
        (": \"${REGION:?which}\"\necho \"$REGION\" \"${ZONE:-a}\"", "./x !REGION"),
        ("PORT=80\necho \"${PORT:-1}\" \"${PATH:-x}\" \"${MY_TOKEN:?}\"", "./x"),
        ("read -p 'Name: ' who\necho \"$who\"", "./x !who"),
        (
            "read -p 'Sure? [y/N] ' a\nrm -rf x",
            "./x ?it asks at the terminal, and would read an empty answer",
        ),
        (
            "docker run \"$@\"",
            "./x [{args...}] .it passes its words on to `docker`, whose options it does not name",
        ),
        (
            "if x; then",
            "./x [{args...}] ?its arguments are not understood (its text could not be read as a shell script to the end): it takes a list of words, none of which begins with `-`",
        ),
    ] {
        assert_eq!(shown(ScriptLanguage::Shell, text), expected, "{text}");
    }
    let text = "db=${1:?the database}\nto=${2:?Usage: $0 DB TO}\ncp $db $to";
    let described = draft(ScriptLanguage::Shell, text).arguments;
    let described: Vec<&str> = described.iter().map(|argument| &*argument.description).collect();
    assert_eq!(described, ["the database", ""]);
    let tool = draft(ScriptLanguage::Shell, "read -p 'Name: ' who\necho \"$who ${ZONE:-a}\"");
    assert_eq!((tool.input.as_deref(), tool.environment.len()), (Some("{who}\n"), 1));
}

#[test]
fn values_that_a_script_runs_are_no_arguments() {
    let words = ["./x".to_owned()];
    let command = ScriptCommand { name: "x", words: &words, is_own: true, all_options: false };
    for text in [
        "\"$@\"",
        "exec \"$@\"",
        "sudo \"$@\"",
        "$1",
        "eval \"$1\"",
        "eval $set '\"$@\"'",
        "cmd=$1\n$cmd a",
        "bash -c \"$1\"",
        "ssh host \"$1\"",
        ". \"$1\"",
    ] {
        let read = read(text, ScriptLanguage::Shell, command);
        assert!(matches!(read, Err(Unreadable::RunsWords(_))), "{text}: {read:?}");
    }
    let text = "while [ $# -gt 0 ]; do case $1 in --run) RUN=$2; shift 2;; --name) N=$2; shift 2;; esac; done\neval \"$RUN\"\necho ${EDIT_WITH:-vi}; ${EDIT_WITH:-vi} x";
    let read = read(text, ScriptLanguage::Shell, command).unwrap();
    assert_eq!(read.tools[0].command_words(), "./x [--name {name}]");
    let left: Vec<&str> = read.left_out.iter().map(|left| &*left.what).collect();
    assert_eq!(left, ["x --run", "x EDIT_WITH"]);
}

#[test]
fn effects_come_from_the_body() {
    use crate::Effect;
    for (text, effect) in [
        ("rm -rf \"$1\"", Some(Effect::Destroys)),
        ("kubectl delete pod x", Some(Effect::Destroys)),
        ("git push origin main", Some(Effect::Destroys)),
        ("curl -X POST http://x", Some(Effect::Destroys)),
        ("x=$(rm y)", Some(Effect::Destroys)),
        ("echo a >out.txt", Some(Effect::Destroys)),
        ("tmp=$(mktemp)\nls >\"$tmp\"\ncat \"$tmp\"\nrm -f \"$tmp\"", Some(Effect::Reads)),
        ("git log --oneline | head -n 3 2>/dev/null", Some(Effect::Reads)),
        ("kubectl get pods", Some(Effect::Reads)),
        ("some-program \"$1\"", None),
        ("echo 'rm -rf /'", Some(Effect::Reads)),
    ] {
        assert_eq!(draft(ScriptLanguage::Shell, text).effect, effect, "{text}");
    }
    let tool =
        draft(ScriptLanguage::Shell, "# Exit codes:\n#   1 no match\n#   2 an error\nterraform plan | jq .");
    assert_eq!(
        (tool.success_exit_codes, tool.needs),
        (vec![1], vec!["jq".to_owned(), "terraform".to_owned()])
    );
}

#[test]
fn python_parsers_are_read() {
    for (text, expected) in [
        (
            "import argparse\np = argparse.ArgumentParser()\np.add_argument('src', nargs='+')\np.add_argument('--n', type=int, required=True)\np.add_argument('-q', '--quiet', action='store_true')\np.add_argument('--tag', action='append')\np.add_argument('-m')\n",
            "./x --n={n} [--quiet] [--tag={tag...}] [-m {m}] {src...} !n,src",
        ),
        (
            "from optparse import OptionParser\np = OptionParser('usage: %prog [options] FILE')\np.add_option('-f', '--file', dest='f', help='x')\np.add_option('-v', action='store_true')\n",
            "./x [--file={file}] [-v] {file_2} !file_2",
        ),
        (
            "import click\n@click.command()\n@click.option('--count', default=1)\n@click.option('--shout/--no-shout')\n@click.option('-t', '--tag', multiple=True)\n@click.argument('name')\ndef hello(count, shout, tag, name):\n    \"\"\"Greets a person.\"\"\"\n",
            "./x [--count={count}] [--shout] [--tag={tag...}] {name} !name",
        ),
        (
            "import typer\ndef main(name: str, count: int = 1, formal: bool = False):\n    \"\"\"Says hello.\"\"\"\ntyper.run(main)\n",
            "./x [--count={count}] [--formal] {name} !name",
        ),
        (
            "import sys\nif len(sys.argv) < 3:\n    sys.exit(1)\nsrc = sys.argv[1]\ndst = sys.argv[2]\n",
            "./x {src} {dst} !src,dst",
        ),
        ("print('hello')\n", "./x"),
    ] {
        assert_eq!(shown(ScriptLanguage::Python, text), expected, "{text}");
    }
    let commands = "import argparse\np = argparse.ArgumentParser()\ns = p.add_subparsers()\ns.add_parser('up')\ns.add_parser('down')\n";
    assert_eq!(draft(ScriptLanguage::Python, commands).command_words(), "./x {command} [{args...}]");
    let tool = draft(
        ScriptLanguage::Python,
        "import typer\ndef main(name: str):\n    \"\"\"Says hello.\"\"\"\ntyper.run(main)\n",
    );
    assert_eq!(tool.description, "Says hello.");
}

#[test]
fn node_and_perl_parsers_are_read() {
    for (language, text, expected) in [
        (
            ScriptLanguage::Node,
            "import { parseArgs } from 'node:util'\nconst { values } = parseArgs({ options: { name: { type: 'string', short: 'n' }, loud: { type: 'boolean' } }, allowPositionals: true })\n",
            "./x [--name={name}] [--loud] [{args...}]",
        ),
        (
            ScriptLanguage::Node,
            "const { program } = require('commander')\nprogram.description('Splits text').argument('<text>', 'what').option('-s, --sep <char>', 'how', ',').option('--first', 'only one')\nprogram.parse()\n",
            "./x [--sep={sep}] [--first] {text} !text",
        ),
        (
            ScriptLanguage::Node,
            "const yargs = require('yargs')\nyargs.option('port', { alias: 'p', type: 'number', demandOption: true }).option('mode', { choices: ['a', 'b'] })\n",
            "./x --port={port} [--mode={mode}] !port",
        ),
        (
            ScriptLanguage::Perl,
            "use Getopt::Long;\nGetOptions('name|n=s' => \\$name, 'count=i' => \\$count, 'verbose!' => \\$v, 'tag=s@' => \\@t) or die;\n",
            "./x [--name={name}] [--count={count}] [--verbose] [--tag={tag...}]",
        ),
        (ScriptLanguage::Perl, "use Getopt::Std;\ngetopts('ab:', \\%o);\n", "./x [-a] [-b {b}]"),
    ] {
        assert_eq!(shown(language, text), expected, "{text}");
    }
}

proptest! {
    #[test]
    fn no_text_makes_a_reader_panic(text in "([a-z0-9$@#%{}()\\[\\]<>'\"`;|&=:?*!\\\\ \\n,._-]|case |esac|while |do |done|getopts |\\$1|\\$\\(|--|=>|add_argument\\(|é){0,120}") {
        let words = ["x".to_owned()];
        let command = ScriptCommand { name: "x", words: &words, is_own: true, all_options: false };
        for language in [ScriptLanguage::Shell, ScriptLanguage::Python, ScriptLanguage::Node, ScriptLanguage::Perl] {
            if let Ok(imported) = read(&text, language, command) {
                imported.tools[0].sample(true);
                imported.tools[0].metadata();
            }
        }
    }
}

#[test]
fn a_script_with_many_options_gets_the_first_ones() {
    let table = (0..30).map(|number| format!("'opt{number}=s', ")).collect::<Vec<_>>().concat();
    let text = format!("use Getopt::Long;\nGetOptions(\\%o, {table}'last=s');\n");
    let words = ["./x".to_owned()];
    for (all_options, expected) in [(false, 15), (true, 31)] {
        let command = ScriptCommand { name: "x", words: &words, is_own: true, all_options };
        let imported = read(&text, ScriptLanguage::Perl, command).unwrap();
        assert_eq!(imported.tools[0].arguments.len(), expected);
        let names_rest = imported.left_out.iter().any(|left| left.what.contains("--last"));
        assert_eq!(names_rest, !all_options, "{:?}", imported.left_out);
    }
}
