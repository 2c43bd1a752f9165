//! Origins: where each field that clients see comes from: metadata, a comment, or the name of a file or folder.

use crate::declarations::metadata::Metadata;
use crate::ground::json::LONGEST;
use crate::walk::entry::default_name;
use crate::walk::listing::{metadata_names, metadata_stem};
use crate::{Catalog, Execution, Source};
use mcp_bash_files::look;
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

/// An entry of a project, or the server itself, and the origin of each of its fields.
#[derive(Debug)]
pub struct Explained {
    /// `server`, `tool`, `prompt`, `resource` or `template`.
    pub kind: &'static str,
    pub name: String,
    pub file: PathBuf,
    pub origins: Vec<Origin>,
}

/// One field that clients see.
#[derive(Debug, PartialEq, Eq)]
pub struct Origin {
    pub field: &'static str,
    pub value: String,
    pub from: String,
}

/// Explains the server and all entries of a project, in their order.
pub fn origins(catalog: &Catalog) -> Vec<Explained> {
    let (paths, mut all) = (&catalog.paths, vec![server(catalog)]);
    for tool in catalog.tools.items() {
        let written = match &tool.execution {
            Execution::Provider => Written::listed(),
            _ if tool.is_function() => Written::of_function(),
            _ => Written::of(&tool.script),
        };
        let schema = |metadata: &Metadata| metadata.input_schema.is_some() || metadata.arguments.is_some();
        let schema = match &written.metadata {
            Some(metadata) if schema(metadata) => written.place.clone(),
            _ if tool.execution.mapping().is_some() => "made from what its program is given".to_owned(),
            _ if !written.is_known() => written.place.clone(),
            _ => "nothing is said, so that any arguments are taken".to_owned(),
        };
        let mut origins = vec![written.name(&tool.name, &tool.script, "tool")];
        origins.extend(written.text("title", tool.title.as_deref()));
        origins.extend(written.text("description", tool.description.as_deref()));
        origins.push(Origin { field: "inputSchema", value: String::new(), from: schema });
        all.push(Explained { kind: "tool", name: tool.name.clone(), file: tool.script.clone(), origins });
    }
    for prompt in catalog.prompts.items() {
        let is_function = matches!(prompt.source, Source::Function(_));
        let written = if is_function { Written::of_function() } else { Written::of(&prompt.file) };
        let mut origins = vec![written.name(&prompt.name, &prompt.file, "prompt")];
        origins.extend(written.text("title", prompt.title.as_deref()));
        origins.extend(written.text("description", prompt.description.as_deref()));
        all.push(Explained { kind: "prompt", name: prompt.name.clone(), file: prompt.file.clone(), origins });
    }
    let resources = catalog.resources.items().iter();
    let resources = resources
        .map(|known| ("resource", &known.about, &*known.path, "uri", known.uri.as_str(), &known.function));
    let templates = catalog.templates.items().iter();
    let templates = templates.map(|known| {
        ("template", &known.about, &*known.path, "uriTemplate", known.template.as_str(), &known.function)
    });
    for (kind, about, path, field, uri, function) in resources.chain(templates) {
        let file = match (function, path) {
            (Some(function), _) => function.file.clone(),
            (None, "") => paths.server.join("register.json"),
            (None, path) => paths.resources.join(path),
        };
        let written = match (function, path) {
            (Some(_), _) => Written::of_function(),
            (None, "") => Written::registered(),
            (None, _) => Written::of(&file),
        };
        let is_elsewhere = function.is_some() || path.is_empty();
        let given = written.metadata.as_ref();
        let has_uri = given.is_some_and(|given| given.uri.is_some() || given.uri_template.is_some());
        let has_type = given.is_some_and(|given| given.mime_type.is_some());
        let from = |is_given: bool, otherwise: &str| {
            if is_given || is_elsewhere { written.place.clone() } else { otherwise.to_owned() }
        };
        let mut origins = vec![written.name(&about.name, &file, "resource")];
        origins.extend(written.text("title", about.title.as_deref()));
        origins.extend(written.text("description", about.description.as_deref()));
        origins.push(Origin { field, value: uri.to_owned(), from: from(has_uri, "the path of the file") });
        origins.extend(about.mime_type.as_ref().map(|value| Origin {
            field: "mimeType",
            value: value.clone(),
            from: from(has_type, "the name and the beginning of the file"),
        }));
        all.push(Explained { kind, name: about.name.clone(), file, origins });
    }
    all
}

