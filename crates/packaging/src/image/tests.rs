//! Tests of container images as text.

use super::*;

fn programs(names: &[&str]) -> BTreeSet<String> {
    names.iter().map(|name| (*name).to_owned()).collect()
}

#[test]
fn only_what_scripts_call_is_installed() {
    let facts = ImageFacts {
        title: "Tracker\nRUN rm -rf /".into(),
        programs: programs(&["bash", "python3", "curl", "jq", "frobnicate"]),
        program: ProgramSource::File(".mcp-bash/mcp-bash".into()),
        ..ImageFacts::default()
    };
    let made = Containerfile::new(&facts);
    assert_eq!(made.unknown, ["frobnicate"]);
    let installed: Vec<&str> = made.text.lines().filter(|line| line.contains("apt-get install")).collect();
    assert_eq!(installed, [" && apt-get install -y --no-install-recommends curl ca-certificates python3 \\"]);
    assert!(
        made.text.contains("\nCOPY --chmod=0755 [\".mcp-bash/mcp-bash\",\"/usr/local/bin/mcp-bash\"]\n"),
        "{}",
        made.text
    );
    assert!(!made.text.contains("\nRUN rm -rf /\n") && !made.text.contains("AS program"), "{}", made.text);
    assert!(
        made.text.contains("\nUSER 10001:10001\n") && made.text.ends_with("\"/srv/project\"]\n"),
        "{}",
        made.text
    );
    let ignored = ignore_file(&facts);
    assert!(
        ignored.contains("\n**/.[eE][nN][vV]\n") && ignored.contains("\n[sS][eE][cC][rR][eE][tT]\n"),
        "{ignored}"
    );
    assert!(
        ignored.ends_with("!.mcp-bash/mcp-bash\n") && ignored.contains("\n!**/.env.example\n"),
        "{ignored}"
    );
}

#[test]
fn packages_are_installed_in_stages_of_their_own() {
    let facts = ImageFacts {
        registry_name: Some("io.github.ann/tracker".into()),
        python_packages: Some(PythonPackages::Requirements),
        node_packages: Some(NodePackages { is_locked: true }),
        ..ImageFacts::default()
    };
    let text = Containerfile::new(&facts).text;
    for expected in [
        "ARG MCP_BASH_IMAGE\n",
        "COPY requirements.txt ./\n",
        "RUN npm ci --omit=dev\n",
        "COPY --from=python /srv/project/.venv /srv/project/.venv\n",
        "LABEL io.modelcontextprotocol.server.name=\"io.github.ann/tracker\"\n",
        "no-install-recommends nodejs python3 \\",
    ] {
        assert!(text.contains(expected), "{expected}: {text}");
    }
    let stages: Vec<&str> = text.lines().filter(|line| line.starts_with("FROM")).collect();
    assert_eq!(stages.len(), 4, "{stages:?}");
    assert!(!Containerfile::new(&ImageFacts::default()).text.contains("apt-get"));
}

#[test]
fn the_program_is_taken_from_where_our_images_have_it() {
    let ours = include_str!("../../../../packaging/image/Containerfile");
    let stages: Vec<&str> = ours.split("\nFROM ").filter(|stage| stage.contains("ENTRYPOINT")).collect();
    assert_eq!(stages.len(), 2);
    for stage in stages {
        assert!(stage.contains(&format!("\nCOPY --chmod=755 mcp-bash {PROGRAM_IN_IMAGES}\n")), "{stage}");
    }
    let text = Containerfile::new(&ImageFacts::default()).text;
    assert!(text.contains("\nCOPY --from=program /usr/bin/mcp-bash /usr/local/bin/mcp-bash\n"), "{text}");
}
