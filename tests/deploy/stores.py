"""Checks where these files give the server its database: nowhere, or from a secret, never as plain text."""

import sys
from pathlib import Path

import yaml

CA = "/run/store-ca"


def server(path):
    documents = yaml.safe_load_all(Path(path).read_text())
    (deployment,) = [document for document in documents if document and document["kind"] == "Deployment"]
    pod = deployment["spec"]["template"]["spec"]
    return pod, pod["containers"][0]


def references(container):
    """The secret of each variable: its name, and whether it may be missing."""
    names = {}
    for variable in container["env"]:
        if variable["name"] in ("MCPBASH_STORE", "PGPASSWORD"):
            secret = variable["valueFrom"]["secretKeyRef"]
            assert secret["key"] == variable["name"], secret
            names[variable["name"]] = (secret["name"], secret.get("optional", False))
    return names


def authority(pod, container):
    """The secret that is mounted as the certificate authority."""
    mounted = [mount["name"] for mount in container["volumeMounts"] if mount["mountPath"] == CA]
    return [volume["secret"]["secretName"] for volume in pod["volumes"] if volume["name"] in mounted]


def expect(what, is_so, expected):
    if is_so != expected:
        sys.exit(f"tests/deploy: {what} is {is_so}, not {expected}")


default, everything, plain, compose = sys.argv[1:]
pod, container = server(default)
expect("the store of the chart by default", (references(container), authority(pod, container)), ({}, []))
pod, container = server(everything)
named = {"MCPBASH_STORE": ("store", False), "PGPASSWORD": ("store", True)}
expect("the store of the chart", (references(container), authority(pod, container)), (named, ["store-ca"]))
pod, container = server(plain)
named = {"MCPBASH_STORE": ("mcp-bash-store", True), "PGPASSWORD": ("mcp-bash-store", True)}
expect("the store of the manifests", (references(container), authority(pod, container)), (named, ["mcp-bash-store-ca"]))
service = yaml.safe_load(Path(compose).read_text())["services"]["mcp-bash"]
passed = {name: service["environment"].get(name) for name in ("MCPBASH_STORE", "PGPASSWORD")}
expect("the store of the compose file", passed, {"MCPBASH_STORE": "${MCPBASH_STORE:-}", "PGPASSWORD": "${PGPASSWORD:-}"})
expect("the authority of the compose file", "store-ca" in service["secrets"], True)
