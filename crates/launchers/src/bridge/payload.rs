//! Payload: all files of a call, as one archive: the project's, the SDK, those of the call, and the script that sets the
//! variables and starts the tool.

use super::failure::Failure;
use crate::boot;
use crate::plan::Plan;
use crate::tar::{Archive, LARGEST};
use std::ffi::{OsStr, OsString};
use std::io::{self, ErrorKind, Read};
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::{Path, PathBuf};

/// Variables with a value of their own on the other host, or with none.
const NOT_AS_HERE: [&str; 14] = [
    "MCPBASH_BIN",
    "MCPBASH_JSON_TOOL",
    "MCPBASH_JSON_TOOL_BIN",
    "MCPBASH_STATE_DIR",
    "MCPBASH_HOME",
    "MCPBASH_TMP_ROOT",
    "MCP_ASK_SOCKET",
    "MCP_ASK_KEY",
    "MCP_ELICIT_REQUEST_FILE",
    "MCP_ELICIT_RESPONSE_FILE",
    "MCP_PROGRESS_STREAM",
    "MCP_LOG_STREAM",
    "MCP_TOOL_ERROR_FILE",
    "MCP_CANCEL_FILE",
];

/// Files of results are on the other host, where the server cannot read them.
const RESOURCES_FILE: &str = "MCP_TOOL_RESOURCES_FILE";

/// What finds a jq on the other host: its own, or the one in an installed `mcp-bash`.
const FIND_JQ: &str = r#"
MCPBASH_JSON_TOOL=jq
if ! MCPBASH_JSON_TOOL_BIN=$(command -v jq); then
	MCPBASH_JSON_TOOL_BIN=jq
	if own=$(command -v mcp-bash); then
		ln -s "$own" "$d/bin/jq"
		PATH=$PATH:$d/bin
		MCPBASH_JSON_TOOL_BIN=$d/bin/jq
	fi
fi
export PATH MCPBASH_JSON_TOOL MCPBASH_JSON_TOOL_BIN
"#;

/// The archive. Standard input of the bridge is that of the tool.
pub(super) fn build(plan: &Plan) -> Result<Vec<u8>, Failure> {
    let mut archive = Archive::default();
    let mut input = Vec::new();
    io::stdin().lock().read_to_end(&mut input)?;
    for folder in ["bin", "call", "state"] {
        archive.folder(folder.as_bytes());
    }
    archive.file(b"bin/mcp-bash", 0o700, boot::ASK.as_bytes())?;
    archive.file(b"input", 0o600, &input)?;
    let paths = Paths::of(plan);
    let carry = |archive: &mut Archive, name: &[u8], path: &Path| {
        archive.all(name, path).map_err(|source| match source.kind() {
            ErrorKind::FileTooLarge => Failure::TooMuch(LARGEST),
            _ => Failure::Carry { path: path.display().to_string(), source },
        })
    };
    if plan.project_there.is_none() {
        archive.folder(b"project");
        for path in &plan.carried {
            let Ok(inside) = path.strip_prefix(&plan.project) else { continue };
            carry(&mut archive, &[b"project/", inside.as_os_str().as_bytes()].concat(), path)?;
        }
    }
    for (index, sdk) in plan.sdk.iter().enumerate() {
        let name = format!("sdk{index}");
        archive.folder(name.as_bytes());
        for entry in std::fs::read_dir(&sdk.folder)? {
            let entry = entry?;
            let inside = entry.file_name();
            if !sdk.without.iter().any(|left_out| inside == left_out.as_str()) {
                carry(&mut archive, &[name.as_bytes(), b"/", inside.as_bytes()].concat(), &entry.path())?;
            }
        }
    }
    let script = call_script(plan, &paths, &mut archive)?;
    archive.file(b"call.sh", 0o700, &script)?;
    Ok(archive.finish())
}

