//! Tools that read no code, but have options that name some, or put their words into the text of shell commands.

use crate::program::Role::{Code, Command, Data, Pasted, Settings, ShellCommand};
use crate::program::{Program, TOOL, WRAPPER};

pub(crate) static ALL: &[Program] = &[
    Program {
        names: &["make", "gmake", "bmake", "gnumake"],
        code: &["-f", "--file", "--makefile", "--eval", "-E", "-I", "--include-dir"],
        data: &["-C", "--directory", "-j", "--jobs", "-l", "-o", "-W", "--old-file", "--what-if", "-O"],
        operands: &[Pasted],
        ..TOOL
    },
    Program {
        names: &["just"],
        code: &["-f", "--justfile", "--shell", "--shell-arg", "-c", "--command", "--chooser"],
        data: &["-d", "--working-directory", "--set", "--dotenv-path"],
        operands: &[Pasted],
        ..TOOL
    },
    // Another program of this name takes sentences as words; only the one of Taskfiles takes variables.
    Program {
        names: &["task", "go-task"],
        operands: &[Settings],
        subcommands: &[("--taskfile", &TASKFILE), ("-t", &TASKFILE)],
        ..TOOL
    },
    Program {
        names: &["npm", "pnpm", "yarn"],
        code: &["--script-shell", "--userconfig", "--node-options", "--shell"],
        data: &["--prefix", "--dir", "-C", "--cwd", "-w", "--workspace", "-F"],
        subcommands: PACKAGE_SCRIPTS,
        ..TOOL
    },
    Program {
        names: &["find", "gfind"],
        flags: &[
            "-H",
            "-L",
            "-P",
            "-print",
            "-print0",
            "-delete",
            "-prune",
            "-depth",
            "-empty",
            "-follow",
            "-ls",
            "-quit",
            "-mount",
            "-xdev",
            "-true",
            "-false",
            "-o",
            "-a",
            "-not",
            "-and",
            "-or",
            "-readable",
            "-writable",
            "-executable",
            "-daystart",
            "-noleaf",
        ],
        commands: &["-exec", "-execdir", "-ok", "-okdir"],
        // Its expressions begin with `-`, and also follow `--`.
        obeys_dashes: false,
        has_clusters: false,
        ..TOOL
    },
    Program { names: &["fd", "fdfind"], commands: &["-x", "--exec", "-X", "--exec-batch"], ..TOOL },
    Program { names: &["rg", "ripgrep"], code: &["--pre", "--hostname-bin"], ..TOOL },
    Program { names: &["sort", "gsort"], code: &["--compress-program"], ..TOOL },
    Program { names: &["split", "gsplit"], code: &["--filter"], ..TOOL },
    Program {
        names: &["tar", "gtar", "bsdtar"],
        code: &[
            "-I",
            "--use-compress-program",
            "-F",
            "--info-script",
            "--new-volume-script",
            "--to-command",
            "--checkpoint-action",
            "--rsh-command",
            "--rmt-command",
            "-T",
            "--files-from",
        ],
        ..TOOL
    },
    Program { names: &["zip"], code: &["-TT", "--unzip-command"], ..TOOL },
    Program { names: &["cpio", "rmt", "dump", "restore"], code: &["--rsh-command", "--rmt-command"], ..TOOL },
    Program {
        names: &["rsync"],
        code: &["-e", "--rsh", "--rsync-path", "-M", "--remote-option", "--config"],
        ..TOOL
    },
    Program { names: &["scp", "sftp"], code: &["-o", "-F", "-S", "-D", "-J", "-b"], ..TOOL },
    Program {
        names: &["git"],
        code: &[
            "-c",
            "--config",
            "--config-env",
            "--exec-path",
            "--upload-pack",
            "--receive-pack",
            "-u",
            "--exec",
            "-x",
            "--extcmd",
            "-O",
            "--open-files-in-pager",
            "--template",
            "--smtp-server",
            "--to-cmd",
            "--cc-cmd",
            "--tree-filter",
            "--index-filter",
            "--msg-filter",
            "--env-filter",
            "--commit-filter",
            "--parent-filter",
            "--tag-name-filter",
            "--subdirectory-filter",
        ],
        data: &["-C", "--git-dir", "--work-tree", "--namespace"],
        subcommands: &[
            ("bisect", &GIT_BISECT),
            ("submodule", &GIT_SUBMODULE),
            ("config", &GIT_CONFIG),
            ("commit", &GIT_PLAIN),
            ("log", &GIT_PLAIN),
            ("show", &GIT_PLAIN),
            ("diff", &GIT_PLAIN),
            ("status", &GIT_PLAIN),
            ("push", &GIT_PUSH),
            ("clean", &GIT_PLAIN),
            ("checkout", &GIT_PLAIN),
            ("switch", &GIT_PLAIN),
            ("add", &GIT_PLAIN),
            ("stash", &GIT_PLAIN),
            ("branch", &GIT_PLAIN),
            ("merge", &GIT_PLAIN),
            ("tag", &GIT_PLAIN),
            ("cherry-pick", &GIT_PLAIN),
            ("blame", &GIT_PLAIN),
        ],
        ..TOOL
    },
    Program { names: &["hg"], code: &["--config", "--ssh", "-e", "--remotecmd"], ..TOOL },
    Program {
        names: &["svn"],
        code: &["--config-option", "--config-dir", "--editor-cmd", "--diff-cmd", "--diff3-cmd"],
        ..TOOL
    },
    Program {
        names: &["vi", "vim", "nvim", "gvim", "view", "vimdiff", "rvim", "ex", "evim", "neovim"],
        code: &[
            "-c",
            "--cmd",
            "-S",
            "-u",
            "-U",
            "-s",
            "-W",
            "-w",
            "-i",
            "-q",
            "-t",
            "-T",
            "-V",
            "-P",
            "--remote-send",
            "--remote-expr",
        ],
        operands: &[Pasted],
        input: Code,
        ..TOOL
    },
    Program {
        names: &["nano", "pico", "joe", "micro"],
        code: &["-s", "--speller", "-f", "--rcfile", "-config-dir"],
        operands: &[Pasted],
        ..TOOL
    },
    Program {
        names: &["less", "more", "most", "zless"],
        code: &["-k", "--lesskey-file", "--lesskey-src", "-T"],
        operands: &[Pasted],
        ..TOOL
    },
    Program { names: &["man"], code: &["-P", "--pager", "-H", "--html", "-C", "--config-file"], ..TOOL },
    Program { names: &["curl"], code: &["-K", "--config", "--engine"], ..TOOL },
    Program { names: &["wget"], code: &["-e", "--execute", "--config", "--use-askpass"], ..TOOL },
    Program { names: &["nmap"], code: &["--script", "--script-args", "--datadir", "--servicedb"], ..TOOL },
    Program { names: &["tcpdump"], code: &["-z"], ..TOOL },
    Program {
        names: &["nc", "ncat", "netcat"],
        code: &["-e", "--exec", "-c", "--sh-exec", "--lua-exec"],
        ..TOOL
    },
    Program { names: &["socat"], operands: &[Code], ..TOOL },
    Program {
        names: &["openssl"],
        code: &["-engine", "-config", "-provider", "-provider-path"],
        has_clusters: false,
        ..TOOL
    },
    Program {
        names: &["gpg", "gpg2"],
        code: &["--options", "--homedir", "--photo-viewer", "--exec-path"],
        ..TOOL
    },
    Program { names: &["cargo"], code: &["--config"], ..TOOL },
    Program {
        names: &["go"],
        code: &["-exec", "-toolexec", "-vettool", "-overlay"],
        has_clusters: false,
        subcommands: &[("run", &GO_RUN)],
        ..TOOL
    },
    Program {
        names: &["gcc", "cc", "c++", "g++", "clang", "clang++"],
        code: &["-wrapper", "-fplugin", "-specs", "-B", "--specs"],
        has_clusters: false,
        ..TOOL
    },
    Program {
        names: &["ansible", "ansible-playbook"],
        code: &["-a", "--args", "-m", "--module-name", "-e", "--extra-vars", "-M"],
        ..TOOL
    },
    Program {
        names: &["logrotate", "dpkg", "rpm", "apt", "apt-get"],
        code: &[
            "-o",
            "--option",
            "-c",
            "--config-file",
            "--eval",
            "--define",
            "-D",
            "--pre-invoke",
            "--post-invoke",
        ],
        ..TOOL
    },
];