fn server(catalog: &Catalog) -> Explained {
    let (paths, identity) = (&catalog.paths, &catalog.identity);
    let file = paths.server.join("server.meta.json");
    let text = mcp_bash_files::read_text(&file, LONGEST).unwrap_or_default();
    let written: serde_json::Value =
        serde_json::from_str(text.trim_start_matches('\u{feff}')).unwrap_or_default();
    let is_given = |field: &str| written[field].as_str().is_some_and(|value| !value.trim().is_empty());
    let own = "server.d/server.meta.json";
    let version_file = || {
        let version = mcp_bash_files::read_text(&paths.root.join("VERSION"), LONGEST).unwrap_or_default();
        match version.trim() {
            "" if identity.version == "0.0.0" => "nothing is said",
            "" => "package.json",
            _ => "VERSION",
        }
    };
    let origin = |field, value: &str, otherwise: &str| Origin {
        field,
        value: value.to_owned(),
        from: if is_given(field) { own.to_owned() } else { otherwise.to_owned() },
    };
    let origins = vec![
        origin("name", &identity.name, "the name of the folder"),
        origin("title", &identity.title, "made from the name"),
        origin("version", &identity.version, version_file()),
    ];
    Explained { kind: "server", name: identity.name.clone(), file: paths.root.clone(), origins }
}

/// What the author wrote about an entry, and where.
struct Written {
    /// For people to read.
    place: String,
    metadata: Option<Metadata>,
}

impl Written {
    /// The description beside a file or inside it.
    fn of(file: &Path) -> Self {
        let name = |path: &Path| path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let beside = metadata_beside(file);
        if let Some(path) = beside {
            return Self { place: name(&path), metadata: Metadata::from_file(&path).ok() };
        }
        match Metadata::inline(file) {
            Ok(Some(metadata)) => Self { place: "its `# mcp:` line".to_owned(), metadata: Some(metadata) },
            _ => Self { place: String::new(), metadata: None },
        }
    }

    fn listed() -> Self {
        Self { place: "what its executable lists".to_owned(), metadata: None }
    }

    fn of_function() -> Self {
        Self { place: "its function".to_owned(), metadata: None }
    }

    fn registered() -> Self {
        Self { place: "the registration in server.d".to_owned(), metadata: None }
    }

    /// Whether the description could be read.
    fn is_known(&self) -> bool {
        self.metadata.is_some() || self.place.is_empty()
    }

    fn name(&self, value: &str, file: &Path, kind: &str) -> Origin {
        let given = self.metadata.as_ref().and_then(|metadata| metadata.name.as_deref());
        let own = match file.file_name().and_then(metadata_stem) {
            Some(stem) => file.with_file_name(OsStr::from_bytes(stem)),
            None => file.to_owned(),
        };
        let is_called_as_its_kind = own.file_stem().is_some_and(|stem| stem == kind);
        let from = if given == Some(value) || !self.is_known() {
            self.place.clone()
        } else if value != default_name(&own, kind) {
            Self::registered().place
        } else if is_called_as_its_kind {
            "the name of the folder".to_owned()
        } else {
            "the name of the file".to_owned()
        };
        Origin { field: "name", value: value.to_owned(), from }
    }

    fn text(&self, field: &'static str, value: Option<&str>) -> Option<Origin> {
        let value = value.filter(|value| !value.is_empty())?.to_owned();
        let from = if self.place.is_empty() { Self::registered().place } else { self.place.clone() };
        Some(Origin { field, value, from })
    }
}

/// The metadata file that describes a file; it may be that file itself.
pub fn metadata_beside(file: &Path) -> Option<PathBuf> {
    let name = file.file_name()?;
    if metadata_stem(name).is_some() {
        return Some(file.to_owned());
    }
    metadata_names(file).find(|path| look::is_file(path))
}
