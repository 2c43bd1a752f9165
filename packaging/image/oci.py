"""Writes images in the layout of OCI, with the same bytes for the same files."""

import gzip
import hashlib
import io
import json
import tarfile
from datetime import datetime, timezone

CONFIG = "application/vnd.oci.image.config.v1+json"
INDEX = "application/vnd.oci.image.index.v1+json"
LAYER = "application/vnd.oci.image.layer.v1.tar+gzip"
MANIFEST = "application/vnd.oci.image.manifest.v1+json"


class Layout:
    """The blobs of an image for one or several processors."""

    def __init__(self, epoch):
        self.epoch = epoch
        self.created = datetime.fromtimestamp(epoch, timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ")
        self.blobs = {}
        self.manifests = []

    def add_image(self, architecture, layers, config, labels):
        """`layers` are tar files as bytes, the lowest first."""
        whole = {
            "created": self.created,
            "architecture": architecture,
            "os": "linux",
            "config": {**config, "Labels": labels},
            "rootfs": {"type": "layers", "diff_ids": [digest(layer) for layer in layers]},
            "history": [{"created": self.created, "created_by": "scripts/package image"} for _ in layers],
        }
        manifest = {
            "schemaVersion": 2,
            "mediaType": MANIFEST,
            "config": self.add_json(CONFIG, whole),
            "layers": [self.add(LAYER, gzip.compress(layer, 9, mtime=0)) for layer in layers],
            "annotations": labels,
        }
        described = self.add_json(MANIFEST, manifest)
        self.manifests.append({**described, "platform": {"architecture": architecture, "os": "linux"}})

    def add(self, kind, content):
        name = digest(content)
        self.blobs[name] = content
        return {"mediaType": kind, "digest": name, "size": len(content)}

    def add_json(self, kind, value):
        return self.add(kind, as_json(value))

    def write(self, path, tag):
        """Writes an archive of the layout, in which the image has a tag."""
        index = self.add_json(INDEX, {"schemaVersion": 2, "mediaType": INDEX, "manifests": self.manifests})
        named = {**index, "annotations": {"org.opencontainers.image.ref.name": tag}}
        files = {
            "oci-layout": as_json({"imageLayoutVersion": "1.0.0"}),
            "index.json": as_json({"schemaVersion": 2, "mediaType": INDEX, "manifests": [named]}),
        }
        files.update({f"blobs/{name.replace(':', '/')}": content for name, content in self.blobs.items()})
        archive = Tree()
        for name, content in files.items():
            archive.file(name, content, 0o644)
        path.write_bytes(archive.tar(self.epoch))


class Tree:
    """The files of a layer, by path."""

    def __init__(self):
        self.entries = {}

    def folder(self, path, mode=0o755):
        self.entries[path] = (mode, None)

    def file(self, path, content, mode):
        for parent in parents(path):
            self.entries.setdefault(parent, (0o755, None))
        self.entries[path] = (mode, content)

    def tar(self, epoch):
        """A tar file: sorted, owned by root, of one time."""
        whole = io.BytesIO()
        with tarfile.open(fileobj=whole, mode="w", format=tarfile.PAX_FORMAT) as tar:
            for path, (mode, content) in sorted(self.entries.items()):
                entry = tarfile.TarInfo(path)
                entry.mode, entry.mtime = mode, epoch
                entry.type = tarfile.DIRTYPE if content is None else tarfile.REGTYPE
                entry.size = len(content or b"")
                tar.addfile(entry, io.BytesIO(content or b""))
        return whole.getvalue()


def parents(path):
    parts = path.split("/")[:-1]
    return ["/".join(parts[: count + 1]) for count in range(len(parts))]


def digest(content):
    return "sha256:" + hashlib.sha256(content).hexdigest()


def as_json(value):
    return json.dumps(value, separators=(",", ":"), sort_keys=True).encode()
