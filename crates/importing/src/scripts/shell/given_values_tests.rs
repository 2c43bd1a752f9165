//! Values that a tool gives to a shell script: which of them the script evaluates, and on which line.

use super::given_values::{EvaluatedValue, GivenWord, ShellEvaluations};

/// `NAME LINE` of each member that is evaluated.
fn members(text: &str) -> Vec<String> {
    let found = ShellEvaluations::of(text);
    let shown = |(name, value): &(&str, EvaluatedValue)| format!("{name} {}", value.line.unwrap_or(0));
    found.of_members(true).iter().map(shown).collect()
}

/// The words that are evaluated; `{}` stands for a value, `[{}]` for one in a group, `{}…` for a list.
fn words(text: &str, command_line: &str) -> Vec<usize> {
    let word = |(index, word): (usize, &'static str)| {
        let (bare, group) = match word.strip_prefix('[') {
            Some(inner) => (inner.trim_end_matches(']'), Some(index)),
            None => (word, None),
        };
        let before = bare.split("{}").next().unwrap_or_default();
        GivenWord { text: before, has_value: bare.contains("{}"), is_list: bare.ends_with('…'), group }
    };
    let leaked: &'static str = Box::leak(command_line.to_owned().into_boxed_str());
    let given: Vec<_> = leaked.split_whitespace().enumerate().map(word).collect();
    let found = ShellEvaluations::of(text).of_words(&given);
    found.into_iter().map(|(index, _)| index).collect()
}

#[test]
fn members_of_the_arguments_are_followed_to_expressions() {
    for (text, expected) in [
        ("n=$(mcp_args_get .count)\n\necho $(( n * 2 ))", "count 3"),
        ("n=\"$(mcp_args_require '.count' 'how many?')\"\n(( n > 3 )) && echo many", "count 2"),
        ("n=$(mcp_args_get '.count // 5')\nif [[ $n -gt 3 ]]; then\n  echo many\nfi", "count 2"),
        ("n=$(jq -r .count)\nlet m=n+1", "count 2"),
        ("args=$(cat)\nn=$(jq -r '.count' <<<\"$args\")\necho ${text:$n}", "count 3"),
        ("args=$(cat)\nn=$(printf '%s' \"$args\" | jq -r '.count')\necho $((n))", "count 3"),
        ("n=$(echo \"$MCP_TOOL_ARGS_JSON\" | jq -r '.a.count // empty')\ndeclare -i m=$n", "a.count 2"),
        ("n=$(\"$MCPBASH_JSON_TOOL_BIN\" -r .count <<< \"$MCP_TOOL_ARGS_JSON\")\nlist[$n]=x", "count 2"),
        ("n=$(jq -r .count < \"$MCP_TOOL_ARGS_FILE\")\necho $((n))", "count 2"),
        ("read -r args\nn=$(jq -er .count <<< $args)\necho $((n))", "count 3"),
        ("for n in $(mcp_args_get '.list[]'); do (( sum += n )); done", "list[] 1"),
        ("mcp_args_get '.list[]' | while read -r n; do\n(( sum += n ))\ndone", "list[] 2"),
        ("read -r n < <(mcp_args_get .n)\necho $((n))", "n 2"),
        ("get() { mcp_args_get .n; }\nn=$(get)\necho $((n))", "n 3"),
        ("twice() {\n  echo $(( $1 * 2 ))\n}\ntwice \"$(mcp_args_get .n)\"", "n 2"),
        ("n=$(mcp_args_get .n)\necho \"$(\n  echo x\n  echo $(( n ))\n)\"", "n 4"),
        ("n=$(mcp_args_get .n)\ncase $(( n % 2 )) in 0) echo even;; esac", "n 2"),
        ("name=$(mcp_args_get .name)\necho \"${!name}\"", "name 2"),
    ] {
        assert_eq!(members(text), [expected], "{text}");
    }
}

#[test]
fn what_is_no_argument_or_is_not_evaluated_is_not_found() {
    for text in [
        "n=$(mcp_args_int .count)\necho $(( n ))",
        "n=$(mcp_args_get '.count | tonumber')\necho $(( n ))",
        "n=$(mcp_args_get '.list | length')\necho $(( n ))",
        "n=$(jq .count)\necho $(( n ))",
        "n=$(jq -r --arg a b .count)\necho $(( n ))",
        "n=$(curl -s x | jq -r .count)\necho $(( n ))",
        "n=$(jq -r .count file.json)\necho $(( n ))",
        "n=$(jq -r .count < file.json)\necho $(( n ))",
        "curl -s x | while read -r line; do n=$(jq -r .count <<<\"$line\"); echo $((n)); done",
        "args=$(cat)\nargs=$(curl x)\nn=$(jq -r .count <<<\"$args\")\necho $((n))",
        "while read -r n; do (( sum += n )); done < numbers",
        "n=$(mcp_args_get .count)\n[ \"$n\" -gt 3 ] && echo many",
        "n=$(mcp_args_get .text)\necho ${#n} $(( ${#n} + 1 ))",
        "n=$(mcp_args_get .path)\nlines=$(wc -l < \"$n\")\necho $(( lines ))",
    ] {
        assert_eq!(members(text), Vec::<String>::new(), "{text}");
    }
}

