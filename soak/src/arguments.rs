//! Command line of the soak test.

use crate::callers::NAMES;
use std::path::PathBuf;
use std::time::Duration;

pub(crate) const USAGE: &str = "\
Random traffic against mcp-bash, with an account of every request, process, descriptor and file.

Usage: soak [OPTION VALUE]...        over standard input and output
       soak chaos [OPTION VALUE]...  over HTTP, killing scripts and cutting connections meanwhile
       soak fleet [OPTION VALUE]...  over HTTP, to three servers with one database, of which some are cut off, frozen and killed
       soak leaks [OPTION VALUE]...  over HTTP, the same a million times, and the memory of the server meanwhile

  --binary FILE    the server, else MCPBASH_SOAK_BINARY
  --seconds N      how long to send traffic (default 60); what is open then is waited for
  --minutes N      the same in minutes
  --seed N         which random choices to make, as an earlier run printed it; else by the clock
  --servers N      how many servers live side by side (default 6), the two that stay for the whole run included
  --callers N      how many callers with names share a server over HTTP meanwhile (default 6; 0 for no such server)
  --percent N      how much of what `leaks` does is done (default 100)
  --vandal N       whether chaos removes folders, edits files and makes the server short of descriptors,
                   processes and space too (default 1; 0 for not)
  --upgrade-from FILE  the older server that each of `fleet` is until its first restart: old and new use one database,
                   and share sessions and tasks

Exit status: 0 if the server did nothing wrong, 1 if it did, 2 if the soak could not be run.
";

#[derive(Debug)]
pub(crate) struct Arguments {
    pub(crate) binary: PathBuf,
    pub(crate) length: Duration,
    pub(crate) seed: u64,
    pub(crate) servers: u32,
    /// The number of named callers.
    pub(crate) callers: usize,
    pub(crate) purpose: Purpose,
    /// The share of the leak traffic to run, in percent.
    pub(crate) percent: u64,
    /// Whether to remove folders and edit files.
    pub(crate) is_vandalised: bool,
    /// The program that the servers of a fleet are before they are restarted.
    pub(crate) older: Option<PathBuf>,
}

/// The kind of run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Purpose {
    Soak,
    Chaos,
    Fleet,
    Leaks,
}

impl Purpose {
    /// The mode that a word of the command line names.
    fn named(word: &str) -> Option<Self> {
        match word {
            "chaos" => Some(Self::Chaos),
            "fleet" => Some(Self::Fleet),
            "leaks" => Some(Self::Leaks),
            _ => None,
        }
    }
}

impl Arguments {
    /// `None` means that the user asked for help.
    pub(crate) fn read(mut given: impl Iterator<Item = String>) -> Result<Option<Self>, String> {
        let mut binary = std::env::var_os("MCPBASH_SOAK_BINARY").map(PathBuf::from);
        let (mut length, mut seed, mut servers) = (Duration::from_secs(60), None, 6);
        let (mut callers, mut is_vandalised) = (6, true);
        let (mut purpose, mut percent) = (Purpose::Soak, 100);
        let mut older = None;
        while let Some(name) = given.next() {
            if matches!(&*name, "-h" | "--help") {
                return Ok(None);
            }
            if let Some(named) = Purpose::named(&name) {
                purpose = named;
                continue;
            }
            let value = given.next().ok_or_else(|| format!("{name} needs a value"))?;
            let number = || value.parse::<u64>().map_err(|_| format!("{name} must be a number, not {value}"));
            match &*name {
                "--binary" => binary = Some(value.into()),
                "--seconds" => length = Duration::from_secs(number()?),
                "--minutes" => length = Duration::from_secs(60 * number()?),
                "--seed" => seed = Some(number()?),
                "--servers" => {
                    servers = u32::try_from(number()?)
                        .ok()
                        .filter(|count| (3..=64).contains(count))
                        .ok_or("--servers must be from 3 to 64")?;
                }
                "--callers" => {
                    callers = usize::try_from(number()?)
                        .ok()
                        .filter(|count| *count <= NAMES.len())
                        .ok_or_else(|| format!("--callers must be at most {}", NAMES.len()))?;
                }
                "--percent" => percent = number()?,
                "--vandal" => is_vandalised = number()? > 0,
                "--upgrade-from" => older = Some(value.into()),
                _ => return Err(format!("{name} is not an option")),
            }
        }
        let binary = binary.ok_or("--binary says which server; MCPBASH_SOAK_BINARY does too")?;
        let seed = seed.unwrap_or_else(seed_of_the_clock);
        if older.is_some() && purpose != Purpose::Fleet {
            return Err("--upgrade-from is an option of `fleet`".to_owned());
        }
        Ok(Some(Self { binary, length, seed, servers, callers, purpose, percent, is_vandalised, older }))
    }
}

fn seed_of_the_clock() -> u64 {
    let since = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap_or_default();
    // Short enough to type again.
    (since.as_secs() * 1000 + u64::from(since.subsec_millis())) % 1_000_000_000
}
