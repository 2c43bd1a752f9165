//! Debian packages: which one has a program that scripts call.

/// Where a program comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Found {
    Package(&'static str),
    /// Every image of Debian has it, or mcp-bash itself.
    InBase,
    Unknown,
}

/// Programs of the base image (its essential packages), and jq, which mcp-bash has itself.
const IN_BASE: &str = "sh bash dash awk mawk sed grep egrep fgrep find xargs cat cp mv rm ls ln mkdir rmdir chmod chown touch \
                       head tail cut sort uniq wc tr tee date sleep printf echo env test true false expr seq basename \
                       dirname readlink realpath stat du df id whoami uname hostname mktemp od split join paste comm fold \
                       nl tac base64 md5sum sha1sum sha256sum sha512sum timeout nice nohup install dd sync tty yes perl \
                       tar gzip gunzip zcat diff cmp login su mount umount dpkg apt-get getent jq mcp-bash";

/// A program and its package, where the names differ or have to be known.
const PACKAGES: &[(&str, &str)] = &[
    ("python3", "python3"),
    ("python", "python3"),
    ("node", "nodejs"),
    ("npm", "npm"),
    ("npx", "npm"),
    ("ruby", "ruby"),
    ("php", "php-cli"),
    ("lua", "lua5.4"),
    ("Rscript", "r-base-core"),
    ("zsh", "zsh"),
    ("fish", "fish"),
    ("ksh", "ksh"),
    ("tclsh", "tcl"),
    ("pwsh", "powershell"),
    ("git", "git ca-certificates"),
    ("curl", "curl ca-certificates"),
    ("wget", "wget ca-certificates"),
    ("sqlite3", "sqlite3"),
    ("psql", "postgresql-client"),
    ("mysql", "default-mysql-client"),
    ("redis-cli", "redis-tools"),
    ("ssh", "openssh-client"),
    ("scp", "openssh-client"),
    ("rsync", "rsync"),
    ("dig", "dnsutils"),
    ("ping", "iputils-ping"),
    ("nc", "netcat-openbsd"),
    ("ip", "iproute2"),
    ("ss", "iproute2"),
    ("ps", "procps"),
    ("top", "procps"),
    ("pgrep", "procps"),
    ("free", "procps"),
    ("lsof", "lsof"),
    ("file", "file"),
    ("less", "less"),
    ("bc", "bc"),
    ("zip", "zip"),
    ("unzip", "unzip"),
    ("xz", "xz-utils"),
    ("zstd", "zstd"),
    ("make", "make"),
    ("gcc", "gcc"),
    ("rg", "ripgrep"),
    ("fdfind", "fd-find"),
    ("tree", "tree"),
    ("gawk", "gawk"),
    ("xmllint", "libxml2-utils"),
    ("yq", "yq"),
    ("convert", "imagemagick"),
    ("magick", "imagemagick"),
    ("ffmpeg", "ffmpeg"),
    ("pandoc", "pandoc"),
    ("pdftotext", "poppler-utils"),
    ("dot", "graphviz"),
    ("openssl", "openssl"),
    ("gpg", "gnupg"),
    ("shellcheck", "shellcheck"),
];

/// Where the program of that name comes from. A path is a file of the project.
pub fn package_of(program: &str) -> Found {
    if program.contains('/') || IN_BASE.split_whitespace().any(|known| known == program) {
        return Found::InBase;
    }
    let found = PACKAGES.iter().find(|(name, _)| *name == program);
    found.map_or(Found::Unknown, |(_, package)| Found::Package(package))
}
