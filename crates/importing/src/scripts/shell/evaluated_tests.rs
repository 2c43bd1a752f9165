//! Values that a shell evaluates, in each form, and what becomes of the argument.

use crate::scripts::{ScriptCommand, ScriptLanguage, read};
use crate::{Imported, Unreadable};

fn draft(text: &str) -> Result<Imported, Unreadable> {
    let words = ["./x".to_owned()];
    let command = ScriptCommand { name: "x", words: &words, is_own: true, all_options: true };
    read(text, ScriptLanguage::Shell, command)
}

/// Each argument with its kind.
fn kinds(text: &str) -> String {
    let tool = draft(text).unwrap_or_else(|error| panic!("{error}: {text}")).tools.remove(0);
    let shown = tool.arguments.iter().map(|argument| format!("{}: {}", argument.name, argument.kind.words()));
    shown.collect::<Vec<_>>().join(", ").replace("letters, digits and _ . / : @ + , -", "harmless")
}

#[test]
fn what_is_calculated_with_is_an_integer() {
    for text in [
        "echo $(( $1 + 1 ))",
        "echo \"in $((2 * ${1}))\"",
        "echo $[ $1 + 1 ]",
        "(( $1 > 3 )) && echo many",
        "if (( arg1 = $1, arg1 > 3 )); then echo many; fi",
        "let \"n = $1 + 1\"",
        "let n=$1+1",
        "[[ $1 -gt 60 ]] && echo long",
        "if [[ -n \"$1\" && ( 5 -le \"$1\" || $1 -eq 2 ) ]]; then echo long; fi",
        "while [[ $i -lt $1 ]]; do i=$((i + 1)); done",
        "for ((i = 0; i < $1; i++)); do echo $i; done",
        "a=(1 2 3)\necho \"${a[$1]}\"",
        "a=(1 2 3)\necho ${a[$(( $1 ))]} ${#a[$1]}",
        "a[$1]=5",
        "a=([$1]=5)",
        "text=abc\necho \"${text:$1}\" \"${text:0:$1}\"",
        "declare -i n=$1",
        "declare -i n\nn=$1",
        "f() { local n=$1; (( n > 3 )); }\nf \"$1\"",
        "f() { local name=$1; shift; (( $1 > 3 )); }\nf abc \"$1\"",
        "f() { if [ -n \"$2\" ]; then shift; fi; (( $1 > 3 )); }\nf \"$1\"",
        "n() { echo \"$1\"; }\nc=$(n \"$1\")\n(( c > 3 ))",
        "echo \"$(if [[ $1 -gt 3 ]]; then echo many; fi)\"",
        "cat <<E\n$(( $1 + 1 ))\nE",
        "echo a > file$(( $1 ))",
        "case $(( $1 % 2 )) in 0) echo even;; esac",
        "for i in $(seq $(( $1 ))); do echo $i; done",
        "main() { echo $(( $1 )); }\nmain \"$@\"",
        "set -e\n! [[ $1 -gt 3 ]]",
        "n=$1\ntrap 'echo $(( n ))' EXIT",
        "#!/bin/zsh\n[ $1 -gt 3 ] && echo many",
    ] {
        let kinds = kinds(text);
        let kind = kinds.split_once(": ").unwrap_or_else(|| panic!("no argument: {text}")).1;
        assert_eq!(kind, "integer", "{text}");
    }
    for (text, expected) in [
        ("count=$1\necho $(( count * 2 ))", "count: integer"),
        ("n=${1:-5}\nm=$n\necho $(( m * 2 ))", "n: integer"),
        ("name=$1; shift\necho $(( $1 * 2 )) \"$name\"", "name: text, arg2: integer"),
        ("echo $(( ${COUNT:-} + 1 ))", "COUNT: integer"),
        ("LIMIT=${LIMIT:-none}\n[[ $LIMIT -gt 3 ]]", "LIMIT: integer"),
        ("read -p 'Count: ' n\necho $(( n + 1 ))", "n: integer"),
        ("for n in \"$@\"; do (( sum += n )); done", "n: list of integers"),
        ("while [ $# -gt 0 ]; do (( sum += $1 )); shift; done", "args: list of integers"),
        ("all=(\"$@\")\necho $(( all[0] ))", "all: list of integers"),
        (
            "while getopts n:f: o; do case $o in n) N=$OPTARG;; f) F=$OPTARG;; esac; done\nshift $((OPTIND-1))\necho $(( N )) $F $(( $1 )) $2",
            "n: integer, f: text, arg1: integer, arg2: text",
        ),
        (
            "while [[ $# -gt 0 ]]; do case $1 in --n) N=$2; shift 2;; --m=*) M=${1#*=}; shift;; --k) (( k = $2 )); shift 2;; --f) F=$2; shift 2;; *) break;; esac; done\n[[ $N -gt $M ]] && echo $F",
            "n: integer, m: integer, k: integer, f: text",
        ),
        (
            "p=$(getopt -o n: --long num:,file: -- \"$@\")\neval set -- \"$p\"\nwhile true; do case $1 in -n|--num) N=$2; shift 2;; --file) F=$2; shift 2;; --) shift; break;; esac; done\necho $((N))",
            "num: integer, file: text",
        ),
        (
            "while [ $# -gt 0 ]; do case $1 in -v) V=1; shift;; *) n=$1; shift;; esac; done\necho $(( n ))",
            "v: true or false, n: integer",
        ),
        (
            "for arg in \"$@\"; do case $arg in --size=*) S=${arg#*=};; --dir=*) D=${arg#*=};; esac; done\necho $(( S )) $D",
            "size: integer, dir: text",
        ),
    ] {
        assert_eq!(kinds(text), expected, "{text}");
    }
    let tool = draft("echo $(( $1 + 1 ))").unwrap().tools.remove(0);
    assert_eq!(tool.gaps, ["it calculates with arg1: only whole numbers are allowed"]);
}