#[test]
fn what_the_script_checks_itself_is_not_found() {
    let get = "n=$(mcp_args_get .n)\n";
    for check in [
        "[[ $n =~ ^[0-9]+$ ]] || exit 1",
        "if ! [[ \"$n\" =~ ^-?[0-9]+$ ]]; then\n  exit 1\nfi",
        "if [[ -z $n || ! $n =~ ^[0-9]+$ ]]; then exit 1; fi",
        "number='^[0-9]+$'\n[[ $n =~ $number ]] || exit 1",
        "case $n in\n  ''|*[!0-9]*) exit 1;;\nesac",
        "case $n in 1|2|3) ;; *) exit 1;; esac",
        "[ \"$n\" -eq \"$n\" ] 2>/dev/null || exit 1",
        "if ! [ \"$n\" -eq \"$n\" ] 2>/dev/null; then exit 1; fi",
        "[ \"$n\" -ge 0 ] || { echo no; exit 1; }",
        "echo \"$n\" | grep -Eq '^[0-9]+$' || exit 1",
        "grep -qE '^[0-9]+$' <<< \"$n\" || exit 1",
        "n=${n//[!0-9]/}",
        "n=$(printf '%d' \"$n\")",
        "n=$(echo \"$n\" | tr -cd 0-9)",
        "check() { [[ $1 =~ ^[0-9]+$ ]] || exit 1; }\ncheck \"$n\"",
    ] {
        let text = format!("{get}{check}\necho $(( n + 1 ))");
        // A value that replaces its own is cut before it is evaluated.
        let text = if check.starts_with("n=") {
            text.replacen("n=", "m=", 1).replace("$n", "$m").replace("${n", "${m")
        } else {
            text
        };
        assert_eq!(members(&text), Vec::<String>::new(), "{text}");
    }
    for no_check in [
        "[[ $n =~ [0-9] ]] || exit 1",
        "[ -n \"$n\" ] || exit 1",
        "case $n in -[!-]*) exit 1;; esac",
        "echo \"$n\" | grep -q x",
    ] {
        let text = format!("{get}{no_check}\necho $(( n + 1 ))");
        assert_eq!(members(&text).len(), 1, "{text}");
    }
}

#[test]
fn words_are_found_where_their_place_is_certain() {
    let options = "while getopts n:f: o; do case $o in n) N=$OPTARG;; f) F=$OPTARG;; esac; done\nshift $((OPTIND-1))\necho $(( N )) $F $(( $1 )) $2";
    let long = "while [[ $# -gt 0 ]]; do case $1 in --n) N=$2; shift 2;; --m=*) M=${1#*=}; shift;; --f) F=$2; shift 2;; *) break;; esac; done\n[[ $N -gt $M ]] && echo $F";
    for (text, command_line, expected) in [
        ("echo $(( $2 ))", "{} {} {}", &[1_usize][..]),
        ("echo $(( $2 ))", "get {} {}", &[1]),
        ("echo $(( $2 ))", "{}… {}", &[0]),
        ("echo $(( $1 ))", "[{}] {}", &[0]),
        ("echo $(( $2 ))", "[{}] {}", &[]),
        ("echo $(( $1 )) $2", "-v {}", &[]),
        ("for n in \"$@\"; do (( sum += n )); done", "{}…", &[0]),
        ("for n in \"$@\"; do (( sum += n )); done", "[-v] {} {}", &[1, 2]),
        ("name=$1; shift\nfor n in \"$@\"; do echo $n; done", "{} {}…", &[]),
        (options, "-n {} -f {} {} {}", &[1, 4]),
        (options, "-n{} -- {} {}", &[0, 2]),
        (options, "-x {} {}", &[]),
        (long, "--n {} --m={} --f {}", &[1, 2]),
        ("main() { shift; echo $(( $1 )); }\nmain \"$@\"", "{} {}", &[1]),
        ("f() { g \"$@\"; }\ng() { echo $(( $2 )); }\nf \"$1\" \"$2\"", "{} {}", &[1]),
        (
            "while [ $# -gt 0 ]; do case $1 in -v) V=1; shift;; *) n=$1; shift;; esac; done\necho $(( n ))",
            "-v {}",
            &[1],
        ),
    ] {
        assert_eq!(words(text, command_line), expected, "{text}: {command_line}");
    }
}

#[test]
fn variables_and_the_input_are_found() {
    let of = |text: &str| ShellEvaluations::of(text);
    assert_eq!(of("echo $(( COUNT ))").of_variable("COUNT").and_then(|value| value.line), Some(1));
    assert_eq!(
        of("n=${COUNT:-5}\n\necho $(( n ))").of_variable("COUNT").and_then(|value| value.line),
        Some(3)
    );
    assert_eq!(of("echo $(( COUNT ))").of_variable("OTHER"), None);
    assert_eq!(of("echo $COUNT").of_variable("COUNT"), None);
    for text in ["read -r n\necho $(( n ))", "n=$(cat)\necho $(( n ))"] {
        assert_eq!(of(text).of_input().and_then(|value| value.line), Some(2), "{text}");
    }
    for text in [
        "read -r n < file\necho $(( n ))",
        "n=$(cat file)\necho $(( n ))",
        "ls | { read -r n; echo $((n)); }",
    ] {
        assert_eq!(of(text).of_input(), None, "{text}");
    }
}
