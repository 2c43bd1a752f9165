//! Writing options: options of programs that change, send or delete something. A table names those that are known;
//! names and descriptions in a help text tell of others.

/// Programs, with their command if it matters, and their options that write.
const WRITING: &[(&str, &[&str])] = &[
    ("awk", &["-i", "--include", "-o", "--pretty-print", "-p", "--profile", "-d", "--dump-variables"]),
    (
        "curl",
        &[
            "-c",
            "--cookie-jar",
            "--create-dirs",
            "-d",
            "--data",
            "--data-ascii",
            "--data-binary",
            "--data-raw",
            "--data-urlencode",
            "-D",
            "--dump-header",
            "--alt-svc",
            "--etag-save",
            "-F",
            "--form",
            "--form-string",
            "--hsts",
            "-J",
            "--remote-header-name",
            "--json",
            "--libcurl",
            "-o",
            "--output",
            "-O",
            "--output-dir",
            "-Q",
            "--quote",
            "--remote-name",
            "--remote-name-all",
            "--stderr",
            "-T",
            "--upload-file",
            "--trace",
            "--trace-ascii",
            "-X",
            "--request",
        ],
    ),
    ("date", &["-s", "--set"]),
    ("diff", &["--output"]),
    ("dmesg", &["-c", "--read-clear", "-C", "--clear", "-D", "-E", "-n", "--console-level"]),
    ("find", &["-delete", "-fls", "-fprint", "-fprint0", "-fprintf"]),
    ("gawk", &["-i", "--include", "-o", "--pretty-print", "-p", "--profile", "-d", "--dump-variables"]),
    ("gcc", &["-o", "-dumpdir"]),
    ("git", &["--output", "-o", "--output-directory"]),
    ("git branch", &["-d", "-D", "-f", "-m", "-M", "-c", "-C", "--edit-description", "-u"]),
    ("git checkout", &["-f", "-B", "-p"]),
    ("git fetch", &["-f", "-p", "-P"]),
    ("git push", &["-d", "-f", "--mirror", "--force-with-lease"]),
    ("git reset", &["--hard", "--merge", "--keep"]),
    ("git switch", &["-f", "-C", "--discard-changes"]),
    ("git tag", &["-d", "-f"]),
    ("gofmt", &["-w"]),
    ("gpg", &["-o", "--output"]),
    ("iconv", &["-o", "--output"]),
    (
        "journalctl",
        &[
            "--vacuum-size",
            "--vacuum-files",
            "--vacuum-time",
            "--rotate",
            "--flush",
            "--sync",
            "--cursor-file",
        ],
    ),
    ("less", &["-o", "-O", "--log-file", "--LOG-FILE"]),
    ("nmap", &["-oA", "-oG", "-oN", "-oS", "-oX"]),
    ("openssl", &["-out", "-keyout", "-writerand"]),
    ("pandoc", &["-o", "--output", "--extract-media"]),
    ("patch", &["-o", "--output", "-r", "--reject-file"]),
    (
        "rsync",
        &[
            "--backup-dir",
            "--delete",
            "--delete-after",
            "--delete-before",
            "--delete-delay",
            "--delete-during",
            "--delete-excluded",
            "--del",
            "--force",
            "--log-file",
            "--only-write-batch",
            "--partial-dir",
            "--remove-source-files",
            "-T",
            "--temp-dir",
            "--write-batch",
        ],
    ),
    ("script", &["-a", "--append", "-O", "--log-out", "-B", "--log-io", "-T", "--log-timing"]),
    ("sed", &["-i", "--in-place"]),
    ("shuf", &["-o", "--output"]),
    ("sort", &["-o", "--output"]),
    ("ssh", &["-E", "-w"]),
    ("strace", &["-o", "--output"]),
    (
        "tar",
        &[
            "-A",
            "--absolute-names",
            "--append",
            "-c",
            "--catenate",
            "--concatenate",
            "--create",
            "--delete",
            "--extract",
            "-g",
            "--get",
            "--index-file",
            "--listed-incremental",
            "--overwrite",
            "--overwrite-dir",
            "-P",
            "-r",
            "--recursive-unlink",
            "--remove-files",
            "-U",
            "-u",
            "--unlink-first",
            "--update",
            "-x",
        ],
    ),
    ("tcpdump", &["-w"]),
    ("tree", &["-o"]),
    (
        "wget",
        &[
            "-a",
            "--append-output",
            "--body-data",
            "--body-file",
            "--delete-after",
            "--method",
            "-O",
            "-o",
            "--output-document",
            "--output-file",
            "-P",
            "--directory-prefix",
            "--post-data",
            "--post-file",
            "--rejected-log",
            "--save-cookies",
            "--warc-file",
        ],
    ),
    ("xmllint", &["--output", "-o"]),
    ("yq", &["-i", "--inplace"]),
    ("zip", &["-d", "--delete", "-m", "--move", "-O", "--out"]),
];

/// Words in the name of an option that writes, whether it takes a value or not.
const NAMES: [&str; 26] = [
    "apply",
    "clobber",
    "delete",
    "destroy",
    "discard",
    "erase",
    "fix",
    "force",
    "inplace",
    "install",
    "kill",
    "logfile",
    "outfile",
    "overwrite",
    "prune",
    "purge",
    "remove",
    "reset",
    "save",
    "shred",
    "truncate",
    "uninstall",
    "unlink",
    "upload",
    "wipe",
    "write",
];

/// Words in the name of an option that writes if its value is a file.
const TARGETS: [&str; 8] = ["dest", "destination", "dump", "log", "out", "output", "target", "to"];

