//! The home and the temporary folder of a call are its own, and empty at its beginning.

use super::arena::Arena;
use super::identity::Identity;
use crate::harness::Project;
use serde_json::json;

/// Says what it finds, and leaves something in every way that it can.
const MESSY: &str = r#"#!/usr/bin/env bash
echo "found: $(ls -A "$TMPDIR" "$HOME" | grep -v : | tr -d '\n')"
mkdir -p "$TMPDIR/folder/in/folder" "$HOME/.config"
echo left >"$TMPDIR/folder/file"; echo left >"$HOME/.bashrc"; echo 'echo attacked' >"$HOME/.profile"
ln -s / "$TMPDIR/root"; ln -s /etc/passwd "$HOME/link"; mkfifo "$TMPDIR/pipe"
chmod 0 "$TMPDIR/folder/in"; chmod 0500 "$TMPDIR/folder"
(chmod 0777 "$TMPDIR" "$HOME"; chmod 0 "$HOME") 2>/dev/null
echo done
"#;

#[test]
fn nothing_of_a_call_is_there_in_the_next() {
    let metadata = json!({ "description": "Leaves a mess", "sandbox": "on" }).to_string();
    for identity in Identity::all() {
        let project =
            Project::new().script("tools/messy/tool.sh", MESSY).file("tools/messy/tool.meta.json", &metadata);
        let mut arena = Arena::with_project(identity, project);
        for call in 0..5 {
            assert_eq!(arena.call("messy", &json!({})), "found: \ndone", "call {call}, {identity:?}");
        }
    }
}

/// The folders of a call lead nowhere else, even if the call replaces them.
#[test]
fn replaced_folders_lead_nowhere() {
    let script = "#!/usr/bin/env bash\nmv \"$TMPDIR\" \"$TMPDIR.moved\" 2>/dev/null && echo moved\n\
                  rm -rf \"$TMPDIR\" 2>/dev/null; ln -s / \"$TMPDIR\" 2>/dev/null && [ -L \"$TMPDIR\" ] && echo replaced\necho done\n";
    let metadata = json!({ "description": "Replaces its folder", "sandbox": "on" }).to_string();
    for identity in Identity::all() {
        let project = Project::new()
            .script("tools/replacing/tool.sh", script)
            .file("tools/replacing/tool.meta.json", &metadata);
        let mut arena = Arena::with_project(identity, project);
        for call in 0..3 {
            assert_eq!(arena.call("replacing", &json!({})), "done", "call {call}, {identity:?}");
        }
    }
}