#[test]
fn parts_that_are_calculated_with_allow_harmless_texts_only() {
    for (text, expected) in [
        (
            "time=$1\nname=$2\necho $(( ${time%%:*} * 60 )) $name",
            "time: text of harmless, name: text of harmless",
        ),
        ("IFS=: read -r h m <<< \"$1\"\necho $(( h * 60 + m ))", "arg1: text of harmless"),
        ("while IFS=: read -r h m; do echo $(( h + m )); done <<< \"$1\"", "arg1: text of harmless"),
        ("echo \"$1\" | while read -r n; do echo $(( n )); done", "arg1: text of harmless"),
        ("n=$(echo \"$1\" | tr -d h)\necho $(( n ))", "arg1: text of harmless"),
        ("n=${1}${2}\necho $(( n ))", "arg1: text of harmless, arg2: text of harmless"),
        ("IFS=:\ntime=$1\nset -- $time\necho $(( $1 * 60 ))", "time: text of harmless"),
        (
            "while [ $# -gt 0 ]; do key=$1; value=$2; case $key in -n) (( n = value )); shift 2;; -f) F=$value; shift 2;; esac; done",
            "n: text of harmless, f: text of harmless",
        ),
        ("if x; then echo $(( $1 ))", "args: list of texts of harmless"),
    ] {
        assert_eq!(kinds(text), expected, "{text}");
    }
}

#[test]
fn names_of_variables_and_texts_that_are_calculated_with_are_left_out() {
    for text in [
        "echo \"${!1}\"",
        "name=$1\necho \"${!name}\"",
        "printf -v \"$1\" x",
        "read -r \"$1\"",
        "declare \"$1=x\"",
        "f() { local \"$1\"; }\nf \"$1\"",
        "declare -n ref=$1",
        "[[ -v $1 ]]",
        "test -v \"$1\"",
        "unset \"$1\"",
        "mapfile \"$1\"",
        "echo \"${1@P}\"",
        "if [[ $1 == all ]]; then echo all; else echo $(( $1 )); fi",
        "case $1 in all) echo all;; *) echo $(( $1 ));; esac",
    ] {
        assert!(matches!(draft(text), Err(Unreadable::EvaluatesWords(_))), "{text}: {:?}", draft(text));
    }
    let text = "while getopts v:n: o; do case $o in v) V=$OPTARG;; n) N=$OPTARG;; esac; done\necho ${!V} $N ${!NAME_OF:?}";
    let read = draft(text).unwrap();
    assert_eq!(read.tools[0].command_words(), "./x [-n {n}]");
    let left: Vec<&str> = read.left_out.iter().map(|left| &*left.what).collect();
    assert_eq!(left[0], "x -v");
}

#[test]
fn what_is_not_calculated_with_stays_a_text() {
    for text in [
        "[ \"$1\" -gt 60 ] && echo long",
        "[[ $# -gt 0 ]] && echo \"$1\"",
        "echo \"${#1}\" $(( ${#1} + 1 ))",
        "[[ -n $1 && $(wc -l < \"$1\") -gt 5 ]]",
        "n=$(wc -l < \"$1\")\necho $(( n ))",
        "n=$(echo \"$1\" | wc -c)\necho $(( n ))",
        "count() { local lines=$(grep -c x \"$1\"); echo \"$lines\"; }\nn=$(count \"$1\")\necho $(( n ))",
        "declare -A ages=([a]=1)\necho \"${ages[$1]}\"",
        "echo '$(( $1 ))' \"$1\"",
        "echo \"${1:-x}\" \"${1%.*}\"",
        "f() { (( $1 )); }\nf 5\necho \"$1\"",
        "awk '{ print $((1)) }' \"$1\"",
        "[[ $1 == *.txt ]]",
        "ls file[$1]",
        "read -rp \"Rotate $1? [y/N] \" answer",
    ] {
        assert_eq!(kinds(text), "arg1: text", "{text}");
    }
}
