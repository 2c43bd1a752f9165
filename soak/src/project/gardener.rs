//! Gardener: changes a project while servers serve it: entries are added, removed, broken and fixed. Entries that calls
//! rely on stay, or are replaced by equivalent ones.

use super::{PRELUDE, Project, honest};
use crate::random::Random;
use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::PoisonError;

#[derive(Debug)]
pub(crate) struct Gardener {
    random: Random,
    changes: u64,
}

impl Gardener {
    pub(crate) fn new(random: Random) -> Self {
        Self { random, changes: 0 }
    }

    /// Changes something. A change that fails (such as removing a missing file) is skipped.
    pub(crate) fn change(&mut self, project: &Project) -> Option<()> {
        self.changes += 1;
        let (number, news) = (self.random.below(6), self.changes);
        let path = |path: &str| project.root().join(path);
        let extra = format!("tools/extra-{number}");
        match self.random.below(18) {
            0 | 1 => project
                .tool(&format!("extra-{number}"), 5, &format!("{PRELUDE}echo \"$word extra {news}\"\n"))
                .ok(),
            2 => fs::remove_dir_all(path(&extra)).ok(),
            3 => project.file(&format!("{extra}/tool.meta.json"), "{\"name\": nonsense").ok(),
            4 => {
                let (name, timeout, body) = self.random.pick(honest::TOOLS);
                project.tool(name, *timeout, &format!("{PRELUDE}{body}# change {news}\n")).ok()
            }
            5 => project.file("resources/changing.txt", &format!("{news}\n")).ok(),
            6 => project.file(&format!("resources/extra-{number}.txt"), &format!("{news}\n")).ok(),
            7 => fs::remove_file(path(&format!("resources/extra-{number}.txt"))).ok(),
            8 => project
                .file(&format!("resources/extra-{number}.meta.json"), "{\"uri\": 5, \"name\": []}")
                .ok(),
            9 => project.file(&format!("prompts/extra-{number}.md"), &format!("Prompt {news}\n")).ok(),
            10 => fs::remove_file(path(&format!("prompts/extra-{number}.md"))).ok(),
            11 => fs::rename(path(&extra), path(&format!("tools/moved-{number}"))).ok(),
            12 => fs::remove_dir_all(path(&format!("tools/moved-{number}"))).ok(),
            13 => self.settings(project),
            14 => project.file("server.d/server.meta.json", self.identity()).ok(),
            15 => self.oddity(&path("tools/odd"), "tool.meta.json"),
            16 => self.oddity(&path("resources"), "odd.txt"),
            _ => self.oddity(&path("prompts"), "odd.meta.json"),
        }
    }

    /// A registration replaces discovery, so only entries that no call uses are registered.
    fn settings(&mut self, project: &Project) -> Option<()> {
        let file = "server.d/register.json";
        if self.random.chance(50) {
            return project.file(file, "{\"version\": 1, \"completions\": []}").ok();
        }
        fs::remove_file(project.root().join(file)).ok()
    }

    /// The identity of the server: valid, or broken.
    fn identity(&mut self) -> &'static str {
        let texts: [&'static str; 4] =
            ["{\"name\": \"soak\", \"version\": \"2.0.0\"}", "{\"name\": nonsense", "[]", ""];
        let text: &&'static str = self.random.pick(&texts);
        text
    }

    /// Puts a special file in place of a file, or removes it again.
    fn oddity(&mut self, folder: &Path, name: &str) -> Option<()> {
        let place = folder.join(name);
        fs::create_dir_all(folder).ok()?;
        let _ = fs::remove_file(&place).or_else(|_| fs::remove_dir_all(&place));
        match self.random.below(5) {
            0 => make_fifo(&place),
            1 => fs::create_dir(&place).ok(),
            2 => symlink("/dev/zero", &place).ok(),
            3 => symlink(name, &place).ok(),
            _ => Some(()),
        }
    }
}

/// With the `mkfifo` program, because not every system has a safe call for it.
fn make_fifo(place: &Path) -> Option<()> {
    let _alone = super::STARTING.lock().unwrap_or_else(PoisonError::into_inner);
    let made = Command::new("mkfifo").arg(place).stdin(Stdio::null()).stderr(Stdio::null()).status();
    made.ok()?.success().then_some(())
}
