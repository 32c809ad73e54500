"""The program for any Linux with a recent enough glibc: linked anew with every library that there is an
archive of; the others lie beside it in lib/."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import manuals
from debian import COMPLETIONS, ROOT
from packages import ReleaseError, Target, libraries_of, run
from tree import Tree

# Of the machine it runs on: the C library, and its loader.
FROM_THE_MACHINE = re.compile(r"^(libc|libm|libpthread|libdl|librt|libresolv)\.so|ld-linux")


def archive_of(library: str) -> str:
    """The archive of this shared library, or the library where there is none that a program which moves
    in memory may have in it."""
    stem = re.sub(r"\.so[.\d]*$", "", library)
    for candidate in (f"{stem}_pic.a", f"{stem}.a"):
        if Path(candidate).is_file():
            return candidate
    return library


def link(build: Path, program: Path) -> None:
    """Writes `program` from the objects of the finished build folder `build`."""
    last = run("ninja", "-C", build, "-t", "commands", "truce").splitlines()[-1]
    words = shlex.split(last.removeprefix(": && ").removesuffix(" && :"))
    words = [archive_of(word) if re.match(r"/.*\.so[.\d]*$", word) else word for word in words]
    words[words.index("-o") + 1] = str(program.resolve())
    run(*words, "-Wl,--disable-new-dtags,-rpath,$ORIGIN/lib", cwd=build)


def glibc_of(files: list[Path]) -> str:
    """The oldest glibc that has every symbol of `files`."""
    versions = set()
    for file in files:
        versions |= set(re.findall(r"\(GLIBC_(\d+\.\d+)", run("objdump", "-T", file)))
    return max(versions, key=lambda version: [int(number) for number in version.split(".")])


def contents(program: Path, work: Path, version: str, date: str) -> Tree:
    files = Tree()
    beside = {name: path for name, path in libraries_of(program).items() if not FROM_THE_MACHINE.search(name)}
    files.file("truce", stripped(program, work / "portable-stripped"), 0o755)
    for name, path in beside.items():
        files.file(f"lib/{name}", path.resolve().read_bytes(), 0o755)
    for name, text in manuals.pages(program, version, date).items():
        files.file(f"man/man{name[-1]}/{name}", text)
    for shell in COMPLETIONS:
        files.file(f"completion/truce.{shell}", run(program, "completion", shell))
    files.copy("LICENSE", ROOT / "LICENSE")
    files.file("README", f"Truce {version} for Linux with glibc {glibc_of([program, *beside.values()])} or newer.\n"
                         "`truce` finds its libraries in lib/ beside it: move both together.\n"
                         "Where authorities are not in /etc/ssl/certs, SSL_CERT_FILE names the file with them.\n"
                         "Linked as `kubectl-truce` it is `kubectl truce`; `truce completion kubectl` writes kubectl_complete-truce.\n")
    return files


def stripped(program: Path, copy: Path, target: Target | None = None) -> bytes:
    """The program without symbols and without what differs by who built it."""
    copy.parent.mkdir(parents=True, exist_ok=True)
    run(target.tool("strip") if target else "strip", "--strip-all", "-o", copy, program)
    if copy.stat().st_size == 0:
        raise ReleaseError(f"strip wrote nothing of {program}")
    return copy.read_bytes()
