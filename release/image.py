#!/usr/bin/env python3
"""The container image: the program, the libraries it needs, authorities' certificates, time zones.
No shell, no package manager. Written as an OCI image layout, without a container engine.

  image.py INTO ARCHIVE...    writes one archive of several, each for one kind of machine: a registry then
                              gives each machine its own
"""

from __future__ import annotations

import hashlib
import json
import re
import sys
import tarfile
from dataclasses import dataclass
from datetime import datetime, timezone
from pathlib import Path, PurePosixPath

import packages
from packages import Package, ReleaseError, Target
from tree import Tree, compressed

USER = 65532  # what the chart runs it as
DATA = "var/lib/truce"
PROGRAM = "usr/local/bin/truce"
PORTS = (8443, 8444, 8080, 8081)  # admission, API, metrics, probes
SIZE_MAX = 40_000_000
# Beside those of the libraries.
BASE_PACKAGES = ("base-files", "ca-certificates", "tzdata")
AUTHORITIES = "usr/share/ca-certificates/mozilla/"
INDEX = "application/vnd.oci.image.index.v1+json"
ZONES = "usr/share/zoneinfo/"


@dataclass(frozen=True)
class Image:
    layout: Tree  # an OCI image layout
    digest: str   # of its manifest
    size: int     # of its files, unpacked


def base_layer(needed: list[Package]) -> Tree:
    """Everything but the program. `needed` are the fetched packages with what the program needs of each."""
    layer = Tree()
    for folder in ("bin", "lib", "lib64", "sbin"):
        layer.link(folder, f"usr/{folder}")
        layer.folder(f"usr/{folder}")
    layer.folder("tmp", 0o1777)
    for folder in ("proc", "sys", "dev", "run"):
        layer.folder(folder)
    layer.file("etc/passwd", f"root:x:0:0:root:/root:/sbin/nologin\n"
                             f"truce:x:{USER}:{USER}:truce:/{DATA}:/sbin/nologin\n")
    layer.file("etc/group", f"root:x:0:\ntruce:x:{USER}:\n")
    layer.file("etc/nsswitch.conf", "passwd: files\ngroup: files\nhosts: files dns\n")
    for package in needed:
        _add_package(layer, package, packages.files_of(package))
    layer.folder(DATA, 0o700, USER)
    return layer


def _add_package(layer: Tree, package: Package, files: dict[str, packages.Member]) -> None:
    wanted = set(package.sonames)
    for path, member in files.items():
        name = PurePosixPath(path).name
        if name in wanted and re.search(r"^usr/lib(64)?/", path):
            _add(layer, files, path)
        elif path == f"usr/share/doc/{package.name}/copyright":
            _add(layer, files, path)
        elif package.name == "base-files" and path in ("usr/lib/os-release", "etc/os-release", "etc/debian_version"):
            _add(layer, files, path)
        # What lies in right/ and posix/ nobody asks for, and it is three times the size.
        elif package.name == "tzdata" and path.startswith(ZONES) and not re.match(r"(right|posix)/", path[len(ZONES):]):
            _add(layer, files, path)
    missing = wanted - {PurePosixPath(path).name for path in layer.nodes}
    if missing:
        raise ReleaseError(f"package {package.name} {package.version} has no {', '.join(sorted(missing))}")
    if package.name == "ca-certificates":
        bundle = b"".join(files[path].data.rstrip(b"\n") + b"\n" for path in sorted(files)
                          if path.startswith(AUTHORITIES) and path.endswith(".crt"))
        layer.file("etc/ssl/certs/ca-certificates.crt", bundle)
        layer.link("usr/lib/ssl/cert.pem", "/etc/ssl/certs/ca-certificates.crt")
        layer.link("usr/lib/ssl/certs", "/etc/ssl/certs")
    # Where scanners look for packages of images that have no package manager.
    layer.file(f"var/lib/dpkg/status.d/{package.name}", packages.run("dpkg-deb", "-f", package.file))


def _add(layer: Tree, files: dict[str, packages.Member], path: str) -> None:
    member = files[path]
    if not member.link:
        layer.file(path, member.data, 0o755 if member.mode & 0o100 else 0o644)
        return
    layer.link(path, member.link)
    target = str(PurePosixPath(path).parent / member.link)
    if "/" not in member.link and target in files:
        _add(layer, files, target)


def labels(version: str, commit: str, created: str, home_url: str) -> dict[str, str]:
    known = {"created": created, "title": "truce", "version": version, "revision": commit,
             "description": "One owner for every cloud resource", "licenses": "Apache-2.0",
             "base.name": "", "url": home_url, "source": home_url, "documentation": home_url}
    return {f"org.opencontainers.image.{key}": value for key, value in known.items() if value}


