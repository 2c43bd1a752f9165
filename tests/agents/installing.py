"""Installs the packages of an agent from their registry, into a folder of its own."""

import json
import shutil
import subprocess
from pathlib import Path

HERE = Path(__file__).parent
INSTALL_SECS = 900


def install(agent, folder, latest):
    """Pinned packages are installed again only if the pins have changed, newest ones each time."""
    pins = json.dumps([agent.npm, agent.pypi])
    marker = folder / "installed.json"
    if latest or not marker.exists() or marker.read_text() != pins:
        print(f"# {agent.name}: installing", flush=True)
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir(parents=True)
        (from_npm if agent.npm else from_pypi)(agent, folder, latest)
        marker.write_text(pins)
    # Node looks for packages beside the script.
    if script := getattr(agent, "script", None):
        shutil.copy(HERE / "frameworks" / script, folder / script)


def from_npm(agent, folder, latest):
    # The Node.js that runs a program is not what is tried.
    versions = {name: "latest" if latest and name != "node" else version for name, version in agent.npm.items()}
    (folder / "package.json").write_text(json.dumps({"private": True, "dependencies": versions}, indent=2))
    options = ["--no-package-lock", "--no-audit", "--no-fund", "--loglevel=error"]
    run(["npm", "install", *options], folder)


def from_pypi(agent, folder, latest):
    run(["python3", "-m", "venv", "venv"], folder)
    packages = [name if latest else f"{name}=={version}" for name, version in agent.pypi.items()]
    run(["venv/bin/pip", "install", "--quiet", "--disable-pip-version-check", *packages], folder)


def run(command, folder):
    output = {"stdout": subprocess.PIPE, "stderr": subprocess.STDOUT, "text": True}
    try:
        done = subprocess.run(command, cwd=folder, timeout=INSTALL_SECS, **output)
    except subprocess.TimeoutExpired:
        raise RuntimeError(f"{' '.join(command[:3])} took more than {INSTALL_SECS} s") from None
    if done.returncode:
        raise RuntimeError(f"{' '.join(command[:3])} failed: {done.stdout}")
