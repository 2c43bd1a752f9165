//! SDK not sourced: explains why a script does not find a function of the SDK.

/// The function of the bash SDK that a shell did not find, if the script's standard error reports one.
pub fn sdk_not_sourced(errors: &str) -> Option<String> {
    let name = errors.lines().find_map(|line| {
        let command =
            line.strip_suffix(": command not found").or_else(|| line.strip_suffix(": not found"))?;
        let name = command.rsplit(": ").next()?;
        (name.starts_with("mcp_") && name.chars().all(|c| c.is_ascii_lowercase() || c == '_')).then_some(name)
    })?;
    Some(format!(
        "`{name}` is a function of the SDK; begin the script with `#!/usr/bin/env bash` and `source \"$MCP_SDK/tool-sdk.sh\"`."
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_missing_function_of_the_sdk_is_explained() {
        let said = sdk_not_sourced("x\ntool.sh: line 2: mcp_emit_text: command not found\n").unwrap();
        assert!(
            said.contains("`mcp_emit_text`") && said.contains("source \"$MCP_SDK/tool-sdk.sh\""),
            "{said}"
        );
        assert!(sdk_not_sourced("tool.sh: 2: mcp_progress: not found").is_some());
        for other in ["tool.sh: line 2: kubectl: command not found", "mcp_emit_text failed", ""] {
            assert_eq!(sdk_not_sourced(other), None, "{other}");
        }
    }
}