/// Words of a placeholder for a file or a folder.
const FILES: [&str; 13] = [
    "dest",
    "destination",
    "dir",
    "directory",
    "file",
    "filename",
    "folder",
    "logfile",
    "outdir",
    "outfile",
    "output",
    "path",
    "target",
];

/// Words that a description of such an option begins with.
const VERBS: [&str; 40] = [
    "append",
    "appends",
    "applies",
    "apply",
    "create",
    "creates",
    "delete",
    "deletes",
    "discard",
    "discards",
    "dump",
    "dumps",
    "edit",
    "edits",
    "erase",
    "erases",
    "install",
    "installs",
    "kill",
    "kills",
    "modifies",
    "modify",
    "overwrite",
    "overwrites",
    "purge",
    "purges",
    "remove",
    "removes",
    "rename",
    "renames",
    "save",
    "saves",
    "store",
    "stores",
    "truncate",
    "truncates",
    "upload",
    "uploads",
    "write",
    "writes",
];

const SAYINGS: [&str; 14] = [
    "in place",
    "in-place",
    "into the file",
    "log file",
    "output file",
    "output to file",
    "output to the file",
    "output to this file",
    "overwrit",
    "result to file",
    "save the",
    "to this file",
    "write output",
    "write to file",
];

/// An option of a program, as a help text describes it.
#[derive(Debug, Clone, Copy)]
pub struct DescribedOption<'a> {
    pub names: &'a [String],
    /// The placeholder of its value; `None` for a flag.
    pub placeholder: Option<&'a str>,
    pub description: &'a str,
}

/// Whether an option changes, sends or deletes something: according to the table, its name or its description.
pub fn option_writes(command: &[&str], option: DescribedOption<'_>) -> bool {
    is_listed(command, option.names) || sounds(option) || speaks(option.description)
}

fn is_listed(command: &[&str], names: &[String]) -> bool {
    let program = command.first().map_or("", |program| program.rsplit('/').next().unwrap_or(program));
    let is_this = |row: &str| match row.split_once(' ') {
        Some((first, second)) => first == program && command.get(1) == Some(&second),
        None => row == program,
    };
    let mut rows = WRITING.iter().filter(|(row, _)| is_this(row));
    rows.any(|(_, options)| names.iter().any(|name| options.contains(&&**name)))
}

fn sounds(option: DescribedOption<'_>) -> bool {
    let of_file =
        option.placeholder.is_some_and(|placeholder| words(placeholder).any(|word| FILES.contains(&&*word)));
    option.names.iter().filter(|name| !is_negation(name)).any(|name| {
        let is_short = name == "-o" || name == "-O";
        name.contains("in-place")
            || words(name).any(|word| NAMES.contains(&&*word))
            || of_file && (is_short || words(name).any(|word| TARGETS.contains(&&*word)))
    })
}

/// `--no-overwrite`, `--keep-…`, `--dry-run`: it restrains the program.
fn is_negation(name: &str) -> bool {
    let name = name.trim_start_matches('-');
    ["no-", "keep-", "ignore-", "skip-", "dry-", "exclude-"].iter().any(|start| name.starts_with(start))
}

fn speaks(description: &str) -> bool {
    let description = description.to_ascii_lowercase();
    let first = words(&description).next();
    let is_negation =
        ["do not ", "don't ", "never ", "ignore "].iter().any(|start| description.starts_with(start));
    !is_negation
        && (first.is_some_and(|first| VERBS.contains(&&*first))
            || SAYINGS.iter().any(|saying| description.contains(saying)))
}

fn words(text: &str) -> impl Iterator<Item = String> + '_ {
    let words = text.split(|letter: char| !letter.is_ascii_alphanumeric());
    words.filter(|word| !word.is_empty()).map(str::to_ascii_lowercase)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn writes(command: &[&str], names: &[&str], placeholder: Option<&str>, description: &str) -> bool {
        let names: Vec<String> = names.iter().map(|name| (*name).to_owned()).collect();
        option_writes(command, DescribedOption { names: &names, placeholder, description })
    }

    #[test]
    fn lists_are_sorted() {
        assert!(
            NAMES.is_sorted()
                && TARGETS.is_sorted()
                && FILES.is_sorted()
                && VERBS.is_sorted()
                && SAYINGS.is_sorted()
        );
        assert!(WRITING.is_sorted_by_key(|(program, _)| *program));
    }

    #[test]
    fn the_table_a_name_or_a_description_tells() {
        for (command, names, placeholder, description) in [
            (&["curl"][..], &["-o"][..], Some("x"), ""),
            (&["/usr/bin/find"], &["-delete"], None, ""),
            (&["git", "branch"], &["-D"], None, ""),
            (&["sed"], &["-i", "--in-place"], None, ""),
            (&["any"], &["-o", "--output"], Some("FILE"), ""),
            (&["any"], &["--force"], None, ""),
            (&["any"], &["--to"], Some("PATH"), ""),
            (&["any"], &["-z"], None, "Deletes all entries"),
            (&["any"], &["-z"], Some("F"), "where to go; write output there"),
        ] {
            assert!(writes(command, names, placeholder, description), "{command:?} {names:?}");
        }
        for (command, names, placeholder, description) in [
            (&["git", "log"][..], &["-D"][..], None, ""),
            (&["kubectl", "get"], &["-o", "--output"], Some("FORMAT"), "how to print"),
            (&["any"], &["--no-overwrite"], None, "Do not overwrite files"),
            (&["any"], &["--color"], Some("WHEN"), "colours the output"),
            (&["any"], &["--to"], Some("DATE"), "until then"),
        ] {
            assert!(!writes(command, names, placeholder, description), "{command:?} {names:?}");
        }
    }
}