/// The script that becomes the tool. Its first argument is the folder of the call there.
fn call_script(plan: &Plan, paths: &Paths<'_>, archive: &mut Archive) -> Result<Vec<u8>, Failure> {
    let mut script = b"d=$1\n".to_vec();
    let project = plan.project_there.as_ref().map(|path| quoted(path.as_os_str()));
    script.extend([b"p=", &project.unwrap_or_else(|| b"$d/project".to_vec())[..], b"\n"].concat());
    for name in &plan.variables {
        let is_special = NOT_AS_HERE.contains(&name.as_str()) || name == RESOURCES_FILE;
        let Some(value) = std::env::var_os(name).filter(|_| !is_special && is_name(name)) else { continue };
        let value = match crossing_file(plan, name, &value, archive)? {
            Some(there) => there,
            None => paths.there(&value),
        };
        script.extend([b"export ", name.as_bytes(), b"=", &value, b"\n"].concat());
    }
    let mut own = vec![
        ("MCPBASH_LAUNCH_MARK", plan.mark.clone()),
        ("MCPBASH_BIN", "$d/bin/mcp-bash".to_owned()),
        ("MCPBASH_STATE_DIR", "$d/state".to_owned()),
        ("MCP_TOOL_ERROR_FILE", "$d/error".to_owned()),
        ("MCP_CANCEL_FILE", "$d/cancel".to_owned()),
    ];
    // The side channel and questions exist there if they exist here.
    for (name, value) in
        [("MCP_PROGRESS_STREAM", "$d/lines"), ("MCP_LOG_STREAM", "$d/lines"), ("MCP_ASK_SOCKET", "$d/ask")]
    {
        if std::env::var_os(name).is_some() {
            own.push((name, value.to_owned()));
        }
    }
    for (name, value) in own {
        script.extend(format!("export {name}=\"{value}\"\n").into_bytes());
    }
    script.extend_from_slice(FIND_JQ.as_bytes());
    script.extend([b"cd ", &paths.there(plan.directory.as_os_str())[..], b" || exit 126\nexec"].concat());
    for word in &plan.words {
        script.extend([b" ", &paths.there(OsStr::new(word))[..]].concat());
    }
    script.push(b'\n');
    Ok(script)
}

/// The value of a variable that names a file of the call or a secret, which crosses with it.
fn crossing_file(
    plan: &Plan,
    name: &str,
    value: &OsStr,
    archive: &mut Archive,
) -> Result<Option<Vec<u8>>, Failure> {
    let path = Path::new(value);
    let is_descriptor = path.starts_with("/dev/fd/");
    let inside = path.strip_prefix(&plan.call_folder).ok().filter(|inside| !inside.as_os_str().is_empty());
    if !is_descriptor && inside.is_none() {
        return Ok(None);
    }
    let failed = |source| Failure::Carry { path: path.display().to_string(), source };
    let content = if is_descriptor {
        read_descriptor(path).map_err(failed)?
    } else if mcp_bash_files::look::is_file(path) {
        mcp_bash_files::read(path, LARGEST as u64).map_err(failed)?
    } else {
        return Ok(Some([b"\"$d\"/call/", &quoted(inside.unwrap_or(path).as_os_str())[..]].concat()));
    };
    archive.file(format!("call/{name}").as_bytes(), 0o600, &content)?;
    Ok(Some(format!("\"$d\"/call/{name}").into_bytes()))
}

/// The content of a descriptor that was inherited for a secret.
#[expect(clippy::disallowed_methods, reason = "a descriptor of ours, which holds a secret")]
fn read_descriptor(path: &Path) -> io::Result<Vec<u8>> {
    let mut content = Vec::new();
    std::fs::File::open(path)?.take(LARGEST as u64).read_to_end(&mut content)?;
    Ok(content)
}

/// Whether a shell can have a variable of this name.
fn is_name(name: &str) -> bool {
    let is_letter = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_';
    name.bytes().all(is_letter) && !name.starts_with(|first: char| first.is_ascii_digit()) && !name.is_empty()
}

/// Paths of this host, and the shell words for them on the other.
struct Paths<'a>(Vec<(&'a Path, String)>);

impl<'a> Paths<'a> {
    fn of(plan: &'a Plan) -> Self {
        let sdk = plan.sdk.iter().enumerate();
        let mut all: Vec<(&Path, String)> =
            sdk.map(|(index, sdk)| (sdk.folder.as_path(), format!("\"$d\"/sdk{index}"))).collect();
        all.push((&plan.call_folder, "\"$d\"/call".to_owned()));
        all.push((&plan.project, "\"$p\"".to_owned()));
        Self(all)
    }

    /// A value as a word of the shell there. Each path of this host in it, also between colons, becomes the one there.
    fn there(&self, value: &OsStr) -> Vec<u8> {
        let parts = value.as_bytes().split(|byte| *byte == b':');
        let parts: Vec<Vec<u8>> = parts.map(|part| self.part(part)).collect();
        parts.join(&b":"[..])
    }

    fn part(&self, part: &[u8]) -> Vec<u8> {
        let path = PathBuf::from(OsString::from_vec(part.to_owned()));
        for (here, there) in &self.0 {
            if let Ok(rest) = path.strip_prefix(here) {
                let rest = rest.as_os_str();
                if rest.is_empty() {
                    return there.clone().into_bytes();
                }
                return [there.as_bytes(), b"/", &quoted(rest)[..]].concat();
            }
        }
        quoted(OsStr::from_bytes(part))
    }
}

/// A value in quotes that keep every byte as it is.
fn quoted(value: &OsStr) -> Vec<u8> {
    let mut quoted = vec![b'\''];
    for byte in value.as_bytes() {
        match byte {
            b'\'' => quoted.extend_from_slice(br"'\''"),
            byte => quoted.push(*byte),
        }
    }
    quoted.push(b'\'');
    quoted
}
