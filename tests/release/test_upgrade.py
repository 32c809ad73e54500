"""The last release itself, built from its commit, before and after the program of today."""

import os
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

from release.conftest import run
from support.truce_process import BINARY, REPOSITORY, TruceProcess
from upgrade.registry import TOUR, fill, findings, releases


@pytest.fixture(scope="module")
def released() -> Path:
    """The program of the last release: build/released/COMMIT/build/release/truce."""
    last = releases()[-1]
    folder = REPOSITORY / "build/released" / last.commit
    program = folder / "build/release/truce"
    if not program.exists():
        if not folder.exists():
            run("git", "clone", "--quiet", "--no-checkout", REPOSITORY, folder)
        run("git", "checkout", "--quiet", last.commit, cwd=folder)
        run(folder / ".tools/sources.sh", cwd=folder)
        run("cmake", "--preset", "release", cwd=folder)
        run("cmake", "--build", "build/release", "-j", str(os.cpu_count()), "--target", "truce", cwd=folder)
    assert run(program, "--version") == f"truce {last.version}\n"
    return program


class Server(TruceProcess):
    """One registry, served by one program after the other."""

    def by(self, program: Path, monkeypatch) -> "Server":
        """The same; its next start is of `program`."""
        monkeypatch.setattr("support.truce_process.BINARY", program)
        return self


def test_upgrade_in_place_and_back(released, tmp_path, monkeypatch):
    truce = Server(tmp_path, config=yaml.safe_load(TOUR.read_text()))
    truce.cluster_id = "upgrade"
    with truce.by(released, monkeypatch):
        fill(truce)
        assert findings(truce) == []
    with truce.by(BINARY, monkeypatch):
        assert findings(truce) == []
    version = run(BINARY, "--version").split()[-1]
    if version.split(".")[:2] == releases()[-1].version.split(".")[:2]:
        with truce.by(released, monkeypatch):
            assert findings(truce) == []
    else:
        refused = subprocess.run([released, "serve", "--no-cluster", "--data-dir", truce.data],
                                 capture_output=True, text=True)
        assert refused.returncode == 5 and "newer" in refused.stderr
    with truce.by(BINARY, monkeypatch):
        assert findings(truce) == []


def test_a_backup_of_the_release_is_restored_by_today(released, tmp_path, monkeypatch):
    truce = Server(tmp_path, config=yaml.safe_load(TOUR.read_text()))
    truce.cluster_id = "upgrade"
    with truce.by(released, monkeypatch):
        fill(truce)
        run(released, "backup", tmp_path / "copy.db", "--data-dir", truce.data)
    run(BINARY, "restore", tmp_path / "copy.db", "--data-dir", truce.data)
    with truce.by(BINARY, monkeypatch):
        assert findings(truce) == []


def test_chart_upgrade_from_the_release_under_load(released):
    environment = {**os.environ, "TRUCE_RELEASED": str(released), "ROTATE": "all"}
    run(sys.executable, "-m", "pytest", "-q", "e2e/test_chart_upgrade.py", cwd=REPOSITORY / "tests", env=environment)