def build(program: bytes, needed: list[Package], *, version: str, commit: str, epoch: int, architecture: str,
          home_url: str = "", name: str = "") -> Image:
    created = datetime.fromtimestamp(epoch, timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ")
    top = Tree()
    top.file(PROGRAM, program, 0o755)
    trees = [base_layer(needed), top]
    size = sum(tree.size() for tree in trees)
    if size > SIZE_MAX:
        raise ReleaseError(f"the image has {size} bytes of files, more than {SIZE_MAX}")
    layout, layers, unpacked = Tree(), [], []
    for tree in trees:
        raw = tree.tar(epoch)
        unpacked.append(f"sha256:{hashlib.sha256(raw).hexdigest()}")
        layers.append(_blob(layout, compressed(raw), "application/vnd.oci.image.layer.v1.tar+gzip"))
    words = labels(version, commit, created, home_url)
    config = _blob(layout, _json({
        "created": created, "architecture": architecture, "os": "linux",
        "config": {
            "User": f"{USER}:{USER}",
            "Entrypoint": [f"/{PROGRAM}", "serve"],
            "Env": ["PATH=/usr/local/bin:/usr/bin", f"TRUCE_DATA_DIR=/{DATA}"],
            "ExposedPorts": {f"{port}/tcp": {} for port in PORTS},
            "Volumes": {f"/{DATA}": {}},
            "WorkingDir": f"/{DATA}",
            "Labels": words,
        },
        "rootfs": {"type": "layers", "diff_ids": unpacked},
        "history": [{"created": created, "created_by": "libraries, certificates, time zones"},
                    {"created": created, "created_by": f"truce {version}"}],
    }), "application/vnd.oci.image.config.v1+json")
    manifest = _blob(layout, _json({
        "schemaVersion": 2, "mediaType": "application/vnd.oci.image.manifest.v1+json",
        "config": config, "layers": layers, "annotations": words,
    }), "application/vnd.oci.image.manifest.v1+json")
    tag = {"org.opencontainers.image.ref.name": version}
    if name:
        tag["io.containerd.image.name"] = f"{name}:{version}"
    _finish(layout, {**manifest, "platform": {"architecture": architecture, "os": "linux"}, "annotations": tag})
    return Image(layout, manifest["digest"], size)


def together(archives: list[Path]) -> Tree:
    """One layout of several, each of one image."""
    layout, manifests, tag = Tree(), [], {}
    for archive in archives:
        with tarfile.open(archive) as tar:
            for entry in tar:
                if entry.isfile() and entry.name.startswith("blobs/"):
                    layout.file(entry.name, tar.extractfile(entry).read())
            [manifest] = json.load(tar.extractfile("index.json"))["manifests"]
        tag = manifest.pop("annotations")
        manifests.append(manifest)
    index = _blob(layout, _json({"schemaVersion": 2, "mediaType": INDEX, "manifests": manifests}), INDEX)
    _finish(layout, {**index, "annotations": tag})
    return layout


def _finish(layout: Tree, described: dict) -> None:
    layout.file("index.json", _json({"schemaVersion": 2, "mediaType": INDEX, "manifests": [described]}))
    layout.file("oci-layout", _json({"imageLayoutVersion": "1.0.0"}))


def _json(value: object) -> bytes:
    return json.dumps(value, sort_keys=True, separators=(",", ":")).encode()


def _blob(layout: Tree, data: bytes, media_type: str) -> dict:
    digest = hashlib.sha256(data).hexdigest()
    layout.file(f"blobs/sha256/{digest}", data)
    return {"mediaType": media_type, "digest": f"sha256:{digest}", "size": len(data)}


def needed_packages(program: Path, folder: Path, target: Target | None = None) -> list[Package]:
    """The packages of an image of `program`, fetched into `folder`."""
    sonames: dict[str, list[str]] = {name: [] for name in BASE_PACKAGES}
    libraries = {**packages.libraries_of(program, target), **packages.loaded_by(program, target)}
    for soname, path in libraries.items():
        sonames.setdefault(packages.owner_of(path), []).append(PurePosixPath(soname).name)
    return [Package(**{**vars(package), "sonames": tuple(sorted(sonames[package.name]))})
            for package in packages.fetch(sorted(sonames), folder, target)]


if __name__ == "__main__":
    if len(sys.argv) < 3:
        sys.exit(__doc__)
    Path(sys.argv[1]).write_bytes(together([Path(name) for name in sys.argv[2:]]).tar(0))
