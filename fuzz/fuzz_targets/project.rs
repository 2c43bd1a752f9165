//! Arbitrary bytes as the files of a project: the project is always read, and the result is one line of JSON.
#![no_main]

use libfuzzer_sys::fuzz_target;
use mcp_bash_project::{Catalog, Paths, Reading};
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;
use std::sync::OnceLock;

fuzz_target!(|bytes: &[u8]| {
    let Some((choice, bytes)) = bytes.split_first() else { return };
    let paths = Paths::of(project());
    let file = match choice % 8 {
        0 => paths.tools.join("a/tool.meta.json"),
        1 => paths.tools.join("b/tool.meta.yaml"),
        2 => paths.tools.join("c/tool.sh"),
        3 => paths.prompts.join("a.meta.json"),
        4 => paths.prompts.join("a.txt"),
        5 => paths.registry.join("prompts.json"),
        6 => paths.server.join("register.json"),
        _ => paths.registry.join("tools.json"),
    };
    let before = fs::read(&file).ok();
    fs::write(&file, bytes).unwrap();
    let catalog = Catalog::read(&paths, &Reading::default());
    for prompt in catalog.prompts.items() {
        let text = prompt.registry_text();
        assert!(!text.contains('\n'), "{text:?}");
        serde_json::from_str::<serde_json::Value>(text).unwrap();
    }
    for tool in catalog.tools.items() {
        let text = tool.registry_text();
        assert!(!text.contains('\n'), "{text:?}");
        serde_json::from_str::<serde_json::Value>(text).unwrap();
        assert!(tool.input_schema.get().starts_with('{'));
    }
    assert_eq!(catalog.tools.hash().len(), 64);
    match before {
        Some(text) => fs::write(&file, text).unwrap(),
        None => fs::remove_file(&file).unwrap(),
    }
});

/// A project with a tool for each form of metadata, and a prompt.
fn project() -> &'static PathBuf {
    static ROOT: OnceLock<PathBuf> = OnceLock::new();
    ROOT.get_or_init(|| {
        let root = std::env::temp_dir().join(format!("mcp-bash-fuzz-{}", std::process::id()));
        for folder in ["tools/a", "tools/b", "tools/c", "prompts", "server.d", ".registry"] {
            fs::create_dir_all(root.join(folder)).unwrap();
        }
        for tool in ["a", "b", "c"] {
            let script = root.join(format!("tools/{tool}/tool.sh"));
            fs::write(&script, "#!/bin/sh\n").unwrap();
            fs::set_permissions(&script, fs::Permissions::from_mode(0o755)).unwrap();
        }
        fs::write(root.join("prompts/a.txt"), "{{a}}").unwrap();
        root
    })
}
