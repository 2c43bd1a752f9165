//! Published JSON schemas of our files, copied into a project so that editors complete and explain, even offline.

use super::Draft;
use std::path::{Component, Path};

/// Their folder in a project. Hidden folders are never searched.
pub(crate) const FOLDER: &str = ".schemas";

macro_rules! schemas {
    ($($name:literal),* $(,)?) => {
        &[$(($name, include_str!(concat!("../../../../../schemas/", $name, ".schema.json")))),*]
    };
}

/// The name and the text of each.
pub(crate) const SCHEMAS: &[(&str, &str)] =
    schemas!["policy", "prompt", "register", "resource", "roles", "server", "test", "tool"];

/// Adds those that a project does not have.
pub(crate) fn add_missing(root: &Path, draft: &mut Draft) {
    for (name, text) in SCHEMAS {
        let file = root.join(FOLDER).join(format!("{name}.schema.json"));
        if !super::draft::is_there(&file) {
            draft.file(file, *text);
        }
    }
}

/// The relative path from `folder` to the folder of the schemas.
pub(crate) fn path_to_schemas(root: &Path, folder: &Path) -> String {
    let Ok(below) = folder.strip_prefix(root) else {
        return root.join(FOLDER).to_string_lossy().into_owned();
    };
    let up = below.components().filter(|part| matches!(part, Component::Normal(_))).map(|_| "../");
    format!("{}{FOLDER}", if up.clone().count() == 0 { "./".to_owned() } else { up.collect() })
}

#[cfg(test)]
mod tests {
    use super::path_to_schemas;
    use std::path::Path;

    #[test]
    fn the_schemas_are_found_from_every_folder() {
        let path = |folder: &str| path_to_schemas(Path::new("/p"), Path::new(folder));
        assert_eq!(path("/p"), "./.schemas");
        assert_eq!(path("/p/server.d"), "../.schemas");
        assert_eq!(path("/p/tools/a"), "../../.schemas");
        assert_eq!(path("/elsewhere/tools/a"), "/p/.schemas");
    }
}
