"""Checks that every pod in these files is hardened, and that its grace period is longer than its drain timeout."""

import sys
from pathlib import Path

import yaml


def pods(documents):
    for document in documents:
        if document and document["kind"] == "Deployment":
            yield document["spec"]["template"]["spec"]


def problems(pod):
    security = pod.get("securityContext", {})
    if not security.get("runAsNonRoot") or security.get("seccompProfile", {}).get("type") != "RuntimeDefault":
        yield "the pod may run as root, or without a seccomp profile"
    if pod.get("automountServiceAccountToken") is not False:
        yield "scripts find a token of the cluster"
    for container in pod["containers"] + pod.get("initContainers", []):
        security = container.get("securityContext", {})
        if security.get("allowPrivilegeEscalation") is not False or not security.get("readOnlyRootFilesystem"):
            yield f"{container['name']} may gain privileges, or write to its root file system"
        if security.get("capabilities", {}).get("drop") != ["ALL"]:
            yield f"{container['name']} has capabilities"
        if "memory" not in container.get("resources", {}).get("limits", {}):
            yield f"{container['name']} has no limit of memory"
    (server,) = pod["containers"]
    for probe, path in (("livenessProbe", "/livez"), ("readinessProbe", "/readyz")):
        if server[probe]["httpGet"]["path"] != path:
            yield f"{probe} is not {path}"
    drain = next(int(one["value"]) for one in server["env"] if one["name"] == "MCPBASH_HTTP_DRAIN_TIMEOUT")
    if pod["terminationGracePeriodSeconds"] <= drain:
        yield "the pod is killed before its open requests are answered"


def main():
    found = [(name, list(pods(yaml.safe_load_all(Path(name).read_text())))) for name in sys.argv[1:]]
    if sum(len(of_file) for _, of_file in found) != 3:
        sys.exit(f"tests/deploy: three pods were expected, not those of {found}")
    wrong = [f"{name}: {problem}" for name, of_file in found for pod in of_file for problem in problems(pod)]
    if wrong:
        sys.exit("tests/deploy: " + "; ".join(wrong))


main()
