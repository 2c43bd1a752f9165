//! Variables of scripts that may be arguments: neither the surroundings of a process, nor secrets.

use super::reading::{ScriptReading, ScriptVariable};
use mcp_bash_hazards::{Control, control};

/// Variables that describe the user, the session or the system.
const SURROUNDINGS: [&str; 30] = [
    "BASH_SOURCE",
    "BASH_VERSION",
    "CI",
    "COLUMNS",
    "DBUS_SESSION_BUS_ADDRESS",
    "DEBUG",
    "DESKTOP_SESSION",
    "DISPLAY",
    "EUID",
    "GITHUB_ACTIONS",
    "HOSTNAME",
    "HOSTTYPE",
    "LANG",
    "LANGUAGE",
    "LINES",
    "LOGNAME",
    "NO_COLOR",
    "OLDPWD",
    "OPTARG",
    "OPTIND",
    "OSTYPE",
    "PWD",
    "REPLY",
    "SHLVL",
    "TERM",
    "TMP",
    "TMPDIR",
    "UID",
    "USER",
    "WAYLAND_DISPLAY",
];

/// Families of such variables.
const FAMILIES: [&str; 12] = [
    "BASH_", "DEBCONF_", "DPKG_", "GNOME_", "KDE_", "LC_", "MCPBASH_", "MCP_", "PYTHON", "SSH_", "XDG_",
    "npm_",
];

/// Variables that every shell or login sets.
const SET_BY_SHELLS: [&str; 10] =
    ["EDITOR", "FUNCNAME", "HOME", "IFS", "LINENO", "PATH", "PIPESTATUS", "PPID", "RANDOM", "SECONDS"];

const SECRETS: [&str; 8] =
    ["APIKEY", "CREDENTIALS", "PASSPHRASE", "PASSWD", "PASSWORD", "PAT", "SECRET", "TOKEN"];

/// Whether a variable can be an argument: in upper case, and nothing that the system sets or that decides what is run.
pub(super) fn is_argument(name: &str) -> bool {
    let is_upper = name.len() > 1
        && name.starts_with(|first: char| first.is_ascii_uppercase())
        && name.chars().all(|letter| letter.is_ascii_uppercase() || letter.is_ascii_digit() || letter == '_');
    let is_session = FAMILIES.iter().any(|family| name.starts_with(family));
    is_upper && !is_session && !SURROUNDINGS.contains(&name) && control(name) == Control::Free
}

/// Whether a variable comes from the user who runs the script: neither the system nor a shell sets it.
pub(super) fn is_given_by_user(name: &str) -> bool {
    is_argument(name) && !SET_BY_SHELLS.contains(&name)
}

fn is_secret(name: &str) -> bool {
    name.split('_').any(|word| SECRETS.contains(&word)) || name.ends_with("_KEY") || name.ends_with("_PASS")
}

/// Enters variables, each once; secrets stay in the environment of the server.
pub(super) fn enter(variables: Vec<ScriptVariable>, reading: &mut ScriptReading) {
    for variable in variables.into_iter().filter(|variable| is_argument(&variable.name)) {
        if is_secret(&variable.name) {
            let why = "it looks like a secret: set it in the environment of the server, where no model sees it, and name it \
                       in `env`"
                .to_owned();
            if !reading.left_out.iter().any(|(name, _)| *name == variable.name) {
                // The start of a server warns of a variable that is named and not set.
                if variable.is_required {
                    reading.passed.push(variable.name.clone());
                }
                reading.left_out.push((variable.name, why));
            }
        } else if let Some(known) = reading.variables.iter_mut().find(|known| known.name == variable.name) {
            known.is_required |= variable.is_required;
            known.default = known.default.take().or(variable.default);
        } else {
            reading.variables.push(variable);
        }
    }
}
