"""The release, built again in another folder at another time, is the same byte for byte."""

import json
import os
import re
import shutil
import subprocess
from pathlib import Path

from release.conftest import run
from support.truce_process import REPOSITORY

SIGNATURE = "SHA256SUMS.sig"


def made_of(dist: Path) -> tuple[str, list[str]]:
    """The commit that it was made of, and the arguments that it was made with."""
    [file] = dist.glob("*.provenance.json")
    definition = json.loads(file.read_text())["predicate"]["buildDefinition"]
    [commit] = [each["digest"]["gitCommit"] for each in definition["resolvedDependencies"]
                if "gitCommit" in each.get("digest", {})]
    words = re.findall(r" (HOME_URL|IMAGE)=(\S+)", definition["externalParameters"]["command"])
    return commit, [word for name, value in words for word in ("--" + name.lower().replace("_", "-"), value)]


def test_the_release_built_elsewhere_is_equal(dist, tmp_path):
    commit, arguments = made_of(dist)
    again = tmp_path / "elsewhere/with/a/longer/name"
    run("git", "clone", "--quiet", "--no-checkout", REPOSITORY, again)
    run("git", "checkout", "--quiet", commit, cwd=again)
    shutil.copytree(REPOSITORY / "build/deps", again / "build/deps")
    # No cache gives both the same object: make.py compiles without, and this holds for what it calls.
    environment = {**os.environ, "CCACHE_DISABLE": "1", "CMAKE_BUILD_PARALLEL_LEVEL": str(os.cpu_count())}
    run(again / "release/make.py", "--trial", "--beside", REPOSITORY / "build/others", *arguments, cwd=again,
        env=environment)
    first = {file.name: file.read_bytes() for file in dist.iterdir() if file.name != SIGNATURE}
    second = {file.name: file.read_bytes() for file in (again / "build/dist").iterdir()}
    assert first.keys() == second.keys()
    differing = [name for name in first if first[name] != second[name]]
    for name in differing:
        told = subprocess.run(["diffoscope", "--max-report-size", "20000", dist / name, again / "build/dist" / name],
                              capture_output=True, text=True)
        print(told.stdout)
    assert not differing
