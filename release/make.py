#!/usr/bin/env python3
"""Makes a release: every file of it into build/dist, and ends with the list of them and their SHA-256.

`make release` calls it; only the standard library of Python is needed. See release/DESIGN.md.
"""

from __future__ import annotations

import argparse
import base64
import json
import re
import shutil
import subprocess
import sys
from dataclasses import dataclass
from datetime import datetime, timezone
from pathlib import Path

import agreement
import audit
import bill
import charts
import debian
import image
import packages
import portable
import provenance
from packages import Package, ReleaseError, Target, run
from tree import Effort

ROOT = agreement.ROOT
AS_BUILT = ROOT / "build/release"
BUILD = ROOT / "build/release-program"
WORK = ROOT / "build/release-work"
CACHE = ROOT / "build/packages"
SUMS = "SHA256SUMS"


@dataclass(frozen=True)
class Commit:
    id: str
    epoch: int

    @property
    def created(self) -> str:
        return datetime.fromtimestamp(self.epoch, timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ")


def commit_of_head() -> Commit:
    identity, epoch = run("git", "log", "-1", "--format=%H %ct", cwd=ROOT).split()
    return Commit(identity, int(epoch))


def check(version: str, trial: bool) -> None:
    """Refuses what must not be released. A trial is told, and goes on."""
    carried = agreement.tag()
    found = agreement.disagreements(version, carried)
    if run("git", "status", "--porcelain", cwd=ROOT).strip():
        found.append("the work tree differs from the commit: commit, or `git stash`")
    for name in stale_packages():
        found.append(f"package {name} is older than the mirror's: .tools/setup.sh release")
    for line in found:
        print(f"release: {line}", file=sys.stderr)
    if found and not trial:
        raise ReleaseError(f"{len(found)} to mend before {version} can be made")
    if not carried:
        print(f"release: the commit carries no tag v{version}: for trial, not to be published", file=sys.stderr)


def stale_packages() -> list[str]:
    """Those libraries that are linked in an older version than apt would install."""
    names = ["libssl3", "libssl3t64", "libssl-dev", "libre2-dev", "libyaml-dev", "libjemalloc-dev", "libsimdjson-dev",
             "libspdlog-dev", "libfmt-dev", "libpq5"]
    text = run("apt-cache", "policy", *names)
    return [name for name, has, candidate in
            re.findall(r"^(\S+):\n  Installed: (.*)\n  Candidate: (.*)$", text, re.M)
            if has not in ("(none)", candidate)]


def compile_program(commit: Commit, target: Target) -> Path:
    """The folder of the finished build."""
    # In a folder of its own and without ccache, which makes paths relative before the compiler sees them: what it
    # compiled differs, in the texts of assertions, from what others compile. Warnings are for developers: another
    # Debian's compiler has others.
    run("cmake", "--preset", "release", "-B", BUILD, "-DTRUCE_CCACHE=OFF", "-DTRUCE_WERROR=OFF",
        f"-DTRUCE_COMMIT={commit.id}", f"-DTRUCE_BUILD_DATE={commit.created}",
        *([f"--toolchain={ROOT}/.tools/{target.architecture}.cmake"] if target.cross else []), cwd=ROOT)
    subprocess.run(["cmake", "--build", str(BUILD), "--target", "truce"], cwd=ROOT, check=True, stdout=sys.stderr)
    return BUILD


def deb(program: Path, commit: Commit, version: str, home_url: str) -> dict[str, bytes]:
    """The package of the distribution that this runs on."""
    name, number = debian.distribution()
    architecture = run("dpkg", "--print-architecture").strip()
    full = f"{version}+{'deb' if name == 'debian' else name}{number}"
    files = debian.contents(program, portable.stripped(program, WORK / "truce"), version, commit.created[:10])
    return {f"truce_{full}_{architecture}.deb": debian.build(
        files, debian.dependencies(program), version=full, architecture=architecture, epoch=commit.epoch,
        home_url=home_url, recommends=debian.recommendations(program))}


def krew(version: str, architecture: str, archive: str, digest: str, home_url: str) -> str:
    return f"""apiVersion: krew.googlecontainertools.github.com/v1alpha2
kind: Plugin
metadata:
  name: truce
spec:
  version: v{version}
  homepage: {home_url}
  shortDescription: Find and check the owners of cloud resources
  description: |
    Truce is an admission webhook with a registry of who owns which cloud resource. This is its
    command line: whose a resource is, what an admission would refuse, and how to hand one over.
  platforms:
    - selector:
        matchLabels:
          os: linux
          arch: {architecture}
      uri: {home_url}/releases/download/v{version}/{archive}
      sha256: {digest}
      bin: truce-{version}-linux-{architecture}/truce
"""


def signature(data: bytes, key: Path) -> bytes:
    """Of an ECDSA key, in the form that `cosign verify-blob --signature` reads."""
    done = subprocess.run(["openssl", "dgst", "-sha256", "-sign", str(key)], input=data, capture_output=True)
    if done.returncode != 0:
        raise ReleaseError(f"cannot sign with {key}: {done.stderr.decode().strip()}")
    return base64.b64encode(done.stdout) + b"\n"


def image_of(program: Path, commit: Commit, version: str, wanted: argparse.Namespace,
             target: Target) -> tuple[dict[str, bytes], list[Package]]:
    """The image by its name, and the packages that it is made of."""
    needed = image.needed_packages(program, CACHE, target)
    made = image.build(portable.stripped(program, WORK / "truce", target), needed, version=version, commit=commit.id,
                       epoch=commit.epoch, architecture=target.architecture, home_url=wanted.home_url,
                       name=wanted.image)
    print(f"release: image {made.digest}, {made.size / 1e6:.1f} MB unpacked", file=sys.stderr)
    return {f"truce-{version}-linux-{target.architecture}.oci.tar": made.layout.tar(commit.epoch)}, needed


def image_only(program: Path, commit: Commit, version: str, wanted: argparse.Namespace) -> dict[str, bytes]:
    """The image for another kind of machine, and what the bills of the whole release must name of it."""
    files, needed = image_of(program, commit, version, wanted, wanted.target)
    components = bill.of_packages(needed, debian.distribution()[1])
    return files | {f"{wanted.target.architecture}{bill.PART}": bill.part(components)}


def everything(build: Path, commit: Commit, version: str, wanted: argparse.Namespace) -> dict[str, bytes]:
    """All files by name, but sums and signature."""
    program, home_url, architecture = build / "truce", wanted.home_url, wanted.target.architecture
    release = debian.distribution()[1]
    files, needed = image_of(program, commit, version, wanted, wanted.target)
    files |= deb(program, commit, version, home_url)
    others = {file.name: file.read_bytes() for file in sorted(wanted.beside.iterdir())} if wanted.beside else {}
    files |= {name: data for name, data in others.items() if not name.endswith(bill.PART)}
    movable = WORK / "portable/truce"
    movable.parent.mkdir(parents=True, exist_ok=True)
    portable.link(build, movable)
    folder = f"truce-{version}-linux-{architecture}"
    files[f"{folder}.tar.gz"] = portable.contents(movable, WORK, version, commit.created[:10]).below(folder).tar_gz(
        commit.epoch)
    files |= charts.archives(commit.epoch, home_url, wanted.image)
    files[f"truce-crds-{version}.yaml"] = charts.crds().encode()
    files[f"truce-policy-pack-{version}.tar.gz"] = charts.policy_pack(version, commit.epoch)
    components = bill.of_packages(needed, release) + bill.of_headers(CACHE, release) + bill.of_sources(wanted.trial)
    components = bill.together(components, [data for name, data in others.items() if name.endswith(bill.PART)])
    about = {"version": version, "commit": commit.id, "created": commit.created}
    cyclonedx = bill.cyclonedx(components, **about)
    open_advisories = audit.audit(cyclonedx)
    if open_advisories and not wanted.trial:
        raise ReleaseError("\n".join(["vulnerabilities that nobody judged:", *open_advisories]))
    files[f"truce-{version}.cdx.json"] = text_of(cyclonedx)
    files[f"truce-{version}.spdx.json"] = text_of(bill.spdx(components, **about))
    if home_url:
        archive = f"{folder}.tar.gz"
        files["truce.krew.yaml"] = krew(version, architecture, archive, bill.sha256(files[archive]), home_url).encode()
    arm64 = any(name.endswith("arm64.oci.tar") for name in others)
    command = " ".join(["make release", *(["ARM64=yes"] if arm64 else []), *([f"HOME_URL={home_url}"] if home_url else []),
                        *([f"IMAGE={wanted.image}"] if wanted.image else [])])
    files[f"truce-{version}.provenance.json"] = text_of(provenance.statement(
        {name: bill.sha256(data) for name, data in files.items()}, components, version=version, commit=commit.id,
        command=command, home_url=home_url))
    return files


def text_of(value: dict) -> bytes:
    return (json.dumps(value, indent=2, sort_keys=True, ensure_ascii=False) + "\n").encode()


def write(files: dict[str, bytes], into: Path) -> None:
    """Puts the files in place of all that was there."""
    fresh = into.with_name(into.name + ".new")
    shutil.rmtree(fresh, ignore_errors=True)
    fresh.mkdir(parents=True)
    for name, data in files.items():
        (fresh / name).write_bytes(data)
    shutil.rmtree(into, ignore_errors=True)
    fresh.rename(into)


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--home-url", default="", help="address of the project: links of charts, image and packages")
    parser.add_argument("--image", default="", help="REGISTRY/REPOSITORY that the image will have")
    parser.add_argument("--signing-key", type=Path, help="private key (PEM, ECDSA P-256) to sign SHA256SUMS with")
    parser.add_argument("--into", type=Path, default=ROOT / "build/dist")
    parser.add_argument("--beside", type=Path, help="folder of what was made elsewhere, to include")
    parser.add_argument("--deb-only", action="store_true", help="make this distribution's package and nothing else")
    parser.add_argument("--image-only", choices=sorted(packages.CROSS), help="make the image for it and nothing else")
    parser.add_argument("--check", action="store_true", help="only tell whether a release could be made")
    parser.add_argument("--commit", default="", help="ID:EPOCH, where there is no repository")
    parser.add_argument("--trial", action="store_true", help="go on where a release would be refused")
    parser.add_argument("--as-built", action="store_true", help="with --trial: take build/release/truce as it is")
    wanted = parser.parse_args()
    wanted.target = packages.CROSS[wanted.image_only] if wanted.image_only else packages.own()
    wanted.part = wanted.deb_only or bool(wanted.image_only)
    wanted.home_url = wanted.home_url.rstrip("/")
    if wanted.home_url and not re.fullmatch(r"https://[\w.~:/-]+", wanted.home_url):
        parser.error("HOME_URL must begin with https:// and hold no other characters than an address has")
    return wanted


def main() -> int:
    wanted = arguments()
    version = agreement.version()
    WORK.mkdir(parents=True, exist_ok=True)
    if wanted.commit:
        identity, _, epoch = wanted.commit.partition(":")
        commit = Commit(identity, int(epoch))
    else:
        commit = commit_of_head()
    if not wanted.part:
        check(version, wanted.trial)
    if wanted.check:
        return 0
    if wanted.trial and wanted.as_built:
        Effort.little()
        build = AS_BUILT
    else:
        build = compile_program(commit, wanted.target)
    if wanted.image_only:
        files = image_only(build / "truce", commit, version, wanted)
    elif wanted.deb_only:
        files = deb(build / "truce", commit, version, wanted.home_url)
    else:
        files = everything(build, commit, version, wanted)
    if not wanted.part:
        sums = "".join(f"{bill.sha256(data)}  {name}\n" for name, data in sorted(files.items()))
        files[SUMS] = sums.encode()
        if wanted.signing_key:
            files[f"{SUMS}.sig"] = signature(files[SUMS], wanted.signing_key)
    write(files, wanted.into)
    if not wanted.home_url and not wanted.part:
        print("release: left out, because HOME_URL is not given: krew manifest, links of the charts", file=sys.stderr)
    for name, data in sorted(files.items()):
        print(f"{bill.sha256(data)}  {len(data):>9}  {name}")
    return 0


if __name__ == "__main__":
    try:
        sys.exit(main())
    except ReleaseError as error:
        sys.exit(f"release: {error}")
    except subprocess.CalledProcessError as error:
        sys.exit(f"release: failed: {error.cmd}")
