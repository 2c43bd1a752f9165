//! Command lines as people write them, with `{}` for a value, `[…]` around optional words and `*` after repeated ones.

use super::*;
use proptest::prelude::*;

fn word(text: &str) -> Word<'_> {
    match text.split_once("{}") {
        Some((prefix, _)) => Word::Value { prefix, is_plain: false, may_be_option: false },
        None => Word::Fixed(text),
    }
}

/// Parses `sh [-c {}] a {}*`: groups have no spaces at their brackets, and `_` stands for a space inside a word.
fn judged(line: &str) -> Judgement {
    let (mut pieces, mut group) = (Vec::new(), None::<Vec<Word<'_>>>);
    let mut words = line.split(' ');
    let program = words.next().unwrap();
    for text in words {
        let begins = text.strip_prefix('[');
        if begins.is_some() {
            group = Some(Vec::new());
        }
        let bare = begins.unwrap_or(text);
        let (bare, ends) = bare.strip_suffix(']').map_or((bare, false), |bare| (bare, true));
        match (&mut group, bare.strip_suffix('*').filter(|bare| bare.ends_with("{}"))) {
            (Some(group), _) => group.push(word(bare)),
            (None, Some(bare)) => pieces.push(Piece::Repeated(vec![word(bare)])),
            (None, None) => pieces.push(Piece::Always(word(bare))),
        }
        if ends {
            pieces.extend(group.take().map(Piece::Optional));
        }
    }
    judge(program, &pieces)
}

fn last(line: &str) -> Verdict {
    *judged(line).words.last().unwrap_or_else(|| panic!("{line} has no value"))
}

fn is_code(line: &str) -> bool {
    matches!(last(line), Verdict::Code { .. })
}

#[test]
fn code_is_found_in_any_position() {
    for line in [
        "sh -c echo_{}",
        "/bin/bash -lc {}",
        "bash -o pipefail -c {}",
        "sh [-c {}]",
        "sh [-c echo_{}]",
        "env [sh -c {}]",
        "env -i A=1 sh -c {}",
        "env -S {}",
        "env --split-string={}",
        "env -S{}",
        "env {}",
        "script -qc {}",
        "script -qec {} /dev/null",
        "script --command={}",
        "flock -c {}",
        "flock /tmp/lock -c {}",
        "flock /tmp/lock sh -c {}",
        "flock /tmp/lock {}",
        "node --eval={}",
        "node -pe {}",
        "node --require={}",
        "node --an-option-of-tomorrow={}",
        "python3.12 -u -c {}",
        "python3 {}",
        "python3 scripts/{}.py",
        "perl -ne {}",
        "perl -M{}",
        "ruby -r{}",
        "awk {}",
        "awk -F : {} file",
        "awk -f {}",
        "sed {}p",
        "sed -n -e {}",
        "sed --expression={}",
        "timeout 5 {}",
        "timeout 5 sh -c {}",
        "nice -n 5 bash -c {}",
        "sudo -u me sh -c {}",
        "sudo {}",
        "xargs {}",
        "xargs -I % sh -c {}",
        "nohup setsid stdbuf -oL sh -c {}",
        "ssh host {}",
        "ssh -o {} host",
        "ssh -o ProxyCommand={} host",
        "docker exec box sh -c {}",
        "docker exec -it box {}",
        "docker compose exec web {}",
        "docker run --entrypoint={} image",
        "kubectl exec pod -- bash -c {}",
        "busybox sh -c {}",
        "a-wrapper-of-mine sh -c {}",
        "./run.sh sh -c {}",
        "find . -exec {}",
        "find . -name x -exec sh -c {}",
        "fd -x {}",
        "tar --to-command={}",
        "tar --to-comm={}",
        "tar -xf a --use-compress-program={}",
        "tar -I {}",
        "tar --checkpoint-action={}",
        "sort --compress-program={}",
        "split --filter={}",
        "rsync -e {}",
        "git -c {}",
        "git clone --upload-pack={}",
        "git bisect run {}",
        "git submodule foreach {}",
        "git config alias.x {}",
        "vim -c {}",
        "vi --cmd {}",
        "make --eval={}",
        "make SHELL={}",
        "make MAKEFLAGS={}",
        "env LD_PRELOAD={} ls",
        "sudo BASH_ENV={} ls",
        "java -jar {}",
        "java -D{}",
        "npx {}",
        "psql -c {}",
        "sqlite3 my.db {}",
        "mysql --execute={}",
        "deno eval {}",
    ] {
        assert!(is_code(line), "{line}: {:?}", last(line));
    }
}

#[test]
fn a_word_that_may_be_absent_hides_nothing() {
    assert!(is_code("sh [{}] -c {}"));
    assert!(is_code("sh {}* -c {}"));
    assert!(is_code("env [A={}] [-u {}] sh -c {}"));
    assert!(is_code("timeout [-s {}] 5 [sh -c] {}"));
}

#[test]
fn what_a_shell_or_make_pastes_is_doubtful() {
    for line in [
        "make NAME={}",
        "make {}",
        "just --justfile justfile build {}",
        "task --taskfile Taskfile.yml build X={}",
        "task build X={}",
        "npm run build -- {}",
        "yarn run x {}*",
        "ssh host ls {}",
        "watch ls {}",
        "vim {}",
        "less {}",
        "some-tool --on-exit-command={}",
        "some-tool --hook {}",
        "env MY_TOOL_OPTIONS={} ls",
        "python3 --an-option-of-tomorrow word {}",
    ] {
        assert!(matches!(last(line), Verdict::Doubtful { .. }), "{line}: {:?}", last(line));
    }
}

#[test]
fn ordinary_commands_are_left_alone() {
    for line in [
        "du -sh {}",
        "git log --author={}",
        "git log --oneline --max-count={} [--author={}]",
        "git commit -m {}",
        "git checkout -b {}",
        "git push -u origin {}",
        "git -C {} status",
        "curl -s https://example.org/{}",
        "jq . {}",
        "jq {} file",
        "kubectl get {}",
        "kubectl -n {} get pods",
        "docker ps --format={}",
        "docker logs {}",
        "./deploy.sh {}",
        "bin/ctl --script={}",
        "bin/ctl --command {}",
        "grep -e {}",
        "grep -c -e{} -- {}",
        "grep -rnE -- {} {}",
        "find documents -maxdepth {} -name {} -size +{}k",
        "find . -name {} -exec wc -l ; -print",
        "tar -xf {}",
        "tar -czf out.tgz {}",
        "sh -c echo_\"$1\" sh {}",
        "bash script.sh -c {}",
        "bash script.sh {}*",
        "python3 -u script.py -c {}",
        "python3 -m http.server {}",
        "node app.js --eval={}",
        "awk -v x={} program file",
        "awk program {}",
        "sed -e s/a/b/ {}",
        "sed s/a/b/ {}",
        "env A={} ls {}",
        "timeout {} ls {}",
        "timeout 5 du -sh {}",
        "sudo -u {} ls",
        "ssh {}",
        "docker exec box ls {}",
        "docker exec {} ls",
        "docker exec -it box ls {}",
        "docker run --rm image ls {}",
        "bash -eu script.sh {}",
        "perl -w script.pl {}",
        "sed -n -i s/a/b/ {}",
        "env -i ls {}",
        "sort -k {} {}",
        "psql -d {} -c fixed",
        "make -j{} -C {} all",
        "task add {}",
        "npm install {}",
    ] {
        let all = judged(line).words;
        assert!(all.iter().all(|verdict| *verdict == Verdict::Data), "{line}: {all:?}");
    }
}

#[test]
fn a_value_that_may_be_an_option_is_code_where_options_run_something() {
    let open = Word::Value { prefix: "", is_plain: false, may_be_option: true };
    let verdict = |program, before: &[&'static str]| {
        let mut pieces: Vec<_> = before.iter().map(|word| Piece::Always(Word::Fixed(word))).collect();
        pieces.push(Piece::Always(open));
        judge(program, &pieces).words[0]
    };
    for (program, before) in [
        ("tar", &["-x"][..0]),
        ("find", &["."]),
        ("find", &["--"]),
        ("python3", &["-u"]),
        ("git", &["fetch"]),
    ] {
        assert!(matches!(verdict(program, before), Verdict::Code { .. }), "{program} {before:?}");
    }
    for (program, before) in
        [("tar", &["-xf", "a", "--"][..]), ("curl", &["-d"]), ("head", &["-n"]), ("grep", &["--"])]
    {
        assert_eq!(verdict(program, before), Verdict::Data, "{program} {before:?}");
    }
}

#[test]
fn numbers_and_choices_are_not_code() {
    let plain = Word::Value { prefix: "", is_plain: true, may_be_option: false };
    let judge_plain = |program, before: &[&'static str]| {
        let mut pieces: Vec<_> = before.iter().map(|word| Piece::Always(Word::Fixed(word))).collect();
        pieces.push(Piece::Always(plain));
        judge(program, &pieces).words[0]
    };
    assert_eq!(judge_plain("sed", &["-e"]), Verdict::Data);
    assert_eq!(judge_plain("sh", &["-c"]), Verdict::Data);
    // A negative number is an option to the shell of a recipe.
    assert!(matches!(judge_plain("make", &[]), Verdict::Doubtful { .. }));
}

#[test]
fn standard_input_of_an_interpreter_is_code() {
    for line in [
        "sh",
        "bash -s a",
        "python3 -",
        "node",
        "env -i bash",
        "psql db",
        "ssh host",
        "docker exec -i box sh",
        "at now",
    ] {
        let input = judged(line).input;
        assert!(matches!(input, Verdict::Code { .. } | Verdict::Doubtful { .. }), "{line}: {input:?}");
    }
    for line in ["sh", "python3", "python3 -", "sh /dev/stdin", "env -i bash", "psql db", "ssh host"] {
        assert!(matches!(judged(line).input, Verdict::Code { .. }), "{line}");
    }
    for line in [
        "wc -c",
        "sh script.sh",
        "sh -c cat",
        "python3 x.py",
        "ssh host cat",
        "jq .",
        "sort -u",
        "awk {print}",
        "docker exec -i box cat",
    ] {
        assert_eq!(judged(line).input, Verdict::Data, "{line}");
    }
}

#[test]
fn it_is_known_who_wrote_what_runs() {
    for line in
        ["sh -c x", "python3 x.py", "./own", "bin/own", "env -i bash script.sh", "timeout 5 node -e x"]
    {
        assert!(judged(line).runs_own_code, "{line}");
    }
    for line in ["git log", "psql", "/usr/bin/du", "tar -xf x", "timeout 5 du"] {
        assert!(!judged(line).runs_own_code, "{line}");
    }
}

proptest! {
    /// However a command is wrapped, code stays code.
    #[test]
    fn no_wrapper_hides_code(wrappers in prop::collection::vec(prop::sample::select(vec![
        "env", "env A=1", "nice -n 5", "timeout 5", "nohup", "sudo -u me", "setsid", "stdbuf -oL", "flock /tmp/x", "xargs -n 1",
        "docker exec box", "docker run --rm image", "kubectl exec pod --", "ssh host", "busybox", "unknown-wrapper", "chroot /srv",
    ]), 0..5), code in prop::sample::select(vec![
        "sh -c {}", "bash -lc {}", "python3 -c {}", "node --eval={}", "perl -ne {}", "env -S {}", "script -qc {}",
    ])) {
        let line = wrappers.iter().copied().chain([code]).collect::<Vec<_>>().join(" ");
        prop_assert!(is_code(&line), "{}", line);
    }

    #[test]
    fn no_words_make_it_panic_or_run_for_ever(line in "(sh|env|git|--?[a-z=]{0,4}|\\{\\}|a=\\{\\}|-c|é|\\[a|b\\]|x\\{\\}\\*| ){0,40}") {
        let line = format!("sh {line}");
        let line = line.split_whitespace().collect::<Vec<_>>().join(" ");
        judged(&line);
    }
}