/// The commands of package managers that run a script of a package with the words that follow, or a program.
pub(crate) static PACKAGE_SCRIPTS: &[(&str, &Program)] = &[
    ("run", &PACKAGE_SCRIPT),
    ("run-script", &PACKAGE_SCRIPT),
    ("test", &PACKAGE_TEST),
    ("start", &PACKAGE_TEST),
    ("exec", &PACKAGE_EXEC),
    ("x", &PACKAGE_EXEC),
    ("dlx", &PACKAGE_EXEC),
];

static PACKAGE_SCRIPT: Program =
    Program { names: &["run"], code: &["--script-shell"], operands: &[Pasted], ..TOOL };
static PACKAGE_TEST: Program =
    Program { names: &["test"], code: &["--script-shell"], operands: &[Pasted], ..TOOL };
static PACKAGE_EXEC: Program =
    Program { names: &["exec"], code: &["-c", "--call", "--package", "-p"], operands: &[Command], ..WRAPPER };

static TASKFILE: Program =
    Program { names: &["task"], data: &["-d", "--dir", "-o", "--output", "-C"], operands: &[Pasted], ..TOOL };

static GIT_PLAIN: Program =
    Program { names: &["git"], code: &["--ext-diff", "--exec-path", "--extcmd"], ..TOOL };
static GIT_PUSH: Program = Program { names: &["git push"], code: &["--receive-pack", "--exec"], ..TOOL };
static GIT_BISECT: Program = Program { names: &["git bisect"], subcommands: &[("run", &BEGINS)], ..TOOL };
static GIT_SUBMODULE: Program =
    Program { names: &["git submodule"], subcommands: &[("foreach", &FOREACH)], ..TOOL };
/// Its settings decide later what git runs.
static GIT_CONFIG: Program = Program { names: &["git config"], operands: &[Data, Code], ..TOOL };
static BEGINS: Program = Program { names: &["git bisect run"], ..WRAPPER };
static FOREACH: Program = Program { names: &["git submodule foreach"], operands: &[ShellCommand], ..WRAPPER };
static GO_RUN: Program = Program {
    names: &["go run"],
    code: &["-exec", "-toolexec"],
    operands: &[Code, Data],
    has_clusters: false,
    ..TOOL
};
