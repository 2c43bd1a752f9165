//! Texts that no person would write: every reader comes to its end, within bounded memory and stack.

use super::*;

const LANGUAGES: [ScriptLanguage; 4] =
    [ScriptLanguage::Shell, ScriptLanguage::Python, ScriptLanguage::Node, ScriptLanguage::Perl];

fn read_in_all_languages(text: &str) {
    shell_traps(text);
    for language in LANGUAGES {
        let _ = draft(language, text);
    }
}

fn draft(language: ScriptLanguage, text: &str) -> Result<Imported, Unreadable> {
    let words = ["./x".to_owned()];
    read(text, language, ScriptCommand { name: "x", words: &words, is_own: true, all_options: true })
}

fn arguments(language: ScriptLanguage, text: &str) -> Vec<String> {
    let tool = draft(language, text).unwrap().tools.remove(0);
    tool.arguments.into_iter().map(|argument| argument.name).collect()
}

#[test]
fn letters_of_several_bytes_are_kept_whole() {
    for text in [
        // The name after a dollar sign that has none.
        "echo '$ éé$ab'",
        "cat <<E\nusage: $ \u{feff}$GG é$\nE",
        // A backtick that is not closed.
        "usage: `é",
        "echo 'usage: `é'",
        // A value inside another one that is named by a variable.
        "${!aé$b} ${!é:-$b} ${#é$b}",
        "x=$'é\\é'; echo $'é' \"$é ${é} $(é)\"",
        "case $1 in -é*) a;; --é=*) b;; é) c;; esac; shift é",
        "getopts 'é:ü' o; case $o in é) a=$OPTARG;; -ü) b=1;; esac",
        "x=$(getopt -o é: --long ü:,é -- \"$@\")",
        "GetOptions('é=s' => \\$é, %é); getopts('é:'); m/^-é$/; $ARGV[é]; @é = (qw é a é);",
        "while (@ARGV) { $_ = shift; if (/^-é(.)$/) { $é = $1 } elsif ($_ eq '-é') { push @é, $_ } }",
        "import typer\n@é.command('é')\ndef é(é: é = é.Option('é')): 'é'",
        "é = sys.argv[1]; é`é${é}`; parseArgs({ options: { é: { short: 'é' } } })",
    ] {
        // Each beginning ends in the middle of something else.
        for (end, _) in text.char_indices() {
            read_in_all_languages(&text[..end]);
        }
        read_in_all_languages(text);
    }
}

#[test]
fn numbers_may_be_as_large_as_they_like() {
    let largest = usize::MAX;
    for text in [
        &format!("shift {largest}; shift {largest}; shift; [ $# -lt 1 ] && exit 1; echo $1"),
        &format!("shift {largest}; case $# in 0) exit;; esac; x=$2"),
        &format!("while [ $# -gt {largest} ]; do case $1 in -a) shift {largest}; shift 2;; esac; done"),
        &format!("die if @ARGV <= {largest}; $ARGV[{largest}]; print $ARGV[8];"),
        &format!("if len(sys.argv) <= {largest}: exit()\nsys.argv[{largest}]\nprocess.argv[{largest}]"),
    ] {
        read_in_all_languages(text);
    }
    let many = arguments(ScriptLanguage::Shell, &format!("{}a=$1", "echo $1; shift\n".repeat(10_000)));
    assert_eq!(many.len(), 40);
    assert_eq!(arguments(ScriptLanguage::Shell, "shift 1000000000000\necho $1"), Vec::<String>::new());
}

#[test]
fn deep_nesting_is_not_followed() {
    for (open, close) in [
        ("(", ")"),
        ("( ", " )"),
        ("((", "))"),
        ("[", "]"),
        ("{", "}"),
        ("{ ", "; }"),
        ("${", "}"),
        ("${a:-", "}"),
        ("$(", ")"),
        ("$( ", " )"),
        ("\"$(", ")\""),
        ("\"${a:-", "}\""),
        ("<(", ")"),
        ("`", "`"),
        ("! ", ""),
        ("a() ", ""),
        ("a() ! ", ""),
        ("a() { ", "; }"),
        ("function a ", ""),
        ("if ", "; then a; fi"),
        ("if a; then ", "; fi"),
        ("while ", "; do a; done"),
        ("for a in b; do ", "; done"),
        ("case a in a) ", ";; esac"),
        ("f(", ")"),
        ("a=(", ")"),
        ("{a: ", "}"),
        ("f([{a: ", "}])"),
        ("if (a) {", "}"),
        ("sub {", "}"),
        ("while ($a = shift @ARGV) {", "}"),
        ("GetOptions(", ")"),
    ] {
        // Enough to overflow the stack of a test, if each level took a few hundred bytes.
        let (opened, closed) = (open.repeat(5_000), close.repeat(5_000));
        read_in_all_languages(&opened);
        read_in_all_languages(&format!("echo {opened}a{closed}"));
    }
    for open in ["(", "{", "$(", "if "] {
        read_in_all_languages(&open.repeat(100_000));
    }
}

#[test]
fn a_bracket_that_closes_nothing_ends_a_deep_call() {
    for depth in 25..40 {
        for close in [")", "]", "}", ",", ";", ":"] {
            for call in ["get", "parseArgs"] {
                read_in_all_languages(&format!("{call}({}{close}{close})\n", "[".repeat(depth)));
            }
        }
    }
}

#[test]
fn functions_that_call_each_other_do_not_multiply() {
    let calls = |name: &str, words: &str| format!("{name} {words}; ").repeat(300);
    for words in ["\"$@\"", ""] {
        let functions: Vec<String> =
            (0..6).map(|n| format!("f{n}() {{ {}}}\n", calls(&format!("f{}", n + 1), words))).collect();
        let itself = format!("f() {{ {}}}\n", calls("f", words));
        for text in [format!("{}f0 {words}\n", functions.concat()), format!("{itself}f {words}\n")] {
            assert!(draft(ScriptLanguage::Shell, &format!("{text}[ -n \"$1\" ] || f\n")).is_ok());
        }
    }
    // Functions that are called as people call them are still followed.
    let main = "usage() { fail; }\nfail() { leave; }\nleave() { exit 1; }\nparse() { src=$1; }\nmain() { [ $# -lt 2 ] && usage; parse \"$@\"; echo $2; }\nmain \"$@\"";
    assert_eq!(arguments(ScriptLanguage::Shell, main), ["src", "arg2"]);
}

#[test]
fn options_that_are_not_read_are_reported() {
    let cases = (0..600).map(|n| format!("--o{n}) a;; ")).collect::<Vec<_>>().concat();
    for (language, text) in [
        (ScriptLanguage::Shell, format!("while :; do case $1 in {cases}esac; shift; done")),
        (ScriptLanguage::Shell, "while getopts a o; do :; done\n".repeat(30)),
        (ScriptLanguage::Perl, "GetOptions('a=s' => \\$a);\n".repeat(30)),
        (ScriptLanguage::Perl, "while ($_ = shift @ARGV) { if (/^-a$/) { $a = 1 } }\n".repeat(30)),
        (
            ScriptLanguage::Perl,
            format!("while ($_ = shift @ARGV) {{ {} }}", "$a = 1 if /^-a$/; ".repeat(400)),
        ),
    ] {
        let tool = draft(language, &text).unwrap().tools.remove(0);
        assert!(
            tool.doubts.iter().any(|doubt| doubt == reading::UNREAD_OPTIONS),
            "{text}: {:?}",
            tool.doubts
        );
    }
}
