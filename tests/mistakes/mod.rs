//! Common mistakes of authors and users: each message names the cause and the next step.

mod table;

use crate::harness::{Project, Server};
use std::process::Stdio;
use table::{Mistake, TABLE};

/// The folder of a project with these files. A path that ends with `*` is a script.
fn project(files: &[(&str, &str)]) -> Project {
    files.iter().fold(Project::new(), |project, (path, text)| match path.strip_suffix('*') {
        Some(path) => project.script(path, text),
        None => project.file(path, text),
    })
}

/// Everything that the program prints.
fn printed(mistake: &Mistake) -> String {
    let project = project(mistake.files);
    let output = Server::command()
        .args(mistake.run)
        .envs(mistake.environment.iter().copied())
        .current_dir(project.root())
        .stdin(Stdio::null())
        .output()
        .expect("the binary runs");
    [output.stdout, output.stderr].map(|text| String::from_utf8_lossy(&text).into_owned()).concat()
}

#[test]
fn each_message_names_the_cause_and_the_next_step() {
    let mut wrong = Vec::new();
    for mistake in TABLE {
        let printed = printed(mistake);
        for (part, words) in [("cause", mistake.cause), ("next step", mistake.next)] {
            if !printed.contains(words) {
                wrong.push(format!("{}: no {part} {words:?} in:\n{printed}", mistake.name));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert!(TABLE.len() >= 60, "{}", TABLE.len());
}
