"""The same commit, built twice in two folders, is the same byte for byte."""

import os
import shutil
import subprocess
from pathlib import Path

from release.conftest import run
from support.truce_process import REPOSITORY


def build(folder: Path) -> dict[str, bytes]:
    run("git", "clone", "--quiet", REPOSITORY, folder)
    shutil.copytree(REPOSITORY / "build/deps", folder / "build/deps")
    # Nothing of an earlier build: a cache would give both the same object.
    environment = {**os.environ, "CCACHE_DISABLE": "1", "CMAKE_BUILD_PARALLEL_LEVEL": str(os.cpu_count())}
    run(folder / "release/make.py", "--trial", cwd=folder, env=environment)
    return {file.name: file.read_bytes() for file in (folder / "build/dist").iterdir()}


def test_two_builds_are_equal(tmp_path):
    one, two = tmp_path / "one", tmp_path / "elsewhere/with/a/longer/name"
    two.parent.mkdir(parents=True)
    first, second = build(one), build(two)
    assert first.keys() == second.keys()
    differing = [name for name in first if first[name] != second[name]]
    for name in differing:
        told = subprocess.run(["diffoscope", "--max-report-size", "20000", one / "build/dist" / name,
                               two / "build/dist" / name], capture_output=True, text=True)
        print(told.stdout)
    assert not differing
