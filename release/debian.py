"""The Debian package: program, manuals, completions, a hardened service, a user, /etc/truce."""

from __future__ import annotations

import hashlib
import io
import re
import tempfile
from pathlib import Path

import manuals
import packages
from tree import Tree, compressed, squeezed

HERE = Path(__file__).resolve().parent / "debian"
ROOT = HERE.parent.parent
MAINTAINER = "The Truce authors <truce@localhost>"
SCRIPTS = ("postinst", "prerm", "postrm")
COMPLETIONS = {"bash": "usr/share/bash-completion/completions/truce",
               "zsh": "usr/share/zsh/vendor-completions/_truce",
               "fish": "usr/share/fish/vendor_completions.d/truce.fish"}


def contents(program: Path, stripped: bytes, version: str, date: str) -> Tree:
    """The files that are installed; `program` is run for its manuals and completions."""
    files = Tree()
    files.file("usr/bin/truce", stripped, 0o755)
    for name, text in manuals.pages(program, version, date).items():
        files.file(f"usr/share/man/man{name[-1]}/{name}.gz", compressed(text.encode()))
    for shell, path in COMPLETIONS.items():
        files.file(path, packages.run(program, "completion", shell))
    files.copy("usr/lib/systemd/system/truce.service", HERE / "truce.service")
    files.file("etc/truce/truce.yaml", (HERE / "truce.yaml").read_bytes())
    files.file("usr/share/doc/truce/copyright", (HERE / "copyright").read_text() + (ROOT / "LICENSE").read_text())
    files.file("usr/share/doc/truce/changelog.gz", compressed((ROOT / "CHANGELOG.md").read_bytes()))
    return files


def dependencies(program: Path) -> str:
    """What dpkg-shlibdeps says: libraries with the oldest version that has every symbol."""
    with tempfile.TemporaryDirectory() as folder:
        (Path(folder) / "debian").mkdir()
        (Path(folder) / "debian/control").write_text("Source: truce\n\nPackage: truce\nArchitecture: any\n")
        said = packages.run("dpkg-shlibdeps", "-O", program.resolve(), cwd=Path(folder))
    return said.partition("shlibs:Depends=")[2].strip()


def recommendations(program: Path) -> str:
    """What it works without; with PostgreSQL's library it can keep the registry there."""
    loaded = packages.loaded_by(program)
    return ", ".join(["ca-certificates", *(packages.owner_of(loaded[name]) for name in packages.LOADED_WHEN_NEEDED
                                           if name in loaded)])


def build(files: Tree, depends: str, *, version: str, architecture: str, epoch: int, home_url: str = "",
          recommends: str = "ca-certificates") -> bytes:
    """`version` as Debian's; the result is a .deb."""
    control = Tree()
    fields = {
        "Package": "truce", "Version": version, "Architecture": architecture, "Maintainer": MAINTAINER,
        "Installed-Size": str((files.size() + 1023) // 1024),
        "Depends": f"{depends}, adduser", "Recommends": recommends,
        "Section": "admin", "Priority": "optional", "Homepage": home_url,
        "Description": "one owner for every cloud resource\n"
                       " Validating admission webhook for Kubernetes with a registry of who owns which cloud\n"
                       " resource that Crossplane's objects declare. A second declaration of an owned resource is\n"
                       " refused, with a text that names the owner. The package has the server, its command line\n"
                       " and a service, which starts when it is enabled: systemctl enable --now truce.",
    }
    control.file("control", "".join(f"{key}: {value}\n" for key, value in fields.items() if value))
    control.file("conffiles", "".join(f"/{path}\n" for path in files.nodes if path.startswith("etc/")))
    control.file("md5sums", "".join(
        f"{hashlib.md5(node.data, usedforsecurity=False).hexdigest()}  {path}\n"
        for path, node in sorted(files.nodes.items())
        if not node.link and not node.is_folder and not path.startswith("etc/")))
    for script in SCRIPTS:
        control.file(script, (HERE / script).read_bytes(), 0o755)
    members = {"debian-binary": b"2.0\n",
               "control.tar.xz": squeezed(control.tar(epoch, "./")),
               "data.tar.xz": squeezed(files.tar(epoch, "./"))}
    out = io.BytesIO(b"!<arch>\n")
    out.seek(0, io.SEEK_END)
    for name, data in members.items():
        out.write(f"{name:<16}{epoch:<12}{0:<6}{0:<6}{0o100644:<8o}{len(data):<10}`\n".encode())
        out.write(data + b"\n" * (len(data) % 2))
    return out.getvalue()


def distribution() -> tuple[str, str]:
    """("debian", "12") on the machine that builds."""
    text = Path("/etc/os-release").read_text()
    found = dict(re.findall(r'^(ID|VERSION_ID)="?([^"\n]*)"?$', text, re.M))
    return found.get("ID", ""), found.get("VERSION_ID", "")
