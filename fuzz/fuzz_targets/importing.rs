//! Arbitrary text as the source of an import: the tools always have names that clients accept, and commands
//! whose program only the importing user has chosen.
#![no_main]

use libfuzzer_sys::fuzz_target;
use mcp_bash_importing::{
    FileLocation, HelpChoices, Imported, ScriptCommand, ScriptLanguage, read_help, read_justfile, read_makefile, read_package_json,
    read_script, read_taskfile, shell_traps,
};

fuzz_target!(|bytes: &[u8]| {
    let [choice, text @ ..] = bytes else { return };
    let text = String::from_utf8_lossy(text);
    let place = FileLocation { folder: "folder", file: "file" };
    let imported = match choice % 9 {
        0 => Ok(read_justfile(&text, place)),
        1 => Ok(read_makefile(&text, place)),
        2 => read_package_json(&text, place),
        3 => read_taskfile(&text, place),
        4 => read_help(&["program".to_owned(), "command".to_owned()], &text, HelpChoices::default()),
        language => {
            let language = match language {
                5 => ScriptLanguage::Shell,
                6 => ScriptLanguage::Python,
                7 => ScriptLanguage::Node,
                _ => ScriptLanguage::Perl,
            };
            shell_traps(&text);
            let words = ["program".to_owned()];
            let command = ScriptCommand { name: "script", words: &words, is_own: true, all_options: choice % 2 == 0 };
            read_script(&text, language, command)
        }
    };
    let Imported { tools, .. } = imported.unwrap_or_default();
    for tool in tools {
        let fits = |name: &str| name.len() <= 64 && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_' || c == '-');
        assert!(fits(&tool.name) && !tool.name.is_empty(), "{}", tool.name);
        assert!(tool.arguments.iter().all(|argument| fits(&argument.name)), "{:?}", tool.arguments);
        let program = tool.metadata()["command"][0].as_str().map(str::to_owned);
        let known = ["just", "make", "npm", "pnpm", "yarn", "bun", "task", "program"];
        assert!(program.is_some_and(|program| known.contains(&&*program)));
    }
});
