//! Commands of a launcher: the words of each, for one call. No shell reads them.

use crate::boot;
use crate::error::LauncherError;
use crate::launcher::Kind;
use serde::{Deserialize, Serialize};
use serde_json::json;

/// How much longer a job may exist than its call, in seconds. It bounds a job whose server has died.
const MARGIN: u64 = 60;

/// The commands of one call.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Commands {
    /// They are run first, one after the other.
    pub before: Vec<Step>,
    /// Starts the shell on the other host, connected to its standard streams.
    pub run: Vec<String>,
    /// Ends the call where closing its standard input does not, as for a job that waits in a queue.
    pub cancel: Option<Vec<String>>,
    /// Is run at the end, however the call ended.
    pub after: Option<Vec<String>>,
}

/// A command that is run to its end, and its standard input.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Step {
    pub words: Vec<String>,
    pub input: String,
}

impl Commands {
    pub(crate) fn of(kind: &Kind, id: &str, seconds: u64) -> Self {
        match kind {
            Kind::Ssh { host, options } => {
                let words = ["ssh", "-T", "-o", "BatchMode=yes"];
                let later = ["-o", "ConnectTimeout=20", "-o", "ServerAliveInterval=15", "--"];
                Self::run(joined(&words, options, &[&later[..], &[host, &boot::line()]].concat()))
            }
            Kind::Slurm { options } => {
                let (name, minutes) = (format!("--job-name={id}"), seconds.div_ceil(60) + 1);
                let time = format!("--time={minutes}");
                let words = ["srun", "--quiet", "--ntasks=1", "--unbuffered", &name, &time];
                let cancel = ["scancel", "--quiet", &format!("--name={id}")].map(str::to_owned);
                Self { cancel: Some(cancel.into()), ..Self::run(joined(&words, options, &boot::words())) }
            }
            Kind::Kubernetes { image, namespace, options } => {
                kubernetes(image, namespace.as_deref(), options, id, seconds)
            }
            Kind::Custom { run, cancel } => {
                let filled = |words: &[String]| fill(words, id, seconds);
                let mut words = filled(run);
                if !run.iter().any(|word| is_command(word)) {
                    words.extend(boot::words().map(str::to_owned));
                }
                Self { cancel: cancel.as_deref().map(filled), ..Self::run(words) }
            }
        }
    }

    fn run(run: Vec<String>) -> Self {
        Self { before: Vec::new(), run, cancel: None, after: None }
    }
}

fn joined(first: &[&str], options: &[String], last: &[&str]) -> Vec<String> {
    let options = options.iter().map(String::as_str);
    first.iter().copied().chain(options).chain(last.iter().copied()).map(str::to_owned).collect()
}

/// A Job whose pod waits, and a shell in that pod. Deleting the Job ends everything in the pod.
fn kubernetes(image: &str, namespace: Option<&str>, options: &[String], id: &str, seconds: u64) -> Commands {
    let namespace = namespace.map(|namespace| format!("--namespace={namespace}"));
    let kubectl = |words: &[&str]| {
        let words = namespace.as_deref().into_iter().chain(words.iter().copied()).collect::<Vec<_>>();
        joined(&["kubectl"], options, &words)
    };
    let life = seconds + MARGIN;
    let container = json!({
        "name": "tool",
        "image": image,
        "command": ["sh", "-c", format!("trap 'exit 0' TERM; sleep {life} & wait")],
    });
    let manifest = json!({
        "apiVersion": "batch/v1",
        "kind": "Job",
        "metadata": { "name": id, "labels": { "app.kubernetes.io/managed-by": "mcp-bash" } },
        "spec": {
            "backoffLimit": 0,
            "activeDeadlineSeconds": life,
            "ttlSecondsAfterFinished": MARGIN,
            "template": { "spec": { "restartPolicy": "Never", "containers": [container] } },
        },
    });
    let job = format!("job/{id}");
    let timeout = format!("--timeout={seconds}s");
    let delete = kubectl(&["delete", &job, "--ignore-not-found", "--wait=false"]);
    Commands {
        before: vec![
            Step { words: kubectl(&["create", "--filename=-"]), input: manifest.to_string() },
            Step {
                words: kubectl(&["wait", "--for=jsonpath={.status.ready}=1", &job, &timeout]),
                input: String::new(),
            },
        ],
        run: kubectl(&[&["exec", "--stdin", "--quiet", &job, "--"], &boot::words()[..]].concat()),
        cancel: Some(delete.clone()),
        after: Some(delete),
    }
}

