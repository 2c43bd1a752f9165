//! Test subjects of a project, and the default subject of a case.

use crate::cases::case::Subject;
use mcp_bash_project::Catalog;
use std::path::{Path, PathBuf};

/// Something that can be tested, and its file.
#[derive(Debug, Clone)]
struct Testable {
    name: String,
    file: PathBuf,
    subject: Subject,
}

#[derive(Debug, Clone)]
pub(crate) struct Subjects {
    testable: Vec<Testable>,
    root: PathBuf,
    tools: PathBuf,
    /// Folders that belong to no single subject.
    shared: Vec<PathBuf>,
}

impl Testable {
    fn folder(&self) -> &Path {
        self.file.parent().unwrap_or(Path::new(""))
    }
}

impl Subjects {
    pub(crate) fn of(catalog: &Catalog) -> Self {
        let paths = &catalog.paths;
        let tools = catalog.tools.items().iter().map(|tool| Testable {
            name: tool.name.clone(),
            file: tool.script.clone(),
            subject: Subject::Tool(tool.name.clone()),
        });
        let prompts = catalog.prompts.items().iter().map(|prompt| Testable {
            name: prompt.name.clone(),
            file: prompt.file.clone(),
            subject: Subject::Prompt(prompt.name.clone()),
        });
        let resources = catalog.resources.items().iter().map(|resource| Testable {
            name: resource.about.name.clone(),
            file: match &resource.function {
                Some(served_by) => served_by.file.clone(),
                None => paths.resources.join(&resource.path),
            },
            subject: Subject::Resource(resource.uri.clone()),
        });
        let testable = tools.chain(prompts).chain(resources).collect();
        let shared = [&paths.tools, &paths.prompts, &paths.resources].map(Clone::clone).into();
        Self { testable, root: paths.root.clone(), tools: paths.tools.clone(), shared }
    }

    /// The names of all tools, sorted.
    pub(crate) fn tool_names(&self) -> Vec<String> {
        let tools = self.testable.iter().filter(|testable| matches!(testable.subject, Subject::Tool(_)));
        let mut names: Vec<String> = tools.map(|tool| tool.name.clone()).collect();
        names.sort();
        names.dedup();
        names
    }

    /// Whether a changed file, which belongs to no test, may affect a subject: it is in the subject's folder, or in a
    /// shared one.
    pub(crate) fn is_concerned(&self, subject: &Subject, file: &Path) -> bool {
        let is_own =
            |folder: &Path| !self.shared.iter().any(|shared| shared == folder) && file.starts_with(folder);
        let mut owners = self.testable.iter().filter(|testable| is_own(testable.folder())).peekable();
        owners.peek().is_none() || owners.any(|owner| owner.subject == *subject)
    }

    /// The default subject of the cases in a file: the entry in the folder beside it. Of several, the one with the name of
    /// the case file or in a file of that name, otherwise the one with the name of the folder.
    pub(crate) fn usual(&self, file: &Path) -> Result<Subject, String> {
        let stem = file.file_stem().unwrap_or_default().to_string_lossy();
        let owner = file.parent().and_then(Path::parent).unwrap_or(Path::new(""));
        let is_anywhere = owner == self.root;
        let here: Vec<&Testable> =
            self.testable.iter().filter(|testable| is_anywhere || testable.folder() == owner).collect();
        let called = |name: &str| here.iter().find(|testable| testable.name == name);
        if let Some(found) = called(&stem) {
            return Ok(found.subject.clone());
        }
        let in_file: Vec<&&Testable> =
            here.iter().filter(|testable| testable.file.file_stem() == file.file_stem()).collect();
        match in_file.as_slice() {
            [] => {}
            [only] => return Ok(only.subject.clone()),
            [first, ..] => {
                let file = first.file.file_name().unwrap_or_default().to_string_lossy();
                return Err(format!(
                    "there are several things to test in {file}; say which with `tool: NAME`"
                ));
            }
        }
        if is_anywhere || owner == self.tools {
            return Err(format!(
                "there is no tool, prompt or resource called `{stem}`; say what it tests with `tool: NAME`"
            ));
        }
        match here.as_slice() {
            [only] => Ok(only.subject.clone()),
            [] => {
                Err("nothing in the folder above can be tested; say what it tests with `tool: NAME`, or see \
                       `mcp-bash health`"
                    .to_owned())
            }
            _ => {
                let folder = owner.file_name().unwrap_or_default().to_string_lossy();
                called(&folder).map(|found| found.subject.clone()).ok_or_else(|| {
                    "there are several things to test in the folder above; say which with `tool: NAME`"
                        .to_owned()
                })
            }
        }
    }
}
