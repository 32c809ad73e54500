"""Where the files come from, as an in-toto statement with SLSA's provenance: sources, commands, versions.
It has no time but the commit's, so that it is the same whoever builds."""

from __future__ import annotations

from pathlib import Path

from bill import Component
from packages import installed, run

BUILD_TYPE = "https://truce.dev/build/make-release/v1"
TOOLS = ("g++", "cmake", "ninja-build", "binutils", "libc6-dev", "python3", "dpkg-dev")


def compilers() -> dict[str, str]:
    versions = {name: installed(name).version for name in TOOLS}
    versions["g++"] = run("c++", "-dumpfullversion").strip()
    return versions


def statement(subjects: dict[str, str], components: list[Component], *, version: str, commit: str, command: str,
              home_url: str) -> dict:
    """`subjects`: SHA-256 by file name."""
    sources = [{"uri": f"git+{home_url or 'truce'}", "digest": {"gitCommit": commit}}]
    sources += [{"uri": each.purl, **({"digest": {"sha256": each.sha256}} if each.sha256 else {})}
                for each in components]
    return {
        "_type": "https://in-toto.io/Statement/v1",
        "subject": [{"name": name, "digest": {"sha256": digest}} for name, digest in sorted(subjects.items())],
        "predicateType": "https://slsa.dev/provenance/v1",
        "predicate": {
            "buildDefinition": {
                "buildType": BUILD_TYPE,
                "externalParameters": {"command": command, "version": version},
                "internalParameters": {"tools": compilers(), "recipe": recipe()},
                "resolvedDependencies": sources,
            },
            "runDetails": {"builder": {"id": f"{BUILD_TYPE}#{Path('/etc/os-release').read_text().splitlines()[0]}"}},
        },
    }


def recipe() -> list[str]:
    return [".tools/setup.sh release", "cmake --preset release -B build/release-program -DTRUCE_CCACHE=OFF -DTRUCE_COMMIT=… -DTRUCE_BUILD_DATE=…",
            "cmake --build build/release-program --target truce", "strip --strip-all"]
