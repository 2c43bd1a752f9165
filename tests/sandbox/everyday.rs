//! Everyday programs work in the sandbox: with the default declaration, or with the one that their row shows.

use super::arena::Arena;
use super::identity::Identity;
use crate::harness::Project;
use serde_json::{Value, json};
use std::io::{BufRead, BufReader, Write};
use std::net::TcpListener;
use std::path::Path;

struct Row {
    name: &'static str,
    /// The programs without which it is skipped.
    needs: &'static [&'static str],
    /// Its declaration, with `PORT` for the port of a server on this machine.
    sandbox: &'static str,
    /// A script of bash.
    script: &'static str,
}

const ON: &str = r#""on""#;
/// Semaphores between processes are files in a folder that all programs share.
const WITH_SEMAPHORES: &str = r#"{"write": ["tmp", "/dev/shm"]}"#;
const CONNECTED: &str = r#"{"network": ["localhost:PORT"]}"#;

const ROWS: &[Row] = &[
    Row {
        name: "bash",
        needs: &["bash"],
        sandbox: ON,
        script: r#"
            values=$(printf '%s\n' b a | sort | tr '\n' ' '); [ "$values" = "a b " ]
            cat <(echo process substitution) <<<"here string" >"$TMPDIR/file"
            [ -w "$HOME" ]; [ -d "$TMPDIR" ]; echo x >/dev/null 2>"$HOME/x"
        "#,
    },
    Row {
        name: "pipes",
        needs: &["bash", "awk", "sed", "grep", "find", "xargs"],
        sandbox: ON,
        script: r"
            seq 1000 | awk '{ s += $1 } END { print s }' | grep -qx 500500
            find . -name tool.sh | xargs sed -n 1p | grep -q bash
            echo one >$TMPDIR/f; sed -i s/one/two/ $TMPDIR/f; grep -q two $TMPDIR/f
            mkdir $TMPDIR/a $TMPDIR/b; touch $TMPDIR/a/x; mv $TMPDIR/a/x $TMPDIR/b/y; cp $TMPDIR/b/y $TMPDIR/a
        ",
    },
    Row {
        name: "git",
        needs: &["git"],
        sandbox: ON,
        script: r#"
            cd "$TMPDIR"; git init -q repository; cd repository; echo text >file; git add file
            git -c user.name=a -c user.email=a@b.test commit -qm "A commit"; git log --oneline | grep -q "A commit"
            git branch other; git checkout -q other; git status --short; git gc -q
        "#,
    },
    Row {
        name: "tar",
        needs: &["tar", "gzip"],
        sandbox: ON,
        script: r#"
            cd "$TMPDIR"; mkdir folder; echo text >folder/file; tar -czf a.tar.gz folder; rm -r folder
            tar -xzf a.tar.gz; grep -q text folder/file
        "#,
    },
    Row {
        name: "perl",
        needs: &["perl"],
        sandbox: ON,
        script: r#"perl -MFile::Temp -MPOSIX -e 'my $f = File::Temp->new; print $f "x"; exit(0)'"#,
    },
    Row {
        name: "ssh-keygen",
        needs: &["ssh-keygen"],
        sandbox: ON,
        script: r#"
            ssh-keygen -q -t ed25519 -N "" -f "$TMPDIR/key"; grep -q ssh-ed25519 "$TMPDIR/key.pub"
        "#,
    },
    Row {
        name: "openssl",
        needs: &["openssl"],
        sandbox: ON,
        script: r"openssl rand -hex 8; echo x | openssl dgst -sha256",
    },
    Row { name: "jq", needs: &["jq"], sandbox: ON, script: r#"[ "$(echo '{"a":1}' | jq .a)" = 1 ]"# },
    Row {
        name: "sqlite",
        needs: &["python3"],
        sandbox: ON,
        script: r#"python3 -c '
import os, sqlite3, tempfile
with tempfile.TemporaryDirectory() as folder:
    base = sqlite3.connect(os.path.join(folder, "base"))
    base.execute("pragma journal_mode=wal"); base.execute("create table t (n)")
    base.execute("insert into t values (1)"); base.commit()
    assert base.execute("select n from t").fetchone() == (1,)
'"#,
    },
    Row {
        name: "python threads",
        needs: &["python3"],
        sandbox: ON,
        script: r#"python3 -c '
import concurrent.futures, ssl, subprocess, hashlib
with concurrent.futures.ThreadPoolExecutor(8) as pool:
    assert sum(pool.map(lambda n: n * n, range(100))) == 328350
assert subprocess.run(["true"]).returncode == 0
'"#,
    },
    Row {
        name: "python multiprocessing",
        needs: &["python3"],
        sandbox: WITH_SEMAPHORES,
        script: r#"cat >"$TMPDIR/many.py" <<'END'
import multiprocessing
def square(n): return n * n
if __name__ == "__main__":
    with multiprocessing.Pool(2) as pool:
        assert sum(pool.map(square, range(10))) == 285
    queue = multiprocessing.Queue(); queue.put(1); assert queue.get() == 1
END
            python3 "$TMPDIR/many.py""#,
    },
    Row {
        name: "python venv",
        needs: &["python3"],
        sandbox: ON,
        script: r#"
            python3 -m venv --without-pip "$TMPDIR/venv"
            "$TMPDIR/venv/bin/python" -c 'import sys; assert sys.prefix != sys.base_prefix'
        "#,
    },
    Row {
        name: "python asyncio",
        needs: &["python3"],
        sandbox: ON,
        script: r#"python3 -c '
import asyncio
async def main():
    process = await asyncio.create_subprocess_exec("echo", "x", stdout=asyncio.subprocess.PIPE)
    assert (await process.communicate())[0] == b"x\n"
asyncio.run(main())
'"#,
    },
    Row {
        name: "node",
        needs: &["node"],
        sandbox: ON,
        script: r#"node -e '
const { execFileSync } = require("child_process"), { Worker } = require("worker_threads"), fs = require("fs");
if (execFileSync("echo", ["x"]).toString() !== "x\n") process.exit(1);
fs.writeFileSync(process.env.TMPDIR + "/f", require("crypto").randomBytes(8).toString("hex"));
new Worker("require(\"worker_threads\").parentPort.postMessage(1)", { eval: true }).on("message", () => {});
'"#,
    },
    Row {
        name: "npm",
        needs: &["npm"],
        sandbox: ON,
        script: r#"npm --version; cd "$TMPDIR"; mkdir p; cd p; npm init -y >/dev/null; [ -f package.json ]"#,
    },
    Row {
        name: "java",
        needs: &["java", "javac"],
        sandbox: ON,
        script: r#"cd "$TMPDIR"
            echo 'class A { public static void main(String[] a) { System.out.println("x"); } }' >A.java
            javac A.java; [ "$(java A)" = x ]
        "#,
    },
    Row {
        name: "uv",
        needs: &["uv"],
        sandbox: ON,
        script: r#"uv --version; cd "$TMPDIR"; uv init --offline --no-workspace p"#,
    },
    Row {
        name: "curl",
        needs: &["curl"],
        sandbox: CONNECTED,
        script: r#"[ "$(curl -sS --max-time 30 "http://localhost:$PORT/")" = ok ]; [ "$(curl -sS --max-time 30 "http://127.0.0.1:$PORT/")" = ok ]"#,
    },
    Row {
        name: "python urllib",
        needs: &["python3"],
        sandbox: CONNECTED,
        script: r#"python3 -c '
import os, urllib.request
assert urllib.request.urlopen("http://localhost:" + os.environ["PORT"], timeout=30).read() == b"ok"
'"#,
    },
    Row {
        name: "node fetch",
        needs: &["node"],
        sandbox: CONNECTED,
        script: r#"node -e '
fetch("http://localhost:" + process.env.PORT, { signal: AbortSignal.timeout(30000) }).then(answer => answer.text())
    .then(text => process.exit(text === "ok" ? 0 : 1), error => { console.error(error); process.exit(1) })
'"#,
    },
];

#[test]
fn everyday_programs_work() {
    let port = serve_http();
    let (mut wrong, mut skipped) = (Vec::new(), Vec::new());
    for identity in Identity::all() {
        let mut project = Project::new();
        let mut tried = Vec::new();
        for (index, row) in ROWS.iter().enumerate() {
            if let Some(missing) = row.needs.iter().find(|program| !is_installed(program, identity)) {
                skipped.push(format!("{} ({missing} is not installed for {identity:?})", row.name));
                continue;
            }
            let name = format!("tool{index}");
            let script =
                format!("#!/usr/bin/env bash\nset -e\nexport PORT={port}\n{}\necho fine\n", row.script);
            let sandbox: Value =
                serde_json::from_str(&row.sandbox.replace("PORT", &port.to_string())).unwrap();
            let metadata = json!({ "description": row.name, "sandbox": sandbox });
            project = project
                .script(&format!("tools/{name}/tool.sh"), &script)
                .file(&format!("tools/{name}/tool.meta.json"), &metadata.to_string());
            tried.push((name, row));
        }
        let mut arena = Arena::with_project(identity, project);
        for (name, row) in tried {
            let answer = arena.call(&name, &json!({}));
            if !answer.ends_with("fine") {
                wrong.push(format!("{}, {}, {identity:?}: {answer}", row.name, row.sandbox));
            }
        }
    }
    eprintln!("skipped: {skipped:?}");
    assert!(wrong.is_empty(), "{} programs failed:\n{}", wrong.len(), wrong.join("\n"));
}

/// Whether a program is on the `PATH` of a user who may run it.
fn is_installed(program: &str, identity: Identity) -> bool {
    let path = match identity {
        Identity::Own => std::env::var("PATH").unwrap_or_default(),
        Identity::Nobody => super::arena::PATH_OF_NOBODY.to_owned(),
    };
    path.split(':').any(|folder| Path::new(folder).join(program).is_file())
}

/// A web server that answers `ok`.
fn serve_http() -> u16 {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let port = listener.local_addr().expect("an address").port();
    std::thread::spawn(move || {
        for mut connection in listener.incoming().flatten() {
            let lines = BufReader::new(&connection).lines().map_while(Result::ok);
            let _ = lines.take_while(|line| !line.is_empty()).count();
            let _ =
                connection.write_all(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\nConnection: close\r\n\r\nok");
        }
    });
    port
}