/// The word that stands for the words of the command.
const COMMAND: &str = "{command}";

/// The placeholder for the command as one word.
const COMMAND_LINE: &str = "{command_line}";

fn is_command(word: &str) -> bool {
    word == COMMAND || word.contains(COMMAND_LINE)
}

/// Refuses words with placeholders that are not known, or with the command in a place where it would be torn apart.
pub(crate) fn check(key: &'static str, words: &[String]) -> Result<(), LauncherError> {
    for word in words {
        for found in placeholders(word) {
            if !["{id}", "{seconds}", COMMAND, COMMAND_LINE].contains(&found) {
                return Err(LauncherError::Placeholder { key, found: found.to_owned() });
            }
        }
    }
    if words[0].starts_with('-') {
        return Err(LauncherError::Option { key, value: words[0].clone() });
    }
    let is_torn = |word: &String| word.contains(COMMAND) && word != COMMAND;
    let most = usize::from(key == "run");
    if words.iter().any(is_torn) || words.iter().filter(|word| is_command(word)).count() > most {
        return Err(LauncherError::Command { key });
    }
    Ok(())
}

/// What looks like a placeholder in a word: small letters and `_` between braces.
fn placeholders(word: &str) -> impl Iterator<Item = &str> {
    let starts = word.match_indices('{').map(|(start, _)| start);
    starts.filter_map(|start| {
        let rest = &word[start..];
        let end = rest.find('}')?;
        let name = &rest[1..end];
        let is_name = !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_lowercase() || byte == b'_');
        is_name.then_some(&rest[..=end])
    })
}

fn fill(words: &[String], id: &str, seconds: u64) -> Vec<String> {
    let mut filled = Vec::new();
    for word in words {
        if word == COMMAND {
            filled.extend(boot::words().map(str::to_owned));
        } else {
            let word = word.replace("{id}", id).replace("{seconds}", &seconds.to_string());
            filled.push(word.replace(COMMAND_LINE, &boot::line()));
        }
    }
    filled
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(words: &[&str]) -> Vec<String> {
        words.iter().copied().map(str::to_owned).collect()
    }

    #[test]
    fn a_host_of_ssh_comes_after_the_end_of_options_and_before_one_constant_word() {
        let kind = Kind::Ssh { host: "build1".to_owned(), options: words(&["-p", "22"]) };
        let run = Commands::of(&kind, "mcpbash-1", 60).run;
        let end = run.iter().position(|word| word == "--").unwrap();
        assert_eq!(run[end + 1..], words(&["build1", &boot::line()]));
        assert!(run[..end].windows(2).any(|pair| pair == words(&["-p", "22"])));
        assert_eq!(run, Commands::of(&kind, "mcpbash-2", 90).run);
    }

    #[test]
    fn placeholders_are_filled_and_the_command_is_added_where_it_is_missing() {
        let kind = Kind::Custom {
            run: words(&["start", "--name={id}", "{{.Id}}", "--time={seconds}"]),
            cancel: Some(words(&["stop", "{id}"])),
        };
        let commands = Commands::of(&kind, "mcpbash-1", 60);
        assert_eq!(commands.run[..4], words(&["start", "--name=mcpbash-1", "{{.Id}}", "--time=60"]));
        assert_eq!(commands.run[4..], boot::words());
        assert_eq!(commands.cancel, Some(words(&["stop", "mcpbash-1"])));
    }

    #[test]
    fn words_that_would_be_misread_are_refused() {
        for run in [&["-x"][..], &["a", "{nonsense}"], &["a", "x{command}"], &["a", "{command}", "{command}"]]
        {
            assert!(check("run", &words(run)).is_err(), "{run:?}");
        }
        assert!(check("cancel", &words(&["a", "{command}"])).is_err());
        assert!(check("run", &words(&["docker", "{{.Id}}", "{}", "{command}"])).is_ok());
    }
}
