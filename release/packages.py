"""Debian's packages whose libraries the program needs, as files that apt fetched and verified."""

from __future__ import annotations

import hashlib
import io
import re
import subprocess
import tarfile
from dataclasses import dataclass, field
from pathlib import Path


class ReleaseError(RuntimeError):
    """A message for whoever makes the release: what, and how to mend it."""


def run(*command: str | Path, cwd: Path | None = None, env: dict[str, str] | None = None) -> str:
    done = subprocess.run(list(map(str, command)), cwd=cwd, env=env, capture_output=True, text=True,
                          stdin=subprocess.DEVNULL)
    if done.returncode != 0:
        raise ReleaseError(f"failed: {' '.join(map(str, command))}\n{done.stdout}{done.stderr}".strip())
    return done.stdout


@dataclass(frozen=True)
class Target:
    """What kind of machine a program is for."""
    architecture: str  # Debian's name of it, which is OCI's too
    cross: str = ""    # its name in the names of the cross compiler's tools; "": this machine's own kind

    def tool(self, name: str) -> str:
        return f"{self.cross}-{name}" if self.cross else name


LOADED_WHEN_NEEDED = ("libpq.so.5",)
CROSS = {"arm64": Target("arm64", "aarch64-linux-gnu")}


def own() -> Target:
    return Target(run("dpkg", "--print-architecture").strip())


@dataclass(frozen=True)
class Package:
    name: str
    version: str
    architecture: str
    source: str = ""   # name of the source package
    homepage: str = ""
    file: Path | None = None  # the .deb; None: only known to be installed
    sha256: str = ""
    sonames: tuple[str, ...] = field(default=())  # what the program needs of it


def libraries_of(program: Path, target: Target | None = None) -> dict[str, Path]:
    """Every shared library that the loader would take for `program`, by the name it is needed by."""
    if target and target.cross:
        return _libraries_elsewhere(program, target)
    found = {}
    for line in run("ldd", program).splitlines():
        words = line.split()
        if "not found" in line:
            raise ReleaseError(f"{program} needs {words[0]}, which is not installed")
        if len(words) >= 3 and words[1] == "=>":
            found[words[0]] = Path(words[2])
        elif words[0].startswith("/lib") and "ld-linux" in words[0]:
            found[words[0]] = Path(words[0])
    if not found:
        raise ReleaseError(f"{program} is no program that is linked dynamically")
    return found


def loaded_by(program: Path, target: Target | None = None) -> dict[str, Path]:
    """Those that the program loads itself when they are needed, with all that these need."""
    found, content = {}, program.read_bytes()
    for name in LOADED_WHEN_NEEDED:
        if name.encode() not in content:
            continue
        triplet = (target and target.cross) or run("gcc", "-print-multiarch").strip()
        path = Path("/usr/lib") / triplet / name
        if not path.exists():
            raise ReleaseError(f"{program} may load {name}, which is not installed")
        found |= {name: path, **libraries_of(path, target)}
    return found


def _libraries_elsewhere(program: Path, target: Target) -> dict[str, Path]:
    """The same where nothing of this machine can load it: what it says that it needs, and what those need."""
    folders = [Path("/lib") / target.cross, Path("/usr/lib") / target.cross]
    found, unread = {}, [program]
    while unread:
        file = unread.pop()
        for name in re.findall(r"\(NEEDED\).*\[(.*)\]", run(target.tool("readelf"), "-d", file)):
            if name in found:
                continue
            at = [folder / name for folder in folders if (folder / name).exists()]
            if not at:
                raise ReleaseError(f"{file} needs {name}, which is not installed for {target.architecture}")
            found[name] = at[0]
            unread.append(at[0])
    return found


def owner_of(library: Path) -> str:
    """The installed package that has this file: Debian knows it by its name before or after the merge
    of /lib into /usr."""
    for path in (library, library.resolve(), Path(f"/usr{library}"), Path(str(library).removeprefix("/usr"))):
        done = subprocess.run(["dpkg-query", "-S", str(path)], capture_output=True, text=True)
        if done.returncode == 0:
            return done.stdout.split(":")[0]
    raise ReleaseError(f"no package has {library}: a release links Debian's libraries only")


def installed(name: str) -> Package:
    form = "${Version}\t${Architecture}\t${source:Package}\t${Homepage}"
    version, architecture, source, homepage = run("dpkg-query", "-W", "-f", form, name).split("\t")[:4]
    return Package(name, version, architecture, source, homepage)


def fetch(names: list[str], folder: Path, target: Target | None = None) -> list[Package]:
    """The candidates of this machine's apt: its signatures are checked, and security updates are in.
    Fetched again only when there is a newer one."""
    folder.mkdir(parents=True, exist_ok=True)
    try:
        return _fetch(names, folder, target)
    except ReleaseError:
        # Its lists are empty, or older than what the mirror has.
        run("apt-get", "update", "-qq")
        return _fetch(names, folder, target)


def _fetch(names: list[str], folder: Path, target: Target | None) -> list[Package]:
    # What is the same for every architecture has no name with one.
    foreign = [f"{name}:{target.architecture}" for name in names] if target and target.cross else []
    policy = run("apt-cache", "policy", *names, *foreign)
    wanted = dict(re.findall(r"^(\S+):\n  Installed: .*\n  Candidate: (\S+)$", policy, re.M))
    found = []
    for name in names:
        asked = f"{name}:{target.architecture}" if foreign else name
        if wanted.get(asked, "(none)") == "(none)":
            asked = name
        version = wanted.get(asked, "(none)")
        if version == "(none)":
            raise ReleaseError(f"apt knows no package {name}: is its mirror Debian's?")
        pattern = f"{name}_{version.replace(':', '%3a')}_*.deb"
        if not list(folder.glob(pattern)):
            run("apt-get", "download", "-o", "APT::Sandbox::User=root", f"{asked}={version}", cwd=folder)
        [file] = folder.glob(pattern)
        form = "${Architecture}\t${Source}\t${Homepage}"
        architecture, source, homepage = run("dpkg-deb", "-W", f"--showformat={form}", file).split("\t")[:3]
        found.append(Package(name, version, architecture, source.split(" ")[0] or name, homepage, file,
                             hashlib.sha256(file.read_bytes()).hexdigest()))
    return found


@dataclass(frozen=True)
class Member:
    mode: int
    data: bytes
    link: str


def files_of(package: Package) -> dict[str, Member]:
    """Files and links of a package, under the names they have since /lib became /usr/lib."""
    done = subprocess.run(["dpkg-deb", "--fsys-tarfile", str(package.file)], capture_output=True, check=True)
    found = {}
    with tarfile.open(fileobj=io.BytesIO(done.stdout)) as archive:
        for entry in archive:
            path = merged(entry.name.removeprefix("./"))
            if entry.issym():
                found[path] = Member(0o777, b"", entry.linkname)
            elif entry.islnk():
                found[path] = found[merged(entry.linkname.removeprefix("./"))]
            elif entry.isfile():
                found[path] = Member(entry.mode, archive.extractfile(entry).read(), "")
    return found


def merged(path: str) -> str:
    return "usr/" + path if re.match(r"(lib|lib64|bin|sbin)/", path) else path
